//! The record that an agent keeps of its own election, if it is turned on.
//!
//! Decided here: a record that is off costs one relaxed read; heartbeats are not recorded; and when the leader is
//! missing, a copy of the record is kept. Messages of applications do not pass through the machine, so they are never
//! recorded. Not here: the limits of a record (`record::ring`), and its readers (`operate`).

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use bully_core::driver::BoundedRecord;

use crate::{
    clock::{SystemWallClock, WallClock},
    history::{KeptHistory, SeenAt},
    protocol::{AgentId, Event, Leader, LeaderEnd, Members, PeerMessage, Presence, Role, Time, To},
    record::{Happening, Header, MessageText, RecordLimits, RecordedAgent, RecordedClock, What},
};

use super::{
    phase::{Departure, IncarnationEnd, Scope},
    shared::SharedState,
};

/// See the [module's page](self).
#[derive(Debug)]
pub(super) struct AgentRecord {
    is_on: AtomicBool,
    /// Time of the wall clock when the agent's clock showed zero.
    began_unix_ms: i64,
    written: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    /// The present record, on or off; `None` if there never was one.
    ring: Option<Box<BoundedRecord>>,
    /// The copy from the last time when the leader was missing.
    kept: Option<Box<(BoundedRecord, Time)>>,
}

impl AgentRecord {
    pub(super) fn new(began_unix_ms: i64) -> Self {
        Self {
            is_on: AtomicBool::new(false),
            began_unix_ms,
            written: Mutex::default(),
        }
    }

    /// Begins a new record within `limits`; `None` stops the record. The kept copy stays, because it may be the reason
    /// for the new record.
    pub(super) fn switch(&self, limits: Option<RecordLimits>) {
        let mut written = self.written();
        if let Some(limits) = limits {
            written.ring = Some(Box::new(BoundedRecord::new(limits)));
        }
        self.is_on.store(limits.is_some(), Ordering::Relaxed);
    }

    /// Returns whether the record is on. A relaxed read is enough: one entry more or less around a switch does no harm.
    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Returns the record, or the kept copy if `is_kept`, as the contents of a file; `None` if it does not exist.
    fn file(&self, mut header: Header, now: Time, is_kept: bool) -> Option<String> {
        header.began_unix_ms = u64::try_from(self.began_unix_ms).ok();
        let written = self.written();
        if is_kept {
            let (ring, at) = &**written.kept.as_ref()?;
            Some(ring.to_jsonl(header, *at))
        } else {
            Some(written.ring.as_ref()?.to_jsonl(header, now))
        }
    }

    /// Returns the time at which the kept copy was made, by the wall clock.
    pub(super) fn kept_unix_ms(&self) -> Option<u64> {
        let written = self.written();
        let (_, at) = &**written.kept.as_ref()?;
        let passed = i64::try_from(at.since(Time::ZERO).as_millis()).ok()?;
        u64::try_from(self.began_unix_ms.saturating_add(passed)).ok()
    }

    pub(super) fn sent<M: PeerMessage>(
        &self,
        at: Time,
        from: &AgentId,
        to: &To,
        members: &Members,
        message: &M,
    ) {
        if message.is_repeated() {
            return;
        }
        let mut written = self.written();
        let Some(ring) = &mut written.ring else {
            return;
        };
        let mut push = |to: &AgentId| {
            let message = text_of(from, to, message);
            let arrives = Vec::new();
            ring.push(at, What::Sent { message, arrives });
        };
        match to {
            To::One(id) => push(id),
            To::Set(ids) => ids.iter().filter(|id| *id != from).for_each(push),
            To::All => {
                let others = members.iter().map(|member| &member.id);
                others.filter(|id| *id != from).for_each(push);
            }
        }
    }

    /// Records a message that arrived and is handled.
    pub(super) fn received<M: PeerMessage>(
        &self,
        at: Time,
        from: &AgentId,
        to: &AgentId,
        message: &M,
    ) {
        if !message.is_repeated() {
            self.push(at, || What::Delivered(text_of(from, to, message)));
        }
    }

    fn event(&self, at: Time, agent: &AgentId, event: &Event) {
        self.push(at, || What::Event {
            agent: agent.clone(),
            event: event.clone(),
        });
    }

    fn happened(&self, at: Time, agent: &AgentId, what: Happening) {
        let agent = agent.clone();
        self.push(at, || What::Happened { agent, what });
    }

    fn role(&self, at: Time, agent: &AgentId, role: Role) {
        if let Some(ring) = &mut self.written().ring {
            ring.role(role, || {
                let agent = agent.clone();
                (at, What::Role { agent, role })
            });
        }
    }

    /// Keeps a copy of the record, with the texts `before` and `found` at its end.
    fn missed(&self, at: Time, found: String, before: Vec<String>) {
        let mut written = self.written();
        if let Some(ring) = &mut written.ring {
            for text in before.into_iter().chain([found]) {
                ring.push(at, What::Mark(text));
            }
            written.kept = written.ring.clone().map(|ring| Box::new((*ring, at)));
        }
    }

