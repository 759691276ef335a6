//! An agent of a quorum that fails: a row for each cause and moment, under each policy, with all visible events.
//!
//! In a group of three, `c` fails, or `a` fails, which never leads. The golden text is `agents.txt`, which `BLESS=1`
//! writes. A line has the events of the agent's parent and subscribers in their order, and then the state after a
//! minute.

use std::{cell::Cell, fmt::Write, rc::Rc, sync::Arc};

use actix::{Actor, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder, BullyHandle, LeaderGuard, StartError},
    elections::bully::Preemption,
    store::MemoryStore,
    supervisor::{RestartPolicy, Supervision},
    testkit::{FaultyStore, Inject, VirtualClock},
};
use bully_core::elections::vote::Vote;

use Cause::{FailedStore, Hang, Leave, LeaveInHaste, Panic, Stop, WorkEnds, WorkPanics};
use When::{Drains, Follows, IsDown, Leads, Starts};

use crate::{
    golden::golden,
    stage::{Log, MS, Scribe, id, parent, play, settle},
    supervision::{probe::panic_quietly, stage::by_policy},
};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cause {
    Panic,
    Stop,
    /// A command to leave, with time for the work.
    Leave,
    /// A command to leave at once.
    LeaveInHaste,
    /// A hang of 3 s, which is longer than a leader may be silent.
    Hang,
    /// A permanent failure of the agent's store, followed by an election.
    FailedStore,
    WorkPanics,
    WorkEnds,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Starts,
    Follows,
    Leads,
    /// The agent hands over, and its work goes on for 300 ms.
    Drains,
    /// The agent has panicked, and waits for its restart.
    IsDown,
}

/// The work of a leader. It ends by an order, or 300 ms after the agent steps down.
async fn work(guard: LeaderGuard, orders: &Cell<Option<Cause>>) {
    let told = async {
        loop {
            clock::sleep(MS(1)).await;
            match orders.take() {
                Some(WorkPanics) => panic_quietly(),
                Some(WorkEnds) => return,
                _ => {}
            }
        }
    };
    let drains = async {
        guard.stepping_down().await;
        clock::sleep(MS(300)).await;
    };
    tokio::select! {
        () = told => {}
        () = drains => {}
    }
}

/// A quorum of three agents, of which one fails.
struct Scene {
    group: Group,
    log: Log,
    store: Arc<FaultyStore<MemoryStore<Vote>>>,
    /// The order by which the work ends.
    orders: Rc<Cell<Option<Cause>>>,
    others: Vec<BullyHandle>,
}

impl Scene {
    fn agent(&self, name: &str) -> BullyBuilder {
        let score = NAMES.iter().position(|known| *known == name).unwrap();
        BullyAgent::builder(name)
            .score(i32::try_from(score).unwrap())
            .quorum(NAMES)
            .preemption(Preemption::Never)
            .clock(VirtualClock::new())
            .seed(1)
            .join(&self.group)
    }

    fn new() -> Self {
        Self {
            group: Group::new("jobs").unwrap(),
            log: Log::default(),
            store: Arc::new(FaultyStore::new(MemoryStore::new())),
            orders: Rc::default(),
            others: Vec::new(),
        }
    }

    /// Starts the agent that will fail, with its work.
    fn start(&self, victim: &str, policy: RestartPolicy) -> BullyHandle {
        let log = self.log.clone();
        let parent = parent(move |event| match event {
            Supervision::Down { exit, .. } => log.add(format_args!("Down {exit:?}")),
            Supervision::Up { .. } => log.add("Up"),
            Supervision::GaveUp { exit, .. } => log.add(format_args!("GaveUp {exit:?}")),
            Supervision::Finished { .. } | _ => log.add("Finished"),
        });
        let scribe = Scribe(self.log.clone()).start();
        let agent = self.agent(victim).restart_policy(policy).parent(parent);
        let agent = agent.store(Arc::clone(&self.store));
        let agent = agent.start().unwrap();
        actix_rt::spawn({
            let (agent, orders) = (agent.clone(), Rc::clone(&self.orders));
            async move {
                agent.subscribe(scribe.clone().recipient()).unwrap();
                agent.lead(|guard| work(guard, &orders)).await
            }
        });
        agent
    }

