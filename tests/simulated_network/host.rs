//! One host: a group, a bridge and agents, as actors on the host's own event loop.
//!
//! Decided here: the parts of a process, and the state that survives a process: the clock, and the number of
//! processes. The state that survives an agent is in its [`Member`]. Not here: where each agent starts. A process
//! starts and ends agents as it is ordered.

use std::{
    cell::{Cell, RefCell},
    fmt,
    pin::pin,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use actix::Addr;
use actix_bully::{
    Group,
    agent::{BullyHandle, Lifecycle},
    protocol::VoterChange,
    remote::{BridgeEvent, BridgeHandle},
    testkit::Inject,
};
use futures::{
    StreamExt,
    channel::mpsc::{UnboundedSender, unbounded},
    future::select,
};
use tokio::{
    task::{LocalSet, spawn_local},
    time::sleep,
};

use crate::{
    clock::SimulatedClock,
    freeze::Freezer,
    member::{Member, Place},
    setting::{NAMES, Setting, Settings},
    voters,
    work::Drainer,
};

/// A host, with or without a process.
#[derive(Debug)]
pub struct Host {
    pub index: usize,
    pub process: RefCell<Option<Process>>,
    /// The events of the bridge since the last check.
    pub told: RefCell<Vec<BridgeEvent>>,
    /// The outcomes of orders since the last check.
    pub outcomes: RefCell<Vec<Outcome>>,
    /// Whether the process was asked to leave and has left.
    pub has_left: Cell<bool>,
    /// The settings of the next process.
    pub next: Cell<Settings>,
    pub clock: SimulatedClock,
    pub freezer: Freezer,
    pub(crate) processes: Cell<u64>,
    /// The incarnation of the last process.
    pub(crate) last: Cell<Option<u64>>,
}

/// The process that runs on a host.
#[derive(Clone, Debug)]
pub struct Process {
    pub place: Place,
    pub settings: Settings,
    /// The group of all agents that the process knows.
    pub group: Group,
    /// The bridge to the other hosts; `None` if there is only one host.
    pub bridge: Option<BridgeHandle>,
    /// Every start of an agent here, also each start that is over.
    pub starts: Rc<RefCell<Vec<Started>>>,
    pub orders: UnboundedSender<Order>,
}

/// One start of an agent.
#[derive(Clone)]
pub struct Started {
    pub member: usize,
    pub agent: BullyHandle,
    pub(crate) _drainers: Vec<Addr<Drainer>>,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)
    }
}

/// An order to a process.
#[derive(Debug)]
pub enum Order {
    Start(Rc<Member>),
    Leave(usize),
    /// Let an agent hang for this duration, and ask the agent to leave meanwhile.
    Hang(usize, Duration),
    StepDown(usize),
    /// Let an operator ask an agent for other voters, for at most this duration.
    ChangeVoters(usize, VoterChange, Duration),
    /// End all agents and the bridge as politely as possible.
    End,
}

/// The outcome of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Started(usize),
    /// The agent does not run, for this reason, and nothing was changed.
    Refused(usize, String),
    /// The agent has left; the flag is whether it left politely.
    Left(usize, bool),
}

impl Process {
    /// Returns the latest start of an agent here.
    pub fn agent(&self, member: usize) -> Option<BullyHandle> {
        let starts = self.starts.borrow();
        let started = starts.iter().rev().find(|started| started.member == member);
        started.map(|started| started.agent.clone())
    }

    /// Whether an agent runs here.
    pub fn has_agents(&self) -> bool {
        let starts = self.starts.borrow();
        let runs = |started: &Started| started.agent.current().lifecycle == Lifecycle::Running;
        starts.iter().any(runs)
    }

    pub fn order(&self, order: Order) {
        self.orders.unbounded_send(order).ok(); // it may have ended
    }
}

impl Host {
    /// Creates a host that was never started.
    pub fn new(index: usize, setting: &Setting) -> Self {
        Self {
            index,
            process: RefCell::default(),
            told: RefCell::default(),
            outcomes: RefCell::default(),
            has_left: Cell::new(false),
            next: Cell::default(),
            clock: setting.clock.at_rate(setting.plan.clocks[index]),
            freezer: Freezer::default(),
            processes: Cell::new(0),
            last: Cell::default(),
        }
    }

