//! One history: all that makes it what it is, how it runs, and the command that runs it again.

use std::{error::Error, fmt, time::Duration};

use actix_bully::{
    protocol::Timings,
    record::Recording,
    testkit::{
        sim::{
            Situation,
            chaos::{ChaosOptions, Fault, HistoryReport, Scenario, chaos},
        },
        trace::Trace,
    },
};
use actix_bully_oracles::{
    AstraScenario, BallotScenario, BullyScenario, InvitationScenario, LeaseScenario,
    QuorumScenario, ReorganizationScenario, RingScenario,
};
use clap::ValueEnum;

/// Which election is put to the test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The available mode as it is by default
    #[default]
    Bully,
    /// The plain ASTRA rules
    Astra,
    /// The quorum mode: every invariant is checked after every step
    Quorum,
    /// The quorum mode without disks: the same invariants; terms increase while a majority remembers, and
    /// in histories of odd seeds, whose clocks agree, for ever
    Diskless,
    /// The quorum mode whose voters are changed while it runs: the same invariants over all lists, and those of
    /// a change
    Voters,
    /// A lease in a store, which is one agent more: one believer, and rising terms, after every step
    Lease,
    /// The ballot leader election: its ballots are checked after every step
    Ballot,
    /// The ring
    Ring,
    /// Garcia-Molina 1982; in every other history only the faults that the paper allows, and then
    /// its assertion is checked after every step
    Reorganization,
    /// Garcia-Molina's second algorithm: agreement in each group is checked after every step
    Invitation,
}

impl Protocol {
    /// Whether its promises are stronger while messages keep within the delay bound, and a history
    /// has to be told so. The reorganization knows it by its seed.
    pub(crate) const fn has_bounds(self) -> bool {
        matches!(self, Self::Bully | Self::Astra)
    }

    /// Whether such a fault can happen to it.
    pub(crate) fn takes(self, fault: Fault) -> bool {
        match self {
            Self::Quorum | Self::Voters | Self::Diskless if fault == Fault::LaterIncarnation => {
                true
            }
            Self::Quorum => {
                let is_of_disks = matches!(
                    fault,
                    Fault::OtherTimings | Fault::RollingChange | Fault::SlowDisk
                );
                fault.is_general() || is_of_disks || fault.is_of_memory()
            }
            Self::Voters => {
                Self::Quorum.takes(fault) && !fault.is_of_memory() || fault == Fault::VoterChange
            }
            Self::Diskless => fault.is_general() || fault == Fault::Outage,
            Self::Lease => LeaseScenario::can_happen(fault),
            Self::Bully
            | Self::Astra
            | Self::Ballot
            | Self::Ring
            | Self::Reorganization
            | Self::Invitation => fault.is_general(),
        }
    }

    /// Whether a run of many histories owes it that such a fault meets an agent in such a situation.
    pub(crate) fn owes(self, fault: Fault, situation: Situation) -> bool {
        match self {
            Self::Quorum | Self::Diskless | Self::Voters => {
                QuorumScenario::is_reachable(fault, situation)
            }
            Self::Bully
            | Self::Astra
            | Self::Lease
            | Self::Ballot
            | Self::Ring
            | Self::Reorganization
            | Self::Invitation => false,
        }
    }
}

/// What a history is made of. The same plan gives the same history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) protocol: Protocol,
    pub(crate) seed: u64,
    pub(crate) nodes: usize,
    pub(crate) faults: Vec<Fault>,
    pub(crate) seconds: u32,
    pub(crate) timings: Preset,
    /// Whether some agents have sentinels.
    pub(crate) sentinels: bool,
    /// Whether it keeps messages within the delay bound, and is held to what that promises.
    pub(crate) bounded: bool,
}

/// By which timings the quorum election runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Each history its own, mostly those in process
    #[default]
    Drawn,
    /// One process; a promise of 125 ms
    InProcess,
    /// One rack; 75 ms
    Fast,
    /// One data centre; 300 ms
    Lan,
    /// As they are by default; 900 ms
    Default,
    /// Across regions; 5 s
    Wan,
}

