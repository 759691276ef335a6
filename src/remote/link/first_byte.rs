//! A stream that notices its first byte.
//!
//! The first byte is noticed below the security layer, which reads the stream first. So neither a dialler that begins a
//! TLS handshake nor one without TLS that sends HELLO is considered silent. The bytes of the first read are kept until
//! it is this connection's turn to be checked.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use crate::remote::{bridge::gate::Ear, transport::Stream};

pub(super) struct FirstByte {
    stream: Box<dyn Stream>,
    ear: Option<Ear>,
    said: BytesMut,
}

impl FirstByte {
    pub(super) fn new(stream: Box<dyn Stream>, ear: Ear) -> Self {
        Self {
            stream,
            ear: Some(ear),
            said: BytesMut::new(),
        }
    }

    /// Waits until the other end has sent a byte, or has ended.
    pub(super) async fn first(&mut self) -> io::Result<()> {
        let mut said = BytesMut::with_capacity(AHEAD);
        self.read_buf(&mut said).await?;
        self.said = said;
        Ok(())
    }
}

impl AsyncRead for FirstByte {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.said.is_empty() {
            let len = self.said.len().min(buf.remaining());
            buf.put_slice(&self.said.split_to(len));
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(task, buf))?;
        // The end of the stream is not a byte: a dialler that closes without a byte is considered silent.
        if buf.filled().len() > before
            && let Some(ear) = self.ear.take()
        {
            ear.heard();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FirstByte {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(task, bytes)
    }

    // The default of the trait is `false`. Then the layer above would write its buffers one by one.
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(task)
    }
}

/// Size of the first read, in bytes. The first record of a TLS client has about 240 bytes.
const AHEAD: usize = 512;
