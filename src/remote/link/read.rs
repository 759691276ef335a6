//! Reads a link: bytes in, members and messages of groups out.
//!
//! Decided here: the reaction to each verdict of [`Inbound`], and how long the other side may be silent. Received bytes
//! are handled in turns of [`TURN`], and the agents run between two turns: a peer within its rates can make much work,
//! but no other task waits until all of this work is done. After a wait for bytes the first turns are short
//! ([`FIRST`]): the receivers handle and answer the first messages while the rest is read.

use std::{convert::Infallible, pin::pin, rc::Rc};

use actix::clock::{Instant, sleep_until};
use futures::{
    FutureExt,
    future::{Either, select},
};
use tokio::{
    io::{AsyncReadExt, ReadHalf},
    task::yield_now,
};

use tracing::warn;

use crate::{
    group::companion_of,
    protocol::{AgentId, Member, Presence, Time},
    remote::{
        BridgeEvent, Closed, DropReason, FrameVerdict, GroupRules, GroupStanding, Inbound,
        RosterChange,
        bridge::{shared::lock, status::Traffic},
        transport::Stream,
        wire::{Frames, Opening},
    },
};

use super::common::{Common, JudgedOpening};

pub(super) struct LinkReader {
    common: Rc<Common>,
    stream: ReadHalf<Box<dyn Stream>>,
    frames: Frames,
    inbound: Inbound,
    /// The version of the peer's rights that the reader knows.
    rights: u64,
}

impl LinkReader {
    pub(super) fn new(
        common: Rc<Common>,
        stream: ReadHalf<Box<dyn Stream>>,
        frames: Frames,
    ) -> Self {
        let now = common.shared.now();
        let live = &common.peer.rights;
        // The version comes first: rights that change now are read again before the first frame.
        let rights = live.version();
        let inbound = Inbound::new(live.get(), &common.shared.limits, now);
        Self {
            common,
            stream,
            frames,
            inbound,
            rights,
        }
    }

    pub(super) fn into_inner(self) -> ReadHalf<Box<dyn Stream>> {
        self.stream
    }

    pub(super) async fn run(&mut self) -> Closed {
        match self.try_run().await {
            Ok(never) => match never {},
            Err(why) => why,
        }
    }

    /// Reads bytes, and handles each frame as soon as it is whole. Before it waits for more bytes, the receivers of
    /// messages get a turn.
    async fn try_run(&mut self) -> Result<Infallible, Closed> {
        let common = Rc::clone(&self.common);
        let shared = &common.shared;
        let mut turn = WorkTurn::default();
        loop {
            let now = shared.now();
            self.follow_rights()?;
            let Some(body) = self.frames.next(now)? else {
                turn.end().await;
                self.read(&mut turn).await?;
                continue;
            };
            turn.took(1).await;
            Traffic::add(&mut lock(&shared.traffic).frames_in, 1);
            let verdict = self
                .inbound
                .frame(now, body, |opening| common.opened(opening))?;
            match verdict {
                FrameVerdict::Messages(messages) => {
                    common.all_told();
                    let inbound = &mut self.inbound;
                    common.deliver(inbound, now, messages, &mut turn).await?;
                }
                FrameVerdict::Roster(change) => {
                    let changed = change.members.len().saturating_add(change.left.len());
                    common.apply(change)?;
                    turn.took(changed.saturating_add(ROSTER)).await;
                }
                FrameVerdict::Drop(why) => shared.counters.count(why.name()),
                FrameVerdict::Twin => common.has_twin(),
                FrameVerdict::Answer(token) => {
                    common.all_told();
                    common.answer(token);
                }
                FrameVerdict::Answered(token) => {
                    common.all_told();
                    common.answered(token);
                }
            }
        }
    }

    /// Reads the rights of the peer again: decrees change them while its link runs.
    fn follow_rights(&mut self) -> Result<(), Closed> {
        let live = &self.common.peer.rights;
        let version = live.version();
        if version == self.rights {
            return Ok(());
        }
        self.rights = version;
        self.inbound.follow_rights(live.get())
    }

    /// Waits for bytes, at most as long as the other side may take.
    async fn read(&mut self, turn: &mut WorkTurn) -> Result<(), Closed> {
        let common = Rc::clone(&self.common);
        let shared = &common.shared;
        let whole = self.frames.deadline();
        let mut reading = pin!(self.stream.read_buf(self.frames.room()));
        let read = if let Some(read) = reading.as_mut().now_or_never() {
            read // bytes of a backlog: the present turn continues
        } else {
            *turn = WorkTurn::default();
            match select(reading, pin!(common.late(whole))).await {
                Either::Left((read, _)) => read,
                Either::Right((late, _)) => return Err(late),
            }
        };
        let Ok(bytes @ 1..) = read else {
            return Err(Closed::Lost);
        };
        let now = shared.now();
        common.heard.set(now);
        Traffic::add(&mut lock(&shared.traffic).bytes_in, bytes);
        self.inbound.took(now, bytes)
    }
}

