//! A connection to the database.
//!
//! Decided here: that all elections of a register share one, and how its notifications are heard.

use std::sync::Arc;

use futures::future::poll_fn;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::spawn_local,
};
use tokio_postgres::{AsyncMessage, Config, Connection, NoTls, Socket};
use tracing::debug;

#[cfg(feature = "tls")]
use super::tls::Connector;
use super::{
    failure::failure,
    session::{PostgresSession, Statements},
};
use crate::{
    RegisterError,
    connection::{KeyChange, Server, StoreSecurity, Tellers},
};

/// See the [module](self).
pub(super) struct PostgresServer {
    pub(super) config: Config,
    pub(super) security: StoreSecurity,
    pub(super) statements: Arc<Statements>,
    pub(super) creates: bool,
}

impl Server for PostgresServer {
    type Session = PostgresSession;

    async fn connect(
        &mut self,
        told: &Tellers,
    ) -> Result<(PostgresSession, mpsc::Receiver<()>), RegisterError> {
        let failed = |error| failure(&error, false);
        let (client, ended) = match &self.security {
            StoreSecurity::Plain => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(failed)?;
                (client, keep(connection, told))
            }
            #[cfg(feature = "tls")]
            StoreSecurity::Tls(tls) => {
                let connected = self.config.connect(Connector::new(tls)?).await;
                let (client, connection) = connected.map_err(failed)?;
                (client, keep(connection, told))
            }
        };
        let statements = Arc::clone(&self.statements);
        let session = PostgresSession::begin(client, statements, self.creates).await;
        Ok((session.map_err(failed)?, ended))
    }
}

/// Drives a connection until it ends, or nobody has its client any more.
fn keep<T>(mut connection: Connection<Socket, T>, told: &Tellers) -> mpsc::Receiver<()>
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (alive, ended) = mpsc::channel(1);
    let told = told.clone();
    spawn_local(async move {
        let _alive = alive;
        loop {
            match poll_fn(|cx| connection.poll_message(cx)).await {
                Some(Ok(AsyncMessage::Notification(change))) => {
                    told.tell(KeyChange::Key(change.payload().into()));
                }
                Some(Ok(_)) => {}
                Some(Err(reason)) => {
                    debug!(target: "actix_bully", %reason, "the connection to the database was lost");
                    return;
                }
                None => return,
            }
        }
    });
    ended
}
