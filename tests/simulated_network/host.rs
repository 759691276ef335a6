//! One host: a group, a bridge and agents, as actors on the host's own event loop.
//!
//! Decided here: what a process is, and what survives it: the clock, and the number of processes.
//! What survives an agent is its [`Member`]. Not here: which agent starts where; a process starts
//! and ends agents as it is told to.

use std::{
    cell::{Cell, RefCell},
    fmt,
    pin::pin,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use actix::{Actor, Addr};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Lifecycle},
    remote::{
        BridgeEvent, BridgeHandle, NodeIncarnation, Peer, RemoteBridge,
        internals::{later_incarnation, wire::Versions},
    },
    supervisor::RestartPolicy,
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
    application,
    clock::SimulatedClock,
    freeze::Freezer,
    member::{Member, Place},
    plan::Plan,
    setting::{NAMES, Setting, Settings},
    work::{Drainer, time_to_end, work},
};

/// A host, with or without a process.
#[derive(Debug)]
pub struct Host {
    /// Its place among the others.
    pub index: usize,
    /// The process, while it runs.
    pub process: RefCell<Option<Process>>,
    /// What its bridge has told since the last look.
    pub told: RefCell<Vec<BridgeEvent>>,
    /// What became of orders since the last look.
    pub outcomes: RefCell<Vec<Outcome>>,
    /// Its process was asked to leave, and has.
    pub has_left: Cell<bool>,
    /// What the next process begins with.
    pub next: Cell<Settings>,
    /// Its boot clock.
    pub clock: SimulatedClock,
    /// Stops the process.
    pub freezer: Freezer,
    processes: Cell<u64>,
    /// The incarnation of the last process.
    last: Cell<Option<u64>>,
}

/// What runs on a host.
#[derive(Clone, Debug)]
pub struct Process {
    /// Which it is.
    pub place: Place,
    /// What it began with.
    pub settings: Settings,
    /// The agents that it knows.
    pub group: Group,
    /// Its way to the others, if there are others.
    pub bridge: Option<BridgeHandle>,
    /// Every start of an agent here, those that are over included.
    pub starts: Rc<RefCell<Vec<Started>>>,
    /// Does something in it.
    pub orders: UnboundedSender<Order>,
}

/// A start of an agent.
#[derive(Clone)]
pub struct Started {
    /// Whose.
    pub member: usize,
    /// What the application holds of it.
    pub agent: BullyHandle,
    _drainers: Vec<Addr<Drainer>>,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)
    }
}

/// What a process is told to do.
#[derive(Debug)]
pub enum Order {
    /// Start an agent.
    Start(Rc<Member>),
    /// Let an agent leave.
    Leave(usize),
    /// Let an agent hang for so long, and ask it to leave meanwhile.
    Hang(usize, Duration),
    /// Let an agent step down.
    StepDown(usize),
    /// End all agents and the bridge as politely as can be.
    End,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The agent runs.
    Started(usize),
    /// It does not, and nothing was changed.
    Refused(usize, String),
    /// It has left, politely or not.
    Left(usize, bool),
}

impl Process {
    /// The latest start of an agent here.
    #[must_use]
    pub fn agent(&self, member: usize) -> Option<BullyHandle> {
        let starts = self.starts.borrow();
        let started = starts.iter().rev().find(|started| started.member == member);
        started.map(|started| started.agent.clone())
    }

    /// Whether an agent runs here.
    #[must_use]
    pub fn has_agents(&self) -> bool {
        let starts = self.starts.borrow();
        let runs = |started: &Started| started.agent.current().lifecycle == Lifecycle::Running;
        starts.iter().any(runs)
    }

    /// Tells it to do something.
    pub fn order(&self, order: Order) {
        self.orders.unbounded_send(order).ok(); // it may have ended
    }
}

