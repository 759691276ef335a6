//! The memory of voters about each other. A voter that has started asks the other voters for their memory of it. The
//! rules are on the page [`memory`](super::memory).
//!
//! Decided here: which store is accepted under a name, which facts a voter keeps about another voter, and how it acts
//! on the answers to its question.
//!
//! Not here: the time for which a voter abstains or waits ([`memory`](super::memory)).

use std::time::Duration;

use super::{
    Elected, Heartbeat, Out, QuorumBully, QuorumMessage, SenderIncarnation,
    core::Core,
    epoch::epoch_of,
    state::{Certainty, State},
    vacant::Vacant,
    voter::Voter,
};
use crate::elections::{
    message::{Recall, Recalled},
    timer::BullyTimer,
    vote::Heard,
};
use crate::protocol::{AgentId, Event, Incarnation, Member, StoreId, Term, Time, VotersEvent};

/// Longest time for which a change of this memory may stay out of the durable record. Chosen: a crash may lose the
/// changes of this time. Without the wait, each change would cost a write of its own (rule `written-within-a-minute`).
const KEPT_WITHIN: Duration = Duration::from_secs(60);

// ---- the memory of the others ----------------------------------------------------------------

impl Core {
    /// Returns the store of this incarnation, as its host reports it.
    fn store_of(&self, (id, incarnation): SenderIncarnation<'_>) -> Option<StoreId> {
        let member = self.me.members.get(id)?;
        member
            .store
            .filter(|_| member.incarnation == Some(incarnation))
    }

    /// Keeps the store with which this agent takes part (rule `one-store-per-voter`).
    pub(super) fn keep_store(&mut self, now: Time, sender: SenderIncarnation<'_>) {
        let known = self.voter.record.others.get(sender.0);
        if !self.keeps(sender.0) || known.is_some_and(|known| known.store.is_some()) {
            return;
        }
        if let Some(store) = self.store_of(sender) {
            let others = &mut self.voter.record.others;
            others.entry(sender.0.clone()).or_default().store = Some(store);
            self.voter.memory.unwritten.get_or_insert(now);
        }
    }

    /// Notes that the sender has voted in this term, acknowledged it, or led in it (rule `remember-who-took-part`).
    pub(super) fn keep_word(&mut self, now: Time, sender: SenderIncarnation<'_>, term: Term) {
        let (id, incarnation) = sender;
        let known = self.voter.record.others.get(id);
        // This check is a fast path: the function runs for every heartbeat and acknowledgement, and usually nothing has
        // changed.
        let is_old = |heard: &Heard| {
            heard.store.is_some() && heard.incarnation == Some(incarnation) && heard.term >= term
        };
        let is_of_epoch = epoch_of(term) == Some(self.config.epoch);
        if known.is_some_and(is_old) || !is_of_epoch || !self.keeps(id) {
            return;
        }
        self.keep_store(now, sender);
        let Voter { record, memory, .. } = &mut self.voter;
        let heard = record.others.entry(id.clone()).or_default();
        match heard.incarnation {
            Some(last) if last > incarnation => return, // sent before the later incarnation began
            Some(last) if last == incarnation && heard.term >= term => return,
            Some(last) if last < incarnation => {
                memory.former.entry(id.clone()).or_default().last = Some((last, heard.term));
            }
            Some(_) | None => {}
        }
        heard.incarnation = Some(incarnation);
        heard.term = heard.term.max(term);
        memory.unwritten.get_or_insert(now);
    }

    /// Returns whether this agent keeps a memory of `id`: this agent is a voter with a disk, and `id` is another voter.
    fn keeps(&self, id: &AgentId) -> bool {
        self.has_memory() && self.peers.contains(id)
    }

    /// Returns whether the sender took part with another store before. The difference is reported once (rule
    /// `one-store-per-voter`).
    fn is_other_store(&mut self, sender: SenderIncarnation<'_>, out: &mut Out) -> bool {
        let known = self.voter.record.others.get(sender.0);
        let Some(kept) = known.and_then(|known| known.store) else {
            return false;
        };
        let Some(found) = self.store_of(sender).filter(|found| *found != kept) else {
            return false;
        };
        self.tell_of_store(sender.0, [kept, found], None, out);
        true
    }

