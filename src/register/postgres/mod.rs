//! A register in a PostgreSQL table: for hosts that share a database.
//!
//! Decided here: how a database is named, that all elections of a register share one connection on a thread of its own,
//! and how its notifications are heard. Not here: when that thread connects (`worker.rs`), the statements
//! (`session.rs`), and what an error of the server means (`failure.rs`).

mod failure;
mod session;
#[cfg(feature = "tls")]
mod tls;
mod worker;

use std::{io, sync::Arc, thread};

use futures::stream;
use tokio::{
    runtime,
    sync::{
        broadcast::{self, error::RecvError},
        mpsc, oneshot,
    },
    task::LocalSet,
};
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use super::{
    ChangeStream, Entry, Register, RegisterError, RegisterKey, RegisterReading, RegisterRefusal,
    Swap, Swapping, key::check_size,
};
use worker::{PostgresSecurity, PostgresWorker};

/// Keeps leases in a table of a PostgreSQL database, which wakes who waits for them.
///
/// The table is made by [`SCHEMA`](Self::SCHEMA), or [on request](PostgresBuilder::create_table); a user of it needs to
/// select, insert and update there. All elections share one connection, which is made by and by and again when it is
/// lost; meanwhile every operation fails at once. A statement may take a second.
///
/// Name the primary, or several hosts and `target_session_attrs=read-write`: a replica is refused, since what it shows
/// may be old. A pooler has to give the connection a session of its own: notifications need one.
///
/// ```no_run
/// use actix_bully::register::PostgresRegister;
///
/// let register = PostgresRegister::builder("postgres://app:secret@db.example/app")
///     .create_table()
///     .open()?;
/// # Ok::<(), actix_bully::register::RegisterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PostgresRegister {
    name: Arc<str>,
    jobs: mpsc::Sender<PostgresJob>,
    told: broadcast::WeakSender<PostgresTold>,
}

/// Settings of a [`PostgresRegister`].
#[must_use = "a builder does nothing until `open` is called"]
#[derive(Clone)]
pub struct PostgresBuilder {
    url: String,
    creates: bool,
    #[cfg(feature = "tls")]
    authorities: Option<Vec<u8>>,
}

impl PostgresRegister {
    /// The statement that makes the table, for an operator who does that.
    pub const SCHEMA: &str = session::SCHEMA;

    /// Names a database by a URL or by `key=value` pairs, as `psql` takes them.
    pub fn builder(url: &str) -> PostgresBuilder {
        PostgresBuilder {
            url: url.to_owned(),
            creates: false,
            #[cfg(feature = "tls")]
            authorities: None,
        }
    }

    async fn put(&self, job: PostgresJob) -> Result<(), RegisterError> {
        let gone = |_| RegisterError::unreachable(io::Error::other("its thread has ended"));
        self.jobs.send(job).await.map_err(gone)
    }
}

impl PostgresBuilder {
    /// Makes the table where it is missing.
    pub fn create_table(mut self) -> Self {
        self.creates = true;
        self
    }

    /// Speaks to the server by TLS 1.3 only, and only to one whose certificate is of these authorities, in PEM, and
    /// names the host.
    #[cfg(feature = "tls")]
    pub fn authorities_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities = Some(pem.into());
        self
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// [`RegisterError::Refused`] when the URL says what cannot be done. Whether the server can be reached shows later.
    pub fn open(self) -> Result<PostgresRegister, RegisterError> {
        let refused =
            |source| RegisterError::refused(RegisterRefusal::Other, io::Error::other(source));
        let config: Config = self.url.parse().map_err(refused)?;
        let (mut config, security) = self.secured(config)?;
        if config.get_application_name().is_none() {
            config.application_name("actix-bully");
        }
        let name = name_of(&config).into();
        let (jobs, asked) = mpsc::channel(QUEUE);
        let told = broadcast::Sender::new(QUEUE);
        let weak = told.downgrade();
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RegisterError::unreachable)?;
        let worker = PostgresWorker::new(config, security, self.creates, asked, told);
        thread::Builder::new()
            .name("bully-postgres".to_owned())
            .spawn(move || LocalSet::new().block_on(&runtime, worker.run()))
            .map_err(RegisterError::unreachable)?;
        Ok(PostgresRegister {
            name,
            jobs,
            told: weak,
        })
    }

    #[cfg(feature = "tls")]
    fn secured(&self, mut config: Config) -> Result<(Config, PostgresSecurity), RegisterError> {
        let Some(pem) = &self.authorities else {
            return plain(config);
        };
        config.ssl_mode(SslMode::Require);
        Ok((config, PostgresSecurity::Tls(tls::Connector::new(pem)?)))
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "the same with the feature `tls`")]
    fn secured(&self, config: Config) -> Result<(Config, PostgresSecurity), RegisterError> {
        plain(config)
    }
}

