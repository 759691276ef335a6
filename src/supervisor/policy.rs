//! How a child is to be restarted: pure values, without a clock.
//!
//! Decided here: what a stop leads to ([`OnStop`]), how long each backoff is, and which policies make
//! sense ([`PolicyError`]). Not here: counting the failures (`budget.rs`).
//!
//! In the words of the OTP supervisor: *permanent*, *transient* and *temporary* children; `max_restarts`
//! is the *intensity*, `window` the *period*. The backoff is an addition, OTP restarts at once.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// What follows a regular stop (`ctx.stop()`, `ctx.terminate()`). A panic always asks for a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnStop {
    /// The child has finished (OTP: *transient*). The default.
    Finish,
    /// The child is restarted, and that counts against the budget (OTP: *permanent*).
    Restart,
}

/// How a child is restarted. One that exists is valid: see [`PolicyError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    on_stop: OnStop,
    max_restarts: usize,
    window: Duration,
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
    /// use actix_bully::supervisor::{OnStop, RestartPolicy};
    ///
    /// let policy = RestartPolicy::builder()
    ///     .on_stop(OnStop::Restart)
    ///     .max_restarts(3)
    ///     .window(Duration::from_secs(10))
    ///     .build()?;
    /// # assert_ne!(policy, RestartPolicy::default());
    /// # Ok::<(), actix_bully::supervisor::PolicyError>(())
    /// ```
    pub fn builder() -> RestartPolicyBuilder {
        RestartPolicyBuilder(Self::transient())
    }

    /// Restarts after a panic and after a stop; otherwise the default.
    pub fn permanent() -> Self {
        Self {
            on_stop: OnStop::Restart,
            ..Self::transient()
        }
    }

    /// Restarts after a panic only, 5 times in 30 s, after 100 ms doubling up to 5 s: the default.
    pub fn transient() -> Self {
        Self {
            on_stop: OnStop::Finish,
            max_restarts: 5,
            window: Duration::from_secs(30),
            backoff_base: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
        }
    }

    /// Never restarts: a panic is given up on at once.
    pub fn temporary() -> Self {
        Self {
            max_restarts: 0,
            ..Self::transient()
        }
    }

    pub(super) fn on_stop(&self) -> OnStop {
        self.on_stop
    }

    pub(super) fn max_restarts(&self) -> usize {
        self.max_restarts
    }

    pub(super) fn window(&self) -> Duration {
        self.window
    }

    /// The wait before the restart that follows the `nth` failure within the window, from 1.
    pub(super) fn backoff(&self, nth: usize) -> Duration {
        let doublings = u32::try_from(nth.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.backoff_base
            .saturating_mul(factor)
            .min(self.backoff_max)
    }

    /// How long a child that always fails at once needs to spend the budget.
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

/// Makes a [`RestartPolicy`]; each setting left out keeps its default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RestartPolicyBuilder(RestartPolicy);

impl RestartPolicyBuilder {
    /// What follows a regular stop. Default: [`OnStop::Finish`].
    pub fn on_stop(mut self, on_stop: OnStop) -> Self {
        self.0.on_stop = on_stop;
        self
    }

    /// Restarts allowed within `window`; the next failure is given up on. Default 5; 0 means never.
    pub fn max_restarts(mut self, max_restarts: usize) -> Self {
        self.0.max_restarts = max_restarts;
        self
    }

    /// How long a failure counts. Default 30 s; at least the sum of the first `max_restarts` backoffs.
    pub fn window(mut self, window: Duration) -> Self {
        self.0.window = window;
        self
    }

    /// The wait after the first failure within `window`, doubled for each further one. Default 100 ms;
    /// at most `backoff_max`; zero restarts at once.
    pub fn backoff_base(mut self, backoff_base: Duration) -> Self {
        self.0.backoff_base = backoff_base;
        self
    }

    /// The longest wait before a restart. Default 5 s.
    pub fn backoff_max(mut self, backoff_max: Duration) -> Self {
        self.0.backoff_max = backoff_max;
        self
    }

    /// Checks the settings against each other.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if the backoff runs backwards, or if the budget could never be spent.
    pub fn build(self) -> Result<RestartPolicy, PolicyError> {
        let policy = self.0;
        let (base, max) = (policy.backoff_base, policy.backoff_max);
        if base > max {
            return Err(PolicyError::BackoffReversed { base, max });
        }
        let (window, needed) = (policy.window, policy.shortest_way_out());
        // A window of no length would forget each failure at once, and restart for ever.
        if needed > window || (window.is_zero() && policy.max_restarts > 0) {
            return Err(PolicyError::WindowTooShort { window, needed });
        }
        Ok(policy)
    }
}

/// Why a policy makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// The backoff would begin above its own maximum.
    BackoffReversed {
        /// The backoff base asked for.
        base: Duration,
        /// The maximum asked for.
        max: Duration,
    },
    /// Even a child that always fails at once would be restarted for ever: its first failure is
    /// forgotten before the budget is spent.
    WindowTooShort {
        /// The window asked for.
        window: Duration,
        /// The sum of the first `max_restarts` backoffs.
        needed: Duration,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BackoffReversed { base, max } => {
                write!(
                    f,
                    "backoff base of {base:?} exceeds the backoff maximum of {max:?}"
                )
            }
            Self::WindowTooShort { window, needed } => write!(
                f,
                "window of {window:?} forgets failures before the restarts can be spent, \
                 which takes {needed:?}"
            ),
        }
    }
}

impl Error for PolicyError {}

/// `u32` holds a factor of 2^31; from the next doubling on the factor stays as it is.
const DOUBLINGS: usize = 32;