impl Preset {
    fn timings(self) -> Option<Timings> {
        match self {
            Self::Drawn => None,
            Self::InProcess => Some(Timings::in_process()),
            Self::Fast => Some(Timings::fast()),
            Self::Lan => Some(Timings::lan()),
            Self::Default => Some(Timings::default()),
            Self::Wan => Some(Timings::wan()),
        }
    }
}

/// What came of a history.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: HistoryReport,
    /// How long agreement might have taken.
    pub(crate) bound: Duration,
    /// How many leaderships began, where they are counted.
    pub(crate) elections: u64,
    /// How often the voters were changed, where they are.
    pub(crate) changes: u64,
    /// How long a group was without a leader because of a change in which nothing else went wrong.
    pub(crate) gap: Option<Duration>,
}

/// The sizes of groups that take turns.
pub(crate) const SIZES: [usize; 5] = [1, 2, 3, 5, 7];

/// How many agents the history of this seed has, unless that is said.
pub(crate) fn size(seed: u64) -> usize {
    let at = usize::try_from(seed % 5).unwrap_or(0);
    SIZES.get(at).copied().unwrap_or(5)
}

impl Plan {
    /// Runs it.
    ///
    /// # Errors
    /// A majority needs one agent at least.
    pub(crate) fn run(&self, trace: Trace) -> Result<Outcome, Box<dyn Error>> {
        match self.protocol {
            Protocol::Bully => Ok(self.run_bounded(trace, &mut BullyScenario::default())),
            Protocol::Astra => Ok(self.run_bounded(trace, &mut AstraScenario::default())),
            Protocol::Ring => Ok(self.run_in(trace, &mut RingScenario::default())),
            Protocol::Quorum => self.run_quorum(trace),
            Protocol::Diskless => {
                let mut scenario = QuorumScenario::diskless(self.seed, self.nodes)?;
                let outcome = self.run_in(trace, &mut scenario);
                Ok(Outcome {
                    elections: scenario.elections(),
                    ..outcome
                })
            }
            Protocol::Voters => {
                let mut scenario = QuorumScenario::changing(self.seed, self.nodes)?;
                let outcome = self.run_in(trace, &mut scenario);
                Ok(Outcome {
                    elections: scenario.elections(),
                    changes: scenario.changes(),
                    gap: QuorumScenario::gap_of_a_change(self.seed),
                    ..outcome
                })
            }
            Protocol::Lease => self.run_lease(trace),
            Protocol::Ballot => {
                let mut scenario = BallotScenario::drawn(self.seed, self.nodes)?;
                let outcome = self.run_in(trace, &mut scenario);
                Ok(Outcome {
                    elections: scenario.elections(),
                    ..outcome
                })
            }
            Protocol::Reorganization => {
                let scenario = ReorganizationScenario::drawn(self.seed)?;
                if self.seed.is_multiple_of(2) {
                    return Ok(self.run_in(trace, &mut { scenario }));
                }
                let plan = self.only(&ReorganizationScenario::ALLOWED);
                Ok(plan.run_in(trace, &mut scenario.as_assumed()))
            }
            Protocol::Invitation => {
                let mut scenario = InvitationScenario::drawn(self.seed)?;
                Ok(self.run_in(trace, &mut scenario))
            }
        }
    }

    fn run_quorum(&self, trace: Trace) -> Result<Outcome, Box<dyn Error>> {
        let (seed, nodes) = (self.seed, self.nodes);
        let mut scenario = match self.timings.timings() {
            None => QuorumScenario::drawn(seed, nodes)?,
            Some(timings) => QuorumScenario::with_timings(seed, nodes, timings)?,
        };
        let outcome = self.run_in(trace, &mut scenario);
        Ok(Outcome {
            elections: scenario.elections(),
            ..outcome
        })
    }

    /// The register is one more node.
    fn run_lease(&self, trace: Trace) -> Result<Outcome, Box<dyn Error>> {
        let mut scenario =
            LeaseScenario::drawn(self.seed, Duration::from_secs(self.seconds.into()))?;
        let mut plan = self.clone();
        plan.nodes = plan.nodes.saturating_add(1);
        let outcome = plan.run_in(trace, &mut scenario);
        Ok(Outcome {
            elections: scenario.elections(),
            ..outcome
        })
    }

