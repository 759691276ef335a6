//! The stream of one viewer.
//!
//! Decided here: that it reads when its client takes something and never sooner, so nothing is kept for it but its place;
//! and how often it says something while nothing happens, so that a client which is gone is noticed. Not here: what is
//! read (`board.rs`).

use std::{convert::Infallible, sync::Arc, time::Duration};

use actix_web::rt::time::timeout;
use bytes::Bytes;
use futures::{Stream, future::select_all, stream};
use tokio::sync::watch;

use super::{
    board::{Board, Place},
    closer::Closer,
    viewers::NoSeat,
};

/// A viewer of one board, or of several at once. What has a place leaves it when its connection ends, however that comes.
pub(super) struct Viewer(Vec<Seat>);

/// Its place at one board.
struct Seat {
    board: Arc<Board>,
    place: Place,
    updates: watch::Receiver<u64>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.board.leave(&self.place);
    }
}

impl Viewer {
    /// Takes a place at each of them, or at none.
    pub(super) fn admit<'a>(
        boards: impl Iterator<Item = &'a Arc<Board>>,
        closer: &Closer,
    ) -> Result<Self, NoSeat> {
        let seats = boards.map(|board| {
            Ok(Seat {
                place: board.admit(closer.clone())?,
                updates: board.updates(),
                board: Arc::clone(board),
            })
        });
        Ok(Self(seats.collect::<Result<_, _>>()?))
    }

    /// Events for it, until it is gone or dismissed.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut viewer| async move {
            let text = viewer.next().await?;
            Some((Ok(text), viewer))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let texts = self.0.iter_mut().map(|seat| {
                // Before the look: what comes in between is not missed.
                seat.updates.mark_unchanged();
                seat.board.read(&mut seat.place)
            });
            let mut texts: Vec<Bytes> = texts.collect::<Option<_>>()?;
            texts.retain(|text| !text.is_empty());
            match texts.as_slice() {
                [] => {}
                // One board alone gives all its viewers the same bytes.
                [_] => return texts.pop(),
                several => return Some(several.concat().into()),
            }
            let updates = self
                .0
                .iter_mut()
                .map(|seat| Box::pin(seat.updates.changed()));
            match timeout(BEAT, select_all(updates)).await {
                Ok((Ok(()), _, _)) => {}
                Ok((Err(_), _, _)) => return None,
                Err(_) => return Some(Bytes::from_static(b": nothing new\n\n")),
            }
        }
    }
}

/// A client that is gone is noticed when something is written to it.
const BEAT: Duration = Duration::from_secs(5);
