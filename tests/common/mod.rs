//! Modules that several test files share, and a System with virtual time.
#![expect(clippy::unwrap_used, reason = "without a System there is no test")]

use actix::System;
use actix_rt::SystemRunner;
use tokio::runtime::Builder;

/// Returns a System with a paused clock: time passes when no other work is left.
pub(crate) fn virtual_system() -> SystemRunner {
    System::with_tokio_rt(|| {
        Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
    })
}
