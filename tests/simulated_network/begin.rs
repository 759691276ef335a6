//! What a process begins: its bridge, and the agents that it is ordered to start.
//!
//! Decided here: how the bridge and the agents are configured, and that no incarnation of a bridge is earlier than
//! the one before. Not here: when an agent starts.

use std::{rc::Rc, sync::Arc, time::Duration};

use actix::{Actor, Addr};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    clock::{WallClock, WallTime},
    remote::{
        BridgeHandle, NodeIncarnation, Peer, RemoteBridge, internals::later_incarnation,
        sentinel::Sentinel,
    },
    supervisor::RestartPolicy,
};
use tokio::task::spawn_local;

use crate::{
    application,
    clock::SimulatedClock,
    host::{Host, Process, Started},
    member::{Member, Place},
    plan::Plan,
    sentinels::Known,
    setting::{NAMES, Setting, Settings},
    work::{Drainer, time_to_end, work},
};

impl Host {
    pub(crate) fn bridge(
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
        if setting.plan.has_sentinels() {
            let sentinel = Sentinel::driven_by(setting.net.sentinel(name));
            bridge = bridge.credential(Known).sentinel(sentinel);
        }
        if setting.plan.is_diskless {
            let wall = self.wall(settings);
            bridge = bridge.wall_clock(move || wall.now().as_millis());
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

    /// Returns the wall clock of a process of voters without disks. This clock counts a suspend, which the timers of
    /// the host do not count.
    fn wall(&self, settings: Settings) -> WallWithSuspends {
        WallWithSuspends {
            wrong_by: settings.wall,
            clock: self.clock.clone(),
        }
    }

    /// Returns an incarnation that is later than the last one, even if the clock was set back. A bridge that keeps
    /// its incarnation in a file does the same.
    fn begin_incarnation(&self, by_clock: u64) -> u64 {
        let last = self.last.get().map(|last| NodeIncarnation(last * UNIT));
        let begun = later_incarnation(last, NodeIncarnation(by_clock * UNIT));
        let incarnation = begun.0.div_ceil(UNIT);
        self.last.set(Some(incarnation));
        incarnation
    }

    pub(crate) fn start(
        &self,
        process: &Process,
        setting: &Setting,
        member: &Rc<Member>,
    ) -> turmoil::Result {
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
            .score(i32::try_from(member.index)?)
            .seed(setting.seed)
            .clock(self.clock.clone())
            .restart_policy(restarts()?);
        if setting.plan.is_quorum {
            let config = setting.config(speed, process.settings, member)?;
            agent = agent.quorum_config(Arc::new(config));
            if setting.plan.is_diskless {
                agent = agent.wall_clock(self.wall(process.settings));
            } else {
                agent = agent.store(disk.clone());
            }
        } else {
            agent = agent.timings(speed.timings()).cooldown(Duration::ZERO);
        }
        if member.starts.get() > 0 {
            agent = agent.recovering();
        }
        let agent = agent.join(&process.group).start()?;
        member.disk.replace(disk);
        member.starts.set(member.starts.get() + 1);
        let started = Started {
            member: member.index,
            agent: agent.clone(),
            _drainers: [(20, true), (120, false)]
                .map(|how| drainer(&agent, setting, member, how))
                .into(),
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

/// Starts a subscriber whose work takes `ending` milliseconds to end after a leadership of the agent. A subscriber
/// with `is_short` stops after that.
fn drainer(
    agent: &BullyHandle,
    setting: &Setting,
    member: &Member,
    (ending, is_short): (u64, bool),
) -> Addr<Drainer> {
    let drainer = Drainer {
        id: member.id.clone(),
        token: Rc::default(),
        ending: Duration::from_millis(ending),
        is_short,
        ledger: setting.ledger.clone(),
        is_quorum: setting.plan.is_quorum,
        limit: time_to_end(&member.speed.get().timings()),
        drains: None,
    };
    let token = Rc::clone(&drainer.token);
    let addr = drainer.start();
    token.replace(agent.subscribe_draining(addr.clone().recipient()).ok());
    addr
}

/// A wall clock that also counts while its host is suspended. It begins at [`DAWN`], because voters without disks
/// count their terms by this clock.
#[derive(Clone, Debug)]
struct WallWithSuspends {
    wrong_by: i64,
    clock: SimulatedClock,
}

impl WallClock for WallWithSuspends {
    fn now(&self) -> WallTime {
        let suspended = u64::try_from(self.clock.suspended().as_millis()).unwrap_or(u64::MAX);
        WallTime::from_millis(wall_of(self.wrong_by) + (DAWN - TODAY) + suspended)
    }
}

/// Returns the time of a wall clock that is wrong by this number of milliseconds.
pub(crate) fn wall_of(wrong_by: i64) -> u64 {
    let elapsed = turmoil::sim_elapsed().unwrap_or_default().as_millis();
    TODAY.saturating_add_signed(wrong_by) + u64::try_from(elapsed).unwrap_or(u64::MAX)
}

/// Crashes are drawn, and any number of them may follow each other; so the policy allows many restarts.
fn restarts() -> turmoil::Result<RestartPolicy> {
    let policy = RestartPolicy::builder()
        .max_restarts(100)
        .backoff_base(Duration::from_millis(20))
        .backoff_max(Duration::from_millis(200));
    Ok(policy.build()?)
}

/// Incarnation numbers of a bridge for each smaller number of this file. The smaller numbers count 1,000 a
/// millisecond, and are easier to read.
const UNIT: u64 = 1 << 12;

/// Port on which every bridge listens.
pub(crate) const PORT: u16 = 7400;

/// Time of the wall clock of all hosts when a history begins, in milliseconds.
const TODAY: u64 = 1_700_000_000_000;

/// The beginning of 2026, in milliseconds: the start of a history for terms by the clock, which count milliseconds
/// since the beginning of 2024.
const DAWN: u64 = 1_767_225_600_000;
