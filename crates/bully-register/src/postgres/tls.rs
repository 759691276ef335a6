//! TLS in the form that the client of the database needs.
//!
//! Decided here: the login is not bound to the server's certificate (no channel binding). Not here: the authorities
//! that TLS trusts (`connection/tls.rs`).

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::{FutureExt, future::Map};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{Connect, TlsConnector, client};

use crate::{RegisterError, RegisterTls};

#[derive(Clone)]
pub(super) struct Connector(Arc<ClientConfig>);

impl Connector {
    /// Makes a connector with the present certificates.
    pub(super) fn new(tls: &RegisterTls) -> Result<Self, RegisterError> {
        Ok(Self(Arc::new(tls.client()?)))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Connector {
    type Stream = PostgresStream<S>;
    type TlsConnect = NamedStream;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<NamedStream> {
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&self.0));
        Ok(NamedStream { connector, name })
    }
}

/// A connector for one server.
pub(super) struct NamedStream {
    connector: TlsConnector,
    name: ServerName<'static>,
}

type Wrap<S> = fn(io::Result<client::TlsStream<S>>) -> io::Result<PostgresStream<S>>;

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for NamedStream {
    type Stream = PostgresStream<S>;
    type Error = io::Error;
    type Future = Map<Connect<S>, Wrap<S>>;

    fn connect(self, stream: S) -> Self::Future {
        let wrap: Wrap<S> = |made| made.map(PostgresStream);
        self.connector.connect(self.name, stream).map(wrap)
    }
}

pub(super) struct PostgresStream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for PostgresStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        // Channel binding would need a parser of certificates. Channel binding is left out, because TLS has checked the
        // server's certificate already.
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for PostgresStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for PostgresStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
