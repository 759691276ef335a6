//! The commands of an operator, and how a command selects an agent.
//!
//! Decided here: which commands exist, their JSON, and how long an operator may wait. Not here: the outcome of a
//! command (`outcome.rs`, `judge.rs`), and how it is carried out (`carry_out.rs`).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, Score, VoterChange};

use super::json;

/// A command to an agent.
///
/// As JSON: `{"step_down":{"to":"api-2"}}`, `"drain"`, `{"set_score":{"score":30}}`, `"withdraw_score"`,
/// `{"change_voters":{"remove":"api-2"}}`, `{"reset_schedule":{"schedule":"nightly"}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Command {
    /// Hand the leadership over. After the hand-over the agent lets other agents lead first for some time (the
    /// cool-down).
    StepDown {
        /// The voter that is to take over; without a name, the election decides.
        #[serde(default)]
        to: Option<AgentId>,
    },
    /// Prepare the node for its stop: the agent hands over if it leads, then leaves its group for good. When the last
    /// agent of the node has left, the node's bridge says goodbye to its peers. To undo this, start a new process.
    Drain,
    /// Set the agent's score: a whole number, or an array of up to four numbers.
    SetScore {
        /// The score.
        #[serde(with = "json::score")]
        score: Score,
    },
    /// Withdraw the agent's score: the agent hands over if it leads, and is not elected until it gets a score again.
    WithdrawScore,
    /// Change the group's voters while it runs: add a voter, remove a voter, or replace one by another. Give the
    /// command to any agent of the group; the agent passes it on to the leader.
    ChangeVoters(VoterChange),
    /// Remove the mark of a schedule (the due time of its last tick) from the store of the group's lease, for instance
    /// after a wrong clock has moved the mark into the future. Give the command to any agent of the group.
    ResetSchedule {
        /// The name of the schedule.
        schedule: AgentId,
    },
}

/// A command, the choice of an agent of the node, and the time for which the operator waits for the outcome.
///
/// A node of one agent needs only the command. On a node of several agents, `group`, `agent` or both have to select one
/// agent. As JSON: `{"command":"drain","group":"orders","within_ms":5000}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Order {
    /// The command.
    pub command: Command,
    /// The group of the selected agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The name of the selected agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Longest time to wait for the outcome, in milliseconds. Default: 10 s; at most 60 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ms: Option<u64>,
}

impl Order {
    /// Returns an order for the only agent of a node.
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self {
            command,
            group: None,
            agent: None,
            within_ms: None,
        }
    }

    /// Sets the longest time to wait for the outcome: 10 s by default, 60 s at most.
    #[must_use]
    pub fn within(mut self, within: Duration) -> Self {
        self.within_ms = Some(u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Returns the longest time for which the operator waits for the outcome.
    pub(super) fn patience(&self) -> Duration {
        self.within_ms
            .map_or(USUAL, Duration::from_millis)
            .min(LONGEST)
    }
}

/// Time to wait if the order contains none. With any preset of timings, an election takes less time.
const USUAL: Duration = Duration::from_secs(10);

/// Longest time for which an operator may wait.
const LONGEST: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line has the JSON of a command, and the beginning of the command in Rust.
    const COMMANDS: &str = r#"
        {"step_down":{"to":"api-2"}} | StepDown { to: Some(
        {"step_down":{"to":null}} | StepDown { to: None
        "drain" | Drain
        {"set_score":{"score":30}} | SetScore {
        "withdraw_score" | WithdrawScore
        {"reset_schedule":{"schedule":"nightly"}} | ResetSchedule {
        {"change_voters":{"remove":"api-2"}} | ChangeVoters(Remove(
        {"change_voters":{"replace":{"old":"api-2","new":{"id":"api-4","contact":{"node":"host-4","address":"192.0.2.4:7400"}}}}} | ChangeVoters(Replace {
    "#;

    #[test]
    fn orders_as_json() {
        let within = r#"{"command":"drain","within_ms":5000}"#;
        let late = Order::new(Command::Drain).within(Duration::from_secs(5));
        assert_eq!(serde_json::to_string(&late).unwrap(), within);
        for row in COMMANDS.trim().lines() {
            let (json, command) = row.trim().split_once(" | ").unwrap();
            let json = format!("{{\"command\":{json}}}");
            let order: Order = serde_json::from_str(&json).unwrap();
            let shown = format!("{:?}", order.command);
            assert!(shown.starts_with(command), "{json}: {shown}");
            assert_eq!(serde_json::to_string(&order).unwrap(), json);
        }
        for (short, whole) in [
            (r#"{"step_down":{}}"#, r#"{"step_down":{"to":null}}"#),
            (
                r#"{"change_voters":{"add":{"id":"api-2"}}}"#,
                r#"{"change_voters":{"add":{"id":"api-2","contact":null}}}"#,
            ),
        ] {
            let [short, whole] =
                [short, whole].map(|json| serde_json::from_str::<Command>(json).unwrap());
            assert_eq!(short, whole);
        }
    }

    #[test]
    fn a_text_that_is_not_an_order_is_refused() {
        for json in [
            "{}",
            r#"{"command":"crash"}"#,
            r#"{"command":"drain","grop":"g"}"#,
            r#"{"command":{"step_down":{"too":"b"}}}"#,
            r#"{"command":{"step_down":{"to":"a name with blanks"}}}"#,
            r#"{"command":{"set_score":{}}}"#,
            r#"{"command":{"change_voters":{}}}"#,
            r#"{"command":{"change_voters":{"add":"a name with blanks"}}}"#,
            r#"{"command":"drain","within_ms":-1}"#,
        ] {
            assert!(serde_json::from_str::<Order>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn an_operator_waits_ten_seconds_and_a_minute_at_most() {
        let order = Order::new(Command::Drain);
        assert_eq!(order.patience(), Duration::from_secs(10));
        let [short, long] = [50, 3_600_000].map(Duration::from_millis);
        assert_eq!(order.clone().within(short).patience(), short);
        assert_eq!(
            order.clone().within(long).patience(),
            Duration::from_secs(60)
        );
        assert_eq!(
            order.within(Duration::MAX).patience(),
            Duration::from_secs(60)
        );
    }
}
