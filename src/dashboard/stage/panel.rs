//! One cluster of a stage, and the board that shows it.
//!
//! Decided here: how the state of a cluster is read and shown, for any election. A stage has one panel, or two that get
//! the same commands. Not here: when each action happens (`play.rs`), and the facts about an agent (`facts.rs`).

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::LocalBoxFuture;

use super::{
    facts,
    link::StageError,
    pace::now,
    run::{RunCommands, is_given},
};
use crate::{
    dashboard::{
        board::Board,
        copies::RecordedRun,
        entries::Told,
        head::{GoesOnFrom, Head},
        hours::WallBegin,
        log::PageLog,
        moment::{ClockFacts, PageMoment, Reason},
        said::{Happened, Said, joined},
    },
    protocol::{AgentId, Election, Time},
    record::{Header, RecordedClock, RecordedCommand, TraceEntry, What},
    testkit::{
        cluster::{Cluster, ClusterError, Settled},
        faults::Conditions,
    },
};

/// A cluster of any election, as the stage uses it.
pub(super) trait StagePanel {
    /// Shows the cluster on the board, with the name of its election. If `election` is `None`, the board keeps the
    /// present name.
    fn appear(&mut self, board: &Arc<Board>, election: Option<String>, run: u64);

    /// Applies a command to the cluster.
    fn apply<'a>(
        &'a mut self,
        command: &'a RecordedCommand,
    ) -> LocalBoxFuture<'a, Result<(), ClusterError>>;

    /// Adds the note that the leadership is settled to the recording, if it is settled and the note was not added yet.
    fn settle(&mut self) -> LocalBoxFuture<'_, ()>;

    /// Returns the present time by the agents' clock.
    fn now(&self) -> Time;

    /// Returns a counter that grows with every event that may belong to an election.
    fn activity(&self) -> u64;

    /// Returns whether the leadership is settled at this moment.
    fn is_settled(&self) -> bool;

    /// Returns the agents that may lead, the highest first.
    fn ranked(&self) -> Vec<AgentId>;

    /// Returns whether the election has a list of voters that can be changed.
    fn has_voters(&self) -> bool;

    /// Returns the number of commands that were given to the cluster so far.
    fn given(&self) -> u64;

    /// Returns the run so far.
    fn run(&self, clock: RecordedClock) -> RecordedRun;

    /// Returns a panel with new agents, which its board does not show yet. The new agents begin like the agents of the
    /// recorded run, or without a header like the agents of the present run.
    fn begin_again(&self, recorded: Option<&Header>) -> Result<Box<dyn StagePanel>, StageError>;

    /// Gives the commands of an earlier run to the agents, each at its moment, until the time `until`.
    fn repeat<'a>(
        &'a mut self,
        commands: &'a [TraceEntry],
        until: Time,
    ) -> LocalBoxFuture<'a, Result<(), ClusterError>>;

    /// Shows the agents, which now continue from a moment of an earlier run.
    fn go_on(&mut self, clock: ClockFacts, run: u64, from: GoesOnFrom, given: &[u64]);

    /// Shows the present moment, and the log entries since the last call.
    fn show(&mut self, clock: ClockFacts, scenario: Option<&'static str>, given: &[u64]);
}

pub(super) struct ClusterPanel<E: Election> {
    cluster: Cluster<E>,
    /// The beginning of the cluster's run.
    begun: Header,
    board: Option<Arc<Board>>,
    /// Number of the first entry of the trace that has not been read.
    next_entry: u64,
    commands: RunCommands,
    causes: Vec<String>,
    /// Duration and messages of the election that had ended before the page was shown.
    before: Option<(Duration, u64)>,
    /// The time of the last change of leaders for which the log has an entry.
    told: Option<Time>,
    /// The time of the last change of leaders after which the recording has noted a settled leadership.
    recorded: Option<Time>,
    why: Vec<Reason>,
    /// The reason why the leadership is not settled, and the count of activity at which it was found.
    unsettled: Option<Reason>,
    unsettled_at: Option<u64>,
    why_at: (u64, Instant),
    wall: WallBegin,
    /// The page's log of a run that is being repeated.
    again: PageLog,
}

impl<E: Election> ClusterPanel<E> {
    pub(super) fn new(cluster: Cluster<E>) -> Self {
        Self {
            begun: cluster.recording("").header().clone(),
            cluster,
            board: None,
            next_entry: 0,
            commands: RunCommands::default(),
            causes: Vec::new(),
            before: None,
            told: None,
            recorded: None,
            why: Vec::new(),
            unsettled: None,
            unsettled_at: None,
            why_at: (u64::MAX, now()),
            wall: WallBegin::default(),
            again: PageLog::default(),
        }
    }

    /// Reads the trace entries since the last call.
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

    /// Reads the trace entries since the last call, while a run is repeated.
    fn read_again(&mut self) {
        let mut told = Told::default();
        let (commands, causes) = (&mut self.commands, &mut self.causes);
        self.next_entry = self.cluster.read_trace(self.next_entry, |entry| {
            told.follow(entry, causes);
            commands.add(entry);
        });
        self.again.add(told.said);
    }

