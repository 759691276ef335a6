//! The effect of an invitation in every state (rule `join-from-above`). An observer is not invited. It follows the
//! coordinator of the latest group.
//!
//! An agent accepts only an invitation to a later group than all groups in which it has been. Otherwise a late copy of
//! an old invitation would move it back to an old group. An agent that outranks the inviter declines: by the original
//! algorithm any coordinator takes over the group of any other coordinator, and the lowest-ranked coordinator may lead.

use super::{
    AgentId, ElectionId, Incarnation, Next, Out, Score,
    core::Core,
    member::leader,
    message::{Accept, Invitation},
    state::State,
};
use bully_core::protocol::{Member, Time};

pub(super) fn on_invitation(
    core: &mut Core,
    state: &State,
    now: Time,
    from: &AgentId,
    invitation: Invitation,
    out: &mut Out,
) -> Next {
    let Invitation { group, score } = &invitation;
    core.numbers.hear(group.count);
    let coordinator = core.me.members.get(&group.id);
    if group.id == core.me.id || !coordinator.is_some_and(Member::is_voter) {
        return Next::Ignore("the inviter is not another voter");
    }
    if let State::Member(m) = state
        && m.group == *group
    {
        out.send(&group.id, Accept::to(group)); // the agent has accepted already
        return Next::Stay;
    }
    let is_older = core.numbers.is_older(group);
    let accepts = match state {
        State::Free { .. } | State::Leader(_) => true,
        State::Candidate(_) => false,
        State::Member(m) => {
            // The agent accepts if its coordinator joins that group and passes the invitation on, or forms that group
            // itself.
            let is_passed_on = m.coordinator.id == *from || m.coordinator.id == group.id;
            is_passed_on || (*score, &group.id) > (m.coordinator.score, &m.coordinator.id)
        }
    };
    if is_older || core.outranks(now, *score, &group.id) || !accepts {
        core.decline(now, &group.id, group, out);
        return Next::Stay;
    }
    Next::Join(invitation)
}

/// Handles a coordinator's message at an observer.
pub(super) fn on_observed(
    core: &Core,
    state: &mut State,
    now: Time,
    caller: (&AgentId, Incarnation),
    (group, score): (&ElectionId, Score),
    out: &mut Out,
) -> Next {
    let is_older = core.numbers.promised.as_ref().is_some_and(|p| p > group);
    let leader = leader(caller, group);
    if let State::Member(m) = state {
        if is_older {
            return Next::Ignore("an older group");
        }
        if m.leader() == Some(&leader) {
            m.hear_coordinator(core, now, out);
            return Next::Stay;
        }
    } else if is_older {
        core.decline(now, caller.0, group, out); // the answer contains the count to exceed
        return Next::Stay;
    }
    Next::Observe(leader, group.clone(), score)
}
