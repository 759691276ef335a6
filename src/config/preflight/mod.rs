//! Measures a place (a host with its disk, store and network) before an election runs there.
//!
//! Decided here: the parts that are measured, the time for each, and the meaning of a failure of one part. No election
//! runs: no agent starts, no vote and no lease is written, and no byte is sent to a peer. Not here: the bounds
//! (`judge.rs`), and how each part is measured (`store/trial.rs`, `register/trial.rs`, `remote/trial.rs`).
//!
//! | part | measured | must be below |
//! |---|---|---|
//! | `disk` | durable writes of records beside `quorum.store_file`: the longest (`quorum.marks_file` is not measured) | the round E, less an echo |
//! | `store-reads`, `store-writes` | the store of a lease: the median of its answers | 2 d, and a third of the lease |
//! | `store-clock` | the difference between that store's clock and this host's | 10 s, for schedules |
//! | `peer` | one round trip of a connection to each address: the median | 2 d |
//! | `stall` | the longest delay of a timer | half of the time that a lease or the detection leaves after a heartbeat and an echo |
//! | `clock` | the difference between the clock of leases and the timers | half of the measuring time |
//!
//! A place is faster while it is idle than under load, so a preset fits only if it allows twice the measured time. The
//! [diagnosis](crate::agent::Diagnosis) of a running agent compares the same parts under load.

mod judge;

use std::{cell::Cell, fmt, sync::Arc, time::Duration};

use actix::clock::{Instant, sleep};
use futures::future::{join, join_all, join4};
use serde::Serialize;

use crate::{
    agent::any::AnyConfig,
    clock::{BootClock, Clock},
    register::{
        Register,
        trial::{TrialKeys, clock_difference, time_reads, time_writes},
    },
    remote::trial::time_connections,
    shown,
    store::trial,
};
use judge::{Figure, Figures, judge};

use super::{Config, ConfigError, check::Plan};

/// The measurements of a place before an election runs there, compared with the bounds of the timings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Preflight {
    /// The result for each part that the configuration has, in the order of the [page](self).
    pub checks: Vec<PreflightCheck>,
    /// The fastest of the presets `lan`, `default` and `wan` that allows twice the measured time; `None` if all three
    /// are too fast.
    pub fits: Option<&'static str>,
}

/// The result for one part of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PreflightCheck {
    /// The part.
    pub part: PreflightPart,
    /// The name of the peer, if the part is a peer.
    pub node: Option<String>,
    /// The result.
    pub found: PreflightFinding,
}

/// A part of a place on which timings depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PreflightPart {
    /// The disk of the votes.
    Disk,
    /// Reads of the store of the lease.
    StoreReads,
    /// Writes to the store of the lease.
    StoreWrites,
    /// The clock of the store of the lease.
    StoreClock,
    /// The network to another node.
    Peer,
    /// Delays of threads, caused by this process or its host.
    Stall,
    /// The clock by which a lease is measured.
    Clock,
}

/// The result for a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PreflightFinding {
    /// The part was measured.
    Measured {
        /// The measured time. As JSON: `figure_ms`.
        #[serde(rename = "figure_ms", serialize_with = "shown::millis")]
        figure: Duration,
        /// The bound by the timings of the configuration: the measured time has to be shorter. As JSON: `bound_ms`.
        #[serde(rename = "bound_ms", serialize_with = "shown::millis")]
        bound: Duration,
    },
    /// The part does not work: an agent would not start, or would not be elected.
    Fails {
        /// The reason, and what to do.
        reason: String,
    },
    /// The part could not be measured. The cause is not always a fault of this node: a peer may not run yet.
    Unknown {
        /// The reason.
        reason: String,
    },
}

impl PreflightFinding {
    /// Returns whether an election can run if this part has this result.
    pub fn is_ok(&self) -> bool {
        match self {
            Self::Measured { figure, bound } => figure < bound,
            Self::Fails { .. } => false,
            Self::Unknown { .. } => true,
        }
    }
}

impl Preflight {
    /// Returns whether, by all results, an election can run at this place.
    pub fn is_ok(&self) -> bool {
        self.checks.iter().all(|check| check.found.is_ok())
    }
}

impl fmt::Display for PreflightPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disk => "disk: a vote is written",
            Self::StoreReads => "store: a lease is read",
            Self::StoreWrites => "store: a key is written",
            Self::StoreClock => "store: its clock beside this host's",
            Self::Peer => "peer: there and back",
            Self::Stall => "this process stands still",
            Self::Clock => "clock of leases beside the timers",
        })
    }
}

