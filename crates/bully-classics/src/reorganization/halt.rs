//! The effect of a halt in every state (rule `obey-one-election`), and of the coordinator that follows it (rule
//! `join-own-halter`).
//!
//! When an agent acknowledges a halt, it promises to obey one election. Only a later election of the same halter, or of
//! an agent above that halter, replaces the promise. By the original rules an agent obeys any caller, so an agent that
//! wrongly considers all agents above it dead takes over the whole group. If an agent above the caller may still
//! answer, this agent first waits for the answer: two elections may overlap when an agent recovers, and if the lower
//! caller then dies, its last messages would break GM1 (Garcia-Molina 1982).

use super::{
    AgentId, Next, Out,
    core::{Core, ELECT, Halter, WaitCause},
    member::leader,
    message::{Call, Halt, NewCoordinator},
    state::State,
};
use bully_core::protocol::{Incarnation, Rank, Time};

/// The answer to a halt.
enum HaltAnswer {
    Obeys,
    /// The agent has already obeyed this halt.
    Obeyed,
    /// The halt is of an older election, or of an agent that ranks below the agent that this agent obeys.
    Refuses,
    /// An agent above the caller may be up: this agent waits for the higher agent's answer.
    Waits,
    /// The caller ranks below this agent.
    Outranks,
}

pub(super) fn on_halt(
    core: &mut Core,
    state: &mut State,
    now: Time,
    by: Rank,
    halt: &Halt,
    out: &mut Out,
) -> Next {
    // The count is noted even if the halt is refused: the agent's own next election must have a higher count.
    core.numbers.hear(halt.election.count);
    core.learn(&by.id, Some(halt.score));
    let election = halt.election.clone();
    match (judge(core, state, now, &by, halt), state) {
        (HaltAnswer::Obeyed, _) => core.ack(&by.id, Call::Halt, &election, out),
        (HaltAnswer::Refuses, _) => core.nack(now, &by.id, Call::Halt, &election, out),
        (HaltAnswer::Outranks, state) => {
            core.nack(now, &by.id, Call::Halt, &election, out);
            // A candidate already holds an election, which will halt the caller. Any other agent begins one.
            if !matches!(state, State::Candidate(_)) {
                return ELECT;
            }
        }
        (HaltAnswer::Waits, State::Candidate(candidacy)) => {
            candidacy.keep_waiting(core, now, Halter { by, election }, out);
        }
        (HaltAnswer::Obeys | HaltAnswer::Waits, _) => return Next::Obey(Halter { by, election }),
    }
    Next::Stay
}

fn judge(core: &Core, state: &State, now: Time, by: &Rank, halt: &Halt) -> HaltAnswer {
    // This case is checked first, because `is_older` is also true for the election that this agent has already promised
    // to obey.
    if state.halter(&halt.election).is_some() {
        return HaltAnswer::Obeyed;
    }
    if core.numbers.is_older(&halt.election) {
        return HaltAnswer::Refuses;
    }
    if core.outranks(now, by.score, &by.id) {
        return HaltAnswer::Outranks;
    }
    let obeyed = match state {
        State::Candidate(candidacy) => candidacy.superior(),
        State::Waiting(wait) => match &wait.cause {
            WaitCause::Superior(above) => Some(above),
            WaitCause::Halted(halter) => Some(&halter.by),
            WaitCause::Pause | WaitCause::Cooldown => None,
        },
        State::Idle | State::Member(_) | State::Leader(_) => None,
    };
    // The halter that this agent obeys may halt it again, even if the halter's score has fallen.
    if obeyed.is_some_and(|above| above.id != by.id && above > by) {
        return HaltAnswer::Refuses;
    }
    match state {
        State::Candidate(candidacy) if candidacy.may_hear_from_above(core, by) => HaltAnswer::Waits,
        State::Idle
        | State::Candidate(_)
        | State::Waiting(_)
        | State::Member(_)
        | State::Leader(_) => HaltAnswer::Obeys,
    }
}

/// Handles a coordinator that makes itself known. The coordinator must have halted this agent before, by the same
/// election.
pub(super) fn on_new_coordinator(
    core: &Core,
    state: &State,
    now: Time,
    (from, incarnation): (&AgentId, Incarnation),
    message: &NewCoordinator,
    out: &mut Out,
) -> Next {
    let election = &message.election;
    if state.member_of(election).is_some() {
        // A second copy of the message is acknowledged as well, because a refusal could begin another election.
        core.ack(from, Call::NewCoordinator, election, out);
        return Next::Stay;
    }
    let Some(score) = state.halter(election).map(|halter| halter.by.score) else {
        core.nack(now, from, Call::NewCoordinator, election, out);
        return Next::Stay;
    };
    Next::Join(leader(from, incarnation, election), election.clone(), score)
}
