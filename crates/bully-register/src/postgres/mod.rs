//! A register in a PostgreSQL table: for hosts that share a database.
//!
//! Decided here: how a database is named. Not here: how it is connected to (`server.rs`), the statements (`session.rs`),
//! what an error of the server means (`failure.rs`); and what all stores have in common that are reached over a
//! connection (`connection/`).

mod failure;
mod server;
mod session;
#[cfg(feature = "tls")]
mod tls;

use std::{io, sync::Arc};

use tokio_postgres::{
    Config, Error,
    config::{Host, SslMode},
};

#[cfg(feature = "tls")]
use super::RegisterTls;
use super::{
    ChangeStream, Entry, Register, RegisterError, RegisterKey, RegisterListing, RegisterReading,
    RegisterRefusal, Removing, Swapping,
    connection::{self, Listeners, StoreSecurity},
    jobs::Jobs,
};
use server::PostgresServer;
use session::Statements;

/// Keeps leases in a table of a PostgreSQL database, which wakes who waits for them.
///
/// The table `bully_register` is in the schema `public`, or in [another one](PostgresBuilder::schema). The statement
/// [`table_sql`](Self::table_sql) makes it, or the register does so [on request](PostgresBuilder::create_table); a user
/// of it needs to select, insert, update and delete there. All elections share one connection, which is made by and by and again when it is
/// lost; meanwhile every operation fails at once. A statement may take a second.
///
/// Name the primary, or several hosts and `target_session_attrs=read-write`: a replica is refused, since what it shows
/// may be old. A pooler has to give the connection a session of its own: notifications need one.
///
/// ```no_run
/// # mod actix_bully { pub use bully_core::protocol; pub mod register { pub use bully_register::*; } }
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
    jobs: Jobs,
    told: Listeners,
}

/// Settings of a [`PostgresRegister`].
#[must_use = "a builder does nothing until `open` is called"]
#[derive(Clone)]
pub struct PostgresBuilder {
    url: String,
    schema: String,
    creates: bool,
    security: StoreSecurity,
}

impl PostgresRegister {
    /// The statement that makes the table in that schema, for an operator who does that.
    pub fn table_sql(schema: &str) -> String {
        session::create(schema)
    }

    /// Names a database by a URL or by `key=value` pairs, as `psql` takes them.
    pub fn builder(url: &str) -> PostgresBuilder {
        PostgresBuilder {
            url: url.to_owned(),
            schema: "public".to_owned(),
            creates: false,
            security: StoreSecurity::Plain,
        }
    }
}

impl PostgresBuilder {
    /// Keeps leases in the table of that schema instead of `public`. The schema has to be there. All agents of a group
    /// need to name the same one, as whichever user they connect: the server's `search_path` does not count.
    pub fn schema(mut self, schema: &str) -> Self {
        schema.clone_into(&mut self.schema);
        self
    }

    /// Makes the table where it is missing.
    pub fn create_table(mut self) -> Self {
        self.creates = true;
        self
    }

    /// Speaks to the server by TLS. Where it asks for certificates of its clients (`clientcert`, or the method `cert`, in
    /// `pg_hba.conf`), the register needs one.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: RegisterTls) -> Self {
        self.security = StoreSecurity::Tls(tls);
        self
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// [`RegisterError::Refused`] when the URL says what cannot be done, or TLS lacks what it needs. Whether the server can be reached shows later.
    pub fn open(self) -> Result<PostgresRegister, RegisterError> {
        let refused = |source: Box<dyn std::error::Error + Send + Sync>| {
            RegisterError::refused(RegisterRefusal::Other, io::Error::other(source))
        };
        let config = self.url.parse();
        let mut config: Config = config.map_err(|error: Error| refused(error.into()))?;
        if !(1..=MOST_IDENTIFIER).contains(&self.schema.len()) || self.schema.contains('\0') {
            let words = format!("the name of a schema has 1 to {MOST_IDENTIFIER} bytes");
            return Err(refused(words.into()));
        }
        self.secure(&mut config)?;
        if config.get_application_name().is_none() {
            config.application_name("actix-bully");
        }
        let name = format!("{}/{}", name_of(&config), self.schema).into();
        let server = PostgresServer {
            config,
            security: self.security,
            statements: Arc::new(Statements::of(&self.schema)),
            creates: self.creates,
        };
        let (jobs, told) = connection::start("bully-postgres", server)?;
        Ok(PostgresRegister { name, jobs, told })
    }

    /// TLS that was asked for is never left out.
    fn secure(&self, config: &mut Config) -> Result<(), RegisterError> {
        match &self.security {
            #[cfg(feature = "tls")]
            StoreSecurity::Tls(tls) => {
                tls.client()?;
                config.ssl_mode(SslMode::Require);
                Ok(())
            }
            StoreSecurity::Plain if config.get_ssl_mode() == SslMode::Require => {
                let words = "sslmode=require needs tls(..), of the feature `tls`";
                let source = io::Error::other(words);
                Err(RegisterError::refused(RegisterRefusal::Credentials, source))
            }
            StoreSecurity::Plain => Ok(()),
        }
    }
}

impl std::fmt::Debug for PostgresBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL may hold a password.
        f.debug_struct("PostgresBuilder")
            .field("schema", &self.schema)
            .field("creates", &self.creates)
            .finish_non_exhaustive()
    }
}

/// Longest name of anything in PostgreSQL, in bytes: it cuts longer ones, which are then another name.
const MOST_IDENTIFIER: usize = 63;

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
        self.jobs.read(key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        self.jobs.swap(key, expected, value)
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        Some(self.jobs.list(prefix))
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        Some(self.jobs.remove(key, expected))
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        self.told.changes(key)
    }
}
