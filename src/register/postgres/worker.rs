//! The thread that has the connection.
//!
//! Decided here: that a connection is made anew after a growing pause; that operations fail at once while there is
//! none; and that a connection on which an answer is overdue is given up, since all others on it wait as well.

use std::{
    io::{self, ErrorKind},
    pin::pin,
    rc::Rc,
    time::Duration,
};

use futures::future::{Either, poll_fn, select};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{broadcast, mpsc},
    task::spawn_local,
    time::{sleep, timeout},
};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket};
use tracing::debug;

use super::{
    PostgresJob, PostgresTold,
    failure::failure,
    session::{self, STATEMENT},
};
use crate::register::{RegisterError, RegisterRefusal};

/// How the server is spoken to.
pub(super) enum PostgresSecurity {
    Plain,
    #[cfg(feature = "tls")]
    Tls(super::tls::Connector),
}

/// See the [module](self).
pub(super) struct PostgresWorker {
    config: Config,
    security: PostgresSecurity,
    creates: bool,
    jobs: mpsc::Receiver<PostgresJob>,
    told: broadcast::Sender<PostgresTold>,
}

/// The register was dropped, with all its clones.
struct Dropped;

/// Why there is no connection, for each operation that asks.
struct Reason {
    refusal: Option<RegisterRefusal>,
    words: String,
}

impl PostgresWorker {
    pub(super) fn new(
        config: Config,
        security: PostgresSecurity,
        creates: bool,
        jobs: mpsc::Receiver<PostgresJob>,
        told: broadcast::Sender<PostgresTold>,
    ) -> Self {
        Self {
            config,
            security,
            creates,
            jobs,
            told,
        }
    }

    /// Ends with the last clone of the register.
    pub(super) async fn run(mut self) {
        let mut failures = 0;
        loop {
            // Made anew where another thing than the connection is missing: rights, the table.
            let served = match timeout(CONNECT, self.connect()).await {
                Ok(Ok((client, ended))) => {
                    failures = 0;
                    self.serve(&Rc::new(client), ended).await
                }
                Ok(Err(error)) => {
                    failures = MOST_DOUBLINGS.min(failures + 1);
                    self.refuse(&Reason::of(error), pause(failures)).await
                }
                Err(_) => {
                    failures = MOST_DOUBLINGS.min(failures + 1);
                    let words = format!("no connection within {CONNECT:?}");
                    let refusal = None;
                    self.refuse(&Reason { refusal, words }, pause(failures))
                        .await
                }
            };
            if let Err(Dropped) = served {
                return;
            }
        }
    }

    /// A connection that is ready, and what tells of its end.
    async fn connect(&self) -> Result<(Client, mpsc::Receiver<()>), RegisterError> {
        let failed = |error| failure(&error, false);
        let (client, ended) = match &self.security {
            PostgresSecurity::Plain => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(failed)?;
                (client, self.keep(connection))
            }
            #[cfg(feature = "tls")]
            PostgresSecurity::Tls(tls) => {
                let connected = self.config.connect(tls.clone()).await;
                let (client, connection) = connected.map_err(failed)?;
                (client, self.keep(connection))
            }
        };
        session::begin(&client, self.creates)
            .await
            .map_err(failed)?;
        // Anything may have changed while nobody listened.
        self.told.send(PostgresTold::Connected).ok();
        Ok((client, ended))
    }

    /// Drives a connection until it ends, or nobody has its client any more.
    fn keep<T>(&self, mut connection: Connection<Socket, T>) -> mpsc::Receiver<()>
    where
        T: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let (alive, ended) = mpsc::channel(1);
        let told = self.told.clone();
        spawn_local(async move {
            let _alive = alive;
            loop {
                match poll_fn(|cx| connection.poll_message(cx)).await {
                    Some(Ok(AsyncMessage::Notification(change))) => {
                        // Nobody may listen just now.
                        told.send(PostgresTold::Key(change.payload().into())).ok();
                    }
                    Some(Ok(_)) => {}
                    Some(Err(reason)) => {
                        debug!(%reason, "the connection to the database was lost");
                        return;
                    }
                    None => return,
                }
            }
        });
        ended
    }

    /// Does what is asked until the connection ends.
    async fn serve(
        &mut self,
        client: &Rc<Client>,
        mut ended: mpsc::Receiver<()>,
    ) -> Result<(), Dropped> {
        let (overdue, mut is_overdue) = mpsc::channel(1);
        loop {
            let (mut ends, mut hangs) = (pin!(ended.recv()), pin!(is_overdue.recv()));
            match select(pin!(self.jobs.recv()), select(&mut ends, &mut hangs)).await {
                Either::Left((Some(job), _)) => {
                    let (client, overdue) = (Rc::clone(client), overdue.clone());
                    spawn_local(async move {
                        if job.run(&client).await.is_err() {
                            overdue.try_send(()).ok();
                        }
                    });
                }
                Either::Left((None, _)) => return Err(Dropped),
                Either::Right(_) => return Ok(()),
            }
        }
    }

    /// Refuses what is asked for a while.
    async fn refuse(&mut self, reason: &Reason, pause: Duration) -> Result<(), Dropped> {
        let mut pause = pin!(sleep(pause));
        loop {
            match select(pin!(self.jobs.recv()), &mut pause).await {
                Either::Left((Some(job), _)) => job.refuse(reason),
                Either::Left((None, _)) => return Err(Dropped),
                Either::Right(_) => return Ok(()),
            }
        }
    }
}

