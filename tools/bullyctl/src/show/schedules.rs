//! The schedules of the node's agents.
//!
//! Decided here: which counts an operator reads first. The JSON has all counts.

use std::fmt::Write;

use actix_bully::operate::{AgentReport, Report};
use serde_json::{Value, json};

use super::{Table, clean, none};

/// Returns the schedules of each agent of the node, for programs.
pub(crate) fn listed(report: &Report) -> Vec<Value> {
    let of = |agent: &AgentReport| {
        json!({
            "agent": agent.agent,
            "group": agent.group,
            "schedules": agent.schedules,
        })
    };
    report.agents.iter().map(of).collect()
}

/// Returns the text about the schedules of each agent of the node. The counts cover the ticks of this host only.
pub(crate) fn schedules(report: &Report) -> String {
    let mut text = String::new();
    for agent in &report.agents {
        let (id, group) = (clean(agent.agent.as_str()), clean(&agent.group));
        if agent.schedules.is_empty() {
            writeln!(text, "{id} runs no schedule of {group}").ok();
            continue;
        }
        writeln!(text, "schedules of {group}, as {id} has run them").ok();
        let mut table = Table::new([
            "SCHEDULE", "STATE", "LAST", "NEXT", "BEGUN", "SKIPPED", "FAILED",
        ]);
        for (name, status) in &agent.schedules {
            // The word of the JSON.
            let state = json!(status.state);
            table.row([
                name.to_string(),
                state.as_str().unwrap_or_default().to_owned(),
                status.last.map_or_else(none, |last| last.to_string()),
                status.next.map_or_else(none, |next| next.to_string()),
                status.begun.to_string(),
                status.skipped.to_string(),
                status.failed.to_string(),
            ]);
        }
        text.push_str(&table.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_schedule_is_a_row_with_its_counts() {
        let agent = |name, schedules: Value| {
            crate::fixture::agent(name, &json!({ "group": "jobs", "schedules": schedules }))
        };
        let mail = json!({
            "state": "waiting", "last_unix_ms": 1_767_323_045_000_u64, "begun": 12, "skipped": 3,
        });
        let agents = [agent("a", json!({ "mail": mail })), agent("b", json!({}))];
        let report = crate::fixture::report(agents);
        assert_eq!(
            schedules(&report),
            "schedules of jobs, as a has run them\n\
             SCHEDULE  STATE    LAST                  NEXT  BEGUN  SKIPPED  FAILED\n\
             mail      waiting  2026-01-02T03:04:05Z  -     12     3        0\n\
             b runs no schedule of jobs\n"
        );
        let programs = listed(&report);
        assert_eq!(programs[0]["schedules"]["mail"]["begun"], 12);
    }
}
