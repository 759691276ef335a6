//! Reports that the tests write by hand.

use actix_bully::operate::Report;
use serde_json::{Value, json};

/// Returns the fields of an agent that follows no leader in term 7. The fields of `more` replace them.
pub(crate) fn agent(name: &str, more: &Value) -> Value {
    let mut agent = json!({
        "agent": name, "group": "orders", "lifecycle": "running", "incarnation": "3", "role": "follower", "term": "7",
        "leader": null, "leading": null, "draining": false, "work_panics": 0, "work_stalls": 0, "tie_broken": false,
        "members": [], "member_count": 0, "messages": {},
    });
    let fields = more.as_object().into_iter().flatten();
    for (field, value) in fields {
        agent[field] = value.clone();
    }
    agent
}

/// Returns the report of a node without a bridge.
pub(crate) fn report(agents: impl IntoIterator<Item = Value>) -> Report {
    let agents: Vec<_> = agents.into_iter().collect();
    serde_json::from_value(json!({ "bridge": null, "agents": agents })).unwrap()
}