    /// The history as a recording; a broken promise is marked where it was found.
    pub(crate) fn recording(&self, outcome: &Outcome) -> Recording {
        let report = &outcome.report;
        let protocol = self.protocol.to_possible_value();
        let protocol = protocol.as_ref().map_or("", |value| value.get_name());
        let mut recording = report.trace.to_recording(protocol, report.ended);
        recording.header_mut().seed = self.seed;
        recording.header_mut().again = Some(self.to_string());
        if let Some(violation) = &report.violation {
            recording.violate(violation.at, violation.to_string());
        }
        recording
    }

    /// Where the network keeps its delay bound d, two lead for 2 d at most.
    fn run_bounded<S: Scenario>(&self, trace: Trace, scenario: &mut S) -> Outcome {
        if !self.bounded {
            return self.run_in(trace, scenario);
        }
        let plan = self.only(&BullyScenario::BOUNDED);
        let options = ChaosOptions {
            contested_for: Some(scenario.delay_bound() * 2),
            ..plan.options(trace)
        };
        plan.run_with(&options, scenario)
    }

    /// The same with none but these faults.
    fn only(&self, allowed: &[Fault]) -> Self {
        let mut plan = self.clone();
        plan.faults.retain(|fault| allowed.contains(fault));
        plan
    }

    pub(crate) fn run_in<S: Scenario>(&self, trace: Trace, scenario: &mut S) -> Outcome {
        self.run_with(&self.options(trace), scenario)
    }

    fn options(&self, trace: Trace) -> ChaosOptions {
        ChaosOptions {
            faults_for: Duration::from_secs(self.seconds.into()),
            faults: self.faults.clone(),
            skew: self.skew(),
            sentinels: self.sentinels,
            trace,
            ..ChaosOptions::default()
        }
    }

    fn run_with<S: Scenario>(&self, options: &ChaosOptions, scenario: &mut S) -> Outcome {
        Outcome {
            report: chaos(self.seed, self.nodes, options, scenario),
            bound: scenario.settles_within(options.skew),
            elections: 0,
            changes: 0,
            gap: None,
        }
    }

    /// Every other history of the quorum election stretches its clocks as far as its promises
    /// allow: a promise is a quarter longer than a lease.
    const fn skew(&self) -> u32 {
        match self.protocol {
            Protocol::Quorum | Protocol::Voters | Protocol::Lease if self.seed % 2 == 1 => 110_000,
            Protocol::Diskless => QuorumScenario::diskless_skew(self.seed),
            Protocol::Quorum
            | Protocol::Voters
            | Protocol::Lease
            | Protocol::Bully
            | Protocol::Astra
            | Protocol::Ballot
            | Protocol::Ring
            | Protocol::Reorganization
            | Protocol::Invitation => 50_000,
        }
    }
}

/// The command that runs it again.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = self.protocol.to_possible_value();
        let protocol = protocol.as_ref().map_or("", |value| value.get_name());
        let (seed, nodes, seconds) = (self.seed, self.nodes, self.seconds);
        write!(
            f,
            "cargo run --release --example simulate -- --protocol {protocol} --seed {seed} \
             --nodes {nodes} --seconds {seconds} --faults {}",
            names(&self.faults)
        )?;
        if self.sentinels {
            f.write_str(" --sentinels")?;
        }
        if self.bounded {
            f.write_str(" --bounded")?;
        }
        match self.timings.to_possible_value() {
            Some(timings) if self.timings != Preset::Drawn => {
                write!(f, " --timings {}", timings.get_name())
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The names of these faults, as they are said on the command line.
pub(crate) fn names(faults: &[Fault]) -> String {
    if faults.is_empty() {
        return String::from("none");
    }
    if faults == Fault::ALL {
        return String::from("all");
    }
    let names: Vec<String> = faults.iter().map(|fault| fault.hyphenated()).collect();
    names.join(",")
}
