//! The first lap of an election: a list goes round, and each member adds itself.
//!
//! Decided here: an election has a higher term than all terms seen (rule `begin-above-all-terms`), and a member that
//! finds itself in the list closes the list (`close-on-own-name`). `state.rs` decides which of two elections is dropped,
//! and `nominate.rs` handles the closed list.

use super::{
    AgentId, Next, Out,
    bounded::Bounded,
    core::Core,
    message::{Collect, Entrant, Lap, LapMessage, Nominate, RingElectionId},
    state::{Campaign, Contest, RingTimer},
};
use bully_core::protocol::Time;

impl Contest {
    /// Takes part in an election. Every participant, not only the origin (the member that began the election), waits
    /// for the outcome with a time limit, because the origin and its token may be lost together.
    pub(super) fn join(
        core: &mut Core,
        now: Time,
        id: RingElectionId,
        lap: Lap,
        out: &mut Out,
    ) -> Self {
        core.note_term(id.term);
        let span = core.config.token(core.size());
        let due = now.after(span);
        out.set_timer(RingTimer::Token, core.jittered(span));
        Self { id, lap, due }
    }

    /// Ends this agent's part in an election: from now on it passes no `Collect` or `Nominate` on.
    pub(super) fn end(core: &mut Core, out: &mut Out) {
        // The hop of an announcement is kept, because the members after this member have to learn which agent leads.
        out.cancel_timer(RingTimer::Token);
        core.forget_hop(Lap::Collect, out);
        core.forget_hop(Lap::Nominate, out);
    }

    /// Returns whether the time for an outcome has passed; if not, sets the timer again.
    pub(super) fn is_lost(&self, now: Time, out: &mut Out) -> bool {
        let is_early = now < self.due;
        if is_early {
            out.set_timer(RingTimer::Token, self.due.since(now));
        }
        !is_early
    }

    /// Returns whether this agent has won the election and announces itself.
    pub(super) fn is_announced(&self) -> bool {
        self.lap == Lap::Coordinator
    }

    /// Closes the list, which contains every member that is up (rule `close-on-own-name`). The next message nominates
    /// the highest-ranked of them.
    pub(super) fn close(&mut self, core: &Core, collect: Collect) -> Next {
        let Collect { election, entrants } = collect;
        let Some(winner) = best(core, entrants.as_slice()) else {
            return Next::GiveUp; // no member can be elected
        };
        if winner.id == core.me.id {
            return Next::Announce(election);
        }
        // A second copy of the list may come round later. The lap shows that the list is already closed.
        self.lap = Lap::Nominate;
        let nominate = Nominate {
            winner: winner.id.clone(),
            incarnation: winner.incarnation,
            election,
            passed: Bounded::of(core.me.id.clone()),
        };
        Next::Pass(LapMessage::Nominate(nominate))
    }
}

/// Begins an election in a term above all terms seen (rule `begin-above-all-terms`). A member that cannot be elected
/// may also begin one: its message collects the other members.
pub(super) fn begin(core: &Core, now: Time) -> Next {
    let Some(term) = core.seen.next() else {
        return Next::Ignore("the terms have come to their end");
    };
    let election = core.election(term);
    let collect = Collect {
        election: election.clone(),
        entrants: Bounded::of(core.entrant(now)),
    };
    Next::Join(election, LapMessage::Collect(collect))
}

/// Handles a list that has arrived at this agent.
pub(super) fn on_collect(
    core: &mut Core,
    campaign: &mut Campaign,
    now: Time,
    mut collect: Collect,
) -> Next {
    for entrant in collect.entrants.as_slice() {
        // The entrant has passed the list on, so it is up.
        core.trust(&entrant.id, entrant.incarnation);
    }
    let id = &collect.election;
    if let Some(reason) = campaign.refuses(id, core.closed) {
        return Next::Ignore(reason);
    }
    // A list that contains only an earlier incarnation of this agent was not begun or passed on by the present
    // incarnation.
    let is_me = |e: &Entrant| e.id == core.me.id && e.incarnation == core.me.incarnation;
    let names_me = collect.entrants.as_slice().iter().any(is_me);
    if let Campaign::Joined(contest) = campaign
        && contest.id == *id
    {
        let has_gone_round = names_me && contest.lap == Lap::Collect;
        return if has_gone_round {
            contest.close(core, collect)
        } else {
            Next::Stay // a copy
        };
    }
    if names_me {
        return Next::Ignore("an election that was given up");
    }
    collect.entrants.push(core.entrant(now)); // a full list goes on without this member
    Next::Join(collect.election.clone(), LapMessage::Collect(collect))
}

/// Returns the highest-ranked entrant whose incarnation has not ended since it was listed. A member that cools down
/// ranks after all other entrants here, because it has just handed over.
fn best<'a>(core: &Core, entrants: &'a [Entrant]) -> Option<&'a Entrant> {
    let may_lead = |e: &&Entrant| {
        let is_me = |id: &AgentId| *id == core.me.id;
        e.score.is_some() && (is_me(&e.id) || core.may_lead_in(&e.id, e.incarnation))
    };
    let candidates = entrants.iter().filter(may_lead);
    candidates.max_by_key(|e| (!e.defers, e.score, &e.id))
}
