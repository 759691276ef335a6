//! What an agent believes, as its users read it.

use crate::protocol::{AgentId, Incarnation, Leader, Role, Term, View};

/// An agent's state at one moment; see [`ElectionHandle::current`](super::ElectionHandle::current).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Status {
    /// Whether the agent is there at all.
    pub life: Life,
    /// Its present or last life.
    pub incarnation: Incarnation,
    /// What it is doing.
    pub role: Role,
    /// The term of the leader that it follows or is; without one, the highest that it has seen.
    pub term: Term,
    /// Whom it follows, or itself.
    pub leader: Option<Leader>,
    /// The term in which it leads, if it does.
    pub leading: Option<Term>,
    /// Whether its work has to end, because it hands over.
    pub draining: bool,
    /// How often the work of a [`lead`](super::ElectionHandle::lead) has panicked, in all lives.
    pub work_panics: u32,
}

/// Whether an agent is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Life {
    /// It runs, or is about to.
    #[default]
    Runs,
    /// It crashed, and may be restarted.
    Down,
    /// It left or ended for good.
    Ended,
}

impl Status {
    pub(super) fn new(incarnation: Incarnation) -> Self {
        Self {
            life: Life::Runs,
            incarnation,
            role: Role::Follower,
            term: Term::ZERO,
            leader: None,
            leading: None,
            draining: false,
            work_panics: 0,
        }
    }

    /// Takes over what a machine believes; says whether that is news.
    pub(super) fn show(&mut self, view: &View) -> bool {
        let View {
            role, term, leader, ..
        } = view;
        let is_news = (self.role, self.term, self.leading) != (*role, *term, view.leading)
            || self.leader != *leader;
        if is_news {
            (self.role, self.term, self.leading) = (*role, *term, view.leading);
            self.leader.clone_from(leader);
        }
        is_news
    }

    /// Takes the leadership back.
    pub(super) fn withdraw(&mut self) {
        self.role = Role::Follower;
        self.leader = None;
        self.leading = None;
        self.draining = false;
    }

    /// The same without a leadership of `id` itself, whose belief has run out.
    pub(super) fn without_own(mut self, id: &AgentId) -> Self {
        if self.leading.is_some() || self.leader.as_ref().is_some_and(|l| l.id == *id) {
            self.withdraw();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::Time;

    use super::*;

    fn follows(name: &str) -> View {
        View {
            role: Role::Follower,
            term: Term::ZERO,
            leader: Some(Leader {
                id: name.parse().expect("a name"),
                incarnation: Incarnation(1),
                term: Term::ZERO,
            }),
            leading: None,
            valid_until: Time::ZERO,
        }
    }

    #[test]
    fn another_leader_alone_is_news_and_the_same_one_is_not() {
        let mut status = Status::new(Incarnation(1));
        for name in ["x", "y"] {
            assert!(status.show(&follows(name)));
            assert!(!status.show(&follows(name)));
            assert_eq!(status.leader, follows(name).leader);
        }
    }

    #[test]
    fn a_belief_that_ran_out_hides_an_own_leadership_only() {
        let mut status = Status::new(Incarnation(1));
        status.show(&follows("x"));
        let [x, y] = ["x", "y"].map(|name| name.parse().expect("a name"));
        assert_eq!(status.clone().without_own(&y).leader, status.leader);
        assert_eq!(status.without_own(&x).leader, None);
    }
}
