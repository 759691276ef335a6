//! The report of a running node for an operator, as plain data that a client can read back.
//!
//! Decided here: the contents and the order of a report. Terms and incarnations are text in the report's JSON, because
//! they may exceed 2^53. Readers must ignore unknown keys, because later versions have more keys.

#[cfg(feature = "dashboard")]
use std::sync::Arc;
use std::{cmp::Reverse, collections::BTreeMap};

use serde::{Deserialize, Serialize};

#[cfg(feature = "dashboard")]
use crate::group::ReachableMember;
use crate::{
    agent::{Status, StoreContender, StoreContenders, schedules::ScheduleStatus},
    protocol::{About, AgentId, Incarnation, Member, MemberKind, Members, Presence, Score},
    remote::{BridgeHandle, LinkStatus, PeerStatus, Traffic},
    shown::in_millis,
};

use super::{Operated, agent::OperatedAgent, json};

/// The state of a node at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The bridge; `None` if the node has no bridge.
    pub bridge: Option<BridgeReport>,
    /// The agents.
    pub agents: Vec<AgentReport>,
}

/// The state of an agent at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentReport {
    /// The agent's name.
    pub agent: AgentId,
    /// The name of the agent's group.
    pub group: String,
    /// The state of the agent.
    #[serde(flatten)]
    pub status: Status,
    /// Time for which the agent will still lead if it receives nothing, in milliseconds; `None` if the agent does not
    /// lead, or if its leadership has no end.
    #[serde(default)]
    pub lease_left_ms: Option<u64>,
    /// The voters as this agent's process knows them, if the group has a list of voters.
    #[serde(default)]
    pub voters: Vec<AgentId>,
    /// The epoch of the list of voters: the number of its changes.
    #[serde(default)]
    pub epoch: u64,
    /// The group's members as this agent's process knows them: the member with the highest rank first, and last the
    /// members that cannot be elected, by name. At most a thousand.
    pub members: Vec<MemberReport>,
    /// Number of members in the group.
    pub member_count: usize,
    /// With a lease in a store: the other agents that could take the lease, as the store lists them. Agents in
    /// `members` are not listed here again. Highest rank first; at most a thousand.
    #[serde(default)]
    pub contenders: Vec<ContenderReport>,
    /// The [schedules](crate::leader::schedule) of this agent on this host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub schedules: BTreeMap<AgentId, ScheduleStatus>,
    /// The counts of the group's messages in this process, by the names of [`Counts`](crate::group::Counts).
    #[serde(with = "json::counts")]
    pub messages: BTreeMap<String, u64>,
}

/// A member of a group, as one process knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemberReport {
    /// The member's name.
    pub agent: AgentId,
    /// Whether the member is a voter or an observer.
    pub kind: MemberKind,
    /// The member's last known score; `None` if the member cannot be elected.
    #[serde(with = "json::optional_score")]
    pub score: Option<Score>,
    /// Whether the member is up.
    pub presence: Presence,
    /// The member's last known incarnation.
    #[serde(with = "json::optional_text")]
    pub incarnation: Option<Incarnation>,
    /// The text that the member published about itself in this incarnation.
    #[serde(default)]
    pub about: Option<About>,
    /// The name of the node on which the member runs; `None` for a member in this process.
    #[serde(default)]
    pub node: Option<String>,
}

/// An agent that could take a lease, as the store of the lease lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContenderReport {
    /// The agent's name.
    pub agent: AgentId,
    /// The agent's score; `None` if the agent cannot lead.
    #[serde(with = "json::optional_score")]
    pub score: Option<Score>,
    /// The text that the agent publishes about itself. A change is listed within a minute.
    pub about: Option<About>,
    /// Time since the agent's row in the store was last seen to change, in milliseconds. A living agent writes it every
    /// 30 s.
    pub seen_ms: u64,
}

/// The state of a bridge at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BridgeReport {
    /// The node's name.
    pub node: String,
    /// The address at which the bridge listens; `None` if it does not listen.
    pub listens: Option<String>,
    /// The bridge's peers, by name.
    pub peers: Vec<LinkReport>,
    /// Counts of traffic, of links by the reason why they were closed, and of messages by the reason why they were
    /// dropped. Counts of zero are left out.
    #[serde(with = "json::counts")]
    pub counts: BTreeMap<String, u64>,
}

/// A peer of a bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// The peer's name.
    pub node: String,
    /// The address at which this node dials the peer; `None` if the peer has to dial.
    pub address: Option<String>,
    /// The state of the link: `linked`, `dialing` or `waiting`.
    pub link: String,
    /// Number of the peer's agents in the groups that both nodes have.
    pub agents: usize,
    /// Number of messages to the peer that this node lost.
    pub lost: u64,
    /// Time since the last link, in milliseconds; `None` while there is a link.
    pub unlinked_ms: Option<f64>,
    /// The reason why the last link ended or the last attempt to connect failed; `None` while there is a link. The text
    /// is for people.
    pub last_error: Option<String>,
    /// Round-trip time of the last ping to the peer, in milliseconds.
    pub echo_ms: Option<f64>,
}

impl Operated {
    /// Returns the present state of the node. No message to an agent is needed, so a busy or hanging agent cannot delay
    /// it.
    pub fn report(&self) -> Report {
        Report {
            bridge: self.bridge.as_ref().map(bridge),
            agents: self.agents.iter().map(|each| whole(&**each)).collect(),
        }
    }
}

