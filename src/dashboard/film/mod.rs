//! A recording in the form that a page plays: its first moment, and each later moment as a change.
//!
//! ```text
//! {"snapshot":{"head":..,"moment":..,"said":[],"elections":[]},"frames":[change or {"at_ms":..,"moment":..,"said":..}, ..],
//!  "broken":[{"at_ms":..,"text":..}],"skipped":0,"began_unix_ms":null,"unrepeatable":null}
//! ```
//!
//! Decided here: all entries of one instant form one frame; if a run is too long, a page gets only its newest frames;
//! the largest size of the JSON; and the times at which a promise was broken. Changes have the form of the stream of
//! events (`change.rs`), so a page plays a recording as it shows a running group. Not here: reading
//! ([`Recording::read`]).

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    change::{MomentChange, MomentStep, step},
    entries::Told,
    head::{Head, Snapshot},
    moment::{AgentFacts, AgentState, ClockFacts, PageMoment, Reason, short},
    said::shorten,
};
use bully_core::driver::{AgentCondition, AgentMoment, RecordedMoments};

use crate::{
    protocol::{AgentId, Time},
    record::{BoundedText, NetworkRecord, RecordedCommand, Recording, TooLong, TraceEntry, What},
    shown,
};

/// Returns a recording as JSON for the page, of at most `most` bytes. If all frames together are longer, the result has
/// only the newest frames.
///
/// # Errors
/// [`TooLong`] if the first moment alone is longer.
pub(super) fn film(recording: &Recording, most: usize) -> Result<String, TooLong> {
    let instants = recording.entries();
    let instants = instants.chunk_by(|one, other| one.at == other.at);
    let mut frames = instants.count().min(MOST_FRAMES);
    loop {
        let film = film_of_newest(recording, frames, most);
        // Each try stops at the limit, so all tries together write at most a few times the limit.
        if film.is_ok() || frames == 0 {
            return film;
        }
        frames /= 2;
    }
}

/// Returns the largest size of the JSON for a recording of `read` bytes. A frame is several times as long as its entry,
/// and contains all agents if an agent comes or goes.
pub(super) fn room(read: usize) -> usize {
    let most = read.saturating_mul(BYTES_FOR_ONE);
    most.saturating_add(LEAST_ROOM).min(MOST_ROOM)
}

fn film_of_newest(recording: &Recording, instants: usize, most: usize) -> Result<String, TooLong> {
    let entries = recording.entries();
    let first = first_shown(entries, instants);
    let mut scene = FilmScene::before(recording);
    let (skipped, shown) = entries.split_at_checked(first).unwrap_or((&[], entries));
    for entry in skipped {
        scene.follow(entry);
    }
    let at = shown.first().map_or(Time::ZERO, |entry| entry.at);
    let begin = scene.moment(at).judged(&PageMoment::default()).bounded();
    let film = Film {
        snapshot: Snapshot {
            head: &head(recording),
            moment: &begin,
            said: &[],
            elections: &[],
        },
        broken: broken(entries),
        skipped: first,
        began_unix_ms: recording.header().began_unix_ms,
        unrepeatable: recording.can_be_repeated().err().map(|why| why.to_string()),
    };
    let film = BoundedText::json(&film, most)?;
    let mut text = BoundedText::new(most);
    text.push(film.strip_suffix('}').unwrap_or_default())?;
    text.push(",\"frames\":[")?;
    let mut frames = FilmFrames {
        text,
        is_first: true,
    };
    let mut before = begin;
    for instant in shown.chunk_by(|one, other| one.at == other.at) {
        let told = scene.tell(instant);
        let at = instant.last().map_or(at, |entry| entry.at);
        before = frames.add(scene.moment(at), before, &told)?;
    }
    let mut text = frames.text;
    text.push("]}")?;
    text.whole()
}

/// Returns the head: the facts that stay the same while a recording is played.
pub(super) fn head(recording: &Recording) -> Head {
    let header = recording.header();
    Head {
        title: format!("Recording of {} agents", header.agents.len()),
        election: (!header.protocol.is_empty()).then(|| short(header.protocol.clone())),
        controls: "none",
        ..Head::default()
    }
}

#[derive(Serialize)]
struct Film<'a> {
    snapshot: Snapshot<'a>,
    broken: Vec<Value>,
    /// Number of entries of the recording before the first frame, which the page does not show.
    skipped: usize,
    began_unix_ms: Option<u64>,
    /// The reason why a stage (a simulated cluster) cannot repeat the run; `None` if a stage can repeat the run.
    unrepeatable: Option<String>,
}

/// Returns the broken promises and their times.
fn broken(entries: &[TraceEntry]) -> Vec<Value> {
    let found = entries.iter().filter_map(|entry| {
        let What::Violation(text) = &entry.what else {
            return None;
        };
        let at_ms = shown::in_millis(entry.at.since(Time::ZERO));
        Some(json!({ "at_ms": at_ms, "text": short(text.clone()) }))
    });
    found.take(MOST_BROKEN).collect()
}

/// Returns the index of the first entry of the last `instants` instants.
fn first_shown(entries: &[TraceEntry], instants: usize) -> usize {
    let most = instants;
    let instants = entries.chunk_by(|one, other| one.at == other.at);
    let lengths: Vec<usize> = instants.map(<[TraceEntry]>::len).collect();
    let skipped = lengths.len().saturating_sub(most);
    lengths.iter().take(skipped).sum()
}

