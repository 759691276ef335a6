//! The pause that the server asks for.
//!
//! Decided here: no operation, watch or new connection begins during this pause, because a server limits all requests
//! of an account together.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::failure::KubeFailure;
use crate::connection::{Course, Meaning};

/// The end of the pause that the server asked for, shared by all callers of the server.
#[derive(Clone, Debug, Default)]
pub(super) struct BusyServer(Arc<Mutex<Option<Instant>>>);

impl BusyServer {
    /// Notes that the server asked for a pause of the length `wait`. A longer pause from another answer is kept.
    pub(super) fn note(&self, wait: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Instant::now().checked_add(wait));
    }

    /// Returns the rest of the pause; `None` if no pause is left.
    fn left(&self) -> Option<Duration> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Returns the failure for an operation during the pause, which is not begun; `None` if no pause is left.
    pub(super) fn refusal(&self) -> Option<KubeFailure> {
        let left = self.left()?;
        let words = format!("the server asks for a pause of another {left:.0?}");
        Some(KubeFailure::new(Meaning::NotDone, Course::Passes, words))
    }

    /// Waits until the pause has ended.
    pub(super) async fn is_over(&self) {
        while let Some(left) = self.left() {
            sleep(left).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several requests run at the same time, and each response has its own pause.
    #[test]
    fn of_two_pauses_the_longer_one_counts() {
        let busy = BusyServer::default();
        for (wait, longest) in [(30, 30), (1, 30), (60, 60)] {
            busy.note(Duration::from_secs(wait));
            let left = busy.left().map(|left| left.as_secs_f64().round());
            assert_eq!(left, Some(f64::from(longest)), "after {wait}");
        }
    }
}
