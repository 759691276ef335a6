//! An observer: it is told who leads, and never asked.
//!
//! It keeps no record, so what it follows is monotone within one incarnation only. It may remember a
//! ballot that no voter does: all voters that answered for it crashed before they stored it, and its
//! holder left. No voter would ever ask for that memory, so the observer tells it to a leader that leads
//! by less (`observer-remembers`).

use super::{
    Out,
    core::Core,
    message::{Leads, Nack},
    state::Following,
};
use bully_core::protocol::{AgentId, Incarnation};

/// What an observer follows when an agent says that it leads, if it accepts that.
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
    // The message may have been under way since before its holder resigned.
    if core.voter.is_void(&ballot) {
        return None;
    }
    core.voter.record.max = Some(ballot.clone());
    Some(Following {
        ballot,
        incarnation,
    })
}
