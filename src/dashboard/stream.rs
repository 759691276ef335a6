//! The stream of one viewer.
//!
//! Decided here: that it reads when its client takes something and never sooner, so nothing is kept for it but its place;
//! and how often it says something while nothing happens, so that a client which is gone is noticed. Not here: what is
//! read (`board.rs`).

use std::{convert::Infallible, sync::Arc, time::Duration};

use actix_web::rt::time::timeout;
use bytes::Bytes;
use futures::{Stream, stream};
use tokio::sync::watch;

use super::board::{Board, Place};

/// What has a place leaves it when its connection ends, however that comes.
struct Viewer {
    board: Arc<Board>,
    place: Place,
    updates: watch::Receiver<u64>,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.board.leave(&self.place);
    }
}

/// Events for that place, until its viewer is gone or dismissed.
pub(super) fn stream(
    board: Arc<Board>,
    place: Place,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let viewer = Viewer {
        updates: board.updates(),
        board,
        place,
    };
    stream::unfold(viewer, |mut viewer| async move {
        let text = viewer.next().await?;
        Some((Ok(text), viewer))
    })
}

impl Viewer {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Before the look: what comes in between is not missed.
            self.updates.mark_unchanged();
            let text = self.board.read(&mut self.place)?;
            if !text.is_empty() {
                return Some(text);
            }
            match timeout(BEAT, self.updates.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(Bytes::from_static(b": nothing new\n\n")),
            }
        }
    }
}

/// A client that is gone is noticed when something is written to it.
const BEAT: Duration = Duration::from_secs(5);
