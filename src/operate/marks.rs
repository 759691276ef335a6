//! Removes the mark of a schedule from the store of a lease.
//!
//! Decided here: the outcome for the operator. Not here: the content of a mark (`leader/schedule/`), and how it is
//! removed (`register/keeper/`).

use std::time::Duration;

use actix::clock::timeout;

use super::{CommandRefusal, Outcome, agent::OperatedAgent};
use crate::{agent::MarkReset, protocol::AgentId};

pub(super) async fn reset(
    agent: &dyn OperatedAgent,
    schedule: &AgentId,
    within: Duration,
) -> Outcome {
    let schedule = schedule.clone();
    let reset = timeout(within, agent.reader().reset_mark(&schedule)).await;
    match reset.unwrap_or(MarkReset::Unknown) {
        MarkReset::Done => Outcome::MarkRemoved { schedule },
        MarkReset::Absent => Outcome::Refused(CommandRefusal::NoMark { schedule }),
        MarkReset::AtAgents => Outcome::Refused(CommandRefusal::MarksAtAgents),
        MarkReset::Failed(why) => Outcome::Refused(CommandRefusal::MarkKept { schedule, why }),
        MarkReset::Unknown => Outcome::MarkUnknown,
    }
}
