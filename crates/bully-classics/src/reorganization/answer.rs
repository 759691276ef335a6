//! The answers that an agent has to give in every state (rule `answer-truthfully`). An observer is not halted. It
//! follows the agent that coordinates by the latest election.

use super::{
    AgentId, ElectionId, Next, Out, Score, WhenAsked,
    core::{Core, ELECT},
    member::leader,
    message::{AreYouNormal, AreYouThere, Call, NotNormal, Ready, There},
    state::State,
};
use bully_core::protocol::{Incarnation, Time};

/// Answers `AreYouThere`, "are you up?". The answer is always yes.
pub(super) fn are_you_there(
    core: &mut Core,
    state: &State,
    now: Time,
    from: &AgentId,
    question: &AreYouThere,
    out: &mut Out,
) -> Next {
    if !core.me.is_voter() {
        return Next::Ignore("an observer is not asked");
    }
    let election = &question.election;
    core.numbers.hear(election.count);
    core.learn(from, question.score);
    let there = There {
        coordinates: state.coordinates(election),
        election: election.clone(),
        // `None` also while this agent cools down after a step-down: the agent is up, but the asker need not wait for
        // it.
        score: core.candidate_score(now),
        seen: core.numbers.seen,
    };
    out.send(from, there);
    // A member that misses its coordinator also asks this, with the coordinator's election and not its own.
    let holds_election = election.id == *from;
    let is_above = |score| core.outranks(now, score, from);
    let may_begin = core.config.when_asked == WhenAsked::Elect && state.is_free();
    if may_begin && holds_election && question.score.is_some_and(is_above) {
        return ELECT;
    }
    Next::Stay
}

/// Answers `AreYouNormal`, "do you work under me?". The answer is "yes" if this agent has accepted the asker as its
/// coordinator, in the election that the question names.
pub(super) fn are_you_normal(
    core: &mut Core,
    state: &mut State,
    now: Time,
    caller: (&AgentId, Incarnation),
    question: &AreYouNormal,
    out: &mut Out,
) -> Next {
    let AreYouNormal { election, score } = question;
    core.numbers.hear(election.count);
    core.learn(caller.0, Some(*score));
    if !core.me.is_voter() {
        return on_observed(core, state, now, caller, (election, *score), out);
    }
    match state {
        State::Member(m) if m.election == *election && m.is_normal() => {
            m.on_are_you_normal(core, now, *score, out)
        }
        State::Idle
        | State::Candidate(_)
        | State::Waiting(_)
        | State::Member(_)
        | State::Leader(_) => {
            let (election, seen) = (election.clone(), core.numbers.seen);
            out.send(caller.0, NotNormal { election, seen });
            Next::Stay
        }
    }
}

/// Takes the task. Only the coordinator may give it, and only in the election by which it coordinates.
pub(super) fn ready(
    core: &Core,
    state: &mut State,
    now: Time,
    caller: (&AgentId, Incarnation),
    ready: &Ready,
    out: &mut Out,
) -> Next {
    let (from, election) = (caller.0, &ready.election);
    if !core.me.is_voter() {
        return on_observed(core, state, now, caller, (election, ready.score), out);
    }
    match state {
        State::Member(m) if m.election == *election => {
            m.on_ready(core, now, ready, out);
            core.ack(from, Call::Ready, election, out);
        }
        State::Idle
        | State::Candidate(_)
        | State::Waiting(_)
        | State::Member(_)
        | State::Leader(_) => core.nack(now, from, Call::Ready, election, out),
    }
    Next::Stay
}

/// Handles a coordinator's message at an observer.
pub(super) fn on_observed(
    core: &Core,
    state: &mut State,
    now: Time,
    (from, incarnation): (&AgentId, Incarnation),
    (election, score): (&ElectionId, Score),
    out: &mut Out,
) -> Next {
    let is_older = core.numbers.promised.as_ref().is_some_and(|p| p > election);
    let leader = leader(from, incarnation, election);
    if let State::Member(m) = state {
        if is_older {
            return Next::Ignore("an older coordinator");
        }
        if m.election == *election && m.leader == leader {
            m.hear_leader(core, now, out);
            return Next::Stay;
        }
    } else if is_older {
        // The sender coordinates by an earlier election than the election that this observer followed last.
        let (election, seen) = (election.clone(), core.numbers.seen);
        out.send(from, NotNormal { election, seen });
        return Next::Stay;
    }
    Next::Observe(leader, election.clone(), score)
}
