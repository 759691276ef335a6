//! An observer: it learns which agent leads, and no voter asks it for its state.
//!
//! An observer keeps no record, so the ballots that it follows increase only within one incarnation. An observer may
//! remember an elected ballot that no voter remembers, if the voters that elected it crashed before they stored it, and
//! its holder left. No voter asks the observer, so the observer reports such a ballot to any leader with a lower ballot
//! (rule `observer-remembers`).

use super::{
    Out,
    core::Core,
    message::{Leads, Nack},
    state::Following,
};
use bully_core::protocol::{AgentId, Incarnation};

/// Follows an agent that announces that it leads, if the observer accepts the agent's ballot.
pub(super) fn on_leads(
    core: &mut Core,
    from: &AgentId,
    incarnation: Incarnation,
    Leads { ballot }: Leads,
    out: &mut Out,
) -> Option<Following> {
    // A voter ignores this message, because it asks the other voters itself.
    if core.me.is_voter() || ballot.id != *from || !core.is_sound(&ballot) {
        return None;
    }
    if let Some(max) = core.voter.record.max.clone().filter(|max| ballot < *max) {
        out.send(from, Nack { max });
        return None;
    }
    // The message may have been sent before the holder of the ballot resigned.
    if core.voter.is_void(&ballot) {
        return None;
    }
    core.voter.record.max = Some(ballot.clone());
    Some(Following {
        ballot,
        incarnation,
    })
}
