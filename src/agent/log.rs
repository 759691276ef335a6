//! The log lines of an agent about leaders: one line for each event that its subscribers get.
//!
//! Decided here: the level of each event. A line has only the new data; the agent and its group are fields of the span
//! around the line, so each is written once.

use tracing::{Span, debug, error_span, info, warn};

use crate::protocol::{ChangeError, Event, VotersEvent};

use super::spec::AgentSettings;

/// Returns the span of everything that an agent logs. Its level is error: a filter that drops the level of a span drops
/// the span, and a warning must name its agent even if only warnings are kept.
pub(super) fn span(of: &dyn AgentSettings) -> Span {
    // Each step asks for this span. If no subscriber listens, the names are not even looked up.
    error_span!("bully.agent", node = %of.id(), group = of.group().name())
}

/// Logs an event. `is_change` is true if the event has another leader than the last log line, or if the leader of the
/// last log line is gone.
pub(super) fn log(event: &Event, is_change: bool) {
    match event {
        Event::Acquired { term } => info!(%term, "leadership acquired"),
        Event::Renewed { term } => debug!(%term, "leadership renewed"),
        Event::Draining { term, .. } => info!(%term, "leader drains"),
        Event::Lost { term, reason } if reason.is_wanted() => {
            info!(%term, %reason, "leadership lost");
        }
        Event::Lost { term, reason } => warn!(%term, %reason, "leadership lost"),
        Event::NewLeader(leader) if is_change => {
            info!(leader = %leader.id, term = %leader.term, "leader followed");
        }
        Event::NewLeader(leader) => {
            debug!(leader = %leader.id, term = %leader.term, "leader followed");
        }
        Event::NoLeader { term } if is_change => info!(%term, "leader gone"),
        Event::NoLeader { term } => debug!(%term, "leader gone"),
        Event::Voters(event) => log_voters(event),
        // A later `bully-core` may have more variants; `tests/layering` reports the missing variants.
        _ => info!("{event}"),
    }
}

/// Logs an event about the voters. A change that waits until the leader has heard the new voter is asked for again
/// twice a second, and its caller gets the refusal: so its requests and refusals are logged at `debug`.
fn log_voters(event: &VotersEvent) {
    let is_repeated = match event {
        VotersEvent::Wanted(_) => true,
        VotersEvent::Answered { outcome, .. } => {
            matches!(outcome, Err(ChangeError::NotSeen { .. }))
        }
        VotersEvent::Installed(_)
        | VotersEvent::OtherStore { .. }
        | VotersEvent::OldRecord { .. } => false,
    };
    if is_repeated {
        debug!("{event}");
    } else {
        info!("{event}");
    }
}
