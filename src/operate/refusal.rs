//! The reasons why a command is refused, with advice.
//!
//! Decided here: the words and the JSON of each refusal. Not here: the outcome of a command that was carried out
//! (`outcome.rs`).

use serde::{Deserialize, Serialize};

use crate::protocol::{About, AgentId, ChangeError, Leader};

use super::json;

/// The reason why a command was refused. Nothing was changed.
///
/// As JSON its key `reason` names the variant.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandRefusal {
    /// The agent has left its group or has ended, for good.
    #[error("the agent has ended: start it again")]
    AgentEnded,
    /// An agent that does not lead cannot hand over.
    #[error("the agent does not lead: {}", match (leader, about) {
        (Some(leader), Some(about)) => format!("{} leads ({about}), so command that agent", leader.id),
        (Some(leader), None) => format!("{} leads, so command that agent", leader.id),
        (None, _) => "no leader is known: the diagnosis of the node (`bullyctl diagnosis`) says why".to_owned(),
    })]
    NotLeading {
        /// The leader, if one is known.
        #[serde(with = "json::optional_leader")]
        leader: Option<Leader>,
        /// The text that the leader publishes about itself, such as the URL of its server; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<About>,
    },
    /// The group has no member with the requested name.
    #[error(
        "the group has no member {to}: name a member of the group, or none, and the election chooses one"
    )]
    NoMember {
        /// The requested name.
        to: AgentId,
    },
    /// The agent that should take over already leads.
    #[error("{to} leads already: name another voter, or none, and the election chooses one")]
    LeadsAlready {
        /// The requested name.
        to: AgentId,
    },
    /// The member that should take over cannot lead now.
    #[error(
        "{to} cannot take over: name another voter that is up and has a score, or none, and the election chooses one"
    )]
    NoSuccessor {
        /// The requested name.
        to: AgentId,
    },
    /// No other member could take over, so the group would have no leader.
    #[error(
        "no other voter is up and has a score: start one first, or withdraw the score if no agent shall lead"
    )]
    NoOther,
    /// No agent of this node has the group and the name in the order.
    #[error("no agent of this node fits the command: name one of {}", agents.join(", "))]
    NoAgent {
        /// The agents of the node, as `group/agent`.
        agents: Vec<String>,
    },
    /// Several agents of this node match the order.
    #[error("several agents of this node fit the command: name the group or the agent, of {}", agents.join(", "))]
    Ambiguous {
        /// The agents that match, as `group/agent`.
        agents: Vec<String>,
    },
    /// The group cannot make this change of its voters.
    #[error("the voters are not changed: {why}")]
    Voters {
        /// The reason, with advice.
        why: ChangeError,
    },
    /// The group's election has no list of voters.
    #[error(
        "this group has no list of voters that could change: only agents with `.quorum([..])` have one (in a configuration: `quorum.voters`)"
    )]
    NoVoters,
    /// The store of the lease has no mark of this schedule.
    #[error("the store has no progress (mark) of a schedule {schedule}: check the name")]
    NoMark {
        /// The schedule.
        schedule: AgentId,
    },
    /// The group's agents keep the marks of its schedules themselves, so no store has them.
    #[error(
        "the agents of this group keep the progress of its schedules, and no command removes it: give the schedule another name to begin anew"
    )]
    MarksAtAgents,
    /// The mark was not removed.
    #[error("the stored progress (mark) of the schedule {schedule} is not removed: {why}")]
    MarkKept {
        /// The schedule.
        schedule: AgentId,
        /// The reason.
        why: String,
    },
    /// The caller cannot wait, because it does not run in a runtime with timers.
    #[error("there is no runtime with timers here: send the command inside of an actix System")]
    NoRuntime,
}

debug_is_text!(CommandRefusal);
