//! The history of a group as a pure state, without a clock and without a file.
//!
//! Decided here: which events begin and end a leadership, from which agent's events the history is written, and which
//! entries are removed to make room. Not here: how the history is shared and saved ([`history`](super)).

use std::{
    collections::VecDeque,
    mem,
    ops::RangeInclusive,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::{GroupHistory, Leadership, LeadershipEnd, MOST_BYTES, PastFinding, SeenAt};
use crate::protocol::{AgentId, Event, Leader, LeaderEnd, LostReason, Term, Time};

/// The history of one group; see the [module](self).
#[derive(Debug, Default)]
pub(crate) struct HistoryBook {
    leaderships: VecDeque<Leadership>,
    findings: VecDeque<PastFinding>,
    /// Memory of `leaderships` and `findings` in bytes, as [`Counted::bytes`] counts it.
    bytes: usize,
    /// The agent (of this process) from whose events the history is written.
    by: Option<AgentId>,
    /// The time since which the agent `by` has known no leader, by the clock of that agent.
    vacant_since: Option<Time>,
    /// The leadership whose end the machine of the agent `by` noticed last, and how the machine noticed the end.
    known_end: Option<(Leader, LeaderEnd)>,
    /// The last reason that an agent of this process gave for the end of its own leadership. It is removed when it has
    /// replaced the end of that leadership (`amend`).
    said: Option<(AgentId, Term, LostReason)>,
    /// A leadership that another agent has seen, but the agent `by` has not seen yet.
    ahead: Option<AheadOfView>,
    /// Whether the history of an earlier process was read.
    is_restored: bool,
    /// Whether the history is kept in a file at present.
    is_kept: bool,
    revision: u64,
}

/// A leadership that an agent other than `by` has seen.
#[derive(Debug)]
struct AheadOfView {
    by: AgentId,
    leader: AgentId,
    term: Term,
    at: SeenAt,
}

/// The memory of all books of this process, in bytes.
static ALL: AtomicUsize = AtomicUsize::new(0);

/// Largest memory of all books of a process together, in bytes.
const MOST_OF_ALL: usize = 8 << 20;

/// Largest number of leaderships of a group.
const MOST: usize = 1_000;

/// Time after which a finding is forgotten, in milliseconds, counted from the moment at which it was last found.
const FOUND_WITHIN: u64 = 30 * 60 * 1_000;

/// Longest interruption of a finding, in milliseconds. After a longer interruption the finding has ended, and counts as
/// a new finding if it comes back. Agents are asked every 5 s.
const GAP: u64 = 12_000;

/// Longest sentence, in bytes.
const LONGEST: usize = 400;

/// An entry whose memory is counted.
trait Counted {
    fn bytes(&self) -> usize;
}

impl Counted for Leadership {
    fn bytes(&self) -> usize {
        // A name may share its memory with the agent. It is counted in full, because this may be the last copy.
        size_of::<Self>() + self.leader.as_str().len() + self.seen_by.as_str().len()
    }
}

impl Counted for PastFinding {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.agent.as_str().len() + self.kind.len() + self.text.len()
    }
}

impl HistoryBook {
    /// Notes an event of the agent `by`. Calls `at`, which reads the clocks, only for an event that is kept: each agent
    /// of the process reports each change of the leader, so most events are not kept.
    pub(crate) fn note(
        &mut self,
        by: &AgentId,
        at: impl FnOnce() -> SeenAt,
        event: &Event,
        is_down: impl Fn(&AgentId) -> bool,
    ) {
        if self.by.is_none() {
            self.by = Some(by.clone());
        }
        let is_view = self.by.as_ref() == Some(by);
        if matches!(event, Event::NoLeader { .. } | Event::Lost { .. }) {
            // The leadership that only this agent has reported so far has ended too: the agent lost it, or lost sight
            // of its leader.
            self.ahead.take_if(|ahead| ahead.by == *by);
        }
        match event {
            Event::Acquired { term } | Event::Renewed { term } => self.hear(by, by, *term, at),
            Event::NewLeader(leader) => self.hear(by, &leader.id, leader.term, at),
            Event::NoLeader { .. } if is_view => {
                let is_down = || self.open().is_some_and(|open| is_down(&open.leader));
                let end = match self.known_end() {
                    None | Some(LeaderEnd::Replaced) if is_down() => LeadershipEnd::Down,
                    known => known.map_or(LeadershipEnd::Gone, as_shown),
                };
                self.vacant_since = Some(self.close(at(), end));
            }
            Event::Lost { term, reason } => {
                self.said = Some((by.clone(), *term, *reason));
                self.amend();
                if is_view {
                    let since = self.close(at(), LeadershipEnd::Lost(*reason));
                    self.vacant_since = Some(since);
                }
            }
            // A later `bully-core` may have more variants: `tests/layering` finds the variants that this list lacks.
            Event::Draining { .. } | Event::NoLeader { .. } | Event::Voters(_) | _ => {}
        }
    }

