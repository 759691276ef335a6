//! The second lap of an election: a nomination goes to the winner, or once round the ring if the winner is gone.
//!
//! Decided here: the rule `nominate-the-highest`. By the original algorithm the winner is announced at once. In this
//! machine the winner announces itself. So a winner that died after it was collected is detected: its nomination comes
//! back.

use super::{
    AgentId, Next,
    bounded::Bounded,
    core::Core,
    message::{Lap, LapMessage, Nominate},
    state::{Campaign, Contest},
};

/// Handles a nomination that has arrived at this agent.
pub(super) fn on_nominate(core: &mut Core, campaign: &Campaign, mut nominate: Nominate) -> Next {
    core.trust(&nominate.winner, nominate.incarnation);
    let id = &nominate.election;
    if let Some(reason) = campaign.refuses(id, core.closed) {
        return Next::Ignore(reason);
    }
    let lap = campaign.contest().filter(|c| c.id == *id).map(|c| c.lap);
    // A nomination of this agent's earlier incarnation, with its former score, is not accepted. The nomination goes
    // round, and then another election asks this incarnation.
    if nominate.winner == core.me.id && nominate.incarnation == core.me.incarnation {
        if lap == Some(Lap::Coordinator) {
            return Next::Stay; // a copy
        }
        return accept(core, nominate);
    }
    if nominate.passed.as_slice().contains(&core.me.id) {
        // The nomination went round the ring and did not reach the winner.
        return lap.map_or(Next::Stay, |_| Next::Retry);
    }
    if lap >= Some(Lap::Nominate) {
        return Next::Ignore("passed on before");
    }
    nominate.passed.push(core.me.id.clone()); // beyond the limit, the first members of the list find themselves
    Next::Join(nominate.election.clone(), LapMessage::Nominate(nominate))
}

/// Handles the nomination at the winner. The winner checks again whether it can be elected, because it may have lost
/// its score since.
fn accept(core: &mut Core, nominate: Nominate) -> Next {
    if core.me.eligible().is_some() {
        return Next::Announce(nominate.election);
    }
    // Members that passed this nomination on ignore weaker elections, so the next election needs a higher term.
    core.note_term(nominate.election.term);
    Next::Begin
}

/// Handles a nomination for which no other member was found: the winner is gone.
pub(super) fn came_home(contest: Option<&Contest>, nominate: &Nominate) -> Next {
    if contest.is_some_and(|contest| contest.id == nominate.election) {
        return Next::Retry;
    }
    Next::Ignore("another election is under way")
}

/// Returns the consequence that nominates a successor of any rank in a new term. `None` without a successor.
pub(super) fn hand_over(core: &Core, to: Option<AgentId>) -> Option<Next> {
    let winner = to?;
    let incarnation = core.me.members.get(&winner)?.incarnation?;
    let election = core.election(core.seen.next()?);
    let nominate = Nominate {
        election: election.clone(),
        winner,
        incarnation,
        passed: Bounded::of(core.me.id.clone()),
    };
    Some(Next::Join(election, LapMessage::Nominate(nominate)))
}
