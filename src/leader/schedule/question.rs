//! What a leader says to the others, of one question.
//!
//! Decided here: by which messages. Not here: to whom, and when (`machine/`).

use crate::protocol::{AgentId, Round};

use super::{
    interface::{Rule, ScheduleEffect},
    message::{LeaderNumber, Mark, Read, ScheduleMessage, Write},
};

/// Says it, if there is any agent to say it to: to keep this mark, or to tell what it knows.
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
