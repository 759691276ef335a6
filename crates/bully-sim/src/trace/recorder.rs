//! The recorder: it keeps the entries of a run.
//!
//! Decided here: a recorder that is off costs only one comparison; which messages are counted; and which entries are
//! forgotten first. Not here: the text and the diagrams of a run (`lines`, `mermaid`).

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    fmt::Display,
};

use super::{
    Happening, MessageCount, MessageText, TraceEntry, What,
    digest::{Digest, DigestStep},
};
use bully_core::{
    driver::{Line, lines, to_mermaid, to_text},
    protocol::{AgentId, Event, PeerMessage, Role, Time},
    record::{Header, RecordedCommand, Recording},
};

/// A run, or the part of it that a caller wants to keep.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    detail: Detail,
    digest: Option<Digest>,
    repeated: bool,
    limit: Option<usize>,
    entries: VecDeque<TraceEntry>,
    forgotten: u64,
    kinds: BTreeMap<&'static str, MessageCount>,
    election_messages: u64,
    order: Vec<AgentId>,
    /// The header of the run, if it is known.
    header: Option<Box<Header>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    #[default]
    Off,
    Counts,
    Messages,
    Deliveries,
}

/// A moment of a run, from which messages are counted; see [`Trace::checkpoint`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checkpoint(u64);

impl Trace {
    /// Returns a recorder that records nothing, and costs almost no time.
    pub fn off() -> Self {
        Self::default()
    }

    /// Returns a recorder that counts messages, and keeps no message.
    pub fn counting() -> Self {
        Self {
            detail: Detail::Counts,
            ..Self::default()
        }
    }

    /// Returns a recorder that counts messages, and keeps only the [digest](Self::digest) of the whole run.
    pub fn digesting() -> Self {
        Self {
            digest: Some(Digest::default()),
            ..Self::counting()
        }
    }

    /// Returns a recorder that keeps messages when they are sent, events, and commands to the agents, but not
    /// repeated messages (heartbeats).
    pub fn new() -> Self {
        Self {
            detail: Detail::Messages,
            ..Self::default()
        }
    }

    /// Also keeps a line for each arrival.
    #[must_use]
    pub fn with_deliveries(mut self) -> Self {
        self.detail = Detail::Deliveries;
        self
    }

    /// Also keeps heartbeats.
    #[must_use]
    pub fn with_repeated(mut self) -> Self {
        self.repeated = true;
        self
    }

    /// Keeps only the newest entries, at most this number.
    #[must_use]
    pub fn bounded(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets the order of the participants in diagrams, such as their rank. Other participants follow by name.
    pub fn set_order(&mut self, order: impl IntoIterator<Item = AgentId>) {
        self.order = order.into_iter().collect();
    }

    /// Sets the header for [recordings](Self::to_recording).
    pub fn begin(&mut self, header: impl FnOnce() -> Header) {
        if self.is_on() {
            self.header = Some(Box::new(header()));
        }
    }

    /// Records that a message leaves, and will arrive at the given times.
    pub fn sent<M: PeerMessage>(
        &mut self,
        at: Time,
        from: &AgentId,
        to: &AgentId,
        message: &M,
        arrives: impl IntoIterator<Item = Time>,
    ) {
        if !self.counts() {
            return;
        }
        self.count_sent(message).sent += 1;
        let keeps = self.keeps(message);
        let arrives = arrives.into_iter();
        if let Some(digest) = &mut self.digest {
            digest.message(DigestStep::Sent, at, from, to, message);
            arrives.for_each(|at| digest.arrival(at));
        } else if keeps {
            let message = text_of(from, to, message);
            let arrives = arrives.collect();
            self.push(at, What::Sent { message, arrives });
        }
    }

    /// Records that a message leaves, and will never arrive.
    pub fn lost<M: PeerMessage>(
        &mut self,
        at: Time,
        from: &AgentId,
        to: &AgentId,
        message: &M,
        why: impl Display,
    ) {
        if !self.counts() {
            return;
        }
        let count = self.count_sent(message);
        (count.sent, count.lost) = (count.sent + 1, count.lost + 1);
        if let Some(digest) = &mut self.digest {
            digest.message(DigestStep::Lost, at, from, to, message);
        }
        if self.keeps(message) {
            let (message, why) = (text_of(from, to, message), why.to_string());
            self.push(at, What::Lost { message, why });
        }
    }

    /// Records that a message arrives and is handled.
    pub fn delivered<M: PeerMessage>(
        &mut self,
        at: Time,
        from: &AgentId,
        to: &AgentId,
        message: &M,
    ) {
        if !self.counts() {
            return;
        }
        self.count(message.kind()).delivered += 1;
        if let Some(digest) = &mut self.digest {
            digest.message(DigestStep::Delivered, at, from, to, message);
        }
        if self.detail == Detail::Deliveries && self.keeps(message) {
            self.push(at, What::Delivered(text_of(from, to, message)));
        }
    }

    /// Records that a message arrives and is dropped.
    pub fn dropped<M: PeerMessage>(
        &mut self,
        at: Time,
        from: &AgentId,
        to: &AgentId,
        message: &M,
        why: impl Display,
    ) {
        if !self.counts() {
            return;
        }
        self.count(message.kind()).dropped += 1;
        if let Some(digest) = &mut self.digest {
            digest.message(DigestStep::Dropped, at, from, to, message);
        }
        if self.keeps(message) {
            let (message, why) = (text_of(from, to, message), why.to_string());
            self.push(at, What::Dropped { message, why });
        }
    }

    /// Records that an agent has another role from now on.
    pub fn role(&mut self, at: Time, agent: &AgentId, role: Role) {
        if let Some(digest) = &mut self.digest {
            digest.role(at, agent, role);
        }
        if self.is_on() {
            let agent = agent.clone();
            self.push(at, What::Role { agent, role });
        }
    }

    /// Records an event that an agent reports to its application.
    pub fn event(&mut self, at: Time, agent: &AgentId, event: &Event) {
        if let Some(digest) = &mut self.digest {
            digest.event(at, agent, event);
        }
        if self.is_on() {
            let (agent, event) = (agent.clone(), event.clone());
            self.push(at, What::Event { agent, event });
        }
    }

    /// Records a change of an agent's state, for example a crash.
    pub fn happened(&mut self, at: Time, agent: &AgentId, what: Happening) {
        if let Some(digest) = &mut self.digest {
            digest.happened(at, agent, what);
        }
        if self.is_on() {
            let agent = agent.clone();
            self.push(at, What::Happened { agent, what });
        }
    }

    /// Records a line with this text. The text is made only if the line is kept.
    pub fn mark(&mut self, at: Time, text: impl FnOnce() -> String) {
        if let Some(digest) = &mut self.digest {
            digest.mark(at);
        }
        if self.is_on() {
            self.push(at, What::Mark(text()));
        }
    }

    /// Records a command, which is given again when the run is repeated.
    pub fn commanded(&mut self, at: Time, command: impl FnOnce() -> RecordedCommand) {
        if self.is_on() {
            self.push(at, What::Command(command()));
        }
    }

    /// Records that it is settled which agents lead.
    pub fn settled(&mut self, at: Time, what: impl FnOnce() -> What) {
        if self.is_on() {
            self.push(at, what());
        }
    }

    /// Returns the run until now in the form of a file. The caller passes the name of the election, because a trace
    /// does not know it.
    pub fn to_recording(&self, protocol: &str, now: Time) -> Recording {
        let mut header = match &self.header {
            Some(header) => Header::clone(header),
            None => Header::default(),
        };
        protocol.clone_into(&mut header.protocol);
        header.forgotten = self.forgotten;
        header.repeated = self.repeated;
        Recording::new(header, self.entries.iter().cloned(), now)
    }

    /// Returns whether entries are kept.
    pub fn is_on(&self) -> bool {
        self.detail >= Detail::Messages
    }

    /// Returns one number for the whole run. The number is equal in two builds only if each agent did the same at the
    /// same times. Names have no effect. `None` unless the trace is [made for a digest](Self::digesting).
    pub fn digest(&self) -> Option<u64> {
        self.digest.as_ref().map(Digest::value)
    }

    /// Returns the kept entries, oldest first.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &TraceEntry> {
        self.entries.iter()
    }

