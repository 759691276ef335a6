//! The nodes that one node knows, from its report.
//!
//! Decided here: three kinds of nodes count: the peers of its bridge, the nodes on which members of its groups run, and
//! the agents in the store of a lease. A contender of a store is a node with its agent's name, because the store knows
//! no other name. So only the contender's agent is used from the report of its node. Not here: where these nodes are
//! reached (`node/beside.rs`), and the nodes' own reports (`all.rs`).

use std::collections::BTreeMap;

use actix_bully::{
    operate::{AgentReport, ContenderReport, LinkReport, MemberReport, Report},
    protocol::{About, Presence},
};

use crate::node::Beside;

/// A node, as the first node knows it.
#[derive(Debug, Default)]
pub(crate) struct KnownNode<'a> {
    pub(crate) link: Option<&'a LinkReport>,
    pub(crate) agents: Vec<KnownAgent<'a>>,
}

/// An agent of another node, as the first node knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAgent<'a> {
    pub(crate) group: &'a str,
    pub(crate) name: &'a str,
    pub(crate) about: Option<&'a About>,
    pub(crate) sign: KnownSign,
}

/// The sign that an agent of another node is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownSign {
    Member(Presence),
    /// The agent has an entry in the store of the lease; the number is the time since its last change, in milliseconds.
    Row(u64),
}

/// Returns the name of the node that gave this report; `None` if the report has neither a bridge nor an agent.
pub(crate) fn name_of(report: &Report) -> Option<&str> {
    match &report.bridge {
        Some(bridge) => Some(&bridge.node),
        None => report.agents.first().map(|agent| agent.agent.as_str()),
    }
}

/// Returns the other nodes by name.
pub(crate) fn known(report: &Report) -> BTreeMap<&str, KnownNode<'_>> {
    let mut nodes: BTreeMap<&str, KnownNode<'_>> = BTreeMap::new();
    for link in report.bridge.iter().flat_map(|bridge| &bridge.peers) {
        nodes.entry(&link.node).or_default().link = Some(link);
    }
    for own in &report.agents {
        let members = own
            .members
            .iter()
            .filter_map(|member| of_member(own, member));
        let contenders = own.contenders.iter().map(|row| of_row(own, row));
        for (node, agent) in members.chain(contenders) {
            let agents = &mut nodes.entry(node).or_default().agents;
            let is_known = |it: &KnownAgent<'_>| (it.group, it.name) == (agent.group, agent.name);
            if !agents.iter().any(is_known) {
                agents.push(agent);
            }
        }
    }
    if let Some(own) = name_of(report) {
        nodes.remove(own);
    }
    nodes
}

fn of_member<'a>(
    own: &'a AgentReport,
    member: &'a MemberReport,
) -> Option<(&'a str, KnownAgent<'a>)> {
    let agent = KnownAgent {
        group: &own.group,
        name: member.agent.as_str(),
        about: member.about.as_ref(),
        sign: KnownSign::Member(member.presence),
    };
    // A member without a node runs in the first node itself.
    Some((member.node.as_deref()?, agent))
}

fn of_row<'a>(own: &'a AgentReport, row: &'a ContenderReport) -> (&'a str, KnownAgent<'a>) {
    let name = row.agent.as_str();
    let agent = KnownAgent {
        group: &own.group,
        name,
        about: about_of(own, row),
        sign: KnownSign::Row(row.seen_ms),
    };
    (name, agent)
}

/// Returns the text that a contender publishes about itself, if there is one.
pub(crate) fn about_of<'a>(own: &'a AgentReport, row: &'a ContenderReport) -> Option<&'a About> {
    let leader = own.status.leader.as_ref();
    let leads = leader.is_some_and(|leader| leader.id == row.agent);
    // The text in the lease is newer than the text in an agent's own entry of the store.
    let about = own.status.leader_about.as_ref().filter(|_| leads);
    about.or(row.about.as_ref())
}

