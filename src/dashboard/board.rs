//! The state that the page shows at present, and the frames (events of the stream) that each viewer has not read.
//!
//! Decided here: a frame is made once for all viewers; a viewer begins with a snapshot; and a viewer that is too slow
//! to read all frames begins again with another snapshot. A publisher never waits for a viewer. Not here: the contents
//! of a frame (`change.rs`), how many frames are kept (`frames.rs`), and the right to view (`viewers.rs`).

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use tokio::sync::watch;

use super::{
    change::{MomentStep, step},
    closer::Closer,
    frames::{FrameLog, frame},
    head::{Head, Snapshot},
    log::PageLog,
    moment::PageMoment,
    said::{Said, shorten},
    viewers::{TooManyViewers, Viewers},
};

/// State that publishers and viewers share.
#[derive(Debug)]
pub(crate) struct Board {
    inner: Mutex<BoardContent>,
    /// The number of frames so far. Each new frame notifies the viewers through this channel.
    version: watch::Sender<u64>,
    began: Instant,
}

#[derive(Debug)]
struct BoardContent {
    /// Prefix of the names of the board's events.
    prefix: &'static str,
    head: Head,
    moment: PageMoment,
    log: PageLog,
    frames: FrameLog,
    /// The encoded snapshot for viewers that begin now; `None` until a viewer needs it.
    snapshot: Option<Bytes>,
    viewers: Viewers<Closer>,
}

/// The slot of a viewer. It becomes free when the viewer ends.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    /// The first frame that the viewer has not read; `None` before its snapshot.
    next: Option<u64>,
}

impl Board {
    pub(crate) fn new(head: Head) -> Self {
        Self::with_prefix("", head)
    }

    /// Returns a board for a second election in the same stream. Its events have other names than the first board's.
    #[cfg(feature = "testkit")]
    pub(crate) fn beside() -> Self {
        Self::with_prefix("beside-", Head::default())
    }

    fn with_prefix(prefix: &'static str, head: Head) -> Self {
        Self {
            inner: Mutex::new(BoardContent {
                prefix,
                head,
                moment: PageMoment::default(),
                log: PageLog::default(),
                frames: FrameLog::default(),
                snapshot: None,
                viewers: Viewers::new(VIEWERS),
            }),
            version: watch::Sender::new(0),
            began: now(),
        }
    }

    pub(crate) fn set_most_viewers(&self, most: usize) {
        self.open().viewers.set_most(most);
    }

    #[cfg(feature = "testkit")]
    pub(crate) fn head(&self) -> Head {
        self.open().head.clone()
    }

    /// Changes the head (the part that stays the same during a run). Every viewer then begins again with a snapshot.
    pub(crate) fn set_head(&self, change: impl FnOnce(&mut Head)) {
        let mut inner = self.open();
        change(&mut inner.head);
        inner.begin_anew();
        drop(inner);
        self.wake();
    }

    /// Shows another run. The head, the moment and the log are replaced in one step, so that no viewer sees the head of
    /// one run with the moment of another run.
    #[cfg(feature = "testkit")]
    pub(crate) fn begin(&self, change: impl FnOnce(&mut Head), moment: PageMoment, log: PageLog) {
        let moment = moment.judged(&PageMoment::default()).bounded();
        let mut inner = self.open();
        change(&mut inner.head);
        inner.begin_anew();
        inner.moment = moment;
        inner.log = log;
        drop(inner);
        self.wake();
    }

    /// Shows a new moment (the state at one time) and the log entries since the last moment. `more` is the number of
    /// messages without an entry.
    pub(crate) fn publish(&self, moment: PageMoment, said: Vec<Said>, more: u64) {
        let now = self.now();
        let mut inner = self.open();
        let moment = moment.judged(&inner.moment).bounded();
        if !inner.show(moment, said, more) {
            return;
        }
        inner.viewers.offer(now);
        let slow = inner.viewers.dismiss(now);
        drop(inner);
        slow.iter().for_each(Closer::close);
        self.wake();
    }

    /// Returns the moment that is shown now.
    pub(crate) fn moment(&self) -> PageMoment {
        self.open().moment.clone()
    }

    /// Returns the time of the moment that is shown now.
    pub(crate) fn shown_at(&self) -> Duration {
        self.open().moment.at
    }

    pub(crate) fn has_viewers(&self) -> bool {
        !self.open().viewers.is_empty()
    }

    pub(crate) fn admit(&self, closer: Closer) -> Result<Place, TooManyViewers> {
        let now = self.now();
        let mut inner = self.open();
        let slow = inner.viewers.dismiss(now);
        let number = inner.viewers.admit(closer);
        drop(inner);
        slow.iter().for_each(Closer::close);
        Ok(Place {
            number: number?,
            next: None,
        })
    }

