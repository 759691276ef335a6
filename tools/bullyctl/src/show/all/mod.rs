//! Every node of a cluster: a row for each agent, with the time since its node was heard and a mark where views differ.
//!
//! Decided here: a view is the leader of a group and its term, as one agent reports them; only answers of this moment
//! are compared; the rows whose view is not the view of most agents are marked; if two views have equally many agents,
//! both are marked. Sentences below the table list the views. An agent whose node is not heard is shown as the first
//! node knows it. Not here: which nodes exist, and how they are asked (`watch/`).

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use actix_bully::{
    operate::{AgentReport, LinkReport},
    protocol::{AgentId, Term},
};
use bully_core::elections::quorum::epoch::SpokenTerm;
use serde::Serialize;

use super::{board::role, clean, json, leader, none, presence, state, table::Table};
use crate::watch::{SeenNode, known::KnownSign};

/// A row of the table.
struct AgentRow<'a> {
    node: &'a SeenNode<'a>,
    group: &'a str,
    agent: &'a str,
    /// The agent's own report; `None` if its node does not answer.
    own: Option<&'a AgentReport>,
    role: String,
    heard: String,
    differs: bool,
}

/// The leader of a group and its term, as an agent reports them; `None` if it knows no leader.
type LeaderView<'a> = Option<(&'a AgentId, Term)>;

/// The views of a group, each with the nodes whose agents have it.
type GroupViews<'a> = BTreeMap<LeaderView<'a>, Vec<&'a str>>;

/// Returns the table and, below an empty line, the sentences. No colours, no control characters.
pub(crate) fn all(nodes: &[SeenNode<'_>]) -> String {
    let rows = rows(nodes);
    let mut groups: Vec<_> = rows.iter().map(|row| row.group).collect();
    groups.retain(|group| !group.is_empty());
    groups.sort_unstable();
    groups.dedup();
    let mut table = Table::new([" ", "NODE", "AGENT", "ROLE", "TERM", "LEADER", "HEARD"]);
    for row in rows.iter().take(MOST) {
        let agent = if groups.len() > 1 && !row.group.is_empty() {
            format!("{}/{}", row.group, row.agent)
        } else {
            row.agent.to_owned()
        };
        table.row([
            mark(row).to_owned(),
            short(row.node.name),
            short(&agent),
            row.role.clone(),
            row.own
                .map_or_else(none, |own| SpokenTerm(own.status.term).to_string()),
            short(&row.own.map_or_else(none, leader)),
            row.heard.clone(),
        ]);
    }
    let mut text = table.to_string();
    if let Some(more) = rows.len().checked_sub(MOST).filter(|more| *more > 0) {
        writeln!(text, "and {more} more agents").ok();
    }
    let sentences = sentences(nodes);
    if !sentences.is_empty() {
        text.push('\n');
    }
    for sentence in sentences {
        writeln!(text, "{}", clean(&sentence)).ok();
    }
    text
}

/// A node for programs.
#[derive(Serialize)]
struct NodeLine<'a> {
    node: &'a str,
    /// Whether the node answered when it was asked last.
    answers: bool,
    /// Time since the node's last answer, in milliseconds; `None` without an answer.
    heard_ms: Option<u64>,
    /// Whether the view of an agent of the node differs from the view of most agents.
    differs: bool,
    /// The agents in the node's last answer.
    agents: &'a [AgentReport],
    /// The first node's link to the node, if the node is a peer.
    link: Option<&'a LinkReport>,
}

/// Returns pairs of a key and a line, for people or for programs. The key is the line without the values that change
/// all the time: a watch prints a line only if its key is new.
pub(crate) fn all_lines(nodes: &[SeenNode<'_>], is_json: bool) -> Vec<(String, String)> {
    let rows = rows(nodes);
    let text = |row: &AgentRow<'_>| {
        let mut table = Table::bare();
        table.row([
            mark(row).to_owned(),
            row.node.name.to_owned(),
            if row.group.is_empty() {
                row.agent.to_owned()
            } else {
                format!("{}/{}", row.group, row.agent)
            },
            row.role.to_lowercase(),
            match row.own.map(view) {
                Some(Some((leader, term))) => {
                    format!("leader {leader} in term {}", SpokenTerm(term))
                }
                Some(None) => "no leader".to_owned(),
                None => "not heard".to_owned(),
            },
            match row.own {
                Some(own) if row.node.answers() => state(own),
                _ => row.node.failure.unwrap_or_default().to_owned(),
            },
        ]);
        table.to_string().trim_start().to_owned()
    };
    if !is_json {
        return rows
            .iter()
            .map(text)
            .map(|line| (line.clone(), line))
            .collect();
    }
    let lines = nodes.iter().map(|node| {
        let own = rows.iter().filter(|row| row.node.name == node.name);
        let key: String = own.clone().map(text).collect();
        let age = node.report.map(|_| node.age.unwrap_or_default());
        let line = NodeLine {
            node: node.name,
            answers: node.answers(),
            heard_ms: age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
            differs: own.clone().any(|row| row.differs),
            agents: node.report.map_or(&[], |report| &report.agents),
            link: node.known.link,
        };
        (format!("{}\n{key}{}", node.name, line.answers), json(&line))
    });
    lines.collect()
}