    fn tell_of_store(
        &mut self,
        id: &AgentId,
        [kept, found]: [StoreId; 2],
        later: Option<Incarnation>,
        out: &mut Out,
    ) {
        let told = &mut self.voter.memory.told;
        if told.insert(id.clone(), [kept, found]) != Some([kept, found]) {
            let event = VotersEvent::OtherStore {
                id: id.clone(),
                kept,
                found,
                later,
            };
            out.notify(Event::Voters(Box::new(event)));
        }
    }

    /// Writes the memory of the other voters if the write has waited for long enough (rule `written-within-a-minute`).
    pub(super) fn write_when_due(&mut self, now: Time, out: &mut Out) {
        let unwritten = self.voter.memory.unwritten;
        if unwritten.is_some_and(|since| now.since(since) >= KEPT_WITHIN) {
            self.voter.write_others(&self.config, now, out);
        }
    }
}

// ---- the others' memory of this agent --------------------------------------------------------

impl Core {
    /// Asks all other voters (rule `ask-after-start`).
    pub(super) fn recall(&self, out: &mut Out) {
        if self.has_memory() {
            let seen = self.voter.seen;
            self.send_to_voters(Recall { seen }, out);
        }
    }

    /// Asks a voter that has sent a message but no answer, at most once in a round (rule `ask-after-start`).
    pub(super) fn recall_from(&mut self, now: Time, from: &AgentId, out: &mut Out) {
        if self.voter.memory.open.is_empty() || !self.me.is_voter() {
            return;
        }
        let round = self.config.timings.round();
        let seen = self.voter.seen;
        if let Some(asked) = self.voter.memory.open.get_mut(from)
            && asked.is_none_or(|asked| now.since(asked) >= round)
        {
            *asked = Some(now);
            out.send(from, Recall { seen });
        }
    }

