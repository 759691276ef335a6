//! A wire between a browser and a page. It can swallow all bytes without closing a connection.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A wire; see the [module](self).
#[derive(Clone, Debug)]
pub struct Wire {
    /// Address at which a browser connects.
    pub address: SocketAddr,
    swallows: Arc<AtomicBool>,
}

impl Wire {
    /// Starts a wire to a server on this host.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let wire = Self {
            address: listener.local_addr().expect("an address"),
            swallows: Arc::default(),
        };
        let swallows = Arc::clone(&wire.swallows);
        actix::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(server).await else {
                    continue;
                };
                let ((from, to), (back, answer)) = (client.into_split(), server.into_split());
                actix::spawn(pump(from, answer, Arc::clone(&swallows)));
                actix::spawn(pump(back, to, Arc::clone(&swallows)));
            }
        });
        wire
    }

    /// Sets whether the wire swallows bytes from now on.
    pub fn swallow(&self, swallows: bool) {
        self.swallows.store(swallows, SeqCst);
    }
}

async fn pump(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    swallows: Arc<AtomicBool>,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        // The swallowed bytes are lost, so the connection stays useless after the end of the swallowing.
        while swallows.load(SeqCst) {
            if from.read(&mut bytes).await.is_ok_and(|read| read > 0) {
                continue;
            }
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