/// Returns the part of a report that belongs to the node `name`; `None` if no part belongs to it.
pub(crate) fn report_of(mut report: Report, name: &str, node: &KnownNode<'_>) -> Option<Report> {
    let is_row = |it: &KnownAgent<'_>| matches!(it.sign, KnownSign::Row(_));
    if node.link.is_some() || !node.agents.iter().all(is_row) {
        return (name_of(&report) == Some(name)).then_some(report);
    }
    // The node of a contender may have another name and other agents, so only the contender's own agent is kept.
    report.agents.retain(|own| {
        let is_it = |it: &KnownAgent<'_>| (it.group, it.name) == (&own.group, own.agent.as_str());
        node.agents.iter().any(is_it)
    });
    (!report.agents.is_empty()).then_some(report)
}

/// Returns the facts that the first node knows about another node. `Node::beside` derives the places to ask from these
/// facts.
pub(crate) fn beside<'a>(report: &'a Report, name: &'a str, node: &KnownNode<'a>) -> Beside<'a> {
    let mut names: Vec<_> = name_of(report).into_iter().map(|own| (own, name)).collect();
    for own in &report.agents {
        let its = node.agents.iter().filter(|it| it.group == own.group);
        names.extend(its.map(|it| (own.agent.as_str(), it.name)));
    }
    Beside {
        names,
        address: node.link.and_then(|link| link.address.as_deref()),
        about: node
            .agents
            .iter()
            .filter_map(|it| it.about)
            .map(About::as_str)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn peers_members_elsewhere_and_contenders_are_nodes() {
        let bridge = json!({"node": "host-1", "listens": null, "counts": {}, "peers": [
            {"node": "host-2", "address": "10.0.0.2:7400", "link": "linked", "agents": 1, "lost": 0, "unlinked_ms": null, "last_error": null, "echo_ms": 1.0},
            {"node": "host-3", "address": null, "link": "waiting", "agents": 0, "lost": 0, "unlinked_ms": 5.0, "last_error": "refused", "echo_ms": null},
        ]});
        let agent = json!({
            "group": "g", "leader": {"id": "d", "incarnation": "1", "term": "7"}, "leader_about": "http://d", "member_count": 2,
            "members": [
                {"agent": "b", "kind": "voter", "score": 3, "presence": "suspect", "incarnation": "1", "about": "http://b", "node": "host-2"},
                {"agent": "a", "kind": "voter", "score": 2, "presence": "up", "incarnation": "3"},
            ],
            "contenders": [{"agent": "d", "score": 4, "about": "http://old", "seen_ms": 12000}],
        });
        let mut report = crate::fixture::report([crate::fixture::agent("a", &agent)]);
        report.bridge = serde_json::from_value(bridge).unwrap();
        let nodes = known(&report);
        assert_eq!(
            nodes.keys().copied().collect::<Vec<_>>(),
            ["d", "host-2", "host-3"]
        );
        let agents = |name: &str| {
            let agents = nodes[name].agents.iter();
            let shown = agents.map(|it| (it.name, it.about.map(About::as_str), it.sign));
            shown.collect::<Vec<_>>()
        };
        let suspect = KnownSign::Member(Presence::Suspect);
        assert_eq!(agents("host-2"), [("b", Some("http://b"), suspect)]);
        assert_eq!(
            agents("d"),
            [("d", Some("http://d"), KnownSign::Row(12_000))]
        );
        assert!(agents("host-3").is_empty() && nodes["host-3"].link.is_some());
        let to = beside(&report, "host-2", &nodes["host-2"]);
        assert_eq!(to.names, [("host-1", "host-2"), ("a", "b")]);
        assert_eq!(
            (to.address, to.about),
            (Some("10.0.0.2:7400"), vec!["http://b"])
        );
        report.bridge = None;
        assert_eq!(name_of(&report), Some("a"));
    }
}
