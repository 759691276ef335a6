//! The stream of one viewer.
//!
//! Decided here: the stream reads the board only when its client reads, so the server keeps only a position for each
//! viewer; the largest number of bytes that a viewer gets in a second; and the interval of messages while nothing
//! happens, by which a lost client is noticed. Not here: the frames (`board.rs`).

use std::{convert::Infallible, mem, sync::Arc, time::Duration};

use actix_web::rt::time::{sleep, timeout};
use bytes::Bytes;
use futures::{Stream, future::select_all, stream};
use tokio::sync::watch;

use super::{
    board::{Board, Place},
    closer::Closer,
    frames::frame,
    viewers::TooManyViewers,
};
use crate::shown;

/// A viewer of one or several boards. Its slots become free when its connection ends, for any reason.
pub(super) struct Viewer {
    subscriptions: Vec<Subscription>,
    /// Time to wait before the viewer gets more bytes, to keep the limit of bytes per second.
    owes: Duration,
}

/// A viewer's slot at one board.
struct Subscription {
    board: Arc<Board>,
    place: Place,
    updates: watch::Receiver<u64>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.board.leave(&self.place);
    }
}

impl Viewer {
    /// Takes a slot at each board, or no slot.
    pub(super) fn admit<'a>(
        boards: impl Iterator<Item = &'a Arc<Board>>,
        closer: &Closer,
    ) -> Result<Self, TooManyViewers> {
        let subscriptions = boards.map(|board| {
            Ok(Subscription {
                place: board.admit(closer.clone())?,
                updates: board.updates(),
                board: Arc::clone(board),
            })
        });
        Ok(Self {
            subscriptions: subscriptions.collect::<Result<_, _>>()?,
            owes: Duration::ZERO,
        })
    }

    /// Returns the viewer's events, until the viewer is gone or has lost its slot.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut viewer| async move {
            if viewer.owes >= LEAST_PAUSE {
                sleep(mem::take(&mut viewer.owes)).await;
            }
            let text = viewer.next().await?;
            viewer.owes = viewer.owes.saturating_add(time_of(text.len()));
            Some((Ok(text), viewer))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let texts = self.subscriptions.iter_mut().map(|subscription| {
                // The update is marked as seen before the read, so that a frame that is published in between is not
                // missed.
                subscription.updates.mark_unchanged();
                subscription.board.read(&mut subscription.place)
            });
            let mut texts: Vec<Bytes> = texts.collect::<Option<_>>()?;
            texts.retain(|text| !text.is_empty());
            match texts.as_slice() {
                [] => {}
                // A viewer of a single board gets the shared bytes, without a copy.
                [_] => return texts.pop(),
                several => return Some(several.concat().into()),
            }
            let updates = self
                .subscriptions
                .iter_mut()
                .map(|subscription| Box::pin(subscription.updates.changed()));
            let update = timeout(BEAT, select_all(updates)).await;
            match update.map(|(first, _, _)| first) {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(self.beat()),
            }
        }
    }
}

impl Viewer {
    /// Returns the message for an interval without frames. It contains the time of the agents, and shows the page that
    /// the server is alive.
    fn beat(&self) -> Bytes {
        let board = self.subscriptions.first().map(|each| &each.board);
        let at_ms = board.map(|board| shown::in_millis(board.shown_at()));
        frame(("", "beat"), &serde_json::json!({ "at_ms": at_ms })).unwrap_or_default()
    }
}

/// Returns the time in which a viewer may get `bytes` bytes.
fn time_of(bytes: usize) -> Duration {
    let nanos = u64::try_from(bytes).unwrap_or(u64::MAX);
    Duration::from_nanos(nanos.saturating_mul(1_000_000_000 / BYTES_A_SECOND))
}

/// Largest number of bytes that a viewer gets in a second. At this rate it gets all kept frames, even of two boards, in
/// less time than the limit for slow viewers.
const BYTES_A_SECOND: u64 = 2 << 20;
/// Shortest pause. Shorter pauses are added up over several frames.
const LEAST_PAUSE: Duration = Duration::from_millis(10);
/// Interval of messages while nothing is new. A page that receives nothing for three intervals shows that the server is
/// silent. By the write of the message the server notices whether a client is gone.
const BEAT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::{
        super::{
            head::Head,
            moment::PageMoment,
            said::{Happened, Said},
        },
        *,
    };
    use crate::testkit::virtual_system;

    #[test]
    fn a_stream_gives_so_many_bytes_a_second() {
        virtual_system().block_on(async {
            let board = Arc::new(Board::new(Head::default()));
            let viewer = Viewer::admit([&board].into_iter(), &Closer::default()).unwrap();
            let mut stream = Box::pin(viewer.stream());
            let began = actix_web::rt::time::Instant::now();
            let (mut before, mut bytes) = (0, 0);
            for number in 0..50 {
                let said = (0..100).map(|line| Said {
                    at: Duration::ZERO,
                    what: Happened::Mark {
                        text: format!("{number} {line} {}", "x".repeat(1_900)),
                    },
                });
                board.publish(PageMoment::default(), said.collect(), 0);
                before = bytes;
                bytes += stream.next().await.unwrap().unwrap().len();
            }
            assert!(bytes > 9_000_000, "{bytes}");
            let took = began.elapsed();
            assert!(took + LEAST_PAUSE >= time_of(before), "{bytes} in {took:?}");
        });
    }

    /// The longest backlog: all frames that two boards keep.
    #[test]
    fn the_longest_backlog_is_given_within_the_patience_of_a_viewer() {
        let longest = time_of(2 * super::super::frames::MOST_BYTES);
        assert!(longest >= Duration::from_secs(3) && longest < super::super::viewers::PATIENCE);
        assert_eq!(time_of(0), Duration::ZERO);
    }
}