impl Host {
    /// A host that was never started.
    #[must_use]
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

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        NAMES[self.index]
    }

    /// A process, until it is killed or has left.
    ///
    /// # Errors
    /// When the bridge does not start, or ends by itself.
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

    /// What takes too long is broken off: the next process finds what is left.
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

    fn bridge(
        &self,
        setting: &Setting,
        group: &Group,
        place: Place,
        settings: Settings,
    ) -> turmoil::Result<BridgeHandle> {
        let name = self.name();
        let wall = wall_of(settings.wall);
        let incarnation = self.begin_incarnation(wall * 1_000 + place.process);
        let mut bridge = RemoteBridge::builder(name)
            .cluster("simulated")
            .transport(setting.net.host(name))
            .listen(&format!("0.0.0.0:{PORT}"))
            .incarnation(NodeIncarnation(incarnation))
            .seed(setting.seed ^ (place.process * 1_000) ^ self.index as u64)
            .limits(Plan::limits())
            .restart_policy(restarts()?);
        if settings.is_first_version {
            bridge = bridge.versions(Versions { min: 1, max: 1 });
        }
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

    /// Whatever the clock shows, later than the last one: as a bridge does that keeps it in a file.
    fn begin_incarnation(&self, by_clock: u64) -> u64 {
        let last = self.last.get().map(|last| NodeIncarnation(last * UNIT));
        let begun = later_incarnation(last, NodeIncarnation(by_clock * UNIT));
        let incarnation = begun.0.div_ceil(UNIT);
        self.last.set(Some(incarnation));
        incarnation
    }

    fn start(&self, process: &Process, setting: &Setting, member: &Rc<Member>) -> turmoil::Result {
        let serial = process.starts.borrow().len();
        if setting.plan.is_forgetful {
            member.disk.borrow().forget();
        }
        let mut disk = member.disk.borrow().clone();
        if member.is_forgetful.take() {
            disk = disk.another(setting.seed);
        }
        let speed = member.speed.get();
        let mut agent = BullyAgent::builder(member.id.as_str())
            .timings(speed.timings())
            .cooldown(Duration::ZERO)
            .score(i32::try_from(member.index)?)
            .seed(setting.seed)
            .clock(self.clock.clone())
            .restart_policy(restarts()?);
        if setting.plan.is_quorum {
            let config = setting.config(speed, process.settings, member)?;
            agent = agent.quorum_config(Arc::new(config)).store(disk.clone());
        }
        if member.starts.get() > 0 {
            agent = agent.recovering();
        }
        let agent = agent.join(&process.group).start()?;
        member.disk.replace(disk);
        member.starts.set(member.starts.get() + 1);
        let drainer = |(ending, is_short)| {
            let drainer = Drainer {
                id: member.id.clone(),
                token: Rc::default(),
                ending: Duration::from_millis(ending),
                is_short,
                ledger: setting.ledger.clone(),
                is_quorum: setting.plan.is_quorum,
                limit: time_to_end(&speed.timings()),
                drains: None,
            };
            let token = Rc::clone(&drainer.token);
            let addr = drainer.start();
            token.replace(agent.subscribe_draining(addr.clone().recipient()).ok());
            addr
        };
        let started = Started {
            member: member.index,
            agent: agent.clone(),
            _drainers: [(20, true), (120, false)].map(drainer).into(),
        };
        process.starts.borrow_mut().push(started);
        application::start(&agent, setting, process.settings.wall, member);
        let (host, number) = (process.place.host, process.place.process);
        spawn_local(work(
            agent,
            (host, number, serial),
            Rc::clone(&setting.worked),
            setting.ledger.clone(),
            Duration::from_millis(80),
        ));
        Ok(())
    }
}

/// What a wall clock shows that is wrong by so many milliseconds.
pub(crate) fn wall_of(wrong_by: i64) -> u64 {
    let elapsed = turmoil::sim_elapsed().unwrap_or_default().as_millis();
    TODAY.saturating_add_signed(wrong_by) + u64::try_from(elapsed).unwrap_or(u64::MAX)
}

/// An error with its causes.
fn in_words(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |words, cause| {
        format!("{words}: {cause}")
    })
}

/// Crashes are drawn, and may come in any number.
fn restarts() -> turmoil::Result<RestartPolicy> {
    let policy = RestartPolicy::builder()
        .max_restarts(100)
        .backoff_base(Duration::from_millis(20))
        .backoff_max(Duration::from_millis(200));
    Ok(policy.build()?)
}

/// So many of a bridge's numbers for each of the smaller ones that are easier to read here, 1,000 a millisecond.
const UNIT: u64 = 1 << 12;

const PORT: u16 = 7400;

/// So long an agent may take to leave, and a bridge to say goodbye.
pub const POLITE: Duration = Duration::from_millis(500);

/// The wall clock of all hosts when a history begins, in milliseconds.
const TODAY: u64 = 1_700_000_000_000;
