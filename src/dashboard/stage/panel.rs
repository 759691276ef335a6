//! One cluster of a stage, and the board that shows it.
//!
//! Decided here: what is kept and shown of a cluster, whichever election its agents hold. A stage has one panel, or two
//! that get the same commands. Not here: when something is done (`play.rs`), and what is shown of an agent (`facts.rs`).

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::LocalBoxFuture;

use super::{facts, pace::now, run::RunCommands};
use crate::{
    dashboard::{
        board::Board,
        copies::RecordedRun,
        entries::Told,
        hours::WallBegin,
        judged::Reason,
        moment::{ClockFacts, PageMoment},
        said::{Happened, Said, joined},
    },
    protocol::{AgentId, Election, Time},
    record::{RecordedClock, RecordedCommand, What},
    testkit::cluster::{Cluster, ClusterError, Settled},
};

/// A cluster of any election, as the stage uses it.
pub(super) trait StagePanel {
    /// Names its agents and its election on the board that shows it; that election stays, if none is given.
    fn appear(&mut self, board: &Arc<Board>, election: Option<String>);

    /// Gives it a command.
    fn apply<'a>(
        &'a mut self,
        command: &'a RecordedCommand,
    ) -> LocalBoxFuture<'a, Result<(), ClusterError>>;

    /// Has it recorded that it is settled which agents lead, if that is so and is not recorded yet.
    fn settle(&mut self) -> LocalBoxFuture<'_, ()>;

    /// The time of its agents.
    fn now(&self) -> Time;

    /// Grows whenever something happens that may belong to an election.
    fn activity(&self) -> u64;

    /// Whether it is settled at this moment which agents lead.
    fn is_settled(&self) -> bool;

    /// The agents that may lead, the highest first.
    fn ranked(&self) -> Vec<AgentId>;

    /// Whether it has a list of voters that can be changed.
    fn has_voters(&self) -> bool;

    /// The run until now.
    fn run(&self, clock: RecordedClock) -> RecordedRun;

    /// Shows it as it is now, and what was recorded since the last time.
    fn show(&mut self, clock: ClockFacts, scenario: Option<&'static str>);
}

/// See the [module's page](self).
pub(super) struct ClusterPanel<E: Election> {
    cluster: Cluster<E>,
    board: Option<Arc<Board>>,
    /// The first entry of the record that has not been told.
    next_entry: u64,
    commands: RunCommands,
    causes: Vec<String>,
    /// What the election took that was over before the page began.
    before: Option<(Duration, u64)>,
    /// The last change of a leader that an election was told of.
    told: Option<Time>,
    /// The last one that the recording calls settled.
    recorded: Option<Time>,
    why: Vec<Reason>,
    why_at: (u64, Instant),
    wall: WallBegin,
}

impl<E: Election> ClusterPanel<E> {
    pub(super) fn new(cluster: Cluster<E>) -> Self {
        Self {
            cluster,
            board: None,
            next_entry: 0,
            commands: RunCommands::default(),
            causes: Vec::new(),
            before: None,
            told: None,
            recorded: None,
            why: Vec::new(),
            why_at: (u64::MAX, now()),
            wall: WallBegin::default(),
        }
    }

    /// Reads what was recorded since the last time.
    fn read(&mut self) -> Told {
        let mut told = Told::default();
        let commands = &mut self.commands;
        let is_first = self.next_entry == 0;
        let before = &mut self.before;
        self.next_entry = self.cluster.read_trace(self.next_entry, |entry| {
            told.add(entry);
            commands.add(entry);
            if let (
                true,
                What::Settled {
                    took_ns, messages, ..
                },
            ) = (is_first, &entry.what)
            {
                *before = Some((Duration::from_nanos(*took_ns), *messages));
            }
        });
        told
    }

    /// The election that is over, if one is since the last look.
    fn election(&mut self) -> Option<Said> {
        let believed = self.cluster.believed();
        if self.told == Some(believed) {
            return None;
        }
        let settled: Settled = self.cluster.settled_now().ok()?;
        self.told = Some(believed);
        let counted = (settled.took, settled.messages);
        let (took, messages) = self.before.take().unwrap_or(counted);
        Some(Said {
            at: self.cluster.now().since(Time::ZERO),
            what: Happened::Election {
                cause: joined(std::mem::take(&mut self.causes)),
                leaders: settled.leaders().cloned().collect(),
                took,
                messages,
            },
        })
    }

    fn why(&mut self, is_paused: bool) -> Vec<Reason> {
        let activity = self.cluster.activity();
        let (last, at) = self.why_at;
        let is_due = at.elapsed() >= WHY_EACH;
        if is_due && (last != activity || !is_paused) || self.why.is_empty() {
            let is_over = self.told == Some(self.cluster.believed());
            self.why = facts::why(&self.cluster, is_over);
            self.why_at = (activity, now());
        }
        self.why.clone()
    }
}

impl<E: Election> StagePanel for ClusterPanel<E> {
    fn appear(&mut self, board: &Arc<Board>, election: Option<String>) {
        board.set_head(|head| {
            head.title = format!("{} agents", self.cluster.sights().count());
            head.election = election.or_else(|| head.election.take());
        });
        self.board = Some(Arc::clone(board));
    }

    fn apply<'a>(
        &'a mut self,
        command: &'a RecordedCommand,
    ) -> LocalBoxFuture<'a, Result<(), ClusterError>> {
        Box::pin(self.cluster.apply(command))
    }

    fn settle(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            let believed = self.cluster.believed();
            if self.recorded == Some(believed) || self.cluster.settled_now().is_err() {
                return;
            }
            // As whoever tests a cluster would: a test that is made of the run asserts it there.
            if self.cluster.settle().await.is_ok() {
                self.recorded = Some(believed);
            }
        })
    }

    fn now(&self) -> Time {
        self.cluster.now()
    }

    fn activity(&self) -> u64 {
        self.cluster.activity()
    }

    fn is_settled(&self) -> bool {
        self.cluster.settled_now().is_ok()
    }

    fn ranked(&self) -> Vec<AgentId> {
        facts::ranked(&self.cluster)
    }

    fn has_voters(&self) -> bool {
        self.cluster.voters_epoch().is_some()
    }

    fn run(&self, clock: RecordedClock) -> RecordedRun {
        let election = self.board.as_ref().and_then(|board| board.head().election);
        let mut whole = self.cluster.recording(&election.unwrap_or_default());
        whole.header_mut().clock = clock;
        let mut commands = self.commands.clone();
        self.cluster
            .read_trace(self.next_entry, |entry| commands.add(entry));
        commands.with(whole)
    }

    fn show(&mut self, clock: ClockFacts, scenario: Option<&'static str>) {
        let Told {
            mut said,
            more,
            causes,
            ..
        } = self.read();
        self.causes.extend(causes);
        said.extend(self.election());
        let at = self.cluster.now().since(Time::ZERO);
        let moment = PageMoment {
            // Virtual time has no hours.
            began_unix_ms: (!clock.is_virtual).then(|| self.wall.look(at)),
            clock,
            scenario,
            why: self.why(clock.paused),
            ..facts::moment(&self.cluster)
        };
        if let Some(board) = &self.board {
            board.publish(moment, said, more);
        }
    }
}

/// When it is looked anew why nothing is settled, though nothing happened: a diagnosis has spans in it.
const WHY_EACH: Duration = Duration::from_millis(500);