/// The known state at one instant of a recording.
struct FilmScene<'a> {
    moments: RecordedMoments<'a>,
    network: Option<NetworkRecord>,
    began_unix_ms: Option<u64>,
    /// Text of the last finding. The page shows it in place of a diagnosis, because a recording has no agents to ask.
    found: Option<String>,
    /// Events since the leadership was last settled.
    causes: Vec<String>,
}

impl<'a> FilmScene<'a> {
    fn before(recording: &'a Recording) -> Self {
        Self {
            moments: RecordedMoments::begin(recording, Time::ZERO),
            network: recording.header().network,
            began_unix_ms: recording.header().began_unix_ms,
            found: None,
            causes: Vec::new(),
        }
    }

    fn follow(&mut self, entry: &'a TraceEntry) {
        self.moments.follow(entry);
        match &entry.what {
            What::Command(RecordedCommand::Network(network)) => self.network = Some(*network),
            What::Mark(text) => self.found = Some(text.clone()),
            What::Violation(text) => self.found = Some(format!("A promise was broken: {text}")),
            What::Sent { .. }
            | What::Lost { .. }
            | What::Delivered(_)
            | What::Dropped { .. }
            | What::Role { .. }
            | What::Event { .. }
            | What::Happened { .. }
            | What::Command(_)
            | What::Settled { .. }
            | What::Ended => {}
        }
    }

    /// Applies all entries of one instant to the state, and returns them as entries of the page's log.
    fn tell(&mut self, instant: &'a [TraceEntry]) -> Told {
        let mut told = Told::default();
        for entry in instant {
            self.follow(entry);
            told.follow(entry, &mut self.causes);
        }
        told.said.iter_mut().for_each(shorten);
        told
    }

    fn moment(&self, at: Time) -> PageMoment {
        let agents: Vec<AgentFacts> = self
            .moments
            .agents()
            .iter()
            .map(|a| self.facts(a))
            .collect();
        let place = |id: &AgentId| agents.iter().position(|agent| agent.name == *id);
        let cuts = self.moments.cuts();
        let cuts = cuts.filter_map(|(from, to)| place(from).zip(place(to)));
        PageMoment {
            at: at.since(Time::ZERO),
            cuts: cuts.collect(),
            network: self.network,
            why: self.found.iter().cloned().map(Reason::from).collect(),
            began_unix_ms: self.began_unix_ms,
            clock: ClockFacts {
                paused: true,
                ..ClockFacts::default()
            },
            agents,
            ..PageMoment::default()
        }
    }

    fn facts(&self, agent: &AgentMoment<'_>) -> AgentFacts {
        let runs = matches!(agent.condition, AgentCondition::Up | AgentCondition::Hung);
        AgentFacts {
            kind: agent.kind,
            score: agent.score,
            state: match agent.condition {
                AgentCondition::Absent | AgentCondition::Unknown => AgentState::Unseen,
                AgentCondition::Up => AgentState::Up,
                AgentCondition::Hung => AgentState::Hung,
                AgentCondition::Down => AgentState::Down,
            },
            role: runs.then_some(agent.role),
            term: Some(agent.term),
            leader: agent.leader.map(|leader| leader.id.clone()),
            leads: agent.leads(),
            side: self.moments.side(agent.name),
            isolated: self.moments.is_isolated(agent.name),
            ..AgentFacts::named(agent.name.clone())
        }
    }
}

/// The frames so far.
struct FilmFrames {
    text: BoundedText,
    is_first: bool,
}

impl FilmFrames {
    /// Adds the frame with the change from the moment `before` to the moment `now`, unless they are equal. Returns the
    /// moment from which the next frame begins.
    fn add(
        &mut self,
        now: PageMoment,
        before: PageMoment,
        told: &Told,
    ) -> Result<PageMoment, TooLong> {
        let now = now.judged(&before).bounded();
        match step(&before, &now, &told.said, told.more) {
            MomentStep::Same => return Ok(before),
            MomentStep::Change(change) => self.push(&change)?,
            MomentStep::Anew => self.push(&Anew {
                change: MomentChange::of_said(now.at, &told.said, told.more),
                moment: &now,
            })?,
        }
        Ok(now)
    }

    fn push(&mut self, frame: &impl Serialize) -> Result<(), TooLong> {
        if !std::mem::take(&mut self.is_first) {
            self.text.push(",")?;
        }
        self.text.add_json(frame)
    }
}

/// A frame with a whole moment, because the list of agents has changed.
#[derive(Serialize)]
struct Anew<'a> {
    #[serde(flatten)]
    change: MomentChange<'a>,
    moment: &'a PageMoment,
}

/// Largest number of frames. A page keeps every frame, to go back to it.
const MOST_FRAMES: usize = 10_000;
const MOST_BROKEN: usize = 100;
/// Size of a page's JSON: bytes for each byte of the recording, bytes for the first agents, and the largest total.
const BYTES_FOR_ONE: usize = 16;
const LEAST_ROOM: usize = 256 << 10;
pub(super) const MOST_ROOM: usize = 64 << 20;

#[cfg(test)]
mod tests;