impl std::fmt::Debug for PostgresBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL may hold a password.
        f.debug_struct("PostgresBuilder")
            .field("creates", &self.creates)
            .finish_non_exhaustive()
    }
}

fn plain(config: Config) -> Result<(Config, PostgresSecurity), RegisterError> {
    if config.get_ssl_mode() == SslMode::Require {
        let words = "sslmode=require needs authorities_pem(..), of the feature `tls`";
        return Err(RegisterError::refused(
            RegisterRefusal::Credentials,
            io::Error::other(words),
        ));
    }
    Ok((config, PostgresSecurity::Plain))
}

/// Without user and password.
fn name_of(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<_> = config.get_hosts().iter().map(host).collect();
    let ports: Vec<_> = config.get_ports().iter().map(u16::to_string).collect();
    let (hosts, ports) = (hosts.join(","), ports.join(","));
    let database = config
        .get_dbname()
        .or_else(|| config.get_user())
        .unwrap_or_default();
    match &*ports {
        "" => format!("postgres {hosts}/{database}"),
        ports => format!("postgres {hosts}:{ports}/{database}"),
    }
}

impl Register for PostgresRegister {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (register, key) = (self.clone(), key.clone());
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            register.put(PostgresJob::Read { key, answer }).await?;
            let gone = |_| RegisterError::unreachable(io::Error::other("its thread has ended"));
            answered.await.map_err(gone)?
        })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (register, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move {
            check_size(&value)?;
            let (answer, answered) = oneshot::channel();
            let job = PostgresJob::Swap {
                key,
                expected,
                value,
                answer,
            };
            register.put(job).await?;
            let gone = |_| RegisterError::unknown(io::Error::other("its thread has ended"));
            answered.await.map_err(gone)?
        })
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        let told = self.told.upgrade()?.subscribe();
        let begin = (told, key.clone());
        Some(Box::pin(stream::unfold(begin, |(mut told, key)| async {
            loop {
                match told.recv().await {
                    Ok(PostgresTold::Key(of)) if *of != *key.as_str() => {}
                    // Missed ones may have been of this key.
                    Ok(PostgresTold::Key(_) | PostgresTold::Connected)
                    | Err(RecvError::Lagged(_)) => {
                        return Some(((), (told, key)));
                    }
                    Err(RecvError::Closed) => return None,
                }
            }
        })))
    }
}

/// What the thread is asked to do.
#[derive(Debug)]
enum PostgresJob {
    Read {
        key: RegisterKey,
        answer: oneshot::Sender<Result<Option<Entry>, RegisterError>>,
    },
    Swap {
        key: RegisterKey,
        expected: Option<Entry>,
        value: Vec<u8>,
        answer: oneshot::Sender<Result<Swap, RegisterError>>,
    },
}

/// What is heard of the server unasked.
#[derive(Clone, Debug)]
enum PostgresTold {
    /// The entry of that key was replaced.
    Key(Arc<str>),
    /// There is a connection again: anything may have changed before.
    Connected,
}

/// So many operations, or changes, may wait.
const QUEUE: usize = 2_048;