    /// Notes how the machine of the agent `by` noticed the end of the leadership of `leader`. The caller calls this
    /// before it notes the event of that end. The knowledge of another agent than `self.by` is ignored.
    pub(crate) fn know_end(&mut self, by: &AgentId, leader: &Leader, end: LeaderEnd) {
        if self.by.as_ref().is_none_or(|view| view == by) {
            self.known_end = Some((leader.clone(), end));
        }
    }

    /// Returns how the agent `by` noticed the end of the open leadership; `None` if its machine has not noticed that
    /// end.
    fn known_end(&self) -> Option<LeaderEnd> {
        let (open, (leader, end)) = self.open().zip(self.known_end.as_ref())?;
        (open.leader == leader.id && open.term == leader.term).then_some(*end)
    }

    /// Notes that the agent `by` has ended. If the history was written from its events, or from the events of no agent
    /// yet, another agent of this process continues the history. `has_others` returns whether this process has another
    /// agent. If not, the open leadership ends as [`LeadershipEnd::Unseen`].
    pub(crate) fn ended(&mut self, by: &AgentId, has_others: impl FnOnce() -> bool) {
        // The history must not be continued from the events of an agent that has ended.
        self.ahead.take_if(|ahead| ahead.by == *by);
        if self.by.as_ref().is_some_and(|known| known != by) {
            return;
        }
        (self.by, self.vacant_since, self.known_end) = (None, None, None);
        match (has_others(), self.ahead.take()) {
            (true, Some(ahead)) => {
                self.by = Some(ahead.by);
                self.leads(&ahead.leader, ahead.term, ahead.at);
            }
            (true, None) => {}
            (false, _) => {
                if let Some(open) = self.leaderships.back_mut().filter(|one| one.end.is_none()) {
                    open.end = Some(LeadershipEnd::Unseen);
                    self.revision = self.revision.wrapping_add(1);
                }
            }
        }
    }

    /// Notes that the agent `by` sees a leader. If `by` is not `self.by`, a leadership in a later term is kept in
    /// `self.ahead`.
    fn hear(&mut self, by: &AgentId, leader: &AgentId, term: Term, at: impl FnOnce() -> SeenAt) {
        let known = self.leaderships.back().map(|last| last.term);
        if self.by.as_ref() == Some(by) {
            self.leads(leader, term, at());
            self.ahead.take_if(|ahead| ahead.term <= term);
        } else if known < Some(term) {
            let (by, leader) = (by.clone(), leader.clone());
            self.ahead = Some(AheadOfView {
                by,
                leader,
                term,
                at: at(),
            });
        }
    }

