//! An orderly end of a process: at SIGTERM or Ctrl-C the agent hands over and leaves, before anything else of
//! the process is stopped.
//!
//! Decided here: which signals ask for that, and what a second one means. Not here: what leaving is
//! ([`ElectionHandle::leave`]), and what is stopped afterwards; the application awaits the one, then does the
//! other.
//!
//! The signals are tokio's: beside one small crate, which every actix-web application has already, that costs
//! nothing, so no feature guards it.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    time::Duration,
};

use futures::future::{Either, select};
use tracing::{info, warn};

use crate::{
    agent::{ElectionHandle, LeaveError},
    protocol::Election,
    remote::DrainTimedOut,
};

/// Waits for SIGTERM or Ctrl-C (SIGINT), then lets the agent hand over and leave; ends when it has left.
///
/// From the call on, both signals no longer end the process: what awaits this does. A second signal while the
/// agent leaves makes it leave at once, as if `deadline` were over. A process that is killed by its operator
/// after some grace (systemd's `TimeoutStopSec`, Kubernetes' `terminationGracePeriodSeconds`) needs more of
/// it than `deadline`.
///
/// The order is what makes a restart short: first the hand-over, while everything still works, then the
/// server's own shutdown. With actix-web:
///
/// ```ignore
/// let leave = leave_on_signals(&agent, Duration::from_secs(10));
/// HttpServer::new(App::new)
///     .shutdown_signal(async move { leave.await.ok(); }) // actix-web 4.11; it leaves the signals alone
///     .bind(("0.0.0.0", 8080))?
///     .run()
///     .await
/// ```
///
/// # Errors
/// [`ShutdownError::Signals`] at once when signals cannot be waited for, and the agent goes on;
/// [`ShutdownError::Agent`] when it did not hand over in time, and has left all the same.
///
/// # Examples
/// ```no_run
/// use std::time::Duration;
/// use actix_bully::{Group, agent::BullyAgent, leader::leave_on_signals};
///
/// actix::System::new().block_on(async {
///     let group = Group::new("jobs")?;
///     let agent = BullyAgent::builder("api-1").join(&group).start()?;
///     leave_on_signals(&agent, Duration::from_secs(10)).await?;
///     # Ok::<(), Box<dyn std::error::Error>>(())
/// }).unwrap();
/// ```
pub fn leave_on_signals<E: Election>(
    agent: &ElectionHandle<E>,
    deadline: Duration,
) -> impl Future<Output = Result<(), ShutdownError>> + Send + 'static + use<E> {
    let agent = agent.clone();
    leave_when_asked(deadline, move |deadline| {
        let agent = agent.clone();
        async move { Ok(agent.leave(deadline).await?) }
    })
}

/// Waits for a signal, then leaves within the deadline, or at once if there is another signal.
pub(crate) fn leave_when_asked<L>(
    deadline: Duration,
    leave: impl Fn(Duration) -> L + Send + 'static,
) -> impl Future<Output = Result<(), ShutdownError>> + Send + 'static
where
    L: Future<Output = Result<(), ShutdownError>> + Send + 'static,
{
    // Before the first poll: a signal in between is not lost, and does not end the process.
    let signals = Signals::listen();
    async move {
        let mut signals = signals.map_err(ShutdownError::Signals)?;
        let signal = signals.next().await;
        info!(signal, "asked to end");
        let again = pin!(signals.next());
        match select(pin!(leave(deadline)), again).await {
            Either::Left((left, _)) => left,
            Either::Right((signal, _)) => {
                warn!(signal, "asked to end once more, at once");
                leave(Duration::ZERO).await
            }
        }
    }
}

/// Why an end was not orderly.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// Signals cannot be waited for; nothing was ended.
    #[error("signals cannot be waited for: call this in a task of a System ({0})")]
    Signals(#[source] io::Error),
    /// The agent did not hand over in time.
    #[error("the agent has left without a hand-over: {0}")]
    Agent(#[from] LeaveError),
    /// Peers were not told in time.
    #[error("the bridge has stopped without a goodbye to every peer: {0}")]
    Bridge(#[from] DrainTimedOut),
}

debug_is_text!(ShutdownError);

/// What an operator, or the system, asks a process to end by.
#[derive(Debug)]
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // There is no other way to ask whether there is a runtime here that can wait for signals.
        let listening = catch_unwind(AssertUnwindSafe(|| {
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }));
        listening.unwrap_or_else(|_| Err(io::Error::other("no runtime that waits for signals")))
    }

    #[cfg(not(unix))]
    fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next one.
    #[cfg(unix)]
    async fn next(&mut self) -> &'static str {
        let terminate = pin!(self.terminate.recv());
        let interrupt = pin!(self.interrupt.recv());
        match select(terminate, interrupt).await {
            Either::Left(_) => "SIGTERM",
            Either::Right(_) => "SIGINT",
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            // What cannot be heard must not end the process.
            Err(_) => std::future::pending().await,
        }
    }
}