/// An answer has not come in time.
struct Overdue;

impl PostgresJob {
    async fn run(self, client: &Client) -> Result<(), Overdue> {
        let late = || io::Error::new(ErrorKind::TimedOut, format!("no answer within {ANSWER:?}"));
        match self {
            Self::Read { key, answer } if !answer.is_closed() => {
                let read = timeout(ANSWER, session::read(client, &key)).await;
                let is_late = read.is_err();
                let read = read.unwrap_or_else(|_| Err(RegisterError::unreachable(late())));
                drop(answer.send(read));
                if is_late { Err(Overdue) } else { Ok(()) }
            }
            Self::Swap {
                key,
                expected,
                value,
                answer,
            } if !answer.is_closed() => {
                let swap = session::swap(client, &key, expected.as_ref(), &value);
                let swap = timeout(ANSWER, swap).await;
                let is_late = swap.is_err();
                let swap = swap.unwrap_or_else(|_| Err(RegisterError::unknown(late())));
                drop(answer.send(swap));
                if is_late { Err(Overdue) } else { Ok(()) }
            }
            // Its asker has given up: a write that comes late only puzzles those that read it.
            Self::Read { .. } | Self::Swap { .. } => Ok(()),
        }
    }

    fn refuse(self, reason: &Reason) {
        match self {
            Self::Read { answer, .. } => drop(answer.send(Err(reason.error()))),
            Self::Swap { answer, .. } => drop(answer.send(Err(reason.error()))),
        }
    }
}

impl Reason {
    fn of(error: RegisterError) -> Self {
        match error {
            RegisterError::Refused { refusal, source } => Self {
                refusal: Some(refusal),
                words: source.to_string(),
            },
            RegisterError::Unreachable(source) | RegisterError::Unknown(source) => Self {
                refusal: None,
                words: source.to_string(),
            },
            other @ (RegisterError::Foreign { .. } | RegisterError::TooLarge { .. }) => Self {
                refusal: None,
                words: other.to_string(),
            },
        }
    }

    fn error(&self) -> RegisterError {
        let source = io::Error::other(self.words.clone());
        match self.refusal {
            Some(refusal) => RegisterError::refused(refusal, source),
            None => RegisterError::unreachable(source),
        }
    }
}

/// The pause after so many failures in a row.
fn pause(failures: u32) -> Duration {
    PAUSE.saturating_mul(1 << failures.min(MOST_DOUBLINGS))
}

/// A connection is made within this time, or not.
const CONNECT: Duration = Duration::from_secs(5);
/// The server aborts a statement in time; one that does not even say so is gone, or frozen.
const ANSWER: Duration = STATEMENT.saturating_mul(2);
/// Half of the first pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(25);
/// The longest is 1.6 s.
const MOST_DOUBLINGS: u32 = 6;