    fn leads(&mut self, leader: &AgentId, term: Term, at: SeenAt) {
        if let Some(last) = self.leaderships.back_mut()
            && last.end == Some(LeadershipEnd::Unseen)
            && (&last.leader, last.term) == (leader, term)
        {
            last.end = None; // the leadership continued, but no agent of this process saw it
            self.revision = self.revision.wrapping_add(1);
            return;
        }
        if let Some(open) = self.open() {
            if open.leader == *leader && open.term == term {
                return;
            }
            let end = if open.leader == *leader {
                LeadershipEnd::Renewed
            } else {
                self.known_end().map_or(LeadershipEnd::Replaced, as_shown)
            };
            self.vacant_since = Some(self.close(at, end));
        }
        let without = self.vacant_since.take().map(|since| at.now.since(since));
        self.push(Leadership {
            leader: leader.clone(),
            term,
            from_unix_ms: at.unix_ms,
            without_ms: without.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX)),
            until_unix_ms: None,
            end: None,
            seen_by: self.by.clone().unwrap_or_else(|| leader.clone()),
        });
    }

    fn open(&self) -> Option<&Leadership> {
        self.leaderships.back().filter(|last| last.end.is_none())
    }

    /// Ends the open leadership. Returns the time since which there is no leader: for a leader that fell silent, its
    /// last sign of life; otherwise the present time.
    fn close(&mut self, at: SeenAt, end: LeadershipEnd) -> Time {
        let since = match self.known_end() {
            Some(LeaderEnd::Silent { since }) if end != LeadershipEnd::Renewed => since.min(at.now),
            Some(_) | None => at.now,
        };
        let silent_ms = u64::try_from(at.now.since(since).as_millis()).unwrap_or(u64::MAX);
        let open = self
            .leaderships
            .back_mut()
            .filter(|last| last.end.is_none());
        if let Some(open) = open {
            let until = at.unix_ms.saturating_sub(silent_ms);
            open.until_unix_ms = Some(until.max(open.from_unix_ms.min(at.unix_ms)));
            open.end = Some(end);
            self.revision = self.revision.wrapping_add(1);
            self.amend();
        }
        since
    }

    /// Replaces the end of a leadership by the reason that its former leader gave: the leader knows the reason more
    /// exactly than an agent that saw the end. The reason may arrive after the next leadership has begun, so the last
    /// two leaderships are checked.
    fn amend(&mut self) {
        let Some((who, term, reason)) = &self.said else {
            return;
        };
        let last = self.leaderships.iter_mut().rev().take(2);
        let mut ended = last.filter(|one| one.end.is_some());
        let is_it = |one: &&mut Leadership| one.leader == *who && one.term == *term;
        if let Some(one) = ended.find(is_it) {
            one.end = Some(LeadershipEnd::Lost(*reason));
            self.revision = self.revision.wrapping_add(1);
            self.said = None;
        }
    }

    /// Notes the findings of an agent's present diagnosis, each with its kind. Removes findings that were last found
    /// more than half an hour ago.
    pub(crate) fn found<'a>(
        &mut self,
        agent: &AgentId,
        unix_ms: u64,
        findings: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        for (kind, text) in findings {
            self.find(agent, unix_ms, kind, text);
        }
        self.forget_old(unix_ms);
    }

    fn find(&mut self, agent: &AgentId, unix_ms: u64, kind: &str, text: &str) {
        let text = shortened(text);
        let goes_on = |one: &&mut PastFinding| {
            let is_it = one.agent == *agent && one.kind == kind;
            is_it && unix_ms.saturating_sub(one.until_unix_ms) <= GAP
        };
        if let Some(known) = self.findings.iter_mut().rev().find(goes_on) {
            let before = known.bytes();
            if known.text != text {
                text.clone_into(&mut known.text);
            }
            // The wall clock may have been set back.
            known.until_unix_ms = known.until_unix_ms.max(unix_ms);
            let after = known.bytes();
            self.count(before, after);
        } else {
            let found = PastFinding {
                agent: agent.clone(),
                kind: kind.to_owned(),
                text: text.to_owned(),
                from_unix_ms: unix_ms,
                until_unix_ms: unix_ms,
            };
            self.count(0, found.bytes());
            self.findings.push_back(found);
            self.revision = self.revision.wrapping_add(1);
        }
        self.trim();
    }

    fn forget_old(&mut self, unix_ms: u64) {
        let is_old = |one: &PastFinding| unix_ms.saturating_sub(one.until_unix_ms) > FOUND_WITHIN;
        let before: usize = self.findings.iter().map(Counted::bytes).sum();
        self.findings.retain(|one| !is_old(one));
        let after = self.findings.iter().map(Counted::bytes).sum();
        if before != after {
            self.revision = self.revision.wrapping_add(1);
        }
        self.count(before, after);
    }

    fn push(&mut self, leadership: Leadership) {
        self.count(0, leadership.bytes());
        self.leaderships.push_back(leadership);
        self.revision = self.revision.wrapping_add(1);
        self.trim();
    }

    /// Removes entries beyond the limits: the oldest findings first, then the oldest leaderships, but never the last.
    fn trim(&mut self) {
        let is_full = |book: &Self| book.bytes > MOST_BYTES || ALL.load(Relaxed) > MOST_OF_ALL;
        while self.leaderships.len() > MOST || is_full(self) {
            let gone = if self.leaderships.len() <= MOST && !self.findings.is_empty() {
                self.findings.pop_front().map(|one| one.bytes())
            } else if self.leaderships.len() > 1 {
                self.leaderships.pop_front().map(|one| one.bytes())
            } else {
                return;
            };
            self.count(gone.unwrap_or_default(), 0);
        }
    }

    /// Updates both counts of memory: an entry has `after` bytes now in place of `before` bytes.
    fn count(&mut self, before: usize, after: usize) {
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
        ALL.fetch_add(after, Relaxed);
        ALL.fetch_sub(before, Relaxed);
    }

    /// Puts the history of an earlier process before this history, but only once. A leadership that has no end in the
    /// earlier history is marked as unseen, unless it is also the first leadership of this history. Returns `false`
    /// if an earlier history was already added.
    pub(super) fn restore(&mut self, mut past: GroupHistory) -> bool {
        if mem::replace(&mut self.is_restored, true) {
            return false;
        }
        if let (Some(last), Some(first)) = (past.leaderships.last(), self.leaderships.front_mut())
            && last.end.is_none_or(|end| end == LeadershipEnd::Unseen)
            && (&last.leader, last.term) == (&first.leader, first.term)
        {
            (first.from_unix_ms, first.without_ms) = (last.from_unix_ms, last.without_ms);
            past.leaderships.pop();
        }
        for mut one in past.leaderships.into_iter().rev() {
            one.end = one.end.or(Some(LeadershipEnd::Unseen));
            self.count(0, one.bytes());
            self.leaderships.push_front(one);
        }
        for one in past.findings.into_iter().rev() {
            self.count(0, one.bytes());
            self.findings.push_front(one);
        }
        self.trim();
        true
    }

    /// Notes whether the history is kept in a file from now on; returns whether it was before.
    pub(crate) const fn keep(&mut self, is_kept: bool) -> bool {
        mem::replace(&mut self.is_kept, is_kept)
    }

    /// Returns the number of leaderships that began within `minute`, a range in milliseconds since 1970.
    pub(crate) fn began_in(&self, minute: RangeInclusive<u64>) -> usize {
        let began = self.leaderships.iter().map(|one| one.from_unix_ms);
        began.filter(|at| minute.contains(at)).count()
    }

    /// Returns the last `most` leaderships as texts, the oldest first.
    pub(crate) fn last(&self, most: usize) -> Vec<String> {
        let older = self.leaderships.len().saturating_sub(most);
        let last = self.leaderships.iter().skip(older);
        last.map(ToString::to_string).collect()
    }

    pub(crate) fn read(&self, group: &str) -> GroupHistory {
        GroupHistory {
            group: group.to_owned(),
            leaderships: self.leaderships.iter().cloned().collect(),
            findings: self.findings.iter().cloned().collect(),
        }
    }

    /// Returns the number of changes so far. If the number has grown since a save, the saved history is out of date. A
    /// finding that only lasts longer does not count as a change.
    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }
}

impl Drop for HistoryBook {
    fn drop(&mut self) {
        ALL.fetch_sub(self.bytes, Relaxed);
    }
}

/// Returns the text, shortened if it is too long.
fn shortened(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns the end as the history shows it, for the end as a machine noticed it.
const fn as_shown(end: LeaderEnd) -> LeadershipEnd {
    match end {
        LeaderEnd::Resigned => LeadershipEnd::HandedOver,
        LeaderEnd::Ended => LeadershipEnd::Down,
        LeaderEnd::Silent { .. } => LeadershipEnd::Gone,
        LeaderEnd::Replaced => LeadershipEnd::Replaced,
    }
}