    /// Asks the voters that have just appeared, without waiting for a round (rule `ask-after-start`).
    pub(super) fn recall_from_new(&mut self, now: Time, out: &mut Out) {
        let members = &self.me.members;
        let is_there = |id: &AgentId| members.get(id).is_some_and(Member::is_up);
        let open = self.voter.memory.open.iter();
        let new: Vec<_> = open
            .filter(|(id, asked)| asked.is_none() && is_there(id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in new {
            self.recall_from(now, &id, out);
        }
    }

    /// Answers a `Recall` with this voter's memory of the asker's other incarnations.
    fn on_recall(&mut self, (id, incarnation): SenderIncarnation<'_>, out: &mut Out) {
        let store = self.store_of((id, incarnation));
        let Voter { record, memory, .. } = &mut self.voter;
        let mut heard = record.others.get(id).copied().unwrap_or_default();
        let former = memory.former.entry(id.clone()).or_default();
        // The asker asks for its earlier incarnations, so the present incarnation is left out.
        if heard.incarnation == Some(incarnation) {
            (heard.incarnation, heard.term) = former
                .last
                .map_or_else(Default::default, |(last, term)| (Some(last), term));
        }
        if heard.incarnation.is_none() {
            former.denied_to = former.denied_to.max(Some((incarnation, store)));
        }
        let seen = self.voter.seen;
        out.send(
            id,
            Recalled {
                incarnation,
                seen,
                heard,
            },
        );
    }

    /// Returns whether this voter has answered a later incarnation of the name, with another store, that it knows no
    /// earlier incarnation. If both stores are known, the difference is reported once (rule `excused-by-all`).
    fn is_denied(&mut self, sender: SenderIncarnation<'_>, out: &mut Out) -> bool {
        let former = self.voter.memory.former.get(sender.0);
        let denied = former.and_then(|former| former.denied_to);
        let Some((later, store)) = denied.filter(|(later, _)| *later > sender.1) else {
            return false;
        };
        let found = self.store_of(sender);
        let is_same = store.is_some() && found == store;
        if is_same {
            return false;
        }
        if let (Some(kept), Some(found)) = (store, found) {
            self.tell_of_store(sender.0, [kept, found], Some(later), out);
        }
        true
    }
}

impl QuorumBully {
    /// Notes the facts about the past in a message, before the role handles the message. Returns whether the message
    /// needs no further handling.
    pub(super) fn is_for_memory(
        &mut self,
        now: Time,
        sender: SenderIncarnation<'_>,
        message: &QuorumMessage,
        out: &mut Out,
    ) -> bool {
        let core = &mut self.core;
        if let QuorumMessage::Recall(_) = message {
            core.on_recall(sender, out);
            if let State::Leading(leading) = &self.state {
                leading.tell_of_itself(now, sender.0, out);
            }
            return true;
        }
        if let QuorumMessage::Recalled(answer) = message {
            if !core.is_asked(message) {
                self.ignore("an answer to another incarnation");
                return true;
            }
            // An answer from an earlier epoch counts as lost: this epoch has forgotten that memory, and this agent asks
            // again.
            if epoch_of(message.term()).is_some_and(|epoch| epoch < core.config.epoch) {
                self.ignore("an answer from an earlier epoch");
                return true;
            }
            self.on_recalled(now, sender, answer, out);
            return true;
        }
        if core.is_denied(sender, out) {
            self.ignore("a later incarnation of it was told that it is unknown");
            return true;
        }
        if core.is_other_store(sender, out) {
            self.ignore("it took part with another store");
            return true;
        }
        if let QuorumMessage::Claim(claim) = message {
            core.voter.memory.excuse(&core.config, claim.term);
        }
        // An announcement also counts, because its leader's own vote was durable before it was sent.
        if let QuorumMessage::Elected(Elected { term, .. })
        | QuorumMessage::Heartbeat(Heartbeat { term, .. }) = message
        {
            core.keep_word(now, sender, *term);
        }
        if core.me.is_voter() {
            core.voter
                .hear_of_election(&core.config, now, message.term());
        }
        false
    }

    /// Checks the store of the followed leader, which may have become known by now (rule `one-store-per-voter`).
    pub(super) fn check_stores(&mut self, now: Time, out: &mut Out) {
        let Some(leader) = self.state.following().map(|known| known.leader.clone()) else {
            return;
        };
        let sender = (&leader.id, leader.incarnation);
        if !self.core.is_other_store(sender, out) {
            return self.core.keep_store(now, sender);
        }
        if let State::Following(following) = &self.state {
            let next = following.end(&mut self.core, Certainty::Suspected, out);
            self.proceed(now, next, out);
        }
    }

    /// Handles a `Recalled`: another voter's memory of this agent's earlier incarnations.
    fn on_recalled(
        &mut self,
        now: Time,
        sender: SenderIncarnation<'_>,
        answer: &Recalled,
        out: &mut Out,
    ) {
        let (from, core) = (sender.0, &mut self.core);
        // A voter without a store id keeps no memory, so its answer cannot excuse this voter (rule `excused-by-all`).
        let keeps_memory = core.store_of(sender).is_some();
        let is_unknown = answer.heard.incarnation.is_none();
        let has_another = answer.heard.store.is_some() && answer.heard.store != core.store;
        let knows_nothing = keeps_memory && is_unknown && !has_another;
        let heard = answer.heard;
        let memory = &mut core.voter.memory;
        memory.open.remove(from);
        // The first answer ends the wait (rule `ask-after-start`).
        memory.waits = None;
        let (incarnation, term) = memory.began;
        memory.excuse_if_unknown(&core.config, knows_nothing, answer.seen);
        if let (Some(kept), Some(found)) = (heard.store, core.store)
            && kept != found
        {
            let id = core.me.id.clone();
            return core.tell_of_store(&id, [kept, found], None, out);
        }
        if heard.incarnation > incarnation || heard.term > term {
            return self.end_old(from, heard, out);
        }
        if let State::Asking(asking) = &mut self.state {
            let next = asking.decide(core, now); // because a candidate's claim may have waited for this answer
            self.proceed(now, next, out);
        }
    }

    /// Ends this agent's part in the election (rule `older-than-remembered`).
    fn end_old(&mut self, by: &AgentId, heard: Heard, out: &mut Out) {
        self.state.leave(&mut self.core, out);
        self.state = State::Vacant(Vacant::IDLE);
        out.cancel_timer(BullyTimer::Election);
        self.core.voter.memory.is_over = true;
        let event = VotersEvent::OldRecord {
            by: by.clone(),
            term: self.core.voter.memory.began.1,
            heard: heard.term,
        };
        out.notify(Event::Voters(Box::new(event)));
    }
}
