//! One host: a group, a bridge and an agent, as actors on the host's own event loop.
//!
//! Decided here: what a process is, and what survives it: its disk, and the number of its lives.

use std::{
    cell::{Cell, RefCell},
    pin::pin,
    rc::Rc,
    time::Duration,
};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::{policy::Preemption, quorum::Vote},
    remote::{BridgeEvent, BridgeHandle, NodeIncarnation, Peer, RemoteBridge},
    supervisor::RestartPolicy,
};
use futures::{
    StreamExt,
    channel::oneshot,
    future::{Either, select},
};

use crate::{clock::SimulatedClock, disk::Disk, plan::Plan, wire::Net};

/// The names of all hosts, as many as a history needs.
pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// What all hosts of a history have in common.
#[derive(Debug)]
pub struct Setting {
    /// The history's settings.
    pub plan: Plan,
    /// Its seed.
    pub seed: u64,
    /// Its network.
    pub net: Net,
    /// Its clock.
    pub clock: SimulatedClock,
}

/// A host, with or without a process.
#[derive(Debug)]
pub struct Host {
    /// Its place among the others.
    pub index: usize,
    /// The process, while it runs.
    pub process: RefCell<Option<Process>>,
    /// What its bridge has told since somebody looked.
    pub told: RefCell<Vec<BridgeEvent>>,
    /// Its process was asked to leave, and has.
    pub has_left: Cell<bool>,
    /// Asks the process to leave.
    leave: RefCell<Option<oneshot::Sender<()>>>,
    lives: Cell<u64>,
    disk: Disk<Vote>,
}

/// What runs on a host.
#[derive(Clone, Debug)]
pub struct Process {
    /// The agents that it knows.
    pub group: Group,
    /// Its way to the others.
    pub bridge: BridgeHandle,
    /// Its agent.
    pub agent: BullyHandle,
}

impl Host {
    /// A host that was never started.
    #[must_use]
    pub fn new(index: usize, setting: &Setting) -> Self {
        let seed = setting.seed.wrapping_mul(31).wrapping_add(index as u64);
        Self {
            index,
            process: RefCell::default(),
            told: RefCell::default(),
            has_left: Cell::new(false),
            leave: RefCell::default(),
            lives: Cell::new(0),
            disk: Disk::new(seed, setting.plan.disk),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        NAMES[self.index]
    }

    /// Asks the process to end as politely as it can.
    pub fn ask_to_leave(&self) {
        if let Some(leave) = self.leave.take() {
            leave.send(()).ok(); // it may be down
        }
    }

    /// A life of its process, until it is killed or has left.
    ///
    /// # Errors
    /// When something does not start, or ends by itself.
    pub async fn live(self: Rc<Self>, setting: Rc<Setting>) -> turmoil::Result {
        self.lives.set(self.lives.get() + 1);
        if setting.plan.is_forgetful {
            self.disk.forget();
        }
        let group = Group::new("g")?;
        let bridge = self.bridge(&setting, &group)?;
        let mut events = bridge.events();
        let agent = self.agent(&setting, &group)?;
        let process = Process {
            group,
            bridge,
            agent,
        };
        self.process.replace(Some(process.clone()));
        let (leave, asked) = oneshot::channel();
        self.leave.replace(Some(leave));
        let listen = async {
            while let Some(event) = events.next().await {
                self.told.borrow_mut().push(event);
            }
        };
        match select(pin!(listen), asked).await {
            Either::Left(_) => Err(format!("the bridge of {} ended", self.name()).into()),
            Either::Right(_) => {
                // What takes too long is broken off: the next life finds what is left.
                process.agent.leave(POLITE).await.ok();
                process.bridge.drain(POLITE).await.ok();
                self.has_left.set(true);
                std::future::pending().await
            }
        }
    }

    fn bridge(&self, setting: &Setting, group: &Group) -> turmoil::Result<BridgeHandle> {
        let name = self.name();
        let life = self.lives.get() * 1_000;
        let mut bridge = RemoteBridge::builder(name)
            .cluster("simulated")
            .transport(setting.net.host(name))
            .listen(&format!("0.0.0.0:{PORT}"))
            .incarnation(NodeIncarnation(life))
            .seed(setting.seed ^ life ^ self.index as u64)
            .limits(Plan::limits())
            .restart_policy(restarts()?);
        for (other, peer) in NAMES[..setting.plan.hosts].iter().enumerate() {
            if other == self.index {
                continue;
            }
            let has_to_wait = setting.plan.is_one_sided && other < self.index;
            bridge = bridge.peer(if has_to_wait {
                Peer::inbound(peer)
            } else {
                Peer::new(peer, &format!("{peer}:{PORT}"))
            });
        }
        Ok(bridge.carry(group).start()?)
    }

    fn agent(&self, setting: &Setting, group: &Group) -> turmoil::Result<BullyHandle> {
        let mut agent = BullyAgent::builder(&agent_of(self.name()))
            .timings(Plan::timings())
            .score(i32::try_from(self.index)?)
            .seed(setting.seed)
            .clock(setting.clock.at_rate(setting.plan.clocks[self.index]))
            .restart_policy(restarts()?);
        if setting.plan.is_quorum {
            let voters = NAMES[..setting.plan.hosts]
                .iter()
                .map(|name| agent_of(name));
            agent = agent
                .quorum(voters)
                .preemption(Preemption::Never)
                .store(self.disk.clone());
        }
        if self.lives.get() > 1 {
            agent = agent.recovering();
        }
        Ok(agent.join(group).start()?)
    }
}

/// The name of a host's agent.
#[must_use]
pub fn agent_of(host: &str) -> String {
    format!("{host}1")
}

/// Crashes are drawn, and may come in any number.
fn restarts() -> turmoil::Result<RestartPolicy> {
    let policy = RestartPolicy::builder()
        .max_restarts(100)
        .backoff_base(Duration::from_millis(20))
        .backoff_max(Duration::from_millis(200));
    Ok(policy.build()?)
}

const PORT: u16 = 7400;

/// So long an agent may take to leave, and a bridge to say goodbye.
const POLITE: Duration = Duration::from_millis(500);
