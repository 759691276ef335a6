//! What all agents of a simulated history have in common: the plan, and what happened to the ticks.
//!
//! Decided here: what breaks a history. The agents: `app.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::super::{
    due::Every,
    interface::DueTick,
    lists::{QuorumList, VoterLists},
    planner::Misfire,
    poll::Audience,
};
use crate::{clock::WallTime, protocol::AgentId};

/// A rule of schedules that is not kept, to see that these histories find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// An agent acknowledges what a restart forgets.
    ForgetsRecord,
    /// A tick begins when the leader alone knows of it.
    WritesToTooFew,
    /// A new leader asks itself alone.
    ReadsTooFew,
    /// Two: a leader goes on for two seconds after it has lost its leadership, and every leader is obeyed.
    ObeysFormerLeaders,
}

/// Where due times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Rule,
    /// Each agent is told the same times, sooner or later than others.
    Stream,
}

/// How a schedule is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) misfire: Misfire,
    pub(super) source: Source,
    pub(super) flaw: Option<Flaw>,
}

/// What all agents of a history know, and the checker.
#[derive(Clone, Debug)]
pub(super) struct Office {
    pub(super) plan: Plan,
    pub(super) voters: Arc<BTreeSet<AgentId>>,
    book: Arc<Mutex<Book>>,
}

/// What happened to the ticks of a history.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) begun: BTreeMap<WallTime, u32>,
    pub(super) done: BTreeSet<WallTime>,
    pub(super) late: u32,
    pub(super) repeated: u32,
    pub(super) misordered: u64,
    /// The due times after this one are the schedule's.
    pub(super) origin: Option<WallTime>,
    pub(super) broken: Option<String>,
}

impl Plan {
    /// Between two ticks: longer than "on time" where being late is in question.
    pub(super) fn every(self) -> Every {
        let millis = match self.misfire {
            Misfire::Late { .. } => 1_700,
            Misfire::Skip | Misfire::AtLeastOnce => 300,
        };
        Every::new(Duration::from_millis(millis)).unwrap()
    }
}

impl Office {
    pub(super) fn new(plan: Plan, voters: impl IntoIterator<Item = AgentId>) -> Self {
        Self {
            plan,
            voters: Arc::new(voters.into_iter().collect()),
            book: Arc::default(),
        }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn audience(&self) -> Audience {
        let majority = self.voters.len() / 2 + 1;
        let few = |flaw| {
            let is_few = self.plan.flaw == Some(flaw);
            if is_few { 1 } else { majority }
        };
        Audience::Voters(VoterLists::only(QuorumList {
            voters: BTreeSet::clone(&self.voters),
            read: few(Flaw::ReadsTooFew),
            write: few(Flaw::WritesToTooFew),
        }))
    }

    /// Notes a tick that begins.
    pub(super) fn begin(&self, id: &AgentId, tick: DueTick, wall: WallTime) {
        let mut book = self.book();
        let times = book.begun.entry(tick.due).or_default();
        *times += 1;
        let (due, is_again) = (tick.due, *times > 1);
        book.late += u32::from(tick.is_late);
        book.repeated += u32::from(is_again);
        let what = match self.plan.misfire {
            _ if !self.plan.misfire.admits(due, wall) => "begins too late",
            Misfire::AtLeastOnce if is_again && !tick.is_repeat => {
                "does not say that it is repeated"
            }
            Misfire::Skip | Misfire::Late { .. } if is_again => "begins twice",
            Misfire::Skip | Misfire::Late { .. } | Misfire::AtLeastOnce => return,
        };
        book.broken
            .get_or_insert_with(|| format!("{due} {what} at {id}, by its clock {wall}"));
    }
}
