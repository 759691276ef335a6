//! The kinds of faults, and how often each kind really happened.

use std::{collections::BTreeMap, fmt, str::FromStr};

use crate::sim::{Situation, Situations};

/// One kind of fault, or of a user's action that disturbs an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Messages are lost by chance.
    Loss,
    /// Messages arrive more than once.
    Duplication,
    /// Messages overtake each other.
    Reordering,
    /// Some messages are on their way for much longer than the delay bound.
    LongDelay,
    /// Two sides cannot reach each other.
    Split,
    /// One direction of a link is cut.
    OneWayCut,
    /// Two agents cannot reach each other, but all other agents reach both.
    NonTransitiveCut,
    /// One agent is cut off from all other agents.
    Isolation,
    /// An agent crashes.
    Crash,
    /// A crashed agent begins its next incarnation.
    Restart,
    /// An agent hangs for a while.
    Pause,
    /// An agent's clock runs fast or slow.
    ClockRate,
    /// Timers fire late.
    LateTimers,
    /// An agent's score changes, or it cannot be elected.
    ScoreChange,
    /// A new agent takes part, or an agent that left takes part again.
    Join,
    /// A member leaves.
    Leave,
    /// An agent crashes right after it has sent a decisive message, or after only some receivers of a message to all.
    CrashAfterSend,
    /// An agent hangs right after it has sent a decisive message.
    PauseAfterSend,
    /// An agent is cut off right after it has sent a decisive message.
    IsolateAfterSend,
    /// An agent gets the command to hold an election.
    Campaign,
    /// An agent gets the command to hand the leadership over.
    StepDown,
    /// An agent crashes, and its disk is lost. If the rules depend on the disk, no further incarnation begins.
    LostStorage,
    /// An earlier message arrives once more.
    Replay,
    /// A message of an incarnation that has ended arrives once more.
    OldIncarnation,
    /// A message arrives from an agent that does not exist, or from another epoch.
    Forgery,
    /// Some agents lose a running member from their lists. Later the member is in the lists again, in the same
    /// incarnation.
    Forgotten,
    /// An agent restarts with timings of its own, and the other agents keep their timings.
    OtherTimings,
    /// One agent after the other restarts with the same new timings.
    RollingChange,
    /// Several agents, or all, restart at the same moment.
    Outage,
    /// An agent is asked for another list of voters.
    VoterChange,
    /// An earlier message arrives once more, at a later incarnation of its receiver than the incarnation that was up
    /// when the message left.
    LaterIncarnation,
    /// A second process of an agent begins beside the first process, with a new store, or with a present or earlier
    /// copy of the agent's store.
    SecondProcess,
    /// A second process ends. Usually the other agents learn of the end from another process, or from a sentinel.
    SecondEnds,
    /// An agent crashes and restarts with a new store under its old name, or with a backup.
    OtherStore,
    /// An agent's disk needs time for each record from now on.
    SlowDisk,
}

impl Fault {
    /// Every kind. New kinds are added at the end, so that recorded histories with the names of faults do not change.
    pub const ALL: [Self; 35] = [
        Self::Loss,
        Self::Duplication,
        Self::Reordering,
        Self::LongDelay,
        Self::Split,
        Self::OneWayCut,
        Self::NonTransitiveCut,
        Self::Isolation,
        Self::Crash,
        Self::Restart,
        Self::Pause,
        Self::ClockRate,
        Self::LateTimers,
        Self::ScoreChange,
        Self::Join,
        Self::Leave,
        Self::CrashAfterSend,
        Self::PauseAfterSend,
        Self::IsolateAfterSend,
        Self::Campaign,
        Self::StepDown,
        Self::LostStorage,
        Self::Replay,
        Self::OldIncarnation,
        Self::Forgery,
        Self::Forgotten,
        Self::OtherTimings,
        Self::RollingChange,
        Self::Outage,
        Self::VoterChange,
        Self::LaterIncarnation,
        Self::SecondProcess,
        Self::SecondEnds,
        Self::OtherStore,
        Self::SlowDisk,
    ];

    /// Returns whether this fault can happen in every election. Some faults concern only the quorum election: members
    /// with different timings, voters that change, a voter whose store was replaced, answers to a former incarnation.
    /// An outage (all agents crash at once) is more than several crashes only for voters without disks. A slow disk
    /// concerns only an election with a record.
    #[must_use]
    pub const fn is_general(self) -> bool {
        !matches!(
            self,
            Self::OtherTimings | Self::RollingChange | Self::Outage | Self::VoterChange
        ) && !matches!(self, Self::LaterIncarnation | Self::SlowDisk)
            && !self.is_of_memory()
    }

    /// Returns whether this fault gives the name of a voter two stores, or replaces its store.
    #[must_use]
    pub const fn is_of_memory(self) -> bool {
        matches!(
            self,
            Self::SecondProcess | Self::SecondEnds | Self::OtherStore
        )
    }

    /// Returns whether this fault stops or delays messages from some agents only.
    pub(super) const fn is_of_reach(self) -> bool {
        matches!(
            self,
            Self::Loss
                | Self::LongDelay
                | Self::Split
                | Self::OneWayCut
                | Self::NonTransitiveCut
                | Self::Isolation
                | Self::IsolateAfterSend
                | Self::Forgotten
        )
    }

    /// Returns whether this fault ends agents or makes them hang, so that data that they have not written yet are
    /// lost or late.
    pub(super) const fn is_of_peers(self) -> bool {
        matches!(
            self,
            Self::Leave
                | Self::Pause
                | Self::CrashAfterSend
                | Self::PauseAfterSend
                | Self::LostStorage
                | Self::RollingChange
        )
    }

