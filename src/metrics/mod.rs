//! Metrics of agents and bridges for an operator, through the facade crate [`metrics`]; feature `metrics`.
//!
//! Decided here: the names of the metrics, and where each is measured. Not here: where the numbers go. An application
//! installs a recorder for that purpose, such as `metrics-exporter-prometheus`. Install it before agents and bridges
//! start: some instruments are created only once, and counts from before the installation are lost.
//!
//! | name | kind | unit | labels | meaning |
//! |---|---|---|---|---|
//! | `bully_is_leader` | gauge | | group, node | 1 while the agent leads, else 0 |
//! | `bully_has_leader` | gauge | | group, node | 1 while the agent knows a leader, else 0; a silent leader counts until the agent misses it |
//! | `bully_term` | gauge | | group, node | the term that the agent last led or followed in |
//! | `bully_voters` | gauge | | group | how many voters the group has, where a list names them |
//! | `bully_voters_epoch` | gauge | | group | the epoch of that list: how often it was changed |
//! | `bully_leadership_acquired_total` | counter | | group, node | how often the agent began to lead |
//! | `bully_leadership_lost_total` | counter | | group, node, reason | how often it ceased to lead, and why |
//! | `bully_leader_followed_total` | counter | | group, node | how often it followed another leader than before |
//! | `bully_leaderless_seconds` | histogram | seconds | group, node | a time without a leader, when it is over; it begins with the last sign of life of a silent leader |
//! | `bully_lease_left_seconds` | histogram | seconds | group, node | what was left of the lease when it was renewed; quorum mode |
//! | `bully_work_panics_total` | counter | | group, node | panics of the work of a leader, without ticks of schedules |
//! | `bully_work_stalls_total` | counter | | group, node | step-downs because the work made no progress |
//! | `bully_schedule_begun_total` | counter | | group, node, schedule | ticks that the agent began as the leader |
//! | `bully_schedule_skipped_total` | counter | | group, node, schedule | due times that the agent did not run as the leader |
//! | `bully_schedule_failed_total` | counter | | group, node, schedule | ticks whose work returned an error or panicked, or whose actor was gone |
//! | `bully_group_messages_total` | counter | | group | messages that agents of this process sent, one for each receiver |
//! | `bully_group_dropped_total` | counter | | group, reason | messages that did not reach an agent of this process |
//! | `bully_proxy_waiting` | gauge | | group, node, proxy | messages of a `LeaderProxy` that wait, or are on their way |
//! | `bully_proxy_messages_total` | counter | | group, node, proxy, outcome | what became of a proxy's messages |
//! | `bully_link_up` | gauge | | node, peer | 1 while the peer is linked, else 0 |
//! | `bully_link_echo_seconds` | histogram | seconds | node, peer | from a question to its answer, there and back |
//! | `bully_link_lost_total` | counter | | node, peer | messages to the peer that were lost on this side |
//! | `bully_links_total` | counter | | node | links that became ready |
//! | `bully_dials_total` | counter | | node | attempts to dial |
//! | `bully_links_closed_total` | counter | | node, reason | links that were closed or never came to be, and why |
//! | `bully_remote_dropped_total` | counter | | node, reason | messages of other hosts that were dropped, and why |
//! | `bully_remote_messages_total` | counter | | node, direction | messages that crossed, `in` or `out` |
//! | `bully_remote_bytes_total` | counter | bytes | node, direction | bytes that crossed, `in` or `out` |
//!
//! `group` is the group's name. `node` is the agent's name, `proxy` the name of the messages' type, and `schedule` the name of the
//! schedule. In rows with
//! `peer` or `direction`, and in counts of links, `node` is the name of the bridge's node. The number of series is the
//! number of agents, peers and schedules, multiplied by the number of reasons, which is small.
//!
//! If the lease of an agent that hangs ends, the end of the leadership is counted at once if the agent has subscribers,
//! and otherwise when the agent runs again. The counts of messages, links, drops, proxies and schedules are updated every
//! five seconds, because an update for each message would cost time. A gauge of voters or of a link is updated with its
//! change.
//!
//! Give the exporter buckets for the histograms, all of which are in seconds: with `metrics-exporter-prometheus`, call
//! `set_buckets` before `install_recorder`, as `examples/metrics/src/lib.rs` does. Otherwise it writes summaries, and the
//! panels of `examples/metrics/board.json` that need buckets stay empty.
//!
//! An exporter may collect histograms in memory until its page is requested. With `metrics-exporter-prometheus`, call
//! `run_upkeep` of its handle at regular intervals if nothing may request the page for a long time.
//!
//! One alert should wake a person: no agent of a group knows a leader for longer than an election takes. If the last
//! process ends, no series of the group is left, so the alert also looks at the last day:
//!
//! ```text
//! (max by (group) (bully_has_leader) or 0 * max by (group) (last_over_time(bully_has_leader[1d]))) == 0
//! ```
//!
//! `examples/metrics/alerts.yml` has this alert and eight more, for Prometheus. A counter exists before its first
//! event, so `increase()` counts the first event as well. For `bully_leadership_lost_total` this is true only for the
//! reasons that no person requested.

mod agent;
mod bridge;
mod proxy;
#[cfg(test)]
mod tests;

use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

pub(crate) use agent::{AgentMeter, AgentSeries, Sample};
pub(crate) use bridge::{BridgeMeter, Direction};
pub(crate) use proxy::ProxyMeter;

