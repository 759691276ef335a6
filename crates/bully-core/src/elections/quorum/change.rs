//! A change of the voters: the question to the leader, and how the answer comes back.
//!
//! Any agent may be asked, and sends the question to its leader. The leader refuses ([`ruling`](super::ruling)), or
//! ends its work as in a step-down, and seals the epoch ([`seal`](super::seal)). When the agent that was asked has
//! the new list, it knows that the change is made ([`install`](super::install)). A leader may crash or be replaced
//! meanwhile, so the driver gives the command again until it has an answer. The repetition is harmless.

use super::{
    Out, QuorumBully, QuorumConfig,
    core::Core,
    epoch::LAST_EPOCH,
    leader::{Leading, Leaving},
    ruling::Ruling,
    state::{Next, State},
};
use crate::protocol::{
    AgentId, ChangeError, Changed, Decree, Event, NewVoter, Role, Time, VoterChange, VotersEvent,
};
use crate::{
    elections::{
        message::{AskChange, ChangeAnswer, Enlist},
        timer::BullyTimer,
    },
    parts::Handover,
};
use std::time::Duration;

/// Largest number of voters in a list, because a longer list does not fit into a record.
const MOST_VOTERS: usize = 100;
/// Largest size of a list, in bytes. A record has to contain two lists, the present list and the next list.
const MOST_BYTES: usize = 24_000;
/// Largest length of the name and of the address of a contact.
const LONGEST_CONTACT: usize = 256;

impl QuorumConfig {
    /// Returns this configuration with the voters of the list `decree`.
    pub(super) fn of(&self, decree: &Decree) -> Self {
        let wide = |n: Option<u32>| n.and_then(|n| usize::try_from(n).ok());
        Self {
            voters: decree.names().cloned().collect(),
            vote_quorum: wide(decree.vote_quorum),
            lease_quorum: wide(decree.lease_quorum),
            epoch: decree.epoch,
            ..self.clone()
        }
    }

    /// Checks that this list may become the next list of voters. A list that fails the check comes from a defect or an
    /// attacker.
    pub(super) fn check_decree(&self, decree: &Decree) -> Result<(), ChangeError> {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let voters = count(decree.voters.len());
        if decree.voters.len() > MOST_VOTERS {
            let most = count(MOST_VOTERS);
            return Err(ChangeError::TooMany { voters, most });
        }
        if decree.epoch > LAST_EPOCH {
            return Err(ChangeError::NoEpoch { epoch: self.epoch });
        }
        let contacts = decree.voters.iter().filter_map(|v| v.contact.as_ref());
        let longest = contacts.map(|c| c.node.len().max(c.address.len())).max();
        let list = decree.voters.iter().map(bytes).sum();
        let lengths = [(longest.unwrap_or(0), LONGEST_CONTACT), (list, MOST_BYTES)];
        if let Some((len, most)) = lengths.into_iter().find(|(len, most)| len > most) {
            let (len, most) = (count(len), count(most));
            return Err(ChangeError::TooLong { len, most });
        }
        let next = self.of(decree);
        next.check().map_err(|_| ChangeError::Quorums { voters })
    }
}

