//! The voters of a group change while it runs: a host is lost for good and replaced, another one is added, and the
//! leader is removed.
//!
//! ```text
//! $ cargo run --example voters
//! ```
//!
//! Expected output: `examples/expected/voters.txt`. Any agent takes a request for a change. A quorum of the present
//! voters decides it, and the leader carries it out, one change at a time. The leader hands over to itself or to
//! another agent, so its token increases. For the time of one election no agent leads: here that is almost no time,
//! since messages take none.
//!
//! All agents are in one process here, and time is virtual, so that the waits take none. On several hosts a new voter
//! has a [`Contact`](actix_bully::protocol::Contact), by which all bridges of the group connect to it, and a
//! `FileStore` instead of memory. `bullyctl voters` asks for a change from outside.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{cell::Cell, error::Error, future::Future, time::Duration};

use actix::{System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, VotersError},
    clock::RuntimeClock,
    elections::bully::Preemption,
    protocol::{AgentId, Changed, NewVoter},
    store::MemoryStore,
    testkit::VirtualClock,
};
use futures::future::join;

const VOTERS: [&str; 3] = ["api-1", "api-2", "api-3"];
const LIMIT: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    System::with_tokio_rt(move || runtime).block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut replicas = Replicas::new()?;
    for (score, name) in (1..).zip(VOTERS) {
        replicas.start(name, score, false)?;
    }
    replicas.settled().await;
    replicas.show();

    println!("\nthe host of api-2 is lost: api-4 takes its place, with an empty store");
    let lost = replicas.take("api-2")?;
    lost.leave(LIMIT).await?; // a host that is really lost would not leave
    replicas.start("api-4", 4, true)?;
    replicas.settled().await; // the leader must have heard api-4
    let asked = replicas.any("api-1")?;
    let change = asked.replace_voter(id("api-2")?, voter("api-4")?, LIMIT);
    replicas.changed(change).await?;

    println!("\napi-5 is added");
    replicas.start("api-5", 5, true)?;
    replicas.settled().await;
    let change = asked.add_voter(voter("api-5")?, LIMIT);
    replicas.changed(change).await?;

    println!("\napi-3, which leads, is removed, and follows on");
    let change = asked.remove_voter(id("api-3")?, LIMIT);
    replicas.changed(change).await?;
    Ok(())
}

struct Replicas {
    group: Group,
    time: RuntimeClock,
    all: Vec<BullyHandle>,
}

impl Replicas {
    fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            group: Group::new("demo")?,
            time: RuntimeClock::new(),
            all: Vec::new(),
        })
    }

    fn start(&mut self, name: &str, score: i32, is_new: bool) -> Result<(), Box<dyn Error>> {
        let mut agent = BullyAgent::builder(name)
            .quorum(VOTERS) // a decided change overrides this list
            .score(score)
            .preemption(Preemption::Never)
            .store(MemoryStore::new())
            .clock(VirtualClock::from(self.time)) // across hosts the default is right
            .join(&self.group);
        if is_new {
            agent = agent.learner();
        }
        self.all.push(agent.start()?);
        Ok(())
    }

    fn take(&mut self, name: &str) -> Result<BullyHandle, Box<dyn Error>> {
        let at = self.all.iter().position(|agent| *agent.id() == name);
        Ok(self.all.remove(at.ok_or("no such replica")?))
    }

    fn any(&self, name: &str) -> Result<BullyHandle, Box<dyn Error>> {
        let found = self.all.iter().find(|agent| *agent.id() == name);
        Ok(found.cloned().ok_or("no such replica")?)
    }

    /// Waits until one agent leads, and all follow it.
    async fn settled(&self) {
        loop {
            let leader = self.all.iter().find(|agent| agent.is_leader());
            let follows = |agent: &BullyHandle| {
                agent.leader().map(|it| it.id) == leader.map(|it| it.id().clone())
            };
            if leader.is_some() && self.all.iter().all(follows) {
                return;
            }
            sleep(TICK).await;
        }
    }

    /// Waits for a change of the voters, and prints the time without a leader.
    async fn changed(
        &self,
        change: impl Future<Output = Result<Changed, VotersError>>,
    ) -> Result<(), VotersError> {
        let is_done = Cell::new(false);
        let change = async {
            let outcome = change.await;
            self.settled().await;
            is_done.set(true);
            outcome
        };
        let vacancy = async {
            let mut vacant = Duration::ZERO;
            while !is_done.get() {
                if !self.all.iter().any(BullyHandle::is_leader) {
                    vacant += TICK;
                }
                sleep(TICK).await;
            }
            vacant
        };
        let (outcome, vacant) = join(change, vacancy).await;
        if outcome?.is_even() {
            println!("  four voters bear the loss of one, as three do");
        }
        println!("  nobody led for {} ms", vacant.as_millis());
        self.show();
        Ok(())
    }

    fn show(&self) {
        let leader = self.all.iter().find(|agent| agent.is_leader());
        let token = leader.and_then(|it| it.current().leading);
        let voters = leader.and_then(BullyHandle::voters);
        let (Some(leader), Some(token), Some(voters)) = (leader, token, voters) else {
            return println!("  nobody leads");
        };
        let ids: Vec<_> = voters.ids.iter().map(AgentId::as_str).collect();
        println!("  epoch {}: {} vote", voters.epoch, ids.join(", "));
        println!("  {} leads with token {token}", leader.id());
    }
}

fn id(name: &str) -> Result<AgentId, Box<dyn Error>> {
    Ok(AgentId::new(name)?)
}

fn voter(name: &str) -> Result<NewVoter, Box<dyn Error>> {
    Ok(NewVoter {
        id: id(name)?,
        contact: None,
    })
}
