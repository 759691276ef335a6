//! What an operator reads of a running node, as plain data that a client reads again.
//!
//! Decided here: what a report shows, and in which order. Terms and incarnations are text in its JSON, because
//! they may exceed 2^53. Readers must ignore keys that they do not know: later versions have more.

#[cfg(feature = "dashboard")]
use std::sync::Arc;
use std::{cmp::Reverse, collections::BTreeMap};

use serde::{Deserialize, Serialize};

#[cfg(feature = "dashboard")]
use crate::group::ReachableMember;
use crate::{
    agent::{Lifecycle, Status},
    protocol::{
        About, AgentId, Incarnation, Leader, Member, MemberKind, Members, Presence, Role, Score,
        Term,
    },
    remote::{BridgeHandle, LinkStatus, PeerStatus},
    shown::in_millis,
};

use super::{Operated, agent::OperatedAgent, json};

/// A node at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Its bridge; `None` where it has none.
    pub bridge: Option<BridgeReport>,
    /// Its agents.
    pub agents: Vec<AgentReport>,
}

/// An agent at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentReport {
    /// Its name.
    pub agent: AgentId,
    /// The name of its group.
    pub group: String,
    /// Whether it runs.
    pub lifecycle: Lifecycle,
    /// Its present incarnation, or the last one.
    #[serde(with = "json::text")]
    pub incarnation: Incarnation,
    /// Its role in the election.
    pub role: Role,
    /// The term of the leader that it follows or is; without one, the highest that it has seen.
    #[serde(with = "json::text")]
    pub term: Term,
    /// The leader that it follows, or the agent itself.
    #[serde(with = "json::optional_leader")]
    pub leader: Option<Leader>,
    /// What that leader says of itself.
    #[serde(default)]
    pub leader_about: Option<About>,
    /// The term in which it leads, if it does.
    #[serde(with = "json::optional_text")]
    pub leading: Option<Term>,
    /// For how long it still leads if nothing is heard, in milliseconds; `None` where it does not lead, or where that
    /// has no end.
    #[serde(default)]
    pub lease_left_ms: Option<u64>,
    /// Whether the work of this leader has to end, because it hands over.
    pub draining: bool,
    /// How often the work of a leader has panicked.
    pub work_panics: u32,
    /// How often the agent stepped down because its work made no progress.
    pub work_stalls: u32,
    /// Whether the actor that the agent is tied to is gone, so that the agent is not eligible.
    pub tie_broken: bool,
    /// The voters, where a list names them, as this agent's process knows them.
    #[serde(default)]
    pub voters: Vec<AgentId>,
    /// The epoch of that list: how often it was changed.
    #[serde(default)]
    pub epoch: u64,
    /// The group's members as this agent's process knows them, highest rank first, then those that cannot be
    /// elected, by name. No more than a thousand.
    pub members: Vec<MemberReport>,
    /// How many members there are.
    pub member_count: usize,
    /// The counts of the group's messages in this process, by the names of [`Counts`](crate::group::Counts).
    #[serde(with = "json::counts")]
    pub messages: BTreeMap<String, u64>,
}

/// A member of a group, as one process knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemberReport {
    /// Its name.
    pub agent: AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// Its score when last heard; `None` where it cannot be elected.
    #[serde(with = "json::optional_score")]
    pub score: Option<Score>,
    /// Whether it is there.
    pub presence: Presence,
    /// The last incarnation known.
    #[serde(with = "json::optional_text")]
    pub incarnation: Option<Incarnation>,
    /// What it says of itself in that incarnation.
    #[serde(default)]
    pub about: Option<About>,
}

/// A bridge at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BridgeReport {
    /// The node's name.
    pub node: String,
    /// Where it listens, if it does.
    pub listens: Option<String>,
    /// Its peers, by name.
    pub peers: Vec<LinkReport>,
    /// What crossed, why links were closed and why messages were dropped, as far as that happened at all.
    #[serde(with = "json::counts")]
    pub counts: BTreeMap<String, u64>,
}

/// A peer of a bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// Its name.
    pub node: String,
    /// What is dialled; `None` if it has to dial.
    pub address: Option<String>,
    /// `linked`, `dialing` or `waiting`.
    pub link: String,
    /// How many of its agents are members here, in all groups.
    pub agents: usize,
    /// Messages to it that were lost on this side.
    pub lost: u64,
    /// For how long there has been no link, in milliseconds; `None` while there is one.
    pub unlinked_ms: Option<f64>,
    /// Why the last link ended or the last attempt came to nothing, while there is no link. For people.
    pub last_error: Option<String>,
    /// How long the last question to it took to be answered, there and back, in milliseconds.
    pub echo_ms: Option<f64>,
}

impl Operated {
    /// The node as it is now. It goes through no mailbox: an agent that is busy or hung cannot delay it.
    pub fn report(&self) -> Report {
        Report {
            bridge: self.bridge.as_ref().map(bridge),
            agents: self.agents.iter().map(|each| whole(&**each)).collect(),
        }
    }
}

