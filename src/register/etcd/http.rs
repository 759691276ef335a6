//! Bytes to a member and back, by HTTP/1.1.
//!
//! Decided here: how large an answer may be, and that a request which was not sent is told from one whose answer is
//! missing. Not here: what is in them (`message/`).

use std::io;
#[cfg(feature = "tls")]
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::spawn_local,
};
use tracing::debug;
#[cfg(feature = "tls")]
use {rustls::pki_types::ServerName, tokio_rustls::TlsConnector};

use super::{endpoint::EtcdEndpoint, failure::EtcdFailure, message::EtcdQuestion};
#[cfg(feature = "tls")]
use crate::register::{RegisterError, connection::tls};

/// How members are spoken to.
#[derive(Clone)]
pub(super) enum EtcdSecurity {
    Plain,
    #[cfg(feature = "tls")]
    Tls(TlsConnector),
}

#[cfg(feature = "tls")]
impl EtcdSecurity {
    pub(super) fn trusting(authorities: &[u8]) -> Result<Self, RegisterError> {
        let mut config = tls::trusting(authorities)?;
        // A member would speak the second version otherwise, if it may choose.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self::Tls(TlsConnector::from(Arc::new(config))))
    }
}

/// Makes connections.
#[derive(Clone)]
pub(super) struct Http {
    security: EtcdSecurity,
}

impl Http {
    pub(super) const fn new(security: EtcdSecurity) -> Self {
        Self { security }
    }

    pub(super) async fn connect(&self, to: &EtcdEndpoint) -> io::Result<HttpConnection> {
        let stream = TcpStream::connect((to.host(), to.port())).await?;
        // A question is one piece, and waits for no other.
        stream.set_nodelay(true)?;
        match &self.security {
            EtcdSecurity::Plain => HttpConnection::begin(stream).await,
            #[cfg(feature = "tls")]
            EtcdSecurity::Tls(connector) => {
                let name = ServerName::try_from(to.host().to_owned()).map_err(io::Error::other)?;
                HttpConnection::begin(connector.connect(name, stream).await?).await
            }
        }
    }
}

/// One connection; it has one question at a time.
pub(super) struct HttpConnection(SendRequest<Full<Bytes>>);

impl HttpConnection {
    async fn begin<S>(stream: S) -> io::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(MOST_HEAD)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(io::Error::other)?;
        // Ends with the sender.
        spawn_local(async move {
            if let Err(reason) = connection.await {
                debug!(%reason, "a connection to etcd was lost");
            }
        });
        Ok(Self(sender))
    }

    /// Whether it can be asked; waits until it has come to the end of its last answer.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.0.ready().await.is_ok()
    }

    /// Asks; the answer has begun then.
    pub(super) async fn ask(
        &mut self,
        to: &EtcdEndpoint,
        token: Option<&str>,
        question: &EtcdQuestion,
    ) -> Result<Response<Incoming>, EtcdFailure> {
        let mut request = Request::post(question.path)
            .header(HOST, to.authority())
            .header(CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        let body = Full::new(Bytes::from(question.body.clone()));
        let request = request
            .body(body)
            .map_err(|wrong| EtcdFailure::unsent(wrong.to_string()))?;
        self.0.try_send_request(request).await.map_err(|mut lost| {
            let words = lost.error().to_string();
            match lost.take_message() {
                Some(_) => EtcdFailure::unsent(words),
                None => EtcdFailure::unfinished(question.writes, words),
            }
        })
    }
}

/// An answer to its end.
pub(super) enum Whole {
    Body(Vec<u8>),
    /// It is larger than etcd's answers about records are.
    TooLarge,
}

/// Reads an answer to its end, or gives it up.
pub(super) async fn whole(mut answer: Incoming) -> Result<Whole, hyper::Error> {
    let mut body = Vec::new();
    while let Some(frame) = answer.frame().await {
        let Ok(piece) = frame?.into_data() else {
            continue; // what comes behind a body
        };
        if body.len().saturating_add(piece.len()) > MOST_BODY {
            return Ok(Whole::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Whole::Body(body))
}

/// The largest record is a third of it.
const MOST_BODY: usize = 16_384;
/// What is before a body, and a piece of it.
const MOST_HEAD: usize = 65_536;
