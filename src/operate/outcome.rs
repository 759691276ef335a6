//! The outcome of a command: the successor and its term, or the reason why there is no successor.
//!
//! Decided here: the words and the JSON of each outcome, and whether the outcome fulfils the command. Not here: which
//! state of an agent shows which outcome (`judge.rs`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    agent::{SpokenTerm, VoterCount},
    protocol::{AgentId, Leader, Score, Term},
};

use super::{CommandRefusal, json};

/// The outcome of a command.
///
/// As JSON it is an object whose key `became` names the variant: `{"became":"handed_over","leader":{..}}`. Its
/// [`Display`](fmt::Display) is a sentence for people, with advice if there is something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "became", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Another agent leads.
    HandedOver {
        /// The successor.
        #[serde(with = "json::leader")]
        leader: Leader,
    },
    /// Another agent leads, but not the agent that the command named.
    LedByAnother {
        /// The agent that the command named.
        asked: AgentId,
        /// The successor.
        #[serde(with = "json::leader")]
        leader: Leader,
    },
    /// The agent gave its leadership up, and leads again.
    LedAgain {
        /// The term in which the agent leads now.
        #[serde(with = "json::text")]
        term: Term,
    },
    /// The agent has the score of the command.
    ScoreSet {
        /// The score.
        #[serde(with = "json::score")]
        score: Score,
        /// The leader at the time when the score was set. An election with the new score may follow.
        #[serde(with = "json::optional_leader")]
        leader: Option<Leader>,
    },
    /// The score is set, but counts only when the agent is tied to an actor again: its former actor is gone.
    ScoreWaits {
        /// The score.
        #[serde(with = "json::score")]
        score: Score,
    },
    /// The agent has no score, and does not lead.
    ScoreWithdrawn {
        /// The leader that the agent now knows; `None` if no agent leads, because no other member can lead.
        #[serde(with = "json::optional_leader")]
        leader: Option<Leader>,
    },
    /// The agent has left its group.
    Left {
        /// The last leader that the agent knew; `None` if no agent leads, because no other member can lead.
        #[serde(with = "json::optional_leader")]
        leader: Option<Leader>,
        /// Set if too few voters remain for a quorum: then the group has no leader, or loses it soon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lacks: Option<VoterCount>,
    },
    /// The agent has left its group, but its work did not end in time. The leadership was revoked and the agent was
    /// stopped, as after a crash.
    Stopped,
    /// The group has the voters below. An election among them may follow.
    VotersChanged {
        /// The epoch of the list: the number of its changes.
        epoch: u64,
        /// The voters, in order.
        voters: Vec<AgentId>,
        /// Whether the list of voters was already as requested, so that nothing was changed.
        already: bool,
        /// The voter that the command removed or replaced. If other nodes know the voter's node only from the list of
        /// voters, that node loses its links, because the new list does not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed: Option<AgentId>,
    },
    /// Nothing was changed.
    Refused(CommandRefusal),
    /// When the wait ended, the agent no longer led, and no other leader was known yet.
    Vacant {
        /// The term of the leadership that the agent gave up.
        #[serde(with = "json::text")]
        term: Term,
    },
    /// When the wait ended, the agent was handing over, and its work had not ended yet.
    StillDraining {
        /// The term in which the agent still leads.
        #[serde(with = "json::text")]
        term: Term,
    },
    /// When the wait ended, the state of the agent showed no effect of the command.
    Unheard,
    /// When the wait ended, no answer to a change of voters had come. The change may still be made.
    VotersUnknown,
    /// The mark of this schedule is removed from the store. The leader of the schedule notices this within 10 s, and
    /// then continues the schedule from the time at which it noticed.
    MarkRemoved {
        /// The schedule.
        schedule: AgentId,
    },
    /// When the wait ended, the store had not answered whether the mark of a schedule is removed.
    MarkUnknown,
    /// The agent ended before its state showed an outcome.
    Ended,
}

/// Whether an outcome fulfils the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeVerdict {
    /// The outcome fulfils the command.
    Done,
    /// The command had another outcome.
    Otherwise,
    /// Nothing was changed.
    Refused,
    /// The outcome is not known yet: the command may still take effect.
    Late,
}

