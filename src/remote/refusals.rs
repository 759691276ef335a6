//! The pauses of a listener after the operating system has failed to give it a new connection.
//!
//! Decided here: an error of one connection causes no pause. After any other error, such as a missing file
//! descriptor, the listener pauses, because the next attempt would fail at once; the pause doubles with each
//! failure. The first failure in a row is logged, and so is the first connection after such a row.

use std::{
    io::{self, ErrorKind},
    time::Duration,
};

use bully_register::Outlook;
use tracing::{info, warn};

/// The number of failures in a row of one listener.
#[derive(Debug, Default)]
pub(crate) struct Refusals(u32);

impl Refusals {
    /// Notes that a connection was accepted.
    pub(crate) fn end(&mut self) {
        let failures = std::mem::take(&mut self.0);
        if failures > 0 {
            info!(failures, "connections are accepted again");
        }
    }

    /// Notes that an attempt to accept failed. Returns the pause before the next attempt, if one is needed.
    pub(crate) fn pause_after(&mut self, reason: &io::Error) -> Option<Duration> {
        // The other side has already closed this connection, so the next connection need not wait.
        let is_of_one = [ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset];
        if is_of_one.contains(&reason.kind()) {
            return None;
        }
        if self.0 == 0 {
            let advice = Outlook::of(reason).advice();
            let advice = advice.unwrap_or("this process tries again");
            warn!(%reason, "connections are not accepted: {advice}");
        }
        let pause = SHORTEST.saturating_mul(1 << self.0.min(MOST_DOUBLINGS));
        self.0 = self.0.saturating_add(1);
        Some(pause)
    }
}

const SHORTEST: Duration = Duration::from_millis(100);

/// Largest number of doublings of the pause, so that it is at most 1.6 s.
const MOST_DOUBLINGS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_that_gets_no_connection_pauses_ever_longer_and_begins_anew_after_one() {
        let mut refusals = Refusals::default();
        // EMFILE
        let full = io::Error::from_raw_os_error(24);
        let mut pauses = || [(); 6].map(|()| refusals.pause_after(&full).unwrap().as_millis());
        assert_eq!(pauses(), [100, 200, 400, 800, 1_600, 1_600]);
        refusals.end();
        let again = refusals.pause_after(&io::Error::other("closed")).unwrap();
        assert_eq!(again, SHORTEST);
    }

    #[test]
    fn a_connection_that_is_gone_before_it_is_taken_holds_up_no_other_one() {
        let mut refusals = Refusals::default();
        for kind in [ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset] {
            assert_eq!(refusals.pause_after(&kind.into()), None);
        }
        let first = refusals.pause_after(&ErrorKind::OutOfMemory.into());
        assert_eq!(first, Some(SHORTEST), "it is the first failure");
    }
}
