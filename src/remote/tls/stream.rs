//! A connection to a known peer: reads and writes go through TLS, and the peer's name stays with the stream.

use std::{
    fmt,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::remote::NodeId;

/// An encrypted stream to a peer that has proved its name.
///
/// If it is dropped without `shutdown`, the peer sees an unexpected end, which looks like a connection that was cut.
pub struct TlsStream<S> {
    inner: tokio_rustls::TlsStream<S>,
    peer: NodeId,
}

impl<S> TlsStream<S> {
    pub(super) const fn new(inner: tokio_rustls::TlsStream<S>, peer: NodeId) -> Self {
        Self { inner, peer }
    }

    /// Returns the node at the other end, by the certificate that it showed on this connection.
    pub const fn peer(&self) -> &NodeId {
        &self.peer
    }

    /// Returns the stream below TLS.
    pub fn get_ref(&self) -> &S {
        self.inner.get_ref().0
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

impl<S> fmt::Debug for TlsStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
