//! The state of an agent, as its users read it. `status_json.rs` writes it for other programs.

use crate::protocol::{About, AgentId, Incarnation, Leader, Role, Term};

/// An agent's state at one moment; see [`ElectionHandle::current`](super::ElectionHandle::current).
///
/// As JSON the fields have the names below; terms and incarnations are text, because they may exceed 2^53.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Status {
    /// Whether the agent runs.
    pub lifecycle: Lifecycle,
    /// The present incarnation of the agent, or its last one.
    pub incarnation: Incarnation,
    /// The role of the agent in the election.
    pub role: Role,
    /// The term of the agent's leader, or of its own leadership. Without a leader, the highest term that the agent has
    /// seen.
    pub term: Term,
    /// The leader that the agent follows, or the agent itself.
    pub leader: Option<Leader>,
    /// The `about` text of the leader.
    pub leader_about: Option<About>,
    /// The term in which the agent leads, if it does.
    pub leading: Option<Term>,
    /// Whether the agent leads and hands over, so that its work has to end.
    pub draining: bool,
    /// Number of panics of the work of a [`lead`](super::ElectionHandle::lead), in all incarnations.
    pub work_panics: u32,
    /// Number of times that the agent stepped down because its work reported no [progress](super::Progress) for too
    /// long, in all incarnations.
    pub work_stalls: u32,
    /// Whether the actor that the agent is [tied to](super::ElectionHandle::tie_to) is gone. Then the agent is not
    /// eligible.
    pub tie_broken: bool,
}

/// Whether an agent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lifecycle {
    /// The agent runs, or is about to run.
    #[default]
    Running,
    /// The agent crashed, and may be restarted.
    Down,
    /// The agent left or ended for good.
    Ended,
}

impl Status {
    /// Returns the same status without the leadership of the agent `id`, for a leadership that has run out.
    pub(super) fn without_own(mut self, id: &AgentId) -> Self {
        if self.leading.is_some() || self.leader.as_ref().is_some_and(|l| l.id == *id) {
            self.role = Role::Follower;
            self.leader = None;
            self.leader_about = None;
            self.leading = None;
            self.draining = false;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leadership_that_ran_out_hides_an_own_leadership_only() {
        let [x, y] = ["x", "y"].map(|name| name.parse().expect("a name"));
        let status = Status {
            lifecycle: Lifecycle::Running,
            incarnation: Incarnation(1),
            role: Role::Follower,
            term: Term::ZERO,
            leader: Some(Leader {
                id: AgentId::clone(&x),
                incarnation: Incarnation(1),
                term: Term::ZERO,
            }),
            leader_about: About::new("of x").ok(),
            leading: None,
            draining: false,
            work_panics: 0,
            work_stalls: 0,
            tie_broken: false,
        };
        assert_eq!(status.clone().without_own(&y), status);
        let without = status.without_own(&x);
        assert_eq!((without.leader, without.leader_about), (None, None));
    }
}