/// Amount of work since other tasks last ran.
#[derive(Debug)]
pub(super) struct WorkTurn {
    work: usize,
    /// Largest amount of work in a turn while a task waits.
    most: usize,
    /// Whether a task waits for a turn.
    is_due: bool,
}

impl Default for WorkTurn {
    fn default() -> Self {
        Self {
            work: 0,
            most: FIRST,
            is_due: false,
        }
    }
}

impl WorkTurn {
    async fn took(&mut self, work: usize) {
        self.work = self.work.saturating_add(work);
        if self.is_over() {
            self.is_due = true;
            self.end().await;
        }
    }

    /// Adds a message of this length to the work. The caller checks afterwards whether the turn is over.
    pub(super) fn read(&mut self, bytes: usize) {
        let parts = bytes.checked_div(PART).unwrap_or_default();
        self.add(parts.saturating_add(1));
    }

    /// Adds work whose receivers wait for a turn. The caller checks afterwards whether the turn is over.
    pub(super) const fn add(&mut self, work: usize) {
        self.work = self.work.saturating_add(work);
        self.is_due = true;
    }

    pub(super) const fn is_over(&self) -> bool {
        let most = if self.is_due { self.most } else { TURN };
        self.work >= most
    }

    pub(super) async fn end(&mut self) {
        // The receivers of messages get a turn. After other work no task waits, so this task need not yield.
        if self.is_due {
            yield_now().await;
        }
        *self = Self {
            most: self.most.saturating_mul(2).min(TURN),
            ..Self::default()
        };
    }
}

impl Common {
    /// Waits until the peer has been silent for too long, or has not finished its frame in time. Returns the reason.
    async fn late(&self, whole: Option<Time>) -> Closed {
        loop {
            let silent = self.gone_at();
            let (until, late) = match whole {
                // Bytes that arrive slowly end the silence, so the limit of silence alone would not end such a
                // frame.
                Some(whole) if whole < silent => (whole, Closed::FrameTimeout),
                Some(_) | None => (silent, Closed::Silent),
            };
            if self.shared.now() >= until {
                return late;
            }
            let until: Instant = self.shared.instant(until);
            // The wait is repeated, because the limit of silence depends on the use of the link, which may change.
            let _woken = select(pin!(self.roused.notified()), pin!(sleep_until(until))).await;
        }
    }

    /// Notes that the other side opens a group. Returns whether this side carries the group, with the same rules.
    fn opened(&self, opening: &Opening<'_>) -> GroupStanding {
        let (shared, name) = (&self.shared, opening.name);
        let mut carried = shared.carried.iter().enumerate();
        let Some((group, carried)) = carried.find(|(_, c)| c.name() == name) else {
            if companion_of(name).is_none() {
                self.peer.health.opened_other(name);
            }
            return GroupStanding::Unknown;
        };
        let (standing, theirs) = (shared.standing(group, opening), GroupRules::opened(opening));
        self.has_opened.set(true);
        if let Some(side) = self.groups.get(group) {
            side.theirs.borrow_mut().clear();
            *side.opened.borrow_mut() = Some(JudgedOpening {
                theirs: theirs.clone(),
                is_carried: standing != GroupStanding::Mismatch,
            });
        }
        let mine = carried.requirements().as_ref().map(GroupRules::from);
        let mine = mine.filter(|_| standing == GroupStanding::Mismatch);
        let health = &self.peer.health;
        health.opened(name, (&theirs, opening.pace), mine.as_ref());
        if let Some(mine) = mine {
            self.peer.agents().remove(group);
            let node = self.link.peer.clone();
            warn!(peer = %node, group = name, %theirs, %mine, "peer follows other rules in a group: compare the rules, epochs and voters that both hosts configure");
            if let Ok(group) = AgentId::new(name) {
                shared.events.tell(BridgeEvent::Mismatch {
                    node,
                    group,
                    theirs: theirs.to_string(),
                    mine: mine.to_string(),
                });
            }
        }
        standing
    }

    /// Counts a message of a group, or a leader in a roster, that was dropped.
    pub(super) fn dropped(&self, group: usize, why: DropReason) {
        let shared = &self.shared;
        shared.counters.count(why.name());
        if why == DropReason::UnvouchedTerm
            && let Some(terms) = shared.terms(group)
            && terms.goes_by_clock()
            && self.peer.health.note_ahead(shared.now())
        {
            warn!(peer = %self.link.peer, "the peer names terms that are later than the clock here allows: compare the clocks of both hosts");
        }
    }

    /// Notes that the peer has just refused an earlier process of this node's name.
    fn has_twin(&self) {
        let shared = &self.shared;
        if self.peer.health.note_twin(shared.now()) {
            warn!(node = %shared.me.node, peer = %self.link.peer, "two processes have this node's name: the peer refuses the other process, which began earlier: stop that one, or stop this one and restart that one, or give one a name of its own");
        }
    }

