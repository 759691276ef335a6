//! Rules for the restarts of a child: pure values, without a clock.
//!
//! Decided here: the consequence of a stop, the length of each backoff, and which policies are valid ([`PolicyError`]).
//! Not here: counting the failures (`budget.rs`).
//!
//! In the words of the OTP supervisor: children are *permanent*, *transient* or *temporary*; `max_restarts` is the
//! *intensity*, `window` the *period*. The backoff is an addition: OTP restarts at once.

use std::{error::Error, fmt, time::Duration};

/// Rules for the restarts of a child. An existing value is always valid: see [`PolicyError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// Whether the child is also restarted after a regular stop (`ctx.stop()`, `ctx.terminate()`).
    pub(super) restarts_on_stop: bool,
    pub(super) max_restarts: usize,
    pub(super) window: Duration,
    backoff_base: Duration,
    backoff_max: Duration,
}

impl RestartPolicy {
    /// Starts from the default policy, which is [`transient`](Self::transient).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use actix_bully::supervisor::RestartPolicy;
    ///
    /// let policy = RestartPolicy::builder()
    ///     .restart_on_stop()
    ///     .max_restarts(3)
    ///     .window(Duration::from_secs(10))
    ///     .build()?;
    /// # assert_ne!(policy, RestartPolicy::default());
    /// # Ok::<(), actix_bully::supervisor::PolicyError>(())
    /// ```
    pub fn builder() -> RestartPolicyBuilder {
        RestartPolicyBuilder(Self::transient())
    }

    /// Restarts after a panic and after a stop; otherwise like the default.
    pub fn permanent() -> Self {
        Self {
            restarts_on_stop: true,
            ..Self::transient()
        }
    }

    /// The default: restarts after a panic only, at most 5 times in 30 s, after waits that double from 100 ms up to 5
    /// s. Chosen: a child that always fails at once is given up after 3.1 s of waits; a child that fails less than once
    /// in 6 s is kept.
    pub fn transient() -> Self {
        Self {
            restarts_on_stop: false,
            max_restarts: 5,
            window: Duration::from_secs(30),
            backoff_base: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
        }
    }

    /// Never restarts: the supervisor gives up at the first panic.
    pub fn temporary() -> Self {
        Self {
            max_restarts: 0,
            ..Self::transient()
        }
    }

    /// Returns the wait before the restart that follows the `nth` failure within the window, counted from 1.
    pub(super) fn backoff(&self, nth: usize) -> Duration {
        let doublings = u32::try_from(nth.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.backoff_base
            .saturating_mul(factor)
            .min(self.backoff_max)
    }

    /// Returns the shortest time in which a child can spend its budget: the time for a child that always fails at once.
    fn shortest_way_out(&self) -> Duration {
        let doubling = self.max_restarts.min(DOUBLINGS);
        let rest = u32::try_from(self.max_restarts - doubling).unwrap_or(u32::MAX);
        (1..=doubling)
            .map(|nth| self.backoff(nth))
            .fold(Duration::ZERO, Duration::saturating_add)
            .saturating_add(self.backoff(DOUBLINGS + 1).saturating_mul(rest))
    }
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self::transient()
    }
}

/// Makes a [`RestartPolicy`]. Each setting that is left out keeps its default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RestartPolicyBuilder(RestartPolicy);

impl RestartPolicyBuilder {
    /// Restarts the child also after a regular stop (`ctx.stop()`, `ctx.terminate()`), which counts against the budget
    /// (OTP: *permanent*). Default: a child that stops has finished (OTP: *transient*).
    pub fn restart_on_stop(mut self) -> Self {
        self.0.restarts_on_stop = true;
        self
    }

    /// Sets the number of restarts allowed within `window`; the next failure is the last. Default 5; 0 means never.
    pub fn max_restarts(mut self, max_restarts: usize) -> Self {
        self.0.max_restarts = max_restarts;
        self
    }

    /// Sets the time for which a failure counts. Default 30 s; at least the sum of the first `max_restarts` backoffs.
    pub fn window(mut self, window: Duration) -> Self {
        self.0.window = window;
        self
    }

    /// Sets the wait after the first failure within `window`. It doubles with each further failure. Default 100 ms; at
    /// most `backoff_max`; with zero the restart is immediate.
    pub fn backoff_base(mut self, backoff_base: Duration) -> Self {
        self.0.backoff_base = backoff_base;
        self
    }

    /// Sets the longest wait before a restart. Default 5 s.
    pub fn backoff_max(mut self, backoff_max: Duration) -> Self {
        self.0.backoff_max = backoff_max;
        self
    }

    /// Checks the settings against each other.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if the first backoff exceeds the longest, or if the budget could never be spent.
    pub fn build(self) -> Result<RestartPolicy, PolicyError> {
        let policy = self.0;
        let (base, max) = (policy.backoff_base, policy.backoff_max);
        if base > max {
            return Err(PolicyError(format!(
                "a backoff base of {base:?} exceeds the backoff maximum of {max:?}: lower the base, or raise the maximum"
            )));
        }
        let (window, needed) = (policy.window, policy.shortest_way_out());
        // With an empty window each failure would be forgotten at once, and the child restarted for ever.
        if needed > window || (window.is_zero() && policy.max_restarts > 0) {
            return Err(PolicyError(format!(
                "a window of {window:?} is too short, because failures are forgotten before all restarts are used: give a window longer than zero, and of {needed:?} at least"
            )));
        }
        Ok(policy)
    }
}

/// Reason why a policy is invalid.
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyError(String);

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PolicyError {}

debug_is_text!(PolicyError);

/// Number of backoffs that can differ: their factors double up to 2^31, the largest in a `u32`, and then stay the same.
const DOUBLINGS: usize = 32;