    async fn strike(&self, agent: &BullyHandle, cause: Cause) {
        match cause {
            Panic => agent.addr().do_send(Inject::Crash),
            Stop => agent.addr().do_send(Inject::Stop),
            Leave | LeaveInHaste => {
                let deadline = if cause == Leave { 1_000 } else { 100 };
                let left = agent.leave(MS(deadline)).await;
                self.log.add(left.map_or("left by force", |()| "left"));
            }
            Hang => agent.addr().do_send(Inject::hang(clock::sleep(MS(3_000)))),
            FailedStore => {
                self.store.fail_at(1);
                for agent in self.others.iter().chain([agent]) {
                    agent.step_down(None).ok(); // only the leader takes the command
                }
            }
            WorkPanics | WorkEnds => self.orders.set(Some(cause)),
        }
    }
}

async fn seen(when: When, cause: Cause, policy: RestartPolicy) -> String {
    let victim = if when == Follows { "a" } else { "c" };
    let mut scene = Scene::new();
    for name in NAMES.into_iter().filter(|name| *name != victim) {
        let agent = scene.agent(name).store(MemoryStore::new());
        scene.others.push(agent.start().unwrap());
    }
    if when == Starts {
        clock::sleep(MS(2_000)).await;
    }
    let agent = scene.start(victim, policy);
    if when != Starts {
        clock::sleep(MS(2_000)).await;
        scene.log.take();
    }
    match when {
        Starts | Follows | Leads => {}
        Drains => agent.step_down(None).unwrap(),
        IsDown => agent.addr().do_send(Inject::Crash),
    }
    settle().await;
    scene.strike(&agent, cause).await;
    clock::sleep(MS(8_000)).await;
    let seen = match &scene.log.take()[..] {
        [] => "nothing".to_owned(),
        seen => seen.join(", "),
    };
    let status = agent.current();
    let me = format!("{victim}.{}", status.incarnation);
    let members = scene.group.members();
    let member = match members.get(&id(victim)) {
        Some(member) => format!("{:?}", member.presence),
        None => "no member".to_owned(),
    };
    let leader = scene.others[0].current().leader.unwrap();
    let again = scene.agent(victim).store(Arc::clone(&scene.store)).start();
    let again = match again {
        Ok(again) => format!("again {victim}.{}", again.current().incarnation),
        Err(StartError::Join(_)) => "its name is taken".to_owned(),
        Err(StartError::Store(_)) => "its store fails".to_owned(),
        Err(other) => panic!("{other}"),
    };
    let text = format!(
        "\n    {seen}\n    then: {me} {:?}, {member}; {} leads in term {}; {again}\n",
        status.lifecycle, leader.id, leader.term
    );
    text.replace("Panicked(\"injected\")", "Panicked")
        .replace(&format!("{victim}: "), "")
}

#[test]
fn each_agent_that_fails_is_restarted_or_not_and_another_leads_as_was_reviewed() {
    let ends = [
        (Panic, "a panic"),
        (Stop, "a stop"),
        (Leave, "told to leave"),
        (Hang, "a hang"),
        (FailedStore, "a failed store"),
    ];
    let of_leaders = [
        (LeaveInHaste, "told to leave in haste"),
        (WorkPanics, "a panic of its work"),
        (WorkEnds, "the end of its work"),
    ];
    let mut text = String::new();
    for (when, moment) in [
        (Starts, "as it starts"),
        (Follows, "as it follows"),
        (Leads, "as it leads"),
        (Drains, "as it hands over"),
        (IsDown, "as it waits for a restart"),
    ] {
        let leads = matches!(when, Leads | Drains);
        let of_leaders = of_leaders.iter().filter(|_| leads);
        for &(cause, what) in ends.iter().chain(of_leaders) {
            writeln!(text, "{what} {moment}").unwrap();
            text += &by_policy(|policy| {
                let mut outcome = String::new();
                play(async { outcome = seen(when, cause, policy).await });
                outcome
            });
        }
    }
    golden("tests/agent/supervision/agents.txt", &text);
}
