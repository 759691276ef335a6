//! A wire between a browser and a page. It can hold or swallow all bytes without closing a connection.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// The treatment of bytes that arrive at a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireState {
    /// They are passed on.
    Passes,
    /// They wait, as if the server stood still.
    Holds,
    /// They are lost, and their connections stay useless.
    Swallows,
}

/// A wire; see the [module](self).
#[derive(Debug)]
pub struct Wire {
    /// Address at which a browser connects.
    pub address: SocketAddr,
    state: watch::Sender<WireState>,
}

impl Wire {
    /// Starts a wire to a server on this host.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (state, watched) = watch::channel(WireState::Passes);
        actix::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(server).await else {
                    continue;
                };
                let ((from, to), (back, answer)) = (client.into_split(), server.into_split());
                actix::spawn(pump(from, answer, watched.clone()));
                actix::spawn(pump(back, to, watched.clone()));
            }
        });
        Self { address, state }
    }

    /// Sets the treatment of bytes from now on.
    pub fn set(&self, state: WireState) {
        self.state.send_replace(state);
    }
}

async fn pump(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut state: watch::Receiver<WireState>,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        while *state.borrow() == WireState::Swallows {
            if from.read(&mut bytes).await.is_ok_and(|read| read > 0) {
                continue;
            }
            return;
        }
        let passes = state.wait_for(|state| *state != WireState::Holds);
        if passes.await.is_err() {
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
