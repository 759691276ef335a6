//! The third lap of an election, and the heartbeats: from the leader round the ring and back to it.
//!
//! Decided here: which announcement counts (rule `follow-the-newest`). Announcements and heartbeats are the same
//! message, so a member that missed the announcement follows from the next heartbeat on. The message contains no list
//! of members, so it stays small in a large ring: each member remembers that it has passed the message on.

use super::{
    AgentId, Next, Out,
    core::Core,
    message::{Coordinator, Lap},
    state::{Campaign, Contest, Passed, State},
};
use bully_core::protocol::Time;

/// Checks whether the announcement of another agent counts. If it counts, it is remembered as passed on.
///
/// # Errors
/// The reason why it does not count.
pub(super) fn judge(
    core: &mut Core,
    state: &State,
    campaign: &Campaign,
    from: &AgentId,
    m: &Coordinator,
    out: &mut Out,
) -> Result<(), &'static str> {
    // The announcement proves that the leader was up, so this agent no longer skips it.
    core.trust(&m.leader, m.incarnation);
    if !core.may_lead_in(&m.leader, m.incarnation) {
        return Err("the leader is not a member that may be up");
    }
    core.note_term(m.term);
    if is_stale(core, state, campaign, m) {
        if !core.me.is_voter() {
            // No sender waits for an observer's acknowledgement. Such an acknowledgement only informs the leader that a
            // later term exists.
            core.acknowledge(from, &m.clone().into(), out);
        }
        return Err("an older announcement");
    }
    let passed = Passed {
        term: m.term,
        leader: m.leader.clone(),
        incarnation: m.incarnation,
        beat: m.beat,
    };
    let is_again = |p: &Passed| {
        let same = (p.term, &p.leader, p.incarnation) == (m.term, &m.leader, m.incarnation);
        same && p.beat >= m.beat
    };
    // A second copy is dropped here. Usually a leader removes its own message from the ring, but it may be dead.
    if core.passed.as_ref().is_some_and(is_again) {
        return Err("passed on before");
    }
    core.passed = Some(passed);
    Ok(())
}

/// Returns whether a newer announcement is known: an announcement of a higher term, or of the same term by an agent
/// that ranks above.
fn is_stale(core: &Core, state: &State, campaign: &Campaign, m: &Coordinator) -> bool {
    if m.term != core.closed {
        return m.term < core.closed;
    }
    let is_above = |score, id: &AgentId| (score, id) > (m.score, &m.leader);
    match state {
        // A leader's score may fall, so its heartbeats are not compared with its former score.
        State::Follower(f) if f.is_under(&m.leader) => m.incarnation < f.leader.incarnation,
        State::Follower(f) => f.leader.term == m.term && is_above(f.score, &f.leader.id),
        State::Leader(leading) if leading.term == m.term => is_above(core.score(), &core.me.id),
        State::Leader(_) | State::Vacant => {
            let announces = |c: &Contest| c.is_announced() && c.id.term == m.term;
            campaign.contest().is_some_and(announces) && is_above(core.score(), &core.me.id)
        }
    }
}

/// Handles an announcement of this agent's earlier incarnation, which other members still follow.
pub(super) fn on_former_self(core: &mut Core, campaign: &Campaign, m: &Coordinator) -> Next {
    core.note_term(m.term);
    if core.me.is_voter() && campaign.contest().is_none() && m.term > core.closed {
        return Next::Begin; // for a term above the former incarnation's term
    }
    Next::Stay
}

/// Handles an announcement or a heartbeat of this agent that has gone round the ring. Only now does a winner consider
/// itself leader: all members that it can reach follow no other leader any more (rule `lead-when-home`).
pub(super) fn came_home(
    core: &Core,
    state: &mut State,
    campaign: &Campaign,
    now: Time,
    m: &Coordinator,
    out: &mut Out,
) -> Next {
    let has_won = |c: &Contest| c.is_announced() && c.id.term == m.term;
    if campaign.contest().is_some_and(has_won) {
        return Next::Lead(m.term);
    }
    if let State::Leader(leading) = state
        && leading.term == m.term
    {
        leading.is_heard_round(core, now, out);
    }
    Next::Stay
}

/// Forgets the messages of earlier laps, before this agent announces itself.
pub(super) fn begin(core: &mut Core, out: &mut Out) {
    core.forget_hop(Lap::Collect, out);
    core.forget_hop(Lap::Nominate, out);
}