    /// Returns the name as one word, which can be parsed again: `one-way-cut`.
    #[must_use]
    pub fn hyphenated(self) -> String {
        self.to_string().replace(' ', "-")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Loss => "loss",
            Self::Duplication => "duplication",
            Self::Reordering => "reordering",
            Self::LongDelay => "long delay",
            Self::Split => "split",
            Self::OneWayCut => "one-way cut",
            Self::NonTransitiveCut => "non-transitive cut",
            Self::Isolation => "isolation",
            Self::Crash => "crash",
            Self::Restart => "restart",
            Self::Pause => "pause",
            Self::ClockRate => "clock rate",
            Self::LateTimers => "late timers",
            Self::ScoreChange => "score change",
            Self::Join => "join",
            Self::Leave => "leave",
            Self::CrashAfterSend => "crash after send",
            Self::PauseAfterSend => "pause after send",
            Self::IsolateAfterSend => "isolation after send",
            Self::Campaign => "campaign",
            Self::StepDown => "step down",
            Self::LostStorage => "lost storage",
            Self::Replay => "replay",
            Self::OldIncarnation => "old incarnation",
            Self::Forgery => "forgery",
            Self::Forgotten => "forgotten",
            Self::OtherTimings => "other timings",
            Self::RollingChange => "rolling change",
            Self::Outage => "outage",
            Self::VoterChange => "voter change",
            Self::LaterIncarnation => "later incarnation",
            Self::SecondProcess => "second process",
            Self::SecondEnds => "second ends",
            Self::OtherStore => "other store",
            Self::SlowDisk => "slow disk",
        })
    }
}

/// Parses the name that [`Display`](fmt::Display) writes, with hyphens between its words.
///
/// ```
/// use bully_sim::sim::chaos::Fault;
/// assert_eq!("one-way-cut".parse(), Ok(Fault::OneWayCut));
/// assert!("cut".parse::<Fault>().unwrap_err().to_string().starts_with("no fault is called cut"));
/// ```
impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.into_iter().find(|f| f.hyphenated() == name);
        found.ok_or_else(|| UnknownFault { name: name.into() })
    }
}

/// The error for a name that no fault has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("no fault is called {name}: choose one of {}", all_names())]
pub struct UnknownFault {
    /// The given name.
    pub name: Box<str>,
}

debug_is_text!(UnknownFault);

fn all_names() -> String {
    Fault::ALL.map(Fault::hyphenated).join(", ")
}

/// Number of faults of each kind, and the situations of the agents that the faults affected.
///
/// A cut counts when it has ended and at least one message was lost to it. Loss, duplication, reordering and long
/// delays count messages, and affect the senders of these messages. The situation of an agent that returns or joins is
/// taken right after the fault. The situation of the receiver of a false message is taken when the message arrives. For
/// every other agent it is taken right before the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<Fault, (u64, Situations)>);

impl Coverage {
    /// Returns the number of faults of this kind.
    pub fn of(&self, fault: Fault) -> u64 {
        self.0.get(&fault).map_or(0, |(count, _)| *count)
    }

    /// Returns how often this fault affected an agent in this situation.
    pub fn met(&self, fault: Fault, situation: Situation) -> u64 {
        self.0.get(&fault).map_or(0, |(_, met)| met.of(situation))
    }

    /// Returns each kind of fault, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.into_iter().map(|fault| (fault, self.of(fault)))
    }

    /// Adds the numbers of another history.
    pub fn add(&mut self, other: &Self) {
        for (fault, (count, met)) in &other.0 {
            self.count(*fault, *count);
            self.meets(*fault, met);
        }
    }

    pub(super) fn count(&mut self, fault: Fault, times: u64) {
        let (count, _) = self.0.entry(fault).or_default();
        *count = count.saturating_add(times);
    }

    /// Notes the situations of the agents that a fault affected.
    pub(super) fn meets(&mut self, fault: Fault, situations: &Situations) {
        self.0.entry(fault).or_default().1.add_all(situations);
    }

    /// Counts a fault that affected an agent in this situation.
    pub(super) fn hit(&mut self, fault: Fault, situation: Situation) {
        self.count(fault, 1);
        self.0.entry(fault).or_default().1.add(situation);
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (fault, count)) in self.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{fault} {count}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_it_is_written() {
        for fault in Fault::ALL {
            assert_eq!(fault.hyphenated().parse(), Ok(fault));
            let unknown = UnknownFault { name: "cut".into() };
            assert!(unknown.to_string().contains(&fault.hyphenated()));
        }
    }

    #[test]
    fn agents_are_called_a_to_z_and_then_by_numbers() {
        let names = [0, 25, 26].map(|number| super::super::name(number).unwrap());
        assert_eq!(names, ["a", "z", "n26"]);
    }

    #[test]
    fn counts_add_up_by_kind() {
        let mut coverage = Coverage::default();
        for fault in Fault::ALL {
            coverage.count(fault, 1);
        }
        coverage.count(Fault::StepDown, 2);
        coverage.add(&coverage.clone());
        assert_eq!(
            (coverage.of(Fault::Loss), coverage.of(Fault::StepDown)),
            (2, 6)
        );
        assert!(coverage.to_string().contains("campaign 2, step down 6, "));
    }

    #[test]
    fn faults_are_counted_by_situation() {
        let mut coverage = Coverage::default();
        let [here, there, ..] = Situation::ALL;
        coverage.hit(Fault::Crash, here);
        coverage.hit(Fault::Crash, there);
        coverage.hit(Fault::Pause, there);
        coverage.add(&coverage.clone());
        assert_eq!(coverage.of(Fault::Crash), 4);
        assert_eq!(coverage.met(Fault::Crash, here), 2);
        assert_eq!(coverage.met(Fault::Pause, here), 0);
    }
}
