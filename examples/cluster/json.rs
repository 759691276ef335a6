//! What there is to see, as JSON: an object per line, its `type` says which; times in microseconds.

use actix_bully::testkit::cluster::{AgentStatus, ClusterStatus, Side};
use serde_json::{Value, json};

use crate::{args::Args, screen::Election};

pub(crate) fn head(args: &Args) -> String {
    let clock = if args.real_time { "real" } else { "virtual" };
    json!({
        "type": "run",
        "protocol": args.protocol.to_string(),
        "agents": args.agents,
        "protocol": args.protocol.to_string(),
        "seed": args.seed,
        "clock": clock,
    })
    .to_string()
}

pub(crate) fn election(election: &Election<'_>) -> String {
    let Election {
        what,
        ended,
        settled,
    } = election;
    json!({
        "type": "election",
        "what": what,
        "ended_us": ended.as_nanos() / 1_000,
        "took_us": settled.took.as_nanos() / 1_000,
        "messages": settled.messages,
        "sides": settled.sides.iter().map(side).collect::<Vec<_>>(),
    })
    .to_string()
}

pub(crate) fn status(status: &ClusterStatus) -> String {
    let agents: Vec<_> = status.agents().iter().map(agent).collect();
    json!({ "type": "status", "agents": agents }).to_string()
}

pub(crate) fn text(text: &str) -> String {
    json!({ "type": "text", "text": text }).to_string()
}

fn side(side: &Side) -> Value {
    let agents: Vec<_> = side.agents.iter().map(ToString::to_string).collect();
    let leader = side.leader.as_ref().map(ToString::to_string);
    json!({ "leader": leader, "term": side.term.0, "agents": agents })
}

fn agent(agent: &AgentStatus) -> Value {
    json!({
        "name": agent.name.to_string(),
        "score": agent.score.map(|score| score.to_string()),
        "state": agent.condition.to_string(),
        "role": agent.role.to_string(),
        "term": agent.term.0,
        "leader": agent.leader.as_ref().map(|leader| leader.id.to_string()),
        "leads": agent.leads,
    })
}
