//! An orderly end of a process: at SIGTERM or Ctrl-C the agent hands over and leaves, before other parts of the process
//! are stopped.
//!
//! Decided here: the signals that begin the orderly end, the effect of a second signal, and that the end also begins if
//! the agent ends for good by itself. Not here: how an agent leaves ([`ElectionHandle::leave`]), and the parts that are
//! stopped afterwards. The application first awaits the end of the agent, then stops these parts.
//!
//! tokio delivers the signals. This needs one small crate, which every actix-web application has already, so it is not
//! behind a feature.

#[cfg(unix)]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io, pin::pin, time::Duration};

use futures::future::{Either, select};
use tracing::{error, info, warn};

use crate::{
    agent::{ElectionHandle, LeaveError},
    protocol::Election,
    remote::DrainTimedOut,
};

/// Waits for SIGTERM or Ctrl-C (SIGINT), then lets the agent hand over and leave; ends when the agent has left.
///
/// The future also ends when the agent has ended for good without having been asked to end, for instance because its
/// disk did not take a vote: only a new process brings the agent back. So the process ends, and its service manager
/// starts it again. After an end that was asked for, such as a [drain](crate::operate::Command::Drain), the future
/// waits for its signal.
///
/// From this call on, neither signal ends the process: the code that awaits this future must end it. A second signal
/// while the agent leaves makes it leave at once, as if `deadline` had passed. If an operator kills the process after a
/// grace period (systemd's `TimeoutStopSec`, Kubernetes' `terminationGracePeriodSeconds`), that period must be longer
/// than `deadline`.
///
/// A restart is short in this order: first the hand-over, while the server still works, then the server's own shutdown.
/// With actix-web:
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
/// [`ShutdownError::Signals`] at once if signals cannot be waited for; the agent continues. [`ShutdownError::Agent`] if
/// the agent did not hand over in time; it has left nevertheless. [`ShutdownError::Ended`] if the agent has ended for
/// good by itself.
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
    leave_when_asked(deadline, agent.retired(), move |deadline| {
        let agent = agent.clone();
        async move { Ok(agent.leave(deadline).await?) }
    })
}

/// Waits for a signal, or for the end of the agent, then leaves within the deadline, or at once if there is another
/// signal.
pub(crate) fn leave_when_asked<L>(
    deadline: Duration,
    retired: impl Future<Output = ()> + Send + 'static,
    leave: impl Fn(Duration) -> L + Send + 'static,
) -> impl Future<Output = Result<(), ShutdownError>> + Send + 'static
where
    L: Future<Output = Result<(), ShutdownError>> + Send + 'static,
{
    // Listens before the first poll: a signal before that poll is not lost, and does not end the process.
    let signals = Signals::listen();
    async move {
        let mut signals = signals.map_err(ShutdownError::Signals)?;
        let is_asked = match select(pin!(signals.next()), pin!(retired)).await {
            Either::Left((signal, _)) => {
                info!(signal, "asked to end");
                true
            }
            Either::Right(((), _)) => {
                error!("the agent has ended for good, so the process ends: start it again");
                false
            }
        };
        let again = pin!(signals.next());
        let left = match select(pin!(leave(deadline)), again).await {
            Either::Left((left, _)) => left,
            Either::Right((signal, _)) => {
                warn!(signal, "asked to end once more, at once");
                leave(Duration::ZERO).await
            }
        };
        if is_asked {
            return left;
        }
        if let Err(reason) = left {
            warn!(%reason, "the process did not leave in order");
        }
        Err(ShutdownError::Ended)
    }
}

/// Reason why an end was not orderly.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// This process cannot wait for signals; nothing was ended.
    #[error("the process cannot wait for signals: call this in a task of a System ({0})")]
    Signals(#[source] io::Error),
    /// The agent has ended for good without having been asked to end, and the process has left in order.
    #[error(
        "the agent has ended for good: start the process again, and look in the log for the cause"
    )]
    Ended,
    /// The agent did not hand over in time.
    #[error("the agent has left without a hand-over: {0}")]
    Agent(#[from] LeaveError),
    /// Not all peers received the goodbye in time.
    #[error("the bridge has stopped without a goodbye to every peer: {0}")]
    Bridge(#[from] DrainTimedOut),
}

debug_is_text!(ShutdownError);

/// The signals by which an operator or the system asks a process to end.
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
        // tokio panics if this runtime cannot wait for signals, and there is no other way to find this out.
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

    /// Waits for the next signal, and returns its name.
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
            // A signal that has no handler must not end the process.
            Err(_) => std::future::pending().await,
        }
    }
}