    /// Lets time pass until `at`. Reads the trace meanwhile, because the trace forgets its oldest entries.
    async fn pass_until(&mut self, at: Time) {
        loop {
            let next = self.cluster.now().after(READ_EACH);
            self.cluster.wait_until(next.min(at)).await;
            self.read_again();
            if self.cluster.now() >= at {
                return;
            }
        }
    }

    /// Checks that the agents of this cluster began like the agents of a recorded run.
    fn must_begin_as(&self, recorded: &Header) -> Result<(), StageError> {
        // Timings are checked first: if only the agents differ, the caller of the stage can start the right agents.
        let checks = [
            ("timings", self.begun.timings_ns == recorded.timings_ns),
            ("agents", self.begun.agents == recorded.agents),
        ];
        let wrong = checks.into_iter().find(|(_, is_same)| !is_same);
        wrong.map_or(Ok(()), |(what, _)| Err(StageError::OtherBeginning { what }))
    }

    fn moment(&mut self, clock: ClockFacts, given: &[u64]) -> PageMoment {
        let at = self.cluster.now().since(Time::ZERO);
        PageMoment {
            // A run in virtual time has no time of day.
            began_unix_ms: (!clock.is_virtual).then(|| self.wall.look(at)),
            clock,
            why: self.why(clock.paused),
            given: given.to_vec(),
            ..facts::moment(&self.cluster)
        }
    }

    /// Returns the entry for an election that has ended since the last call; `None` if no election has ended.
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
        let is_due = at.elapsed() >= WHY_EACH && (last != activity || !is_paused);
        // The reason is also computed again after each activity, because an election may be shorter than the interval.
        if is_due || self.unsettled_at != Some(activity) {
            let is_over = self.told == Some(self.cluster.believed());
            self.unsettled = facts::unsettled(&self.cluster, is_over);
            self.unsettled_at = Some(activity);
        }
        if is_due || self.why.is_empty() {
            self.why = facts::why(&self.cluster);
            self.why_at = (activity, now());
        }
        self.unsettled.iter().chain(&self.why).cloned().collect()
    }
}

impl<E: Election> StagePanel for ClusterPanel<E> {
    fn appear(&mut self, board: &Arc<Board>, election: Option<String>, run: u64) {
        board.set_head(|head| {
            head.title = format!("{} agents", self.cluster.sights().count());
            head.election = election.or_else(|| head.election.take());
            (head.run, head.from) = (run, None);
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
            // The settled leadership is recorded, because a test that is exported from this run checks the leaders at
            // this point.
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

    fn given(&self) -> u64 {
        let mut given = self.commands.given();
        let count = |entry: &TraceEntry| given = given.saturating_add(is_given(entry).into());
        self.cluster.read_trace(self.next_entry, count);
        given
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

    fn begin_again(&self, recorded: Option<&Header>) -> Result<Box<dyn StagePanel>, StageError> {
        let mut cluster = self.cluster.begun();
        if let Some(recorded) = recorded {
            self.must_begin_as(recorded)?;
            cluster = cluster.seed(recorded.seed);
            if let Some(network) = recorded.network {
                let network = Conditions::try_from(network).map_err(ClusterError::from)?;
                cluster = cluster.network(network);
            }
        }
        let mut panel = Self::new(cluster.start()?);
        panel.board.clone_from(&self.board);
        Ok(Box::new(panel))
    }

    fn repeat<'a>(
        &'a mut self,
        commands: &'a [TraceEntry],
        until: Time,
    ) -> LocalBoxFuture<'a, Result<(), ClusterError>> {
        Box::pin(async move {
            for entry in commands {
                let What::Command(command) = &entry.what else {
                    continue;
                };
                self.pass_until(entry.at).await;
                self.cluster.apply_again(command).await?;
            }
            self.pass_until(until).await;
            Ok(())
        })
    }

    fn go_on(&mut self, clock: ClockFacts, run: u64, from: GoesOnFrom, given: &[u64]) {
        self.read_again();
        let believed = self.cluster.believed();
        if self.commands.settled() >= Some(believed) {
            (self.told, self.recorded) = (Some(believed), Some(believed));
        }
        let moment = self.moment(clock, given);
        let log = std::mem::take(&mut self.again);
        if let Some(board) = &self.board {
            let change = |head: &mut Head| (head.run, head.from) = (run, Some(from));
            board.begin(change, moment, log);
        }
    }

    fn show(&mut self, clock: ClockFacts, scenario: Option<&'static str>, given: &[u64]) {
        let Told {
            mut said,
            more,
            causes,
            ..
        } = self.read();
        self.causes.extend(causes);
        said.extend(self.election());
        let moment = PageMoment {
            scenario,
            ..self.moment(clock, given)
        };
        if let Some(board) = &self.board {
            board.publish(moment, said, more);
        }
    }
}

/// Longest time of the agents between two readings of the trace, while a run is repeated.
const READ_EACH: Duration = Duration::from_secs(1);
/// Interval at which explanations are updated even if nothing happened, because a diagnosis contains durations.
const WHY_EACH: Duration = Duration::from_millis(500);