#[cfg(feature = "dashboard")]
impl Operated {
    /// The same, but that of the agents that know the same members only the first lists them: in each report of each of
    /// hundreds of agents there would be hundreds.
    pub(crate) fn brief_report(&self) -> Report {
        let mut listed: Vec<Arc<Members>> = Vec::new();
        let brief = |each: &dyn OperatedAgent| {
            let members = each.members();
            if listed.iter().any(|known| Arc::ptr_eq(known, &members)) {
                return agent(each, &members, Vec::new());
            }
            listed.push(Arc::clone(&members));
            agent(each, &members, ordered(&members))
        };
        let agents = self.agents.iter().map(|each| &**each);
        Report {
            bridge: self.bridge.as_ref().map(bridge),
            agents: agents.map(brief).collect(),
        }
    }

    /// For how long each agent of the report still leads; `None` where that has no end.
    pub(crate) fn leases(&self) -> Vec<Option<std::time::Duration>> {
        self.agents.iter().map(|each| each.lease_left()).collect()
    }

    /// The members of each group, where they run, and whether messages reach them.
    pub(crate) fn reach(&self) -> BTreeMap<&str, Vec<ReachableMember>> {
        let mut groups = BTreeMap::new();
        for each in &self.agents {
            groups.entry(each.group()).or_insert_with(|| each.reach());
        }
        groups
    }

    /// The names of the agents.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(|each| each.id().as_str()).collect();
        names.join(", ")
    }
}

/// So many members are listed.
const MOST: usize = 1_000;

fn whole(each: &dyn OperatedAgent) -> AgentReport {
    let members = each.members();
    agent(each, &members, ordered(&members))
}

fn agent(agent: &dyn OperatedAgent, members: &Members, listed: Vec<MemberReport>) -> AgentReport {
    let Status {
        lifecycle,
        incarnation,
        role,
        term,
        leader,
        leader_about,
        leading,
        draining,
        work_panics,
        work_stalls,
        tie_broken,
        ..
    } = agent.status();
    let counts = agent.counts();
    let messages = [
        ("sent", counts.sent),
        ("full", counts.full),
        ("closed", counts.closed),
        ("strangers", counts.strangers),
        ("stale", counts.stale),
    ];
    let required = agent.requirements().map(|shared| {
        let names = shared.names.unwrap_or_default();
        (names.to_vec(), shared.epoch)
    });
    let (mut voters, epoch) = required.unwrap_or_default();
    voters.sort_unstable();
    AgentReport {
        voters,
        epoch,
        lease_left_ms: agent
            .leadership_left()
            .map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
        agent: agent.id().clone(),
        group: agent.group().to_owned(),
        lifecycle,
        incarnation,
        role,
        term,
        leader,
        leader_about,
        leading,
        draining,
        work_panics,
        work_stalls,
        tie_broken,
        member_count: members.len(),
        members: listed,
        messages: messages
            .map(|(name, count)| (name.to_owned(), count))
            .into(),
    }
}

/// The members, highest rank first.
fn ordered(members: &Members) -> Vec<MemberReport> {
    let mut ranked: Vec<_> = members.iter().collect();
    // Those of no rank come last; `Members` has them by name, and the sort keeps that.
    ranked.sort_by_cached_key(|member| Reverse(member.rank()));
    let report = |member: &Member| MemberReport {
        agent: member.id.clone(),
        kind: member.kind,
        score: member.score,
        presence: member.presence,
        incarnation: member.incarnation,
        about: member.about.clone(),
    };
    ranked.into_iter().take(MOST).map(report).collect()
}

fn bridge(bridge: &BridgeHandle) -> BridgeReport {
    let traffic = bridge.traffic();
    let crossed = [
        ("bytes_in", traffic.bytes_in),
        ("bytes_out", traffic.bytes_out),
        ("dials", traffic.dials),
        ("links", traffic.links),
        ("messages_in", traffic.messages_in),
        ("messages_out", traffic.messages_out),
    ];
    let counted = bridge.counters();
    let counts = crossed.into_iter().chain(counted.iter());
    BridgeReport {
        node: bridge.node().to_string(),
        listens: bridge.local_addr().map(|addr| addr.to_string()),
        peers: bridge.peers().into_iter().map(peer).collect(),
        counts: counts
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (name.to_owned(), count))
            .collect(),
    }
}

fn peer(peer: PeerStatus) -> LinkReport {
    let link = match peer.link {
        LinkStatus::Linked { .. } => "linked",
        LinkStatus::Dialing => "dialing",
        LinkStatus::Waiting => "waiting",
    };
    LinkReport {
        node: peer.node.to_string(),
        address: peer.address,
        link: link.to_owned(),
        agents: peer.agents,
        lost: peer.lost,
        unlinked_ms: peer.unlinked_for.map(in_millis),
        last_error: peer.last_error,
        echo_ms: peer.echo.map(in_millis),
    }
}