    fn push(&self, at: Time, what: impl FnOnce() -> What) {
        if let Some(ring) = &mut self.written().ring {
            ring.push(at, what());
        }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState {
    /// Sets the time of the wall clock when the agent's clock showed zero, in milliseconds since 1970.
    pub(super) fn with_wall(mut self, at_zero: i64) -> Self {
        self.record = AgentRecord::new(at_zero);
        self
    }

    /// Keeps a copy of the record, with the finding and the last leaders. Called when the leader is missing, or when
    /// leaderships end too soon. Does nothing while the record is off.
    pub(super) fn keep_record(&self, found: String) {
        if self.record.is_on() {
            let before = self.past().book().last(LED_BEFORE);
            self.record.missed(self.now(), found, before);
        }
    }

    pub(super) fn past(&self) -> &Arc<KeptHistory> {
        self.past
            .get_or_init(|| KeptHistory::of(self.membership().kept()))
    }

    pub(super) const fn record(&self) -> &AgentRecord {
        &self.record
    }

    pub(super) fn recorded(&self, is_kept: bool) -> Option<String> {
        let reach = self.membership().reach();
        let members = reach.into_iter().map(|reached| reached.member);
        let agents = members.map(|member| RecordedAgent {
            name: member.id,
            kind: member.kind,
            score: member.score,
        });
        let mut header = Header::of(agents, 0, self.settings.timings());
        self.settings.election().clone_into(&mut header.protocol);
        header.clock = RecordedClock::Real;
        self.record.file(header, self.now(), is_kept)
    }

    /// Notes how the machine noticed the end of a leadership. The event of that end follows. If the leader fell silent,
    /// the time without a leader begins with its last sign of life.
    pub(super) fn note_last_end(&self, event: &Event, leader: &Leader, end: LeaderEnd) {
        self.past().book().know_end(self.id(), leader, end);
        let silent_since = match end {
            LeaderEnd::Silent { since } => Some(since),
            LeaderEnd::Resigned | LeaderEnd::Ended | LeaderEnd::Replaced => None,
        };
        match event {
            Event::NoLeader { term } | Event::Lost { term, .. } => {
                let since = silent_since.filter(|_| leader.term == *term);
                self.vitals().note_last_sign(since);
            }
            // The next leader was heard before the silent leader was missed.
            Event::NewLeader(next) if next.id != leader.id => {
                let followed = || self.status().leader.as_ref() == Some(leader);
                if let Some(since) = silent_since.filter(|_| followed()) {
                    self.vitals().note_last_sign(Some(since));
                }
            }
            // `_`: a later `bully-core` may have more variants; `tests/layering` reports the missing variants.
            Event::NewLeader(_)
            | Event::Acquired { .. }
            | Event::Renewed { .. }
            | Event::Draining { .. }
            | Event::Voters(_)
            | _ => {}
        }
    }

    /// Adds an event that the subscribers got to the history of the group, and to the record if the record is on.
    pub(super) fn write_event(&self, event: &Event) {
        let at = || SeenAt {
            now: self.now(),
            unix_ms: SystemWallClock.now().as_millis(),
        };
        let is_down = |id: &AgentId| {
            // With a lease in a store, agents of other processes need not be members of this group.
            let has_strangers = self.keeper().is_some();
            let members = self.membership().members();
            let member = members.get(id);
            member.map_or(!has_strangers, |member| member.presence == Presence::Down)
        };
        self.past().book().note(self.id(), at, event, is_down);
        if self.record.is_on() {
            self.record.event(self.now(), self.id(), event);
        }
    }

    /// Ends the view of this agent: from now on the history of the group is written from the events of another agent of
    /// this process. Called after the last event of an incarnation.
    pub(super) fn end_view(&self) {
        let has_others = || self.membership().has_others_here(self.id());
        self.past().book().ended(self.id(), has_others);
    }

    pub(super) fn write_role(&self, role: Role) {
        if self.record.is_on() {
            self.record.role(self.now(), self.id(), role);
        }
    }

    pub(super) fn write_beginning(&self) {
        self.write(Happening::Restarted);
    }

    /// Writes the end of an incarnation, or of the agent, once. `lost` is the event of a leadership that ended together
    /// with the incarnation; an agent that leaves in order hands over before its end.
    pub(super) fn write_end(&self, ended: &IncarnationEnd, scope: Scope, lost: Option<&Event>) {
        if !ended.has_changed {
            return;
        }
        self.write(match (scope, ended.departure) {
            (Scope::Incarnation, Some(Departure::Left)) if lost.is_none() => Happening::Left,
            (Scope::Incarnation, _) => Happening::Crashed,
            (Scope::Agent, _) => Happening::Stopped,
        });
    }

    fn write(&self, what: Happening) {
        if self.record.is_on() {
            self.record.happened(self.now(), self.id(), what);
        }
    }
}

/// Number of earlier leaderships that a kept copy names.
const LED_BEFORE: usize = 10;

fn text_of<M: PeerMessage>(from: &AgentId, to: &AgentId, message: &M) -> MessageText {
    MessageText {
        from: from.clone(),
        to: to.clone(),
        kind: message.kind().into(),
        text: message.to_string(),
    }
}
