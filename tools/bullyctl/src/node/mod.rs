//! A running node, reached by its socket or by its routes.

mod beside;
mod http;
#[cfg(unix)]
mod socket;
#[cfg(not(unix))]
mod socket {
    //! The replacement on a system without local sockets.

    use std::{path::Path, time::Duration};

    use serde_json::Value;

    use crate::failure::Failure;

    pub(super) fn ask<T>(_: &Path, _: &Value, _: Duration) -> Result<T, Failure> {
        Err(Failure::Usage(
            "this system has no local sockets for operators: use --url",
        ))
    }
}

use std::{env, path::PathBuf, time::Duration};

use actix_bully::{
    history::GroupHistory,
    operate::{AgentRecording, Explanation, Order, Outcome, RecordRequest, Report},
};
use serde_json::json;

use crate::{args::Args, failure::Failure};
pub(crate) use beside::Beside;
use http::Routes;

/// A node.
pub(crate) enum Node {
    /// A node that is reached by its socket.
    Socket(PathBuf),
    /// A node that is reached by its routes.
    Routes(Routes),
}

impl Node {
    /// Returns the node that the arguments select.
    pub(crate) fn new(args: &Args) -> Result<Self, Failure> {
        match (&args.socket, &args.url) {
            (Some(path), _) => Ok(Self::Socket(path.clone())),
            (None, Some(url)) => Self::by_url(url, args),
            (None, None) => Self::of_environment(args),
        }
    }

    fn by_url(url: &str, args: &Args) -> Result<Self, Failure> {
        Routes::new(url, args.token_file.as_deref(), args.plaintext).map(Self::Routes)
    }

    /// Returns the node that the environment selects, if no argument selects one.
    fn of_environment(args: &Args) -> Result<Self, Failure> {
        let named = |name| env::var_os(name).filter(|value| !value.is_empty());
        match (named("BULLYCTL_SOCKET"), named("BULLYCTL_URL")) {
            (Some(path), None) => Ok(Self::Socket(path.into())),
            (None, Some(url)) => Self::by_url(&url.to_string_lossy(), args),
            (None, None) => Err(Failure::Usage(
                "name the node by --socket or by --url, or by BULLYCTL_SOCKET or BULLYCTL_URL in the environment",
            )),
            (Some(_), Some(_)) => Err(Failure::Usage(
                "the environment has BULLYCTL_SOCKET and BULLYCTL_URL: name the node by --socket or by --url",
            )),
        }
    }

    /// Returns the node's report.
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        self.report_within(PATIENCE)
    }

    /// Returns the node's report, if the report comes within the time `within`.
    pub(crate) fn report_within(&self, within: Duration) -> Result<Report, Failure> {
        match self {
            Self::Socket(path) => socket::ask(path, &json!("report"), within),
            Self::Routes(routes) => routes.get("status", within),
        }
    }

    /// Returns the findings of each agent of the node.
    pub(crate) fn diagnosis(&self) -> Result<Vec<Explanation>, Failure> {
        match self {
            Self::Socket(path) => socket::ask(path, &json!("diagnosis"), PATIENCE),
            Self::Routes(routes) => routes.diagnosis(),
        }
    }

    /// Returns the past of the node's groups.
    pub(crate) fn history(&self) -> Result<Vec<GroupHistory>, Failure> {
        match self {
            Self::Socket(path) => socket::ask(path, &json!("history"), PATIENCE),
            Self::Routes(routes) => routes.get("history", PATIENCE),
        }
    }

    /// Sends a request about the records of the node's agents.
    pub(crate) fn record(&self, request: RecordRequest) -> Result<Vec<AgentRecording>, Failure> {
        match self {
            Self::Socket(path) => socket::ask(path, &json!({ "record": request }), PATIENCE),
            Self::Routes(routes) => routes.post("record", PATIENCE, &request),
        }
    }

    /// Gives a command, and returns its outcome.
    pub(crate) fn order(&self, order: &Order) -> Result<Outcome, Failure> {
        match self {
            Self::Socket(path) => socket::ask(path, &json!({ "order": order }), patience(order)),
            Self::Routes(routes) => routes.post("commands", patience(order), order),
        }
    }
}

/// Longest time for an answer, in addition to the time for which the command itself waits.
const PATIENCE: Duration = Duration::from_secs(5);

/// Largest number of bytes of an answer that are read. A thousand members, or the record of an agent within the usual
/// limits, need only a fraction of this.
const MOST: u64 = 16 << 20;

/// Returns the longest time to wait for the outcome of a command.
fn patience(order: &Order) -> Duration {
    let within = order
        .within_ms
        .map_or(Duration::ZERO, Duration::from_millis);
    within.min(Duration::from_secs(60)) + PATIENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_waited_for_longer_than_the_node_waits() {
        let millis = Duration::from_millis;
        for (within, waits) in [(100, 5_100), (90_000, 65_000)] {
            let order = Order::new(actix_bully::operate::Command::Drain).within(millis(within));
            assert_eq!(patience(&order), millis(waits), "{within}");
        }
    }
}
