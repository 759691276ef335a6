//! The messages of one question of a leader.
//!
//! Decided here: the kind of message. Not here: its receivers and its time (`machine/`).

use crate::protocol::{AgentId, Round};

use super::{
    interface::{Rule, ScheduleEffect},
    message::{LeaderNumber, Mark, Read, ScheduleMessage, Write},
};

/// Sends the question, if it has receivers. With a mark it asks them to keep that mark, otherwise to report theirs.
pub(super) fn say(
    rule: &Rule,
    (ballot, round): (LeaderNumber, Round),
    mark: Option<Mark>,
    is_survey: bool,
    to: &[AgentId],
    out: &mut Vec<ScheduleEffect>,
) {
    if to.is_empty() {
        return;
    }
    let schedule = rule.name.clone();
    let mut say = |said| {
        let to = to.to_vec();
        out.push(ScheduleEffect::Say { to, said });
    };
    let Some(mark) = mark else {
        let read = Read {
            round,
            ballot,
            schedule,
        };
        return say(if is_survey {
            ScheduleMessage::Survey(read)
        } else {
            ScheduleMessage::Read(read)
        });
    };
    say(ScheduleMessage::Write(Write {
        round,
        ballot,
        schedule,
        mark,
    }));
}
