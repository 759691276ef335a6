//! The part of a page that stays the same while the same run is shown, and the data with which a page begins.
//!
//! Decided here: the facts of a head (the constant part), and their JSON. Not here: the moments (`moment.rs`), and when
//! a page begins again (`board.rs`).

use std::time::Duration;

use serde::Serialize;

use super::{moment::PageMoment, said::Said};
use crate::shown;

/// The part that stays the same while the same agents are shown.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the page reads each of them by its name"
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Head {
    pub(crate) title: String,
    /// The present election of the agents, and the elections that they could hold instead.
    pub(crate) election: Option<String>,
    pub(crate) elections: Vec<String>,
    /// The scenarios that can be played, with their descriptions.
    pub(crate) scenarios: Vec<(&'static str, &'static str)>,
    /// The permitted commands: `none`, `operate`, `cluster`.
    pub(crate) controls: &'static str,
    /// Whether a command needs a token.
    pub(crate) token: bool,
    /// Whether the page plays a recording, and nothing runs.
    pub(crate) film: bool,
    /// Whether there is a folder of saved records.
    pub(crate) records: bool,
    /// Whether the source has a history of its groups, as a running node has.
    pub(crate) history: bool,
    /// The number of the run on its stage (a simulated cluster); 0 without a stage.
    pub(crate) run: u64,
    /// The moment of an earlier run from which this run continues; `None` if this run continues no earlier run.
    pub(crate) from: Option<GoesOnFrom>,
    /// The reason why no run can continue from a moment of this run; `None` if a run can continue.
    pub(crate) unrepeatable: Option<&'static str>,
}

/// The moment of an earlier run from which another run continues.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct GoesOnFrom {
    /// The number of the earlier run; 0 for a recording.
    pub(crate) run: u64,
    #[serde(rename = "at_ms", serialize_with = "shown::millis")]
    pub(crate) at: Duration,
    /// The first difference from the earlier run; `None` without a difference.
    pub(crate) differs: Option<String>,
}

/// The data with which a page begins.
#[derive(Serialize)]
pub(crate) struct Snapshot<'a> {
    pub(crate) head: &'a Head,
    pub(crate) moment: &'a PageMoment,
    pub(crate) said: &'a [Said],
    pub(crate) elections: &'a [Said],
}