#[cfg(feature = "dashboard")]
impl Operated {
    /// Returns the report with shorter lists: if several agents know the same members, only the first of these agents
    /// lists them. The full report of several hundred agents would list several hundred members for each agent.
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

    /// Returns, for each agent of the report, the time for which its leader (perhaps the agent itself) still leads, as
    /// far as the agent knows; `None` if that leadership has no end, or its end is unknown.
    pub(crate) fn leases(&self) -> Vec<Option<std::time::Duration>> {
        self.agents.iter().map(|each| each.lease_left()).collect()
    }

    /// Returns the members of each group, each with its node, and whether messages reach the member.
    pub(crate) fn reach(&self) -> BTreeMap<&str, Vec<ReachableMember>> {
        let mut groups = BTreeMap::new();
        for each in &self.agents {
            groups
                .entry(each.group())
                .or_insert_with(|| each.reader().reach());
        }
        groups
    }

    /// Returns the names of the agents.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(|each| each.id().as_str()).collect();
        names.join(", ")
    }
}

/// Largest number of members in a report.
const MOST: usize = 1_000;

fn whole(each: &dyn OperatedAgent) -> AgentReport {
    let members = each.members();
    let mut listed = ordered(&members);
    let reach = each.reader().reach();
    let nodes: BTreeMap<_, _> = reach.iter().map(|it| (&it.member.id, &it.node)).collect();
    for member in &mut listed {
        let node = nodes.get(&member.agent).and_then(|node| node.as_deref());
        member.node = node.map(str::to_owned);
    }
    AgentReport {
        contenders: match each.reader().contenders() {
            Some(StoreContenders::Listed(all)) => contenders(&members, all),
            Some(StoreContenders::Unknown) | None => Vec::new(),
        },
        ..agent(each, &members, listed)
    }
}

fn agent(agent: &dyn OperatedAgent, members: &Members, listed: Vec<MemberReport>) -> AgentReport {
    let counts = agent.counts();
    let messages = [
        ("sent", counts.sent),
        ("full", counts.full),
        ("closed", counts.closed),
        ("strangers", counts.strangers),
        ("stale", counts.stale),
    ];
    let required = agent.reader().requirements().map(|shared| {
        let names = shared.names.unwrap_or_default();
        (names.to_vec(), shared.epoch)
    });
    let (mut voters, epoch) = required.unwrap_or_default();
    voters.sort_unstable();
    AgentReport {
        contenders: Vec::new(),
        voters,
        epoch,
        lease_left_ms: agent
            .leadership_left()
            .map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
        agent: agent.id().clone(),
        group: agent.group().to_owned(),
        status: agent.status(),
        member_count: members.len(),
        members: listed,
        schedules: agent.reader().schedules(),
        messages: messages
            .map(|(name, count)| (name.to_owned(), count))
            .into(),
    }
}

/// Returns the members, the highest rank first.
fn ordered(members: &Members) -> Vec<MemberReport> {
    let mut ranked: Vec<_> = members.iter().collect();
    // Members without a rank come last, in the order of their names, which `Members` has and the sort keeps.
    ranked.sort_by_cached_key(|member| Reverse(member.rank()));
    let report = |member: &Member| MemberReport {
        agent: member.id.clone(),
        kind: member.kind,
        score: member.score,
        presence: member.presence,
        incarnation: member.incarnation,
        about: member.about.clone(),
        node: None,
    };
    ranked.into_iter().take(MOST).map(report).collect()
}

/// Returns the contenders that are not members, highest rank first.
fn contenders(members: &Members, mut all: Vec<StoreContender>) -> Vec<ContenderReport> {
    all.retain(|contender| members.get(&contender.id).is_none());
    // Contenders without a score come last, in the order of their names, which the sort keeps.
    all.sort_by_cached_key(|contender| {
        let score = contender.score;
        Reverse(score.map(|score| (score, contender.id.clone())))
    });
    let report = |contender: StoreContender| ContenderReport {
        agent: contender.id,
        score: contender.score,
        about: contender.about,
        seen_ms: u64::try_from(contender.unchanged.as_millis()).unwrap_or(u64::MAX),
    };
    all.into_iter().take(MOST).map(report).collect()
}

fn bridge(bridge: &BridgeHandle) -> BridgeReport {
    let counted = bridge.counters();
    let counts = crossed(bridge.traffic()).into_iter().chain(counted.iter());
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

/// Returns the counts of the traffic, by their names.
const fn crossed(traffic: Traffic) -> [(&'static str, u64); 6] {
    [
        ("bytes_in", traffic.bytes_in),
        ("bytes_out", traffic.bytes_out),
        ("dials", traffic.dials),
        ("links", traffic.links),
        ("messages_in", traffic.messages_in),
        ("messages_out", traffic.messages_out),
    ]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_of_the_traffic_has_its_own_value() {
        let traffic = Traffic {
            bytes_in: 1,
            bytes_out: 2,
            dials: 3,
            links: 4,
            messages_in: 5,
            messages_out: 6,
            ..Traffic::default()
        };
        let counts = [
            ("bytes_in", 1),
            ("bytes_out", 2),
            ("dials", 3),
            ("links", 4),
            ("messages_in", 5),
            ("messages_out", 6),
        ];
        assert_eq!(crossed(traffic), counts);
    }
}
