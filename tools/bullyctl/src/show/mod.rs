//! The form of an answer: a table for people, JSON for programs.
//!
//! Decided here: the order of the answer for people. A name that another host chose is printed without control
//! characters, which could change the terminal. Not here: the layout of columns (`table.rs`).

mod all;
mod board;
mod past;
mod schedules;
mod table;

pub(crate) use all::{all, all_lines};
pub(crate) use board::{Board, board};
pub(crate) use past::history;
pub(crate) use schedules::{listed, schedules};
pub(crate) use table::clean;

use std::fmt::Write;

use actix_bully::{
    agent::Lifecycle,
    operate::{
        AgentReport, BridgeReport, Explanation, MemberReport, Outcome, OutcomeVerdict, Report,
    },
    protocol::{About, AgentId, MemberKind, Presence},
};
use bully_core::elections::quorum::epoch::SpokenTerm;
use serde::Serialize;
use serde_json::{Value, json};

use crate::watch::known::about_of;
use table::Table;

/// An outcome for programs, with its verdict and its sentence.
#[derive(Serialize)]
pub(crate) struct Told<'a> {
    verdict: OutcomeVerdict,
    message: String,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

impl<'a> From<&'a Outcome> for Told<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        Self {
            verdict: outcome.verdict(),
            message: outcome.to_string(),
            outcome,
        }
    }
}

/// Returns rows below the names of their columns.
pub(crate) fn columns<const COLUMNS: usize>(
    names: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let mut table = Table::new(names);
    rows.for_each(|row| table.row(row));
    table.to_string()
}

/// Returns a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> String {
    // All printed values have keys that are text, so this does not fail.
    serde_json::to_string(value).map_or_else(|_| String::new(), |json| json + "\n")
}

/// Returns the text about the node, its agents, their groups and its peers.
pub(crate) fn status(report: &Report) -> String {
    let mut agents = Table::new(["AGENT", "GROUP", "ROLE", "TERM", "LEADER", "STATE"]);
    for agent in &report.agents {
        agents.row([
            agent.agent.to_string(),
            agent.group.clone(),
            agent.status.role.to_string(),
            SpokenTerm(agent.status.term).to_string(),
            leader(agent),
            state(agent),
        ]);
    }
    let mut text = agents.to_string();
    for agent in &report.agents {
        text.push('\n');
        members(agent, &mut text);
    }
    if let Some(bridge) = &report.bridge {
        text.push('\n');
        peers(bridge, &mut text);
    }
    text
}

/// Returns the voters as each agent of the node knows them, for programs. The list is empty for an agent whose election
/// has no list of voters.
pub(crate) fn electorates(report: &Report) -> Vec<Value> {
    let agents = report.agents.iter();
    let electorates = agents.map(|agent| {
        json!({
            "agent": agent.agent,
            "group": agent.group,
            "epoch": agent.epoch,
            "voters": agent.voters,
        })
    });
    electorates.collect()
}

/// Returns the text about the voters as each agent of the node knows them, and about the other members.
pub(crate) fn voters(report: &Report) -> String {
    let mut text = String::new();
    for agent in &report.agents {
        let (id, group) = (clean(agent.agent.as_str()), clean(&agent.group));
        if agent.voters.is_empty() {
            writeln!(text, "{group} has no list of voters: only a quorum has one").ok();
            continue;
        }
        let (count, epoch) = (agent.voters.len(), agent.epoch);
        writeln!(
            text,
            "{count} voters of {group} in epoch {epoch}, as {id} knows them"
        )
        .ok();
        let mut table = Table::new(["VOTER", "PRESENCE", ""]);
        for voter in &agent.voters {
            let mut members = agent.members.iter();
            let known = members.find(|member| member.agent == *voter);
            table.row([
                voter.to_string(),
                presence(known.map_or(Presence::Unseen, |member| member.presence)),
                leads(agent, voter),
            ]);
        }
        text.push_str(&table.to_string());
        let others = agent
            .members
            .iter()
            .filter(|member| !agent.voters.contains(&member.agent));
        let others: Vec<_> = others.map(|member| clean(member.agent.as_str())).collect();
        if !others.is_empty() {
            writeln!(text, "not voters: {}", others.join(", ")).ok();
        }
    }
    text
}

fn presence(presence: Presence) -> String {
    match presence {
        Presence::Unseen => "unseen",
        Presence::Up => "up",
        Presence::Suspect => "suspect",
        Presence::Down => "down",
    }
    .to_owned()
}

/// Returns `leads` for the leader, and nothing for other agents.
fn leads(agent: &AgentReport, id: &AgentId) -> String {
    let leader = agent.status.leader.as_ref();
    if leader.is_some_and(|leader| leader.id == *id) {
        "leads".to_owned()
    } else {
        String::new()
    }
}

/// Returns the findings of each agent, line by line.
pub(crate) fn diagnosis(agents: &[Explanation]) -> String {
    let lines = agents.iter().flat_map(|agent| agent.text.lines());
    lines.map(|line| clean(line) + "\n").collect()
}

