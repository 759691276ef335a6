//! The signals that ask `bullyctl` to end, and the signal for a child's end.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals INT, TERM, HUP and QUIT. From the first value of this type on, none of these signals ends this process
/// by itself.
#[derive(Debug)]
pub(super) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    quit: Signal,
}

impl EndSignals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Returns the number of the next signal.
    pub(super) async fn next(&mut self) -> u8 {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hang_up.recv() => SignalKind::hangup(),
            _ = self.quit.recv() => SignalKind::quit(),
        };
        u8::try_from(kind.as_raw_value()).unwrap_or_default()
    }
}

/// Wakes when a child has ended.
pub(super) fn children() -> io::Result<Signal> {
    signal(SignalKind::child())
}