    pub fn name(&self) -> &'static str {
        NAMES[self.index]
    }

    /// Runs a process until it is killed or has left.
    pub async fn live(self: Rc<Self>, setting: Rc<Setting>) -> turmoil::Result {
        let tasks = LocalSet::new();
        let process = tasks.run_until(self.run(&setting));
        self.freezer.run(process).await
    }

    async fn run(self: &Rc<Self>, setting: &Setting) -> turmoil::Result {
        self.processes.set(self.processes.get() + 1);
        let place = Place {
            host: self.index,
            process: self.processes.get(),
        };
        setting.net.set_process(self.name(), place.process);
        let settings = self.next.get();
        let group = Group::with_wire("g", Arc::new(setting.ledger.clone()))?;
        let bridge = if setting.plan.is_one_process() {
            None
        } else {
            Some(self.bridge(setting, &group, place, settings)?)
        };
        let events = bridge.as_ref().map(BridgeHandle::events);
        let (orders, mut ordered) = unbounded();
        let process = Process {
            place,
            settings,
            group,
            bridge,
            starts: Rc::default(),
            orders,
        };
        self.process.replace(Some(process.clone()));
        let listen = async {
            match events {
                Some(mut events) => {
                    while let Some(event) = events.next().await {
                        self.told.borrow_mut().push(event);
                    }
                }
                None => std::future::pending().await,
            }
        };
        let obey = async {
            while let Some(order) = ordered.next().await {
                if matches!(order, Order::End) {
                    self.end(&process).await;
                    std::future::pending::<()>().await;
                }
                self.obey(&process, setting, order);
            }
        };
        select(pin!(listen), pin!(obey)).await;
        Err(format!("the bridge of {} ended", self.name()).into())
    }

    /// Ends all agents and the bridge. An end that takes too long is broken off, and the next process finds the
    /// remains.
    async fn end(&self, process: &Process) {
        let mut members: Vec<_> = process.starts.borrow().iter().map(|s| s.member).collect();
        members.dedup();
        for agent in members.into_iter().filter_map(|m| process.agent(m)) {
            agent.leave(POLITE).await.ok();
        }
        if let Some(bridge) = &process.bridge {
            bridge.drain(POLITE).await.ok();
        }
        self.has_left.set(true);
    }

    fn obey(self: &Rc<Self>, process: &Process, setting: &Setting, order: Order) {
        let agent = |member| process.agent(member);
        match order {
            Order::Start(member) => {
                let outcome = match self.start(process, setting, &member) {
                    Ok(()) => Outcome::Started(member.index),
                    Err(refused) => Outcome::Refused(member.index, in_words(&*refused)),
                };
                self.outcomes.borrow_mut().push(outcome);
            }
            Order::Leave(member) => self.leave(member, agent(member), Duration::ZERO, POLITE),
            Order::Hang(member, span) => {
                if let Some(agent) = agent(member) {
                    let ledger = setting.ledger.clone();
                    agent.addr().do_send(Inject::hang(async move {
                        sleep(span).await;
                        ledger.count("one that was given up woke");
                    }));
                }
                self.leave(member, agent(member), span / 8, span / 8);
            }
            Order::StepDown(member) => {
                if let Some(agent) = agent(member) {
                    agent.step_down(None).ok(); // it may have ended
                }
            }
            Order::ChangeVoters(member, change, within) => {
                if let Some(agent) = agent(member) {
                    let ledger = setting.ledger.clone();
                    spawn_local(voters::ask(agent, change, within, ledger));
                }
            }
            Order::End => {}
        }
    }

    fn leave(
        self: &Rc<Self>,
        member: usize,
        agent: Option<BullyHandle>,
        after: Duration,
        limit: Duration,
    ) {
        let host = Rc::clone(self);
        spawn_local(async move {
            sleep(after).await;
            let is_polite = match agent {
                Some(agent) => agent.leave(limit).await.is_ok(),
                None => true,
            };
            let left = Outcome::Left(member, is_polite);
            host.outcomes.borrow_mut().push(left);
        });
    }
}

/// Returns the text of an error with its causes.
fn in_words(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |words, cause| {
        format!("{words}: {cause}")
    })
}

/// Longest time that an agent may take to leave, and a bridge to say goodbye.
pub const POLITE: Duration = Duration::from_millis(500);