impl Outcome {
    /// Returns whether this outcome means that the command was fulfilled.
    #[must_use]
    pub fn verdict(&self) -> OutcomeVerdict {
        match self {
            Self::HandedOver { .. }
            | Self::ScoreSet { .. }
            | Self::ScoreWithdrawn { .. }
            | Self::Left { .. }
            | Self::VotersChanged { .. }
            | Self::MarkRemoved { .. } => OutcomeVerdict::Done,
            Self::LedByAnother { .. }
            | Self::LedAgain { .. }
            | Self::ScoreWaits { .. }
            | Self::Stopped
            | Self::Ended => OutcomeVerdict::Otherwise,
            Self::Refused(_) => OutcomeVerdict::Refused,
            Self::Vacant { .. }
            | Self::StillDraining { .. }
            | Self::Unheard
            | Self::VotersUnknown
            | Self::MarkUnknown => OutcomeVerdict::Late,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HandedOver { leader } => write!(f, "{} leads in term {}", leader.id, SpokenTerm(leader.term)),
            Self::LedByAnother { asked, leader } => write!(
                f,
                "{} leads in term {}, not {asked}: is {asked} up, and its score the highest?",
                leader.id, SpokenTerm(leader.term)
            ),
            Self::LedAgain { term } => write!(
                f,
                "the agent handed over and was elected again, in term {}: withdraw its score to keep it out",
                SpokenTerm(*term)
            ),
            Self::ScoreSet { score, leader } => {
                write!(f, "the score is {score}, {}", Led(leader.as_ref()))
            }
            Self::ScoreWaits { score } => write!(
                f,
                "the score is {score}, and counts when the actor that the agent is tied to runs again"
            ),
            Self::ScoreWithdrawn { leader } => {
                write!(f, "the agent is not elected any more, {}", Led(leader.as_ref()))
            }
            Self::Left { leader, lacks } => has_left(f, leader.as_ref(), *lacks),
            Self::Stopped => f.write_str(
                "the agent has left its group, but its work did not end in time and was stopped: find out what delayed it",
            ),
            Self::VotersChanged {
                epoch,
                voters,
                already,
                removed,
            } => now_voters(f, *epoch, voters, *already, removed.as_ref()),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Vacant { term } => write!(
                f,
                "the leadership of term {} was given up, and no other leader is known yet: ask for the status",
                SpokenTerm(*term)
            ),
            Self::StillDraining { term } => write!(
                f,
                "the agent hands over, and its work in term {} has not ended yet: ask for the status",
                SpokenTerm(*term)
            ),
            Self::Unheard => f.write_str(
                "the command has no effect yet: the agent may hang, or wait for its disk; ask for the status",
            ),
            Self::VotersUnknown => f.write_str(
                "no answer came in time, and the change may still be made: look at the voters, and ask again once there is a leader",
            ),
            Self::MarkRemoved { schedule } => write!(
                f,
                "the store has no mark of {schedule} any more: its leader begins anew within 10 s, and runs nothing that was due before"
            ),
            Self::MarkUnknown => f.write_str(
                "the store has not answered in time, and the mark may still be removed: ask again",
            ),
            Self::Ended => f.write_str(
                "the agent ended before the command was done: start it again",
            ),
        }
    }
}

fn has_left(
    f: &mut fmt::Formatter<'_>,
    leader: Option<&Leader>,
    lacks: Option<VoterCount>,
) -> fmt::Result {
    let Some(VoterCount {
        reachable, needed, ..
    }) = lacks
    else {
        return write!(f, "the agent has left its group, {}", Led(leader));
    };
    write!(
        f,
        "the agent has left its group, which has no quorum now: {reachable} of its voters can be reached, and {needed} are needed; start voters"
    )
}

fn now_voters(
    f: &mut fmt::Formatter<'_>,
    epoch: u64,
    voters: &[AgentId],
    already: bool,
    removed: Option<&AgentId>,
) -> fmt::Result {
    f.write_str(if already {
        "the voters are those already:"
    } else {
        "the voters are now"
    })?;
    voters.iter().try_for_each(|id| write!(f, " {id}"))?;
    write!(f, ", in epoch {epoch}")?;
    if voters.len().is_multiple_of(2) {
        f.write_str("; this even number tolerates no more failures than one voter less")?;
    }
    let Some(removed) = removed else {
        return Ok(());
    };
    write!(
        f,
        "; a node that the others know only from the list of voters loses its links: stop {removed}, or add its node to the peers of the others"
    )
}

struct Led<'a>(Option<&'a Leader>);

impl fmt::Display for Led<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(leader) => write!(
                f,
                "and {} leads in term {}",
                leader.id,
                SpokenTerm(leader.term)
            ),
            None => f.write_str("and no leader is known"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEADER: &str = r#"{"id":"b","incarnation":"1152921504606846976","term":"7"}"#;

    /// Each line has the JSON of an outcome, and a part of its sentence.
    const OUTCOMES: &str = r#"
        "handed_over","leader":LEADER | b leads in term 7
        "led_by_another","asked":"c","leader":LEADER | b leads in term 7, not c
        "led_again","term":"8" | elected again, in term 8
        "voters_unknown" | the change may still be made
        "unheard" | the agent may hang
        "mark_removed","schedule":"nightly" | no mark of nightly any more
        "score_set","score":[2,-5,0,0],"leader":null | the score is (2, -5), and no leader is known
        "left","leader":LEADER | has left its group, and b leads in term 7
        "left","leader":LEADER,"lacks":{"reachable":1,"all":2,"needed":2} | has no quorum now: 1 of its voters can be reached, and 2 are needed; start voters
        "still_draining","term":"7" | the agent hands over, and its work in term 7
        "voters_changed","epoch":4,"voters":["b","c"],"already":false | the voters are now b c, in epoch 4; this even number
        "voters_changed","epoch":4,"voters":["b"],"already":true | the voters are those already: b, in epoch 4
        "voters_changed","epoch":4,"voters":["b","c"],"already":false,"removed":"d" | loses its links: stop d, or add its node to the peers
        "refused","reason":"no_mark","schedule":"nightly" | check the name
        "refused","reason":"agent_ended" | the agent has ended: start it again
        "refused","reason":"not_leading","leader":LEADER | the agent does not lead: b leads, so command that agent
        "refused","reason":"not_leading","leader":LEADER,"about":"http://b" | the agent does not lead: b leads (http://b), so
        "refused","reason":"no_member","to":"c" | the group has no member c: name a member
        "refused","reason":"no_successor","to":"c" | c cannot take over
        "refused","reason":"leads_already","to":"b" | b leads already
        "refused","reason":"no_agent","agents":["g/a"] | no agent of this node fits the command: name one of g/a
        "refused","reason":"voters","why":{"not_seen":{"id":"d"}} | the voters are not changed: the leader has not heard d as a learner
        "refused","reason":"voters","why":"under_way" | ask again later
    "#;

    #[test]
    fn outcomes_as_json_and_as_sentences() {
        for row in OUTCOMES.trim().lines() {
            let (json, says) = row.trim().split_once(" | ").unwrap();
            let json = format!("{{\"became\":{}}}", json.replace("LEADER", LEADER));
            let outcome: Outcome = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&outcome).unwrap(), json);
            assert!(outcome.to_string().contains(says), "{outcome}");
        }
    }
}
