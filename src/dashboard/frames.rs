//! The frames of the stream that a viewer may still need.
//!
//! Decided here: how many frames, and how many bytes of frames, are kept. A viewer that needs an older frame begins
//! again with a snapshot, and delays no other viewer. Not here: when a viewer loses its slot (`viewers.rs`).

use std::collections::VecDeque;

use bytes::Bytes;
use serde::Serialize;

use crate::record::{BoundedText, TooLong};

/// The newest frames, numbered from the first frame of the board.
#[derive(Debug, Default)]
pub(crate) struct FrameLog {
    /// The number of the oldest kept frame.
    first: u64,
    kept: VecDeque<Bytes>,
    bytes: usize,
}

impl FrameLog {
    /// Keeps a frame, and removes the oldest frames if a limit is exceeded.
    pub(crate) fn push(&mut self, frame: Bytes) {
        self.bytes += frame.len();
        self.kept.push_back(frame);
        while self.kept.len() > MOST || self.bytes > MOST_BYTES {
            let Some(oldest) = self.kept.pop_front() else {
                return;
            };
            self.bytes -= oldest.len();
            self.first += 1;
        }
    }

    /// Removes all frames: the next read of each viewer returns a snapshot.
    pub(crate) fn begin_anew(&mut self) {
        // One number is skipped: so even a viewer that has read every frame asks for a frame that is not kept, and gets
        // a snapshot.
        self.first = self.end() + 1;
        self.kept.clear();
        self.bytes = 0;
    }

    /// Returns the number of the next frame.
    pub(crate) fn end(&self) -> u64 {
        self.first + u64::try_from(self.kept.len()).unwrap_or(u64::MAX)
    }

    /// Returns the frames from this number on; `None` if some of them are no longer kept.
    pub(crate) fn from(&self, number: u64) -> Option<impl Iterator<Item = &Bytes>> {
        let skipped = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (skipped <= self.kept.len()).then(|| self.kept.iter().skip(skipped))
    }
}

/// Makes an event of the stream. A line feed would end the event, but JSON escapes line feeds in its strings.
pub(super) fn frame(
    (prefix, event): (&str, &str),
    data: &impl Serialize,
) -> Result<Bytes, TooLong> {
    let mut text = BoundedText::new(MOST_BYTES);
    text.append(format_args!("event: {prefix}{event}\ndata: "))?;
    text.add_json(data)?;
    text.push("\n\n")?;
    Ok(Bytes::from(text.whole()?))
}

const MOST: usize = 512;
pub(super) const MOST_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(size: usize) -> Bytes {
        Bytes::from(vec![b'x'; size])
    }

    fn count(frames: &FrameLog, number: u64) -> Option<usize> {
        frames.from(number).map(Iterator::count)
    }

    #[test]
    fn a_viewer_reads_what_it_has_not_read() {
        let mut frames = FrameLog::default();
        assert_eq!(count(&frames, 0), Some(0));
        frames.push(frame(1));
        frames.push(frame(2));
        assert_eq!(count(&frames, 0), Some(2));
        assert_eq!(count(&frames, 1), Some(1));
        assert_eq!(count(&frames, frames.end()), Some(0));
        assert_eq!(count(&frames, frames.end() + 1), None);
    }

    #[test]
    fn frames_are_bounded_in_number_and_in_bytes() {
        let mut frames = FrameLog::default();
        for _ in 0..1_000 {
            frames.push(frame(10));
        }
        assert_eq!(count(&frames, 487), None, "forgotten");
        assert_eq!(count(&frames, 488), Some(512));
        frames.push(frame(MOST_BYTES));
        assert_eq!(count(&frames, 1_000), Some(1));
        frames.push(frame(MOST_BYTES + 1));
        assert_eq!(count(&frames, 1_001), None, "too long to be kept at all");
        assert_eq!(frames.end(), 1_002);
        assert_eq!(frames.bytes, 0);
    }

    #[test]
    fn after_a_new_beginning_every_viewer_needs_a_snapshot() {
        let mut frames = FrameLog::default();
        frames.push(frame(1));
        let end = frames.end();
        frames.begin_anew();
        assert_eq!(count(&frames, end), None);
        assert_eq!(count(&frames, frames.end()), Some(0));
    }
}
