//! Bytes at a port that demands TLS, and bytes of a peer after the handshake.
//!
//! The first byte chooses between the two. Without a handshake no bytes get in. After a handshake they arrive
//! unchanged, and are checked like the bytes of any ready link.

use std::sync::OnceLock;

use actix_bully::remote::tls::{TlsConfig, accept};
use actix_bully_tls_tests::{authority::Authority, ends};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::{Builder, Runtime},
};

use crate::frames;

/// Two nodes of one authority.
struct Nodes {
    listener: TlsConfig,
    dialler: TlsConfig,
}

/// Sends the bytes. Panics if a stranger gets in, or if a peer's bytes change.
pub fn check(data: &[u8]) {
    static NODES: OnceLock<Nodes> = OnceLock::new();
    let [kind, data @ ..] = data else {
        return;
    };
    let nodes = NODES.get_or_init(|| {
        let authority = Authority::new("a fuzzer's authority");
        Nodes {
            listener: authority.config("a"),
            dialler: authority.config("b"),
        }
    });
    thread_local! {
        static RUNTIME: Runtime = Builder::new_current_thread().build().expect("a runtime");
    }
    RUNTIME.with(|runtime| {
        if kind % 2 == 0 {
            let arrived = runtime.block_on(through(nodes, data));
            assert_eq!(arrived, data, "TLS changes nothing");
            frames::check(&arrived);
        } else {
            runtime.block_on(knock(nodes, data));
        }
    });
}

/// Returns the bytes that arrive when a peer sends `data`.
async fn through(nodes: &Nodes, data: &[u8]) -> Vec<u8> {
    let (mut here, mut there) = ends::pair(&nodes.listener, &nodes.dialler).await;
    let mut arrived = Vec::new();
    let sending = async {
        there.write_all(data).await.expect("there is room");
        there.shutdown().await.expect("there is room");
    };
    let (read, ()) = tokio::join!(here.read_to_end(&mut arrived), sending);
    read.expect("all of it arrives");
    arrived
}

/// Sends a stranger's bytes in place of a handshake.
async fn knock(nodes: &Nodes, data: &[u8]) {
    let (here, mut there) = ends::pipe();
    let sending = async move {
        // The node may have closed the connection before all bytes were sent.
        let _refused = there.write_all(data).await;
        let _refused = there.shutdown().await;
        let mut answer = Vec::new();
        let _refused = there.read_to_end(&mut answer).await;
    };
    let accepting = async {
        let outcome = accept(&nodes.listener, Box::new(here), |_| true).await;
        assert!(outcome.is_err(), "no process gets in without a certificate");
    };
    tokio::join!(accepting, sending);
}
