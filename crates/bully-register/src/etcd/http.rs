//! Sends requests to a member and receives its answers, by HTTP/1.1.
//!
//! Decided here: the largest size of an answer, and the difference between a request that was not sent and a request
//! whose answer is missing. Not here: the contents (`message/`).

use std::{cell::RefCell, io, rc::Rc};
#[cfg(feature = "tls")]
use std::{error::Error, sync::Arc};

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
use {crate::connection::refusal, rustls::pki_types::ServerName, tokio_rustls::TlsConnector};

use super::{endpoint::EtcdEndpoint, failure::EtcdFailure, message::EtcdQuestion};
use crate::{RegisterError, connection::StoreSecurity};

/// Makes connections to members.
#[derive(Clone)]
pub(super) enum Http {
    Plain,
    #[cfg(feature = "tls")]
    Secure(TlsConnector),
}

impl Http {
    /// Prepares connections, with the present content of the TLS files.
    pub(super) fn new(security: &StoreSecurity) -> Result<Self, RegisterError> {
        match security {
            StoreSecurity::Plain => Ok(Self::Plain),
            #[cfg(feature = "tls")]
            StoreSecurity::Tls(tls) => {
                let mut config = tls.client()?;
                // Offers HTTP/1.1 only; otherwise a member could choose HTTP/2.
                config.alpn_protocols = vec![b"http/1.1".to_vec()];
                Ok(Self::Secure(TlsConnector::from(Arc::new(config))))
            }
        }
    }

    pub(super) async fn connect(&self, to: &EtcdEndpoint) -> io::Result<HttpConnection> {
        let stream = TcpStream::connect((to.host(), to.port())).await?;
        // A request is written in one piece, so waiting for further data would only delay it.
        stream.set_nodelay(true)?;
        match self {
            Self::Plain => HttpConnection::begin(stream).await,
            #[cfg(feature = "tls")]
            Self::Secure(connector) => {
                let name = ServerName::try_from(to.host().to_owned()).map_err(io::Error::other)?;
                HttpConnection::begin(connector.connect(name, stream).await?).await
            }
        }
    }
}

/// One connection, which handles one question at a time.
pub(super) struct HttpConnection {
    sender: SendRequest<Full<Bytes>>,
    /// The member's reason, if it refused this client. In TLS 1.3 the refusal may come after the handshake.
    refusal: Rc<RefCell<Option<String>>>,
}

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
        let refusal: Rc<RefCell<Option<String>>> = Rc::default();
        let told = Rc::clone(&refusal);
        // The task ends when the sender is dropped.
        spawn_local(async move {
            if let Err(reason) = connection.await {
                debug!(target: "actix_bully", %reason, "a connection to etcd was lost");
                *told.borrow_mut() = refusal_in(&reason);
            }
        });
        Ok(Self { sender, refusal })
    }

    /// Waits until the last answer was read to the end. Returns whether the connection can then take a question.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Sends a question, and waits for the beginning of the answer.
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
        self.sender
            .try_send_request(request)
            .await
            .map_err(|mut lost| {
                let words = lost.error().to_string();
                // The refusal may be in the error of this request or in the error of the connection.
                let refusal = refusal_in(lost.error()).or_else(|| self.refusal.take());
                let was_sent = lost.take_message().is_none();
                EtcdFailure::lost(question.writes, was_sent, refusal, words)
            })
    }
}

/// Returns the member's words in TLS, if it refused the client in TLS.
#[cfg(feature = "tls")]
fn refusal_in(error: &hyper::Error) -> Option<String> {
    let words = || match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    refusal::is_refusal(error).then(words)
}

#[cfg(not(feature = "tls"))]
const fn refusal_in(_: &hyper::Error) -> Option<String> {
    None
}

/// The result of reading an answer to its end.
pub(super) enum Whole {
    Body(Vec<u8>),
    /// The body is larger than any answer of etcd to such a question.
    TooLarge,
}

/// Reads an answer to its end, or gives up if it is longer than `most` bytes.
pub(super) async fn whole(mut answer: Incoming, most: usize) -> Result<Whole, hyper::Error> {
    let mut body = Vec::new();
    while let Some(frame) = answer.frame().await {
        let Ok(piece) = frame?.into_data() else {
            continue; // a trailer after the body
        };
        if body.len().saturating_add(piece.len()) > most {
            return Ok(Whole::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Whole::Body(body))
}

/// Largest size of the head of an answer, and of one part of its body, in bytes.
const MOST_HEAD: usize = 65_536;
