//! A register in a PostgreSQL table: for hosts that share a database.
//!
//! Decided here: the settings. Not here: the forms of the URL (`url.rs`), the connection (`server.rs`), the poolers
//! that are refused (`pooler.rs`), the statements (`session.rs`), the meaning of a server's error (`failure.rs`), and
//! the common part of all stores that are reached over a connection (`connection/`).

mod failure;
mod pooler;
mod server;
mod session;
#[cfg(feature = "tls")]
mod tls;
mod url;

use std::{io, path::PathBuf, sync::Arc};

use tokio_postgres::Config;

#[cfg(feature = "tls")]
use super::RegisterTls;
use super::{
    RegisterError, RegisterRefusal, StoreClock,
    connection::{self, Listeners, StoreSecurity, register_by_thread},
    jobs::Jobs,
};
use server::PostgresServer;
use session::Statements;
use url::PostgresUrl;

/// Keeps leases in a table of a PostgreSQL database, whose notifications wake the agents that wait for a lease.
///
/// The table `bully_register` is in the schema `public`, or in [another schema](PostgresBuilder::schema). An operator
/// makes it with the statement [`table_sql`](Self::table_sql), or the register makes it [on
/// request](PostgresBuilder::create_table). The register's user needs the rights to select, insert, update and delete
/// in the table. All elections share one connection. The connection is made in the background, and made again when it
/// is lost; meanwhile every operation fails at once. The server aborts a statement after one second.
///
/// Give the primary, or all hosts that may become the primary. The register asks each of them whether it takes writes,
/// and uses the first host that takes writes. A replica is refused, since its data may be old. When a server no longer
/// takes writes, the register moves to another host of the URL.
///
/// A pooler has to give the connection a session of its own (`pool_mode=session` of `PgBouncer`). A pooler that shares
/// sessions is refused as [`RegisterRefusal::Pooled`] before anything is set: the time limit and the notifications of a
/// register would reach the other applications of the pool. To detect such a pooler, a register opens a second
/// connection for a moment.
///
/// # Fail-over of the database
/// The promise of one leader depends on a promise of the database: a confirmed write is seen by every later read. So a
/// server that takes over must have every confirmed write, and the former server must not take writes any more.
/// - Use synchronous replication (`synchronous_standby_names`, and `synchronous_commit` at `on` or higher) to each
///   standby that may be promoted, or to a quorum of which the promotion asks a majority. The register sets
///   `synchronous_commit` to `on` if it is lower.
/// - Stop the former primary or cut it off first, as Patroni and cloud services do. If two servers take writes, each
///   may have a leader of its own.
/// - An asynchronous standby lacks the last writes: a renewal, a release, or a whole leadership. The holder may then
///   lead on by a renewal that the new server never saw, until its lease ends, while another agent takes the lease that
///   it reads on the new server. An agent that has seen the lost term takes a higher one, so its tokens keep growing.
///   An agent that knows only the new server may use a token a second time.
///
/// ```no_run
/// # use bully_register::PostgresRegister;
/// let register = PostgresRegister::builder("postgres://app:secret@db.example/app")
///     .create_table()
///     .open()?;
/// # Ok::<(), bully_register::RegisterError>(())
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
    url: PostgresUrl,
    schema: String,
    creates: bool,
    security: StoreSecurity,
}

impl PostgresRegister {
    /// Returns the SQL statement that creates the table in this schema, for an operator.
    pub fn table_sql(schema: &str) -> String {
        session::create(schema)
    }

    /// Makes the settings of a register in a database, by a URL or by `key=value` pairs, as `psql` takes them.
    pub fn builder(url: &str) -> PostgresBuilder {
        Self::at(PostgresUrl::Text(url.to_owned()))
    }

    /// Like [`builder`](Self::builder), from a file, which is read again at each login: its password may be changed
    /// while the process runs. If the URL has a password, only the file's owner may be able to read it (`chmod 600`).
    pub fn builder_from_file(path: impl Into<PathBuf>) -> PostgresBuilder {
        Self::at(PostgresUrl::File(path.into()))
    }

    fn at(url: PostgresUrl) -> PostgresBuilder {
        PostgresBuilder {
            url,
            schema: "public".to_owned(),
            creates: false,
            security: StoreSecurity::Plain,
        }
    }
}

impl PostgresBuilder {
    /// Keeps leases in the table of the schema `schema` instead of `public`. The schema has to exist. All agents of a
    /// group have to name the same schema, even if they have different users: the server's `search_path` does not
    /// count.
    pub fn schema(mut self, schema: &str) -> Self {
        schema.clone_into(&mut self.schema);
        self
    }

    /// Creates the table if it is missing, even if it was dropped while the register is used. The new table is empty,
    /// so the lease is vacant.
    pub fn create_table(mut self) -> Self {
        self.creates = true;
        self
    }

    /// Speaks to the server by TLS. If the server requires certificates of its clients (`clientcert`, or the method
    /// `cert`, in `pg_hba.conf`), the register needs a certificate.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: RegisterTls) -> Self {
        self.security = StoreSecurity::Tls(tls);
        self
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// [`RegisterError::Refused`] when the URL has a wrong setting, its file cannot be used, or the settings of TLS are
    /// incomplete. A server that cannot be reached shows only later, as an error of operations.
    pub fn open(self) -> Result<PostgresRegister, RegisterError> {
        let config = self.url.config()?;
        if !(1..=MOST_IDENTIFIER).contains(&self.schema.len()) || self.schema.contains('\0') {
            let words = format!("the name of a schema has 1 to {MOST_IDENTIFIER} bytes");
            return Err(url::refused(words));
        }
        self.check_security(&config)?;
        let database = url::name_of(&config);
        let name = format!("{database}/{}", self.schema).into();
        let server = PostgresServer {
            url: self.url,
            name: database,
            security: self.security,
            statements: Arc::new(Statements::of(&self.schema)),
            creates: self.creates,
            has_own_sessions: false,
        };
        let (jobs, told) = connection::start("bully-postgres", server)?;
        Ok(PostgresRegister { name, jobs, told })
    }

    /// Refuses a URL that requires TLS if the register has no settings for TLS.
    fn check_security(&self, config: &Config) -> Result<(), RegisterError> {
        match &self.security {
            #[cfg(feature = "tls")]
            StoreSecurity::Tls(tls) => tls.check(),
            StoreSecurity::Plain if url::needs_tls(config) => {
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
        // The URL is not shown, because it may contain a password.
        f.debug_struct("PostgresBuilder")
            .field("schema", &self.schema)
            .field("creates", &self.creates)
            .field("security", &self.security)
            .finish_non_exhaustive()
    }
}

/// Longest name of a database object in PostgreSQL, in bytes. PostgreSQL cuts longer names, which then differ from the
/// given names.
const MOST_IDENTIFIER: usize = 63;

register_by_thread!(PostgresRegister, {
    fn clock(&self) -> Option<StoreClock> {
        Some(self.jobs.clock())
    }
});
