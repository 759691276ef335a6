//! The inputs and outputs of a schedule's machine.
//!
//! Not here: the machine itself (`machine/`).

use crate::{
    clock::WallTime,
    protocol::{AgentId, Time},
};

use super::{
    due::DueTimes,
    message::{Answer, LeaderNumber, Question},
    planner::Misfire,
    poll::Audience,
};

/// The settings of a schedule, which never change.
pub(super) struct Rule {
    pub(super) name: AgentId,
    pub(super) times: Box<dyn DueTimes>,
    pub(super) misfire: Misfire,
}

/// One moment, by both clocks: the wall clock decides which ticks are due, the other clock measures how long a question
/// has waited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Now {
    pub(super) wall: WallTime,
    pub(super) time: Time,
}

#[derive(Debug)]
pub(super) enum ScheduleInput {
    Start,
    /// The answer of this agent.
    Answer(AgentId, Answer),
    /// The time that the machine's `wake` returned has come, or the agents whose answers count have changed.
    Look {
        audience: Audience,
        ballot: LeaderNumber,
    },
    /// The work of the running tick has ended, with or without success.
    Ended(Result<(), TickFailed>),
    /// The agent hands over: the running tick may end, and no other begins.
    StepDown,
}

/// The work of a tick returned an error, panicked, or could not be given to its actor; with the reason.
#[derive(Clone, Debug)]
pub(super) struct TickFailed(pub(super) String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScheduleEffect {
    Ask(Vec<AgentId>, Question),
    Run(DueTick),
    /// The machine has done everything that must be done before the agent hands over.
    Finish,
}

/// A tick that may begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DueTick {
    pub(super) due: WallTime,
    pub(super) is_late: bool,
    pub(super) is_repeat: bool,
}
