//! Decides whether a child is restarted or given up, by the number of its failures within the window. The caller gives
//! the time `now`.
//!
//! Decided here: the consequence of a failure. Not here: the kinds of failures and the time (`guardian.rs`), the
//! numbers (`policy.rs`).

use std::time::Duration;

use super::policy::RestartPolicy;

/// The failures of a child within the window of its policy. Their number decides the number of restarts that are left.
#[derive(Debug)]
pub(crate) struct RestartBudget {
    policy: RestartPolicy,
    failures: Vec<Duration>,
}

impl RestartBudget {
    pub(crate) fn new(policy: RestartPolicy) -> Self {
        Self {
            policy,
            failures: Vec::new(),
        }
    }

    /// Counts a failure at `now`, the time since a fixed moment, and decides its consequence.
    pub(crate) fn spend(&mut self, now: Duration) -> Decision {
        self.failures
            .retain(|&failure| now.saturating_sub(failure) <= self.policy.window);
        self.failures.push(now);
        match self.policy.max_restarts.checked_sub(self.failures.len()) {
            Some(left) => Decision::Restart {
                after: self.policy.backoff(self.failures.len()),
                left,
            },
            None => Decision::GiveUp,
        }
    }

    pub(super) fn policy(&self) -> &RestartPolicy {
        &self.policy
    }
}

/// The consequence of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Restart after the backoff. `left` is the number of further failures within the window that still lead to a
    /// restart.
    Restart { after: Duration, left: usize },
    /// The budget is spent.
    GiveUp,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Decision, RestartBudget};
    use crate::supervisor::RestartPolicy;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// 3 restarts in 10 s, after 100 ms doubling up to 300 ms.
    fn budget() -> RestartBudget {
        let policy = RestartPolicy::builder().max_restarts(3).window(ms(10_000));
        RestartBudget::new(
            policy
                .backoff_base(ms(100))
                .backoff_max(ms(300))
                .build()
                .unwrap(),
        )
    }

    fn restart(after: u64, left: usize) -> Decision {
        Decision::Restart {
            after: ms(after),
            left,
        }
    }

    #[test]
    fn the_backoff_doubles_up_to_its_maximum_and_then_the_budget_is_spent() {
        let mut budget = budget();
        let decisions = [0, 200, 500, 900].map(|now| budget.spend(ms(now)));
        assert_eq!(
            decisions,
            [
                restart(100, 2),
                restart(200, 1),
                restart(300, 0),
                Decision::GiveUp
            ]
        );
    }

    #[test]
    fn a_failure_counts_up_to_the_last_instant_of_the_window_and_is_then_forgotten() {
        for (second, expected) in [(10_000, restart(200, 1)), (10_001, restart(100, 2))] {
            let mut budget = budget();
            assert_eq!(budget.spend(ms(0)), restart(100, 2));
            assert_eq!(budget.spend(ms(second)), expected);
        }
    }

    #[test]
    fn failures_that_come_slowly_are_forgiven_for_ever() {
        let mut budget = budget();
        for n in 0..1_000 {
            // At most three of them lie within any 10 s.
            assert_ne!(budget.spend(ms(n * 3_400)), Decision::GiveUp, "failure {n}");
        }
        assert_eq!(budget.failures.len(), 3, "and their memory stays small");
    }

    #[test]
    fn a_backoff_doubles_for_ever_without_overflow() {
        let policy = RestartPolicy::builder()
            .max_restarts(1_000)
            .window(Duration::MAX);
        let policy = policy
            .backoff_base(Duration::MAX / 4)
            .backoff_max(Duration::MAX)
            .build();
        let mut budget = RestartBudget::new(policy.unwrap());
        let last = (0..1_000).map(|_| budget.spend(ms(0))).last();
        assert_eq!(
            last,
            Some(Decision::Restart {
                after: Duration::MAX,
                left: 0
            })
        );
    }
}