    /// Applies a change among the agents of the peer.
    fn apply(&self, mut change: RosterChange) -> Result<(), Closed> {
        let shared = &self.shared;
        let group = change.group;
        if let Some(leader) = &change.leader {
            // The term is checked first: a roster with an absurd term ends the link, and must change nothing.
            if !shared.admit(group, leader.term)? {
                self.dropped(group, DropReason::UnvouchedTerm);
                change.leader = None;
            }
        }
        if let Some(side) = self.groups.get(group) {
            let mut theirs = side.theirs.borrow_mut();
            for (_, id) in &change.left {
                theirs.remove(id);
            }
            let named = change.members.iter();
            theirs.extend(named.map(|(number, member)| (member.id.clone(), *number)));
        }
        let has_ended = |(_, member): &(u32, Member)| member.presence == Presence::Down;
        // A name is also free for another node when the end of its agent is confirmed.
        let is_name_free = !change.left.is_empty() || change.members.iter().any(has_ended);
        let refused = self.peer.agents().apply(self.link.link, change);
        for agent in refused {
            shared.name_taken(&self.link.peer, group, agent);
        }
        if is_name_free {
            shared.retry(group);
        }
        Ok(())
    }

    /// The first frame after the rosters shows that the other side has sent all of them.
    fn all_told(&self) {
        if self.has_opened.replace(false) {
            self.peer.agents().sweep(self.link.link);
            self.shared.retry_all();
        }
        if !self.is_told.replace(true) {
            if let Some(group) = self.peer.health.all_told() {
                warn!(peer = %self.link.peer, group, "the peer has none of the groups of this node: compare the names of the groups");
            }
            // The writer has held messages back until now, because messages contain the peer's numbers of agents, which
            // the rosters bring.
            self.outbox.wake();
        }
    }

    fn answer(&self, token: u64) {
        let mut answers = self.answers.borrow_mut();
        if answers.len() >= MOST_ANSWERS {
            answers.pop_front(); // a peer that asks this often does not need every answer
        }
        answers.push_back(token);
        self.outbox.wake();
    }

    fn answered(&self, token: u64) {
        let asked = self.asked.get();
        // An answer to an older question ends the silence, but measures nothing.
        if let Some((_, since)) = asked.filter(|(asked, _)| *asked == token) {
            self.asked.set(None);
            let echo = self.shared.now().since(since);
            self.peer.health.echoed(echo);
            self.shared.instruments.echo(self.link.peer.as_str(), echo);
            let longest = &mut lock(&self.shared.traffic).longest_echo;
            *longest = echo.max(*longest);
        }
    }
}

/// Largest number of frames, messages, receivers of messages and changes of members in one turn. They take less than a
/// millisecond.
const TURN: usize = 256;
/// Length of the first turn in which receivers wait. Each later turn is twice as long as the one before. If all turns
/// were as long as [`TURN`], sender and receiver would work one after the other, with half of the throughput.
const FIRST: usize = 16;
/// Number of bytes that count as one more message, because a long message is as much work as several short messages.
const PART: usize = 64;
/// Additional work of a roster: the group changes, and the next member that reads it merges the whole roster.
const ROSTER: usize = 256;
/// Largest number of answers to PINGs that wait.
const MOST_ANSWERS: usize = 8;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use actix::System;

    use super::*;
    use crate::remote::bridge::task::TaskGuard;

    #[test]
    fn others_have_a_turn_after_so_much_work_and_no_sooner() {
        System::new().block_on(async {
            let turns = Rc::new(Cell::new(0));
            let count = Rc::clone(&turns);
            let _other = TaskGuard::spawn(async move {
                loop {
                    count.set(count.get() + 1_u32);
                    yield_now().await;
                }
            });
            let mut turn = WorkTurn::default();
            turn.took(TURN - 1).await;
            turn.end().await;
            assert_eq!(turns.get(), 0, "no task waits for what was done");
            for _ in 0..10 {
                turn.took(TURN / 2).await;
            }
            assert_eq!(turns.get(), 5);
            turn.took(1_000 * TURN).await;
            assert_eq!(turns.get(), 6);
        });
    }

    #[test]
    fn receivers_have_a_turn_soon_and_a_backlog_is_not_held_up_by_them() {
        System::new().block_on(async {
            let mut turn = WorkTurn::default();
            let mut turns = Vec::new();
            for _ in 0..6 {
                let mut messages = 0;
                while !turn.is_over() {
                    turn.read(PART - 1);
                    messages += 1;
                }
                turn.end().await;
                turns.push(messages);
            }
            assert_eq!(turns, [16, 32, 64, 128, 256, 256]);
            turn.read(TURN * PART);
            assert!(turn.is_over(), "a long message is the work of many");
        });
    }
}
