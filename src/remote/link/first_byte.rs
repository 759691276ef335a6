//! A stream of which the first bytes were read.
//!
//! The first bytes are read below the security layer, so that a dialler that begins a TLS handshake is not considered
//! silent. The bytes are kept until it is this connection's turn to be checked.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use crate::remote::{bridge::gate::Pass, transport::Stream};

pub(super) struct FirstByte {
    stream: Box<dyn Stream>,
    said: BytesMut,
}

impl FirstByte {
    /// Waits until the other end has sent a byte, or has ended.
    pub(super) async fn of(mut stream: Box<dyn Stream>, pass: &Pass) -> io::Result<Self> {
        let mut said = BytesMut::with_capacity(AHEAD);
        // The end of the stream is not a byte: a dialler that closes without a byte is considered silent.
        if stream.read_buf(&mut said).await? > 0 {
            pass.heard();
        }
        Ok(Self { stream, said })
    }
}

impl AsyncRead for FirstByte {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.said.is_empty() {
            return Pin::new(&mut self.stream).poll_read(task, buf);
        }
        let len = self.said.len().min(buf.remaining());
        buf.put_slice(&self.said.split_to(len));
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