    pub(crate) fn leave(&self, place: &Place) {
        self.open().viewers.leave(place.number);
    }

    /// Returns a receiver that is notified of each new frame.
    pub(crate) fn updates(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Returns the frames that the viewer has not read yet, empty if the viewer has read all frames; `None` after the
    /// viewer was dismissed.
    pub(crate) fn read(&self, place: &mut Place) -> Option<Bytes> {
        let mut inner = self.open();
        if !inner.viewers.took(place.number) {
            return None;
        }
        let end = inner.frames.end();
        let Some(frames) = place.next.and_then(|next| inner.frames.from(next)) else {
            place.next = Some(end);
            return Some(inner.snapshot());
        };
        let frames: Vec<&Bytes> = frames.collect();
        // A viewer that is up to date gets the shared frame, not a copy of it.
        let text = match frames.as_slice() {
            [one] => Bytes::clone(one),
            several => {
                let mut text = BytesMut::new();
                for frame in several {
                    text.extend_from_slice(frame);
                }
                text.freeze()
            }
        };
        place.next = Some(end);
        Some(text)
    }

    fn wake(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// Returns the age of the board by the server's clock. By this clock, and not by the clock of the agents, the board
    /// decides whether a viewer is slow.
    fn now(&self) -> Duration {
        now().saturating_duration_since(self.began)
    }

    fn open(&self) -> MutexGuard<'_, BoardContent> {
        // A poisoned lock is used, because a panic leaves no change incomplete.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a viewer is slow by the server's time, and nothing of an election depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

impl BoardContent {
    /// Shows a moment, and returns whether it differs from the last one.
    fn show(&mut self, moment: PageMoment, mut said: Vec<Said>, more: u64) -> bool {
        said.iter_mut().for_each(shorten);
        let step = step(&self.moment, &moment, &said, more);
        let is_new = step != MomentStep::Same;
        match step {
            MomentStep::Same => {}
            // Without viewers no frame is written, because a new viewer begins with a snapshot.
            MomentStep::Change(_) if self.viewers.is_empty() => self.frames.begin_anew(),
            MomentStep::Change(change) => match frame((self.prefix, "change"), &change) {
                Ok(frame) => self.frames.push(frame),
                Err(_) => self.frames.begin_anew(),
            },
            MomentStep::Anew => self.frames.begin_anew(),
        }
        self.snapshot = None;
        self.moment = moment;
        self.log.add(said);
        is_new
    }

    fn begin_anew(&mut self) {
        self.log = PageLog::default();
        self.snapshot = None;
        self.frames.begin_anew();
    }

    /// Returns the snapshot for a new viewer.
    fn snapshot(&mut self) -> Bytes {
        if let Some(written) = &self.snapshot {
            return written.clone();
        }
        let name = (self.prefix, "snapshot");
        let [said, elections] = self.log.lists();
        let snapshot = Snapshot {
            head: &self.head,
            moment: &self.moment,
            said,
            elections,
        };
        let written = frame(name, &snapshot).or_else(|_| {
            // If the snapshot is too long, it is written without the log. The moment itself has a limit.
            let (said, elections): (&[_], &[_]) = (&[], &[]);
            let snapshot = Snapshot {
                said,
                elections,
                ..snapshot
            };
            frame(name, &snapshot)
        });
        let written = written.unwrap_or_default();
        self.snapshot = Some(written.clone());
        written
    }
}

/// Largest number of viewers, unless the application sets another number.
const VIEWERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::{
        super::{
            moment::AgentFacts,
            said::{Happened, Tone},
            viewers::PATIENCE,
        },
        *,
    };

    fn moment(names: &[&str]) -> PageMoment {
        let agents = names
            .iter()
            .map(|name| AgentFacts::named(name.parse().unwrap()));
        PageMoment {
            agents: agents.collect(),
            ..PageMoment::default()
        }
    }

    fn said(text: &str) -> Vec<Said> {
        let what = Happened::Agent {
            agent: "a".parse().unwrap(),
            text: text.to_owned(),
            tone: Tone::Plain,
        };
        vec![Said {
            at: Duration::ZERO,
            what,
        }]
    }

    fn read(board: &Board, place: &mut Place) -> Vec<(String, serde_json::Value)> {
        let text = board.read(place).expect("it was not dismissed");
        let text = std::str::from_utf8(&text).unwrap();
        let events = text.split_terminator("\n\n").map(|event| {
            let (name, data) = event.split_once("\ndata: ").unwrap();
            (
                name.replace("event: ", ""),
                serde_json::from_str(data).unwrap(),
            )
        });
        events.collect()
    }

    fn names(events: &[(String, serde_json::Value)]) -> Vec<&str> {
        events.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_viewer_begins_with_a_snapshot_and_then_reads_changes() {
        let board = Board::new(Head::default());
        board.publish(moment(&["a", "b"]), said("starts"), 0);
        let mut place = board.admit(Closer::default()).unwrap();
        let events = read(&board, &mut place);
        assert_eq!(names(&events), ["snapshot"]);
        assert_eq!(events[0].1["moment"]["agent_count"], 2);
        assert_eq!(events[0].1["said"][0]["text"], "starts");
        assert!(read(&board, &mut place).is_empty(), "nothing is new");

        board.publish(moment(&["a", "b"]), said("one"), 0);
        board.publish(moment(&["a", "b"]), said("two"), 0);
        board.publish(moment(&["a", "b"]), Vec::new(), 0);
        let events = read(&board, &mut place);
        assert_eq!(names(&events), ["change", "change"]);
        assert_eq!(events[1].1["said"][0]["text"], "two");

        board.publish(moment(&["a"]), Vec::new(), 0);
        assert_eq!(
            names(&read(&board, &mut place)),
            ["snapshot"],
            "other agents"
        );
        board.set_head(|head| head.title = "another".to_owned());
        let events = read(&board, &mut place);
        assert_eq!(events[0].1["head"]["title"], "another");
        assert_eq!(
            events[0].1["said"],
            serde_json::json!([]),
            "it belongs to the former ones"
        );
    }

    #[test]
    fn a_viewer_that_is_far_behind_begins_anew() {
        let board = Board::new(Head::default());
        let mut slow = board.admit(Closer::default()).unwrap();
        read(&board, &mut slow);
        let mut over = said("over");
        over[0].what = Happened::Election {
            cause: "start".to_owned(),
            leaders: Vec::new(),
            took: Duration::ZERO,
            messages: 0,
        };
        board.publish(moment(&["a"]), over, 0);
        for number in 0..2_000 {
            board.publish(moment(&["a"]), said(&number.to_string()), 0);
        }
        let events = read(&board, &mut slow);
        assert_eq!(names(&events), ["snapshot"]);
        assert_eq!(
            events[0].1["said"].as_array().unwrap().len(),
            300,
            "bounded"
        );
        let elections = events[0].1["elections"].as_array().unwrap();
        assert_eq!(elections.len(), 1, "no other entry replaces one");
    }

    /// The cost of fifty viewers of two hundred agents: each frame is written once for all viewers, and has only the
    /// differences.
    #[test]
    fn a_frame_is_written_once_for_all_viewers() {
        let names: Vec<String> = (0..200).map(|number| format!("agent-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let board = Board::new(Head::default());
        board.publish(moment(&names), Vec::new(), 0);
        let mut places: Vec<Place> = (0..50)
            .map(|_| board.admit(Closer::default()).unwrap())
            .collect();
        let mut written = |board: &Board| {
            let read = places.iter_mut().map(|place| board.read(place).unwrap());
            let read: Vec<Bytes> = read.collect();
            assert!(
                read.iter().all(|each| each.as_ptr() == read[0].as_ptr()),
                "the same bytes, not copies"
            );
            read[0].len()
        };
        let snapshot = written(&board);
        let mut changes = 0;
        for event in 0..100 {
            let mut next = moment(&names);
            next.agents[event].leads = true;
            board.publish(next, said("leads"), 0);
            changes += written(&board);
        }
        // An event consists of two agents that differ and a line of the log.
        assert!(changes / 100 < 1_000, "{} bytes an event", changes / 100);
        assert!(snapshot > 20_000, "all agents have {snapshot} bytes");
    }

    #[test]
    fn a_viewer_that_lost_its_seat_reads_no_more() {
        let mut board = Board::new(Head::default());
        board.set_most_viewers(1);
        let mut place = board.admit(Closer::default()).unwrap();
        assert!(board.has_viewers());
        board.publish(moment(&["a"]), Vec::new(), 0);
        assert!(board.admit(Closer::default()).is_err());
        // It takes nothing, and so makes room for another one.
        board.began -= PATIENCE;
        let mut other = board.admit(Closer::default()).unwrap();
        board.leave(&other);
        assert!(!board.has_viewers());
        for place in [&mut place, &mut other] {
            assert_eq!(board.read(place), None);
        }
    }
}
