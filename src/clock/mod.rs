//! Clocks that an agent and its handle read together.
//!
//! Decided here: which clocks there are, and what each of them promises. Not here: what a reading
//! is good for; a machine uses it for leases and for the detection of failures only.
//!
//! | clock | counts a suspended host | obeys a paused runtime | for |
//! |---|---|---|---|
//! | [`RuntimeClock`] | no | yes | the default; one process, tests |
//! | [`BootClock`] | yes | no | leases that reach across hosts |
//! | `testkit::VirtualClock` | as if | yes | tests: time passes only where a test lets it |
//!
//! There is no fallback to wall time, which jumps: where a clock cannot be had, its constructor
//! says so. [`WallClock`] is for what is due at an hour of the day, and for the terms of
//! [voters without a disk](crate::elections::quorum::diskless): no lease is measured by it.

mod alarm;
mod boot;
mod runtime;
mod wall;

use std::fmt::Debug;

use crate::protocol::Time;

pub(crate) use alarm::Alarm;
pub use boot::{BootClock, ClockError};
pub use runtime::RuntimeClock;
pub use wall::{SystemWallClock, WallClock, WallTime};

/// A monotonic clock; readings of different clocks have nothing in common.
pub trait Clock: Debug + Send + Sync {
    /// A reading; never smaller than an earlier one, and never [`Time::MAX`].
    fn now(&self) -> Time;

    /// Whether that moment still lies ahead: the same as `now() < at`, for clocks that tell this sooner than what
    /// they show. It is asked for each message that goes to the leader.
    fn is_before(&self, at: Time) -> bool {
        self.now() < at
    }

    /// Whether it runs on while the host is suspended. A lease is safe only by a clock that does:
    /// one that stops would let a host wake up as a leader long after another was elected.
    fn counts_suspend(&self) -> bool;

    /// Whether it shows the time since the host was booted, suspended or not, as [`BootClock`] does: then the kernel can
    /// wait for a moment of it, and no thread looks at it again and again.
    fn is_boot_time(&self) -> bool {
        false
    }
}
