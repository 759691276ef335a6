//! The kinds of faults, and how often each really happened.

use std::{fmt, str::FromStr};

use crate::sim::{Situation, Situations};

/// One kind of fault, or of a user's action that disturbs an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Messages are lost by bad luck.
    Loss,
    /// Messages arrive more than once.
    Duplication,
    /// Messages overtake each other.
    Reordering,
    /// Some messages are under way for much longer than the delay bound.
    LongDelay,
    /// Two sides that do not reach each other.
    Split,
    /// One way of a link is cut.
    OneWayCut,
    /// Two agents do not reach each other, and all others reach both.
    NonTransitiveCut,
    /// One agent is cut off from all others.
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
    /// An agent crashes right after a decisive message left it, or half of a broadcast.
    CrashAfterSend,
    /// An agent hangs right after a decisive message left it.
    PauseAfterSend,
    /// An agent is cut off right after a decisive message left it.
    IsolateAfterSend,
    /// An agent is told to hold an election.
    Campaign,
    /// An agent is told to hand the leadership over.
    StepDown,
    /// An agent crashes, and its disk is lost. Where the rules depend on it, no further incarnation begins.
    LostStorage,
    /// A message of before arrives once more.
    Replay,
    /// A message of an incarnation that has ended arrives once more.
    OldIncarnation,
    /// A message arrives from a stranger, or from another epoch.
    Forgery,
    /// Some lose a member that runs from their lists, and later it is there again in the same incarnation.
    Forgotten,
    /// An agent restarts with timings of its own, and the others keep theirs.
    OtherTimings,
    /// One agent after the other restarts with the same new timings.
    RollingChange,
    /// Several agents restart at the same moment, or all.
    Outage,
    /// An agent is asked for another list of voters.
    VoterChange,
    /// A message of before arrives once more, at a later incarnation of its receiver than was there then.
    LaterIncarnation,
    /// A second process of an agent begins beside the first one, with a new store, or with a present or earlier copy of
    /// its store.
    SecondProcess,
    /// A second process ends; the others mostly learn of that from another process, or from its sentinel.
    SecondEnds,
    /// An agent crashes and comes back with a new store under its old name, or with a backup.
    OtherStore,
    /// From now on an agent's disk needs time for each record.
    SlowDisk,
}

impl Fault {
    /// Every kind. New kinds come last, so that histories with faults by name stay as they are.
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

    /// Returns whether it can happen in every election: only the quorum election promises anything to
    /// members with different timings, changes its voters while it runs, tells stores apart or hears answers to a
    /// former incarnation, and only without disks is it more than several crashes that many restart at once. Only an election
    /// that keeps a record waits for a disk.
    #[must_use]
    pub const fn is_general(self) -> bool {
        !matches!(
            self,
            Self::OtherTimings | Self::RollingChange | Self::Outage | Self::VoterChange
        ) && !matches!(self, Self::LaterIncarnation | Self::SlowDisk)
            && !self.is_of_memory()
    }

    /// Returns whether it leaves a voter with two memories, or with another one than it had.
    #[must_use]
    pub const fn is_of_memory(self) -> bool {
        matches!(
            self,
            Self::SecondProcess | Self::SecondEnds | Self::OtherStore
        )
    }

    /// Returns whether it keeps messages from some agents for long, or for ever, and not from others.
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

    /// Returns whether it ends or holds up agents, with all that they have not written yet.
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

    /// Returns its name as one word, which can be read again: `one-way-cut`.
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

/// Reads the name that [`Display`](fmt::Display) writes, its words joined by hyphens.
///
/// ```
/// use actix_bully::testkit::sim::chaos::Fault;
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

/// No fault has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no fault is called {name}; there are: {}", all_names())]
pub struct UnknownFault {
    /// The given name.
    pub name: Box<str>,
}

fn all_names() -> String {
    Fault::ALL.map(Fault::hyphenated).join(", ")
}

/// Number of faults of each kind, and the situations of the agents that they met.
///
/// A cut counts when it ended and at least one message was lost to it. Loss, duplication, reordering and long delays
/// count messages, and meet the senders of these messages. The situation of an agent that returns or joins is taken
/// right after the fault; of an agent that receives a false message, at its arrival; of every other agent, right before
/// the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    counts: [u64; Fault::ALL.len()],
    met: [Situations; Fault::ALL.len()],
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            counts: [0; Fault::ALL.len()],
            met: [Situations::default(); Fault::ALL.len()],
        }
    }
}

impl Coverage {
    /// Returns the count of this fault.
    pub fn of(&self, fault: Fault) -> u64 {
        let mut all = self.iter();
        all.find(|(f, _)| *f == fault).map_or(0, |(_, count)| count)
    }

    /// Returns how often this fault met an agent in that situation.
    pub fn met(&self, fault: Fault, situation: Situation) -> u64 {
        let found = Fault::ALL.iter().zip(&self.met).find(|(f, _)| **f == fault);
        found.map_or(0, |(_, met)| met.of(situation))
    }

    /// Each kind of fault, and how often it happened.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.into_iter().zip(self.counts)
    }

    /// Adds the counts of another history.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine = mine.saturating_add(theirs);
        }
        for (mine, theirs) in self.met.iter_mut().zip(&other.met) {
            mine.add_all(theirs);
        }
    }

    pub(super) fn count(&mut self, fault: Fault, times: u64) {
        let found = Fault::ALL
            .iter()
            .zip(&mut self.counts)
            .find(|(f, _)| **f == fault);
        if let Some((_, count)) = found {
            *count = count.saturating_add(times);
        }
    }

    /// Notes the situations of the agents that a fault met.
    pub(super) fn meets(&mut self, fault: Fault, situations: &Situations) {
        let met = Fault::ALL.iter().zip(&mut self.met);
        if let Some((_, met)) = met.into_iter().find(|(f, _)| **f == fault) {
            met.add_all(situations);
        }
    }

    /// Counts a fault that met an agent in that situation.
    pub(super) fn hit(&mut self, fault: Fault, situation: Situation) {
        let mut situations = Situations::default();
        situations.add(situation);
        self.count(fault, 1);
        self.meets(fault, &situations);
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
        }
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
    fn whom_it_met_is_told_apart() {
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