impl Config {
    /// Measures this place for `time`, 3 s for instance, and compares the result with the timings of the configuration.
    /// Call it where the node will run, before its first start or while it runs, within a runtime of tokio.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check). A part that does not work is not an error but a
    /// [finding](PreflightFinding::Fails).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use actix_bully::config::Config;
    ///
    /// actix::System::new().block_on(async {
    ///     let config = Config::from_toml("node = \"api-1\"\ngroup = \"jobs\"")?;
    ///     let found = config.preflight(Duration::from_millis(100)).await?;
    ///     assert_eq!(found.checks.len(), 2, "it has no disk, no store and no peer: {found:?}");
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub async fn preflight(&self, time: Duration) -> Result<Preflight, ConfigError> {
        let plan = self.plan()?;
        let timings = self.all_timings()?;
        let mut figures = self.measure(&plan, time).await;
        // The results come in the order of the parts on the page.
        figures.0.sort_by_key(|figure| figure.part);
        Ok(judge(&figures, &timings))
    }

    async fn measure(&self, plan: &Plan, time: Duration) -> Figures {
        let (disk, store, peers, here) = join4(
            self.measure_disk(time),
            self.measure_store(plan, time),
            self.measure_peers(time),
            measure_here(time),
        )
        .await;
        Figures([disk, store, peers, here].concat())
    }

    async fn measure_disk(&self, time: Duration) -> Vec<Figure> {
        let Some(path) = &self.quorum.store_file else {
            return Vec::new();
        };
        let took = trial::time_writes(path, time).await;
        let took = took.map_err(|reason| fails(&reason));
        vec![Figure::measured(PreflightPart::Disk, took)]
    }

    async fn measure_store(&self, plan: &Plan, time: Duration) -> Vec<Figure> {
        let register = match self.register() {
            Ok(Some(register)) => register,
            Ok(None) => return Vec::new(),
            Err(reason) => {
                return vec![Figure::of(PreflightPart::StoreReads, Err(fails(&reason)))];
            }
        };
        let AnyConfig::Lease(lease) = &plan.election else {
            return Vec::new();
        };
        match TrialKeys::of(&lease.name, &plan.identity.node) {
            Ok(keys) => measure_register(&register, &keys, time).await,
            Err(reason) => vec![Figure::of(PreflightPart::StoreReads, Err(fails(&reason)))],
        }
    }

    async fn measure_peers(&self, time: Duration) -> Vec<Figure> {
        let peers = self.others().map(|(_, peer)| async move {
            let took = match &peer.address {
                Some(address) => {
                    let took = time_connections(address, time).await;
                    took.map_err(|reason| unknown(&reason))
                }
                None => Err(unknown(&"it has no address here: measure at that node")),
            };
            Figure {
                node: Some(peer.node.clone()),
                ..Figure::measured(PreflightPart::Peer, took)
            }
        });
        join_all(peers).await
    }
}

async fn measure_register(
    register: &Arc<dyn Register>,
    keys: &TrialKeys,
    time: Duration,
) -> Vec<Figure> {
    let (reads, writes) = join(
        time_reads(register, keys, time),
        time_writes(register, keys, time),
    )
    .await;
    let reads = reads.map_err(|reason| fails(&reason));
    let writes = writes.map_err(|reason| fails(&reason));
    let mut found = vec![
        Figure::measured(PreflightPart::StoreReads, reads),
        Figure::measured(PreflightPart::StoreWrites, writes),
    ];
    match clock_difference(register).await {
        Ok(Some(apart)) => found.push(Figure::of(PreflightPart::StoreClock, Ok(apart))),
        Ok(None) => {}
        Err(reason) => {
            let clock = Figure::of(PreflightPart::StoreClock, Err(fails(&reason)));
            found.push(clock);
        }
    }
    found
}

/// Measures the delays of timers in this process, and the difference between the clock of leases and the timers.
async fn measure_here(time: Duration) -> Vec<Figure> {
    let clock = BootClock::new();
    let (began, before) = (Instant::now(), clock.as_ref().map(Clock::now));
    let stall = Cell::new(Duration::ZERO);
    while began.elapsed() < time {
        let due = Instant::now() + TICK;
        sleep(TICK).await;
        let late = Instant::now().saturating_duration_since(due);
        // A delay shorter than one tick comes from the resolution of the timer, not from a stall.
        if late >= TICK {
            stall.set(stall.get().max(late));
        }
    }
    let by_timers = began.elapsed();
    let clock = match (&clock, before) {
        (Ok(clock), Ok(before)) => {
            let by_clock = clock.now().since(before);
            let apart = by_clock.abs_diff(by_timers);
            Figure {
                // Half is chosen, and any part from 0.2 to 0.9 would do: a working clock is wrong by at most 11 %, and
                // a broken clock stands still.
                bound: Some(by_timers / 2),
                ..Figure::of(PreflightPart::Clock, Ok(apart))
            }
        }
        (Err(reason), _) | (_, Err(reason)) => Figure::of(PreflightPart::Clock, Err(fails(reason))),
    };
    vec![Figure::of(PreflightPart::Stall, Ok(stall.get())), clock]
}

fn fails(reason: &impl fmt::Display) -> PreflightFinding {
    PreflightFinding::Fails {
        reason: reason.to_string(),
    }
}

fn unknown(reason: &impl fmt::Display) -> PreflightFinding {
    PreflightFinding::Unknown {
        reason: reason.to_string(),
    }
}

/// Time between two measurements of the delay of a timer.
const TICK: Duration = Duration::from_millis(5);