fn bytes(voter: &NewVoter) -> usize {
    let written = |text: &str| {
        let len = |c: char| match c {
            '"' | '\\' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        text.chars().map(len).sum()
    };
    let contact = voter.contact.as_ref();
    let contact: usize = contact.map_or(0, |c| {
        let node: usize = written(&c.node);
        node.saturating_add(written(&c.address))
    });
    contact.saturating_add(written(voter.id.as_str()))
}

impl QuorumBully {
    pub(super) fn on_change(&mut self, now: Time, change: Box<VoterChange>, out: &mut Out) -> Next {
        self.core.asked = Some(change.clone());
        if let State::Following(following) = &self.state {
            let (to, term) = (&following.leader.id, following.leader.term);
            let is_unentitled = false;
            out.send(
                to,
                AskChange {
                    term,
                    change,
                    is_unentitled,
                },
            );
            return Next::Stay;
        }
        match self.begin_change(now, &change, out) {
            Ok(Some(changed)) => self.core.answer_change(&change, Ok(changed), out),
            Err(reason) => self.core.answer_change(&change, Err(reason), out),
            Ok(None) => {} // the change has begun, or no leader is known: the driver repeats the command
        }
        Next::Stay
    }

    /// Handles the command to change the voters, which an agent that follows this leader has passed on.
    pub(super) fn on_ask_change(
        &mut self,
        now: Time,
        from: &AgentId,
        ask: &AskChange,
        out: &mut Out,
    ) -> Next {
        // The leader refuses the request of an agent that may only observe (rule `voters-ask`).
        let begun = if ask.is_unentitled && matches!(self.state, State::Leading(_)) {
            Err(ChangeError::NotAllowed)
        } else {
            self.begin_change(now, &ask.change, out)
        };
        let outcome = match begun {
            Ok(None) => return Next::Stay,
            Ok(Some(changed)) => Ok(changed),
            Err(reason) => Err(reason),
        };
        let (term, change) = (ask.term, ask.change.clone());
        out.send(
            from,
            ChangeAnswer {
                term,
                change,
                outcome,
            },
        );
        Next::Stay
    }

    /// Begins a change. Returns `Some` if the list already has the change. Returns `None` if the change has begun, or
    /// if this agent cannot decide yet; then the driver repeats the command. Returns an error if the leader refuses
    /// the change.
    fn begin_change(
        &mut self,
        now: Time,
        change: &VoterChange,
        out: &mut Out,
    ) -> Result<Option<Changed>, ChangeError> {
        let State::Leading(leading) = &mut self.state else {
            self.core.ignore(self.state.role(), "it does not lead");
            return Ok(None);
        };
        if !leading.has_lease() {
            self.core.ignore(Role::Candidate, "it holds no lease yet");
            return Ok(None);
        }
        if leading.brings(&self.core, change) {
            return Ok(None); // asked again: it no longer matters whether the change could begin now
        }
        let ruling = self.core.rule(now, leading, change);
        if let Err(ChangeError::NotSeen { .. }) = ruling
            && let (Some(new), _) = change.parts()
            && new.contact.is_some()
        {
            // Perhaps no link to the new voter's host exists yet. This event makes the leader's host connect, so the
            // repeated question may find the new voter.
            let wanted = VotersEvent::Wanted(new.clone());
            out.notify(Event::Voters(Box::new(wanted)));
        }
        match ruling? {
            Ruling::Done(changed) => Ok(Some(changed)),
            Ruling::TooEarly => {
                let why = "it has not led for long enough to know which voters are there";
                self.core.ignore(Role::Leader, why);
                Ok(None)
            }
            // In one term a leader may ask for one list only (rule `one-change-at-a-time`).
            Ruling::Begin(_) if leading.is_leaving() || leading.is_raising() => {
                Err(ChangeError::UnderWay)
            }
            Ruling::Begin(next) => {
                leading.drain_for(&self.core, now, next, out);
                Ok(None)
            }
        }
    }
}

impl QuorumBully {
    /// Handles `Enlist`: the sender follows this leader, and could become a voter.
    pub(super) fn on_enlist(&mut self, now: Time, from: &AgentId, enlist: &Enlist) -> Next {
        if let State::Leading(leading) = &mut self.state
            && leading.term == enlist.term
            && self.core.me.is_up(from)
        {
            leading.note_learner(&self.core, now, from);
            return Next::Stay;
        }
        self.state
            .ignore(&self.core, "it does not lead in that term")
    }
}

impl Leading {
    /// Notes a member that could become a voter, and forgets the members that are no longer up.
    fn note_learner(&mut self, core: &Core, now: Time, id: &AgentId) {
        // Messages fill this map, so it must stay bounded.
        self.learners.retain(|id, _| core.me.is_up(id));
        self.learners.insert(id.clone(), now);
    }

    /// Returns whether the agent `id` has sent `Enlist` within the promise P, the time for which a voter's message
    /// counts (rule `enlist-before-vote`).
    pub(super) fn is_heard(&self, core: &Core, now: Time, id: &AgentId) -> bool {
        let heard = self.learners.get(id);
        heard.is_some_and(|at| now.since(*at) <= core.config.timings.promise())
    }

    /// Asks the application to end its work before the epoch is sealed, as in a step-down (rule `lose-before-seal`).
    fn drain_for(&mut self, core: &Core, now: Time, next: Box<Decree>, out: &mut Out) {
        let limit = core.config.drain();
        self.leaving = Some(Leaving {
            handover: Handover::begin(now, self.term, None, limit, BullyTimer::Drain, out),
            cooldown: Duration::ZERO,
            next: Some(next),
        });
    }

    /// Returns whether the change is under way: the next list has it, and the present list does not. Then the change is
    /// the only difference between the two lists, because successive lists differ by one change.
    fn brings(&self, core: &Core, change: &VoterChange) -> bool {
        let leaving = self.leaving.as_ref();
        let next = leaving.and_then(|leaving| leaving.next.as_deref());
        let is_done_by = |next: &Decree| core.config.of(next).has_done(change);
        !core.config.has_done(change) && next.is_some_and(is_done_by)
    }
}
