//! An attacker on the way between two nodes: reads all, keeps all, changes what it likes.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, split};

use crate::ends::pipe;

/// What crossed, in one direction.
pub type Record = Arc<Mutex<Vec<u8>>>;

/// Changes one byte on its way.
#[derive(Clone, Copy, Debug)]
pub struct Flip {
    /// Counted from the first byte of that direction.
    pub at: usize,
}

/// A connection with an attacker in the middle that changes what the dialler sends. Returns the
/// listener's end, the dialler's end, and what the dialler has sent so far.
#[expect(
    clippy::disallowed_methods,
    reason = "there is no arbiter in these tests"
)]
pub fn watched(flip: Option<Flip>) -> (DuplexStream, DuplexStream, Record) {
    let (listener, near_listener) = pipe();
    let (dialler, near_dialler) = pipe();
    let record = Record::default();
    let (from_listener, to_listener) = split(near_listener);
    let (from_dialler, to_dialler) = split(near_dialler);
    tokio::spawn(pass(from_dialler, to_listener, Arc::clone(&record), flip));
    tokio::spawn(pass(from_listener, to_dialler, Record::default(), None));
    (listener, dialler, record)
}

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    record: Record,
    flip: Option<Flip>,
) {
    let mut chunk = vec![0; 4096];
    let mut passed = 0;
    while let Ok(len @ 1..) = from.read(&mut chunk).await {
        let chunk = &mut chunk[..len];
        if let Some(Flip { at }) = flip
            && (passed..passed + len).contains(&at)
        {
            chunk[at - passed] ^= 1;
        }
        passed += len;
        record.lock().expect("one writer").extend_from_slice(chunk);
        if to.write_all(chunk).await.is_err() {
            break;
        }
    }
    // Whether the other end still listens or not: there is nothing more to come.
    drop(to.shutdown().await);
}