/// One series of numbers: one row of the table of this [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Series {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: SeriesKind,
    /// The unit of the numbers, if they have one.
    pub unit: Option<&'static str>,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// Its meaning.
    pub help: &'static str,
}

/// Kind of a [`Series`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesKind {
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

/// Describes each series to the recorder. Call it once, after the recorder is installed.
pub fn describe() {
    for series in ALL {
        let (name, help) = (series.name, series.help);
        let unit = match series.unit {
            Some(SECONDS) => Unit::Seconds,
            Some(BYTES) => Unit::Bytes,
            Some(_) | None => Unit::Count,
        };
        match series.kind {
            SeriesKind::Counter => describe_counter!(name, unit, help),
            SeriesKind::Gauge => describe_gauge!(name, unit, help),
            SeriesKind::Histogram => describe_histogram!(name, unit, help),
        }
    }
}

/// All series, in the order of the table.
pub const fn series() -> &'static [Series] {
    ALL
}

const SECONDS: &str = "seconds";
const BYTES: &str = "bytes";
const AGENT: &[&str] = &["group", "node"];
const SCHEDULE: &[&str] = &["group", "node", "schedule"];
const PROXY: &[&str] = &["group", "node", "proxy"];

macro_rules! series {
    ($($constant:ident $name:literal $kind:ident $unit:expr, $labels:expr, $help:literal;)*) => {
        $(pub(crate) const $constant: &str = $name;)*
        const ALL: &[Series] = &[$(Series {
            name: $name,
            kind: SeriesKind::$kind,
            unit: $unit,
            labels: $labels,
            help: $help,
        }),*];
    };
}
series! {
    IS_LEADER "bully_is_leader" Gauge None, AGENT,
        "1 while the agent leads, else 0";
    HAS_LEADER "bully_has_leader" Gauge None, AGENT,
        "1 while the agent knows a leader, else 0; a silent leader counts until the agent misses it";
    TERM "bully_term" Gauge None, AGENT,
        "the term that the agent last led or followed in";
    VOTERS "bully_voters" Gauge None, &["group"],
        "how many voters the group has, where a list names them";
    EPOCH "bully_voters_epoch" Gauge None, &["group"],
        "the epoch of that list: how often it was changed";
    ACQUIRED "bully_leadership_acquired_total" Counter None, AGENT,
        "how often the agent began to lead";
    LOST "bully_leadership_lost_total" Counter None, &["group", "node", "reason"],
        "how often it ceased to lead, and why";
    FOLLOWED "bully_leader_followed_total" Counter None, AGENT,
        "how often it followed another leader than before";
    LEADERLESS "bully_leaderless_seconds" Histogram Some(SECONDS), AGENT,
        "a time without a leader, when it is over; it begins with the last sign of life of a silent leader";
    LEASE_LEFT "bully_lease_left_seconds" Histogram Some(SECONDS), AGENT,
        "what was left of the lease when it was renewed; quorum mode";
    WORK_PANICS "bully_work_panics_total" Counter None, AGENT,
        "panics of the work of a leader, without ticks of schedules";
    WORK_STALLS "bully_work_stalls_total" Counter None, AGENT,
        "step-downs because the work made no progress";
    SCHEDULE_BEGUN "bully_schedule_begun_total" Counter None, SCHEDULE,
        "ticks that the agent began as the leader";
    SCHEDULE_SKIPPED "bully_schedule_skipped_total" Counter None, SCHEDULE,
        "due times that the agent did not run as the leader";
    SCHEDULE_FAILED "bully_schedule_failed_total" Counter None, SCHEDULE,
        "ticks whose work returned an error or panicked, or whose actor was gone";
    MESSAGES "bully_group_messages_total" Counter None, &["group"],
        "messages that agents of this process sent, one for each receiver";
    DROPPED "bully_group_dropped_total" Counter None, &["group", "reason"],
        "messages that did not reach an agent of this process";
    PROXY_WAITING "bully_proxy_waiting" Gauge None, PROXY,
        "messages of a `LeaderProxy` that wait, or are on their way";
    PROXY_MESSAGES "bully_proxy_messages_total" Counter None, &["group", "node", "proxy", "outcome"],
        "what became of a proxy's messages";
    LINK_UP "bully_link_up" Gauge None, &["node", "peer"],
        "1 while the peer is linked, else 0";
    ECHO "bully_link_echo_seconds" Histogram Some(SECONDS), &["node", "peer"],
        "from a question to its answer, there and back";
    LINK_LOST "bully_link_lost_total" Counter None, &["node", "peer"],
        "messages to the peer that were lost on this side";
    LINKS "bully_links_total" Counter None, &["node"],
        "links that became ready";
    DIALS "bully_dials_total" Counter None, &["node"],
        "attempts to dial";
    LINKS_CLOSED "bully_links_closed_total" Counter None, &["node", "reason"],
        "links that were closed or never came to be, and why";
    REMOTE_DROPPED "bully_remote_dropped_total" Counter None, &["node", "reason"],
        "messages of other hosts that were dropped, and why";
    REMOTE_MESSAGES "bully_remote_messages_total" Counter None, &["node", "direction"],
        "messages that crossed, `in` or `out`";
    REMOTE_BYTES "bully_remote_bytes_total" Counter Some(BYTES), &["node", "direction"],
        "bytes that crossed, `in` or `out`";
}
