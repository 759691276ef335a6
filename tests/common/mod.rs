//! What several test files share: a System whose time is virtual.
#![expect(clippy::unwrap_used, reason = "without a System there is no test")]

use actix::System;
use actix_rt::SystemRunner;
use tokio::runtime::Builder;

/// A System that begins with a paused clock: time passes when nothing else is left to do.
pub(crate) fn virtual_system() -> SystemRunner {
    System::with_tokio_rt(|| {
        Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
    })
}
