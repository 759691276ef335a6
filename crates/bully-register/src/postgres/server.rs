//! A connection to the database.
//!
//! Decided here: all elections of a register share one connection; how its notifications are received; and after a
//! failure the hosts are tried in a random order, because a host that hangs would hide the hosts after it. Not here:
//! whether a pooler shares the connection with other clients (`pooler.rs`).

use std::sync::Arc;

use futures::future::poll_fn;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::spawn_local,
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, NoTls, Socket,
    config::{LoadBalanceHosts, SslMode},
};
use tracing::debug;

#[cfg(feature = "tls")]
use super::tls::Connector;
use super::{
    failure::{Asked, failure},
    pooler,
    session::{PostgresSession, Statements, notified},
    url::{self, PostgresUrl},
};
use crate::{
    RegisterError,
    connection::{Course, Server, StoreSecurity, Tellers},
};

pub(super) struct PostgresServer {
    pub(super) url: PostgresUrl,
    /// The name of the store (hosts and database), by the URL at the time when the register was opened.
    pub(super) name: String,
    pub(super) security: StoreSecurity,
    pub(super) statements: Arc<Statements>,
    pub(super) creates: bool,
    /// Whether a check has shown that no pooler shares the sessions of connections.
    pub(super) has_own_sessions: bool,
}

impl PostgresServer {
    /// Returns the present settings of a connection.
    fn config(&self, after: Course) -> Result<Config, RegisterError> {
        let mut config = self.url.config()?;
        if url::name_of(&config) != self.name {
            return Err(url::refused(
                "the file of the URL now names other hosts or another database: start the process again",
            ));
        }
        if !matches!(self.security, StoreSecurity::Plain) {
            config.ssl_mode(SslMode::Require);
        }
        if after == Course::MovesOn {
            // In the given order, a host that hangs would hide the hosts after it.
            config.load_balance_hosts(LoadBalanceHosts::Random);
        }
        Ok(config)
    }

    async fn client(
        &self,
        config: &Config,
        told: &Tellers,
    ) -> Result<(Client, mpsc::Sender<Course>, mpsc::Receiver<Course>), RegisterError> {
        match &self.security {
            StoreSecurity::Plain => {
                let (client, connection) = config.connect(NoTls).await.map_err(self.failed())?;
                let (end, ended) = keep(connection, told);
                Ok((client, end, ended))
            }
            #[cfg(feature = "tls")]
            StoreSecurity::Tls(tls) => {
                let connected = config.connect(Connector::new(tls)?).await;
                let (client, connection) = connected.map_err(self.failed())?;
                let (end, ended) = keep(connection, told);
                Ok((client, end, ended))
            }
        }
    }

    /// Returns a function that makes the error of a failure before anything was written.
    fn failed(&self) -> impl Fn(tokio_postgres::Error) -> RegisterError {
        let asked = Asked {
            writes: false,
            creates: self.creates,
        };
        move |error| failure(&error, asked).0
    }
}

impl Server for PostgresServer {
    type Session = PostgresSession;

    async fn connect(
        &mut self,
        told: &Tellers,
        after: Course,
    ) -> Result<(PostgresSession, mpsc::Receiver<Course>), RegisterError> {
        let config = self.config(after)?;
        let (client, end, ended) = self.client(&config, told).await?;
        let own = pooler::process(&client).await.map_err(self.failed())?;
        if !self.has_own_sessions {
            // The check comes before any setting: with a shared session, other clients would get the setting as well.
            let other = async { self.client(&config, told).await.map(|(other, ..)| other) };
            self.has_own_sessions = pooler::check(&client, own, other).await?;
        }
        let statements = Arc::clone(&self.statements);
        let session = PostgresSession::begin(client, end, statements, self.creates, own);
        Ok((session.await?, ended))
    }
}

/// Starts a task that drives a connection until it ends, or its last client is dropped.
fn keep<T>(
    mut connection: Connection<Socket, T>,
    told: &Tellers,
) -> (mpsc::Sender<Course>, mpsc::Receiver<Course>)
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (end, ended) = mpsc::channel(1);
    let (told, ends) = (told.clone(), end.clone());
    spawn_local(async move {
        loop {
            match poll_fn(|cx| connection.poll_message(cx)).await {
                Some(Ok(AsyncMessage::Notification(change))) => {
                    told.tell(notified(change.payload()));
                }
                Some(Ok(_)) => {}
                Some(Err(reason)) => {
                    debug!(target: "actix_bully", %reason, "the connection to the database was lost");
                    break;
                }
                None => break,
            }
        }
        ends.try_send(Course::MovesOn).ok();
    });
    (end, ended)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_may_name_another_user_later_and_no_other_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("url");
        let server = PostgresServer {
            name: "postgres a,b:5432,5432/jobs".to_owned(),
            url: PostgresUrl::File(path.clone()),
            security: StoreSecurity::Plain,
            statements: Arc::new(Statements::of("public")),
            creates: false,
            has_own_sessions: false,
        };
        for (url, is_same) in [
            ("postgres://app@a,b/jobs", true),
            ("postgres://other@a,b/jobs", true),
            ("postgres://app@a,b/stock", false),
            ("postgres://app@a,c/jobs", false),
        ] {
            fs::write(&path, url).unwrap();
            // A new login tries the hosts in their order. After any other end, the order is random.
            for (after, order) in [
                (Course::LogsIn, LoadBalanceHosts::Disable),
                (Course::MovesOn, LoadBalanceHosts::Random),
            ] {
                let config = server.config(after).ok();
                let found = config.map(|config| config.get_load_balance_hosts());
                assert_eq!(found, is_same.then_some(order), "{url}");
            }
        }
    }
}
