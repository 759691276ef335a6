//! An observer: it learns who leads, and is never asked.
//!
//! It keeps no record, so the ballots that it follows are monotone within one incarnation only. It may remember a
//! ballot that no voter remembers: all voters that answered for it crashed before they stored it, and its holder left.
//! No voter would ever ask for that memory, so the observer tells it to a leader with a lower ballot
//! (`observer-remembers`).

use super::{
    Out,
    core::Core,
    message::{Leads, Nack},
    state::Following,
};
use bully_core::protocol::{AgentId, Incarnation};

/// Follows an agent that says that it leads, if the observer accepts that.
pub(super) fn on_leads(
    core: &mut Core,
    from: &AgentId,
    incarnation: Incarnation,
    Leads { ballot }: Leads,
    out: &mut Out,
) -> Option<Following> {
    // A voter asks for itself.
    if core.me.is_voter() || ballot.id != *from || !core.is_sound(&ballot) {
        return None;
    }
    if let Some(max) = core.voter.record.max.clone().filter(|max| ballot < *max) {
        out.send(from, Nack { max });
        return None;
    }
    // The message may have been sent before its holder resigned.
    if core.voter.is_void(&ballot) {
        return None;
    }
    core.voter.record.max = Some(ballot.clone());
    Some(Following {
        ballot,
        incarnation,
    })
}