fn rows<'a>(nodes: &'a [SeenNode<'a>]) -> Vec<AgentRow<'a>> {
    let views = views(nodes);
    let mut rows = Vec::new();
    for node in nodes {
        let heard = node.age.map_or_else(|| "now".to_owned(), ago);
        for own in node.report.iter().flat_map(|report| &report.agents) {
            rows.push(AgentRow {
                node,
                group: &own.group,
                agent: own.agent.as_str(),
                own: Some(own),
                // A role from an old answer is not written in capitals.
                role: if node.answers() {
                    role(own)
                } else {
                    own.status.role.to_string()
                },
                heard: heard.clone(),
                differs: node.answers() && is_odd(&views, own),
            });
        }
        if node.report.is_none() {
            rows.extend(unheard(node));
        }
    }
    rows
}

/// Returns the agents of a node that is not heard, as the first node knows them; at least one row.
fn unheard<'a>(node: &'a SeenNode<'a>) -> Vec<AgentRow<'a>> {
    let row = |group, agent, role, heard| AgentRow {
        node,
        group,
        agent,
        own: None,
        role,
        heard,
        differs: false,
    };
    let link = node.known.link.map_or_else(none, linked);
    let agents = node.known.agents.iter().map(|agent| {
        let (role, heard) = match agent.sign {
            KnownSign::Member(sign) => (presence(sign), link.clone()),
            KnownSign::Row(millis) => ("listed".to_owned(), ago(Duration::from_millis(millis))),
        };
        row(agent.group, agent.name, role, heard)
    });
    let mut rows: Vec<_> = agents.collect();
    if rows.is_empty() {
        rows.push(row("", "-", none(), link));
    }
    rows
}

/// Returns the time since the first node heard another node, by its link.
fn linked(link: &LinkReport) -> String {
    match link.unlinked_ms {
        None => "linked".to_owned(),
        Some(millis) => Duration::try_from_secs_f64(millis / 1e3).map_or_else(|_| none(), ago),
    }
}

/// Returns the views of each group that agents have at this moment.
fn views<'a>(nodes: &'a [SeenNode<'a>]) -> BTreeMap<&'a str, GroupViews<'a>> {
    let mut groups: BTreeMap<&str, GroupViews<'_>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.answers()) {
        for own in node.report.iter().flat_map(|report| &report.agents) {
            let views = groups.entry(&own.group).or_default();
            views.entry(view(own)).or_default().push(node.name);
        }
    }
    groups
}

/// Returns the leader that an agent follows or is. The term of an agent without a leader is not used: it is only the
/// highest term that the agent has seen.
fn view(own: &AgentReport) -> LeaderView<'_> {
    let leader = own.status.leader.as_ref();
    leader.map(|leader| (&leader.id, leader.term))
}

/// Returns whether another view of the group has at least as many agents as this agent's view.
fn is_odd(views: &BTreeMap<&str, GroupViews<'_>>, own: &AgentReport) -> bool {
    let Some(views) = views.get(&*own.group) else {
        return false;
    };
    let its = views.get(&view(own)).map_or(0, Vec::len);
    let mut others = views.iter().filter(|(other, _)| **other != view(own));
    others.any(|(_, nodes)| nodes.len() >= its)
}

/// Returns a sentence for each group whose agents disagree, and for the nodes that are not heard.
fn sentences(nodes: &[SeenNode<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    for (group, views) in views(nodes).iter().filter(|(_, views)| views.len() > 1) {
        let said = views.iter().map(|(view, nodes)| {
            let nodes = nodes.join(", ");
            match view {
                Some((leader, term)) => {
                    format!("{leader} leads in term {} ({nodes})", SpokenTerm(*term))
                }
                None => format!("no agent leads ({nodes})"),
            }
        });
        let said: Vec<_> = said.collect();
        sentences.push(format!("the views of {group} differ: {}", said.join("; ")));
    }
    let mut failures: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        if let Some(failure) = node.failure {
            failures.entry(failure).or_default().push(node.name);
        }
    }
    let failures = failures.iter();
    sentences.extend(failures.map(|(failure, names)| format!("{}: {failure}", names.join(", "))));
    let unknown = nodes
        .iter()
        .filter(|node| node.report.is_none() && node.failure.is_none());
    let unknown: Vec<_> = unknown.map(|node| node.name).collect();
    if let (Some(first), false) = (nodes.first(), unknown.is_empty()) {
        sentences.push(format!(
            "as {} knows them, because no socket or URL of theirs is known here: {}",
            first.name,
            unknown.join(", ")
        ));
    }
    sentences
}

const fn mark(row: &AgentRow<'_>) -> &'static str {
    if row.differs { "!" } else { " " }
}

/// Returns an age as text for people.
fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..100 => format!("{seconds} s ago"),
        100..6_000 => format!("{} min ago", seconds / 60),
        _ => format!("{} h ago", seconds / 3_600),
    }
}

/// Returns a name, or the part of it that fits into a column, with a mark for the rest.
fn short(name: &str) -> String {
    if name.chars().count() <= WIDEST {
        return name.to_owned();
    }
    name.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// Largest number of characters of a name: the table then fits on 80 columns, unless a term is very long.
const WIDEST: usize = 14;

/// Largest number of agents in the table, because the sentences below need room as well.
const MOST: usize = 16;

#[cfg(test)]
mod tests;
