//! Clocks that an agent and its handle read together.
//!
//! Decided here: the kinds of clocks, and the guarantee of each. Not here: the use of a reading. An election uses
//! readings only for leases and to detect failures.
//!
//! | clock | counts a suspended host | obeys a paused runtime | for |
//! |---|---|---|---|
//! | [`RuntimeClock`] | no | yes | the default; one process, tests |
//! | [`BootClock`] | yes | no | leases that reach across hosts |
//! | `testkit::VirtualClock` | pretends to | yes | tests: time passes only where a test lets it |
//!
//! Wall time never replaces such a clock, because wall time jumps. If a clock is not available, its constructor returns
//! an error. [`WallClock`] serves two purposes: tasks that are due at a time of day, and the terms of [voters without a
//! disk](crate::elections::quorum::diskless). It never measures a lease.

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

/// A monotonic clock. Readings of different clocks cannot be compared.
pub trait Clock: Debug + Send + Sync {
    /// Returns a reading. It is never smaller than an earlier reading, and never [`Time::MAX`].
    fn now(&self) -> Time;

    /// Returns whether the moment `at` is in the future, as `now() < at` does. A clock may override this method if it
    /// has a faster way, because it is called for each message to the leader.
    fn is_before(&self, at: Time) -> bool {
        self.now() < at
    }

    /// Returns whether the clock continues while the host is suspended. A lease is safe only by such a clock. By a
    /// clock that stops, the agent of a resumed host would still consider itself leader long after another agent was
    /// elected.
    fn counts_suspend(&self) -> bool;

    /// Returns whether the clock shows the time since the host was booted, with every suspend, as [`BootClock`] does.
    /// Then the kernel can wait for a moment of this clock, and no thread has to read it again and again.
    fn is_boot_time(&self) -> bool {
        false
    }
}