/// Returns one agent in one line, without the values that change all the time.
pub(crate) fn line(agent: &AgentReport) -> String {
    let up = agent
        .members
        .iter()
        .filter(|member| member.presence == Presence::Up);
    let mut table = Table::bare();
    table.row([
        format!("{}/{}", agent.group, agent.agent),
        agent.status.role.to_string(),
        match &agent.status.leader {
            Some(leader) => format!("leader {} in term {}", leader.id, SpokenTerm(leader.term)),
            None => "no leader".to_owned(),
        },
        state(agent),
        format!("{} of {} up", up.count(), agent.member_count),
    ]);
    table.to_string()
}

fn members(agent: &AgentReport, text: &mut String) {
    let shown = agent.members.len();
    // Writing to a text cannot fail.
    writeln!(
        text,
        "{} members of {}",
        agent.member_count,
        clean(&agent.group)
    )
    .ok();
    if !agent.voters.is_empty() {
        let voters: Vec<_> = agent.voters.iter().map(|id| clean(id.as_str())).collect();
        let (count, voters) = (voters.len(), voters.join(", "));
        writeln!(text, "{count} voters in epoch {}: {voters}", agent.epoch).ok();
    }
    let mut table = Table::new(["MEMBER", "KIND", "SCORE", "PRESENCE", ""]);
    let row = |member: &MemberReport| {
        [
            member.agent.to_string(),
            match member.kind {
                MemberKind::Voter => "voter".to_owned(),
                MemberKind::Observer => "observer".to_owned(),
            },
            member.score.map_or_else(none, |score| score.to_string()),
            presence(member.presence),
            remarks(agent, &member.agent, member.about.as_ref()),
        ]
    };
    agent
        .members
        .iter()
        .for_each(|member| table.row(row(member)));
    text.push_str(&table.to_string());
    if shown < agent.member_count {
        writeln!(text, "and {} more", agent.member_count - shown).ok();
    }
    contenders(agent, text);
    // With a lease and without links, the leader is not a member here.
    let is_listed = |leader: &AgentId| {
        let mut contenders = agent.contenders.iter();
        agent.members.iter().any(|one| one.agent == *leader)
            || contenders.any(|one| one.agent == *leader)
    };
    if let (Some(leader), Some(about)) = (&agent.status.leader, &agent.status.leader_about)
        && !is_listed(&leader.id)
    {
        let id = clean(leader.id.as_str());
        writeln!(text, "{id} says: {}", clean(about.as_str())).ok();
    }
}

/// Writes the agents that only the store of a lease lists.
fn contenders(agent: &AgentReport, text: &mut String) {
    if agent.contenders.is_empty() {
        return;
    }
    let (count, group) = (agent.contenders.len(), clean(&agent.group));
    writeln!(text, "{count} other contenders for the lease of {group}").ok();
    let mut table = Table::new(["CONTENDER", "SCORE", "SEEN", ""]);
    for one in &agent.contenders {
        table.row([
            one.agent.to_string(),
            one.score.map_or_else(none, |score| score.to_string()),
            format!("{} s ago", one.seen_ms / 1_000),
            remarks(agent, &one.agent, about_of(agent, one)),
        ]);
    }
    text.push_str(&table.to_string());
}

/// Returns whether the agent leads, and the text that it publishes about itself.
fn remarks(agent: &AgentReport, id: &AgentId, about: Option<&About>) -> String {
    let leads = Some(leads(agent, id)).filter(|text| !text.is_empty());
    let says = about.map(|about| format!("says: {}", about.as_str()));
    leads.into_iter().chain(says).collect::<Vec<_>>().join(", ")
}

fn peers(bridge: &BridgeReport, text: &mut String) {
    let node = clean(&bridge.node);
    match &bridge.listens {
        Some(address) => writeln!(text, "peers of {node}, which listens on {}", clean(address)),
        None => writeln!(text, "peers of {node}, which does not listen"),
    }
    .ok();
    let mut table = Table::new(["PEER", "ADDRESS", "LINK", "AGENTS", "LOST", "LAST ERROR"]);
    for peer in &bridge.peers {
        table.row([
            peer.node.clone(),
            peer.address.clone().unwrap_or_else(none),
            peer.link.clone(),
            peer.agents.to_string(),
            peer.lost.to_string(),
            peer.last_error.clone().unwrap_or_default(),
        ]);
    }
    text.push_str(&table.to_string());
}

fn leader(agent: &AgentReport) -> String {
    agent
        .status
        .leader
        .as_ref()
        .map_or_else(none, |leader| leader.id.to_string())
}

/// Returns the facts that an operator has to know at once.
fn state(agent: &AgentReport) -> String {
    let mut words = vec![match agent.status.lifecycle {
        Lifecycle::Running => "running",
        Lifecycle::Down => "down",
        Lifecycle::Ended => "ended",
        _ => "unknown",
    }];
    if agent.status.draining {
        words.push("draining");
    }
    if agent.status.tie_broken {
        words.push("tie broken");
    }
    words.join(", ")
}

fn none() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_other_contenders_for_a_lease_are_listed() {
        let spare = json!({ "agent": "n9", "score": 4, "about": "spare", "seen_ms": 2_500 });
        let agent = fixture::agent("n1", &json!({ "contenders": [spare] }));
        let text = status(&fixture::report([agent]));
        let row = text.lines().find(|line| line.starts_with("n9 ")).unwrap();
        let words: Vec<_> = row.split_whitespace().collect();
        assert_eq!(words.join(" "), "n9 4 2 s ago says: spare", "{text}");
    }
}