    /// Returns the number of entries that were forgotten because the trace has a limit.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Returns the number of messages of each kind, ordered by name.
    pub fn kinds(&self) -> impl ExactSizeIterator<Item = (&'static str, MessageCount)> {
        self.kinds.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Returns the number of messages of this kind.
    pub fn count_of(&self, kind: &str) -> MessageCount {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    /// Returns the present moment, from which messages can be counted.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.election_messages)
    }

    /// Returns the number of messages since `then`, without repeated messages.
    pub fn election_messages_since(&self, then: Checkpoint) -> u64 {
        self.election_messages.saturating_sub(then.0)
    }

    /// Returns the run as text, one aligned line for each moment: milliseconds, agents, entry.
    ///
    /// `+1.5` is the time in milliseconds after which a message arrives; `-x` marks a message that never arrives.
    /// Agents to which the same happens at the same moment share a line.
    pub fn to_text(&self) -> String {
        to_text(&self.lines(), self.forgotten)
    }

    /// Returns the run as a Mermaid `sequenceDiagram`.
    pub fn to_mermaid(&self) -> String {
        to_mermaid(&self.lines(), &self.order)
    }

    fn lines(&self) -> Vec<Line<'_>> {
        lines(&self.entries)
    }

    /// Returns whether messages are counted. Counted messages need not be kept.
    pub fn counts(&self) -> bool {
        self.detail >= Detail::Counts
    }

    fn keeps<M: PeerMessage>(&self, message: &M) -> bool {
        self.is_on() && (self.repeated || !message.is_repeated())
    }

    fn count_sent<M: PeerMessage>(&mut self, message: &M) -> &mut MessageCount {
        if !message.is_repeated() {
            self.election_messages += 1;
        }
        self.count(message.kind())
    }

    fn count(&mut self, kind: &'static str) -> &mut MessageCount {
        self.kinds.entry(kind).or_default()
    }

    fn push(&mut self, at: Time, what: What) {
        self.entries.push_back(TraceEntry { at, what });
        if self.limit.is_some_and(|limit| self.entries.len() > limit) {
            self.entries.pop_front();
            self.forgotten = self.forgotten.saturating_add(1);
        }
    }
}

fn text_of<M: PeerMessage>(from: &AgentId, to: &AgentId, message: &M) -> MessageText {
    MessageText {
        from: from.clone(),
        to: to.clone(),
        kind: Cow::Borrowed(message.kind()),
        text: message.to_string(),
    }
}
