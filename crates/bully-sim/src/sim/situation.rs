//! The situation of an agent when a fault happened to it.
//!
//! Decided here: which situations are distinguished, to show that faults happened in all of them.

use std::fmt;

use bully_core::protocol::{Role, View};

/// The situation of an agent when an event happened to it: its role, and whether it knew a leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Situation {
    /// The role of the agent.
    pub role: Role,
    /// Whether the agent followed a leader, or led.
    pub has_leader: bool,
}

impl Situation {
    /// All situations, including situations that an election cannot reach.
    pub const ALL: [Self; 8] = [
        Self::new(Role::Follower, false),
        Self::new(Role::Follower, true),
        Self::new(Role::Candidate, false),
        Self::new(Role::Candidate, true),
        Self::new(Role::Waiting, false),
        Self::new(Role::Waiting, true),
        Self::new(Role::Leader, false),
        Self::new(Role::Leader, true),
    ];

    /// Returns the situation with this role, with or without a leader.
    pub const fn new(role: Role, has_leader: bool) -> Self {
        Self { role, has_leader }
    }

    pub(super) const fn of(view: &View) -> Self {
        Self::new(view.role, view.leader.is_some())
    }

    /// Returns the index of the situation in [`ALL`](Self::ALL).
    const fn index(self) -> usize {
        let role = match self.role {
            Role::Follower => 0,
            Role::Candidate => 2,
            Role::Waiting => 4,
            Role::Leader => 6,
        };
        if self.has_leader { role + 1 } else { role }
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leader = if self.has_leader { "with" } else { "without" };
        write!(f, "{} {leader} a leader", self.role)
    }
}

/// The number of events for each situation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Situations([u64; Situation::ALL.len()]);

impl Situations {
    /// Returns the number for this situation.
    pub fn of(&self, situation: Situation) -> u64 {
        self.0.get(situation.index()).copied().unwrap_or(0)
    }

    /// Returns the sum of all situations.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(in crate::sim) fn add(&mut self, situation: Situation) {
        if let Some(count) = self.0.get_mut(situation.index()) {
            *count = count.saturating_add(1);
        }
    }

    pub(in crate::sim) fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine.saturating_add(theirs);
        }
    }

    /// Returns the numbers since `before`.
    pub(in crate::sim) fn since(&self, before: &Self) -> Self {
        let mut since = *self;
        for (now, before) in since.0.iter_mut().zip(before.0) {
            *now = now.saturating_sub(before);
        }
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_situation_has_an_index_of_its_own() {
        let mut counts = Situations::default();
        for (index, situation) in Situation::ALL.into_iter().enumerate() {
            assert_eq!(situation.index(), index);
            counts.add(situation);
        }
        counts.add(Situation::new(Role::Leader, true));
        let twice = counts;
        counts.add_all(&twice);
        assert_eq!(counts.total(), 18);
        assert_eq!(counts.since(&twice), twice);
        assert_eq!(counts.of(Situation::new(Role::Leader, true)), 4);
        let text = Situation::new(Role::Waiting, false).to_string();
        assert_eq!(text, "waiting without a leader");
    }
}
