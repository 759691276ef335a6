//! The score that counts: the score that the user set last, unless the actor that the agent is tied to is gone.
//!
//! Decided here, without a clock or a runtime: which score counts, and the effect of a new tie. Not here: the watch
//! over the actor (`leader/tie.rs`), and the message to the agent (`handle.rs`).

use crate::protocol::Score;

/// Whether an agent may be elected, and with which score.
#[derive(Debug)]
pub(super) struct Eligibility {
    /// The score that the user set last.
    set: Option<Score>,
    tie: Tie,
    /// Number of times that the agent was tied to an actor. It is also the number of the newest tie.
    ties: u64,
}

/// Whether the actor that an agent is tied to still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// The actor runs, or the agent is not tied to an actor.
    Holds,
    /// The actor is gone.
    Broken,
}

/// The effect of a new tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewTie {
    /// The number of the tie, which no other tie of the agent has.
    pub(super) number: u64,
    /// Whether the new tie changes the score that counts.
    pub(super) is_update: bool,
}

impl Eligibility {
    /// Returns the state of an agent that is not tied.
    pub(super) fn new(score: Option<Score>) -> Self {
        Self {
            set: score,
            tie: Tie::Holds,
            ties: 0,
        }
    }

    /// Sets the user's score. The score is kept even if it does not count at present.
    pub(super) fn set_score(&mut self, score: Option<Score>) {
        self.set = score;
    }

    /// Ties the agent to another actor.
    pub(super) fn tie(&mut self, tie: Tie) -> NewTie {
        let is_update = self.tie != tie;
        self.tie = tie;
        self.ties += 1;
        NewTie {
            number: self.ties,
            is_update,
        }
    }

    /// Notes that the actor of the tie `number` is gone. Returns whether this changes the score that counts. If the
    /// agent has a newer tie, nothing changes.
    pub(super) fn break_tie(&mut self, number: u64) -> bool {
        let is_update = self.has_tie(number) && !self.is_broken();
        if is_update {
            self.tie = Tie::Broken;
        }
        is_update
    }

    pub(super) fn score(&self) -> Option<Score> {
        self.counting(self.set)
    }

    /// Returns the given score; `None` if no score counts at present, because the actor of the tie is gone.
    pub(super) fn counting(&self, score: Option<Score>) -> Option<Score> {
        score.filter(|_| !self.is_broken())
    }

    /// Returns whether the tie `number` is the newest tie of the agent.
    pub(super) fn has_tie(&self, number: u64) -> bool {
        self.ties == number
    }

    pub(super) fn is_broken(&self) -> bool {
        self.tie == Tie::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_score_counts_until_the_next_tie_which_gives_back_the_one_set_last() {
        let [seven, nine] = [7, 9].map(Score::from);
        let mut eligibility = Eligibility::new(Some(seven));
        let NewTie { number, .. } = eligibility.tie(Tie::Holds);
        assert!(eligibility.break_tie(number));
        eligibility.set_score(Some(nine));
        assert_eq!(eligibility.score(), None);
        assert!(eligibility.tie(Tie::Holds).is_update);
        assert_eq!(eligibility.score(), Some(nine));
    }

    #[test]
    fn only_the_newest_tie_can_break() {
        let mut eligibility = Eligibility::new(Some(Score::from(7)));
        let first = eligibility.tie(Tie::Holds);
        let second = eligibility.tie(Tie::Holds);
        assert!(!eligibility.break_tie(first.number) && !eligibility.is_broken());
        assert!(eligibility.has_tie(second.number) && !eligibility.has_tie(first.number));
        assert!(eligibility.break_tie(second.number) && eligibility.is_broken());
        assert!(
            !eligibility.tie(Tie::Broken).is_update,
            "nothing counts still"
        );
    }
}
