//! One history: its plan, how it runs, and the command that runs it again.

use std::{error::Error, fmt, time::Duration};

use actix_bully::{protocol::Timings, record::Recording};
use actix_bully_oracles::{
    AstraScenario, BallotScenario, BullyScenario, InvitationScenario, LeaseScenario,
    QuorumScenario, ReorganizationScenario, RingScenario,
};
use bully_sim::{
    sim::{
        Situation,
        chaos::{ChaosOptions, Fault, HistoryReport, Scenario, chaos},
    },
    trace::Trace,
};
use clap::ValueEnum;

/// The election to test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The available mode with its defaults
    #[default]
    Bully,
    /// The plain ASTRA rules
    Astra,
    /// The quorum mode: every invariant is checked after every step
    Quorum,
    /// The quorum mode without disks: the same invariants; terms increase while a majority remembers,
    /// and always in histories of odd seeds, whose clocks agree
    Diskless,
    /// The quorum mode with changes of the voters: the same invariants over all lists, and those of a
    /// change
    Voters,
    /// A lease in a store, which is an additional agent: one believer, and rising terms, after every
    /// step
    Lease,
    /// The ballot leader election: its ballots are checked after every step
    Ballot,
    /// The ring
    Ring,
    /// Garcia-Molina 1982; every other history has only the faults that the paper allows, and then its
    /// assertion is checked after every step
    Reorganization,
    /// Garcia-Molina's second algorithm: agreement in each group is checked after every step
    Invitation,
}

impl Protocol {
    /// Returns whether the election's promises are stronger while messages keep within the delay bound, and the plan
    /// has to ask for that. The reorganization decides it by the seed.
    pub(crate) const fn has_bounds(self) -> bool {
        matches!(self, Self::Bully | Self::Astra)
    }

    /// Returns whether this kind of fault can happen to the election.
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

    /// Returns whether a run of many histories must contain this kind of fault for an agent in this situation.
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

/// The plan of a history. The same plan gives the same history.
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
    /// Whether the history keeps messages within the delay bound, and must keep the stronger promises
    /// of that bound.
    pub(crate) bounded: bool,
}

/// The timings of the quorum election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Own timings for each history, mostly those in process
    #[default]
    Drawn,
    /// One process; a promise of 125 ms
    InProcess,
    /// One rack; 75 ms
    Fast,
    /// One data centre; 300 ms
    Lan,
    /// The default; 900 ms
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

/// The result of a history.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: HistoryReport,
    /// Longest time that agreement may take.
    pub(crate) bound: Duration,
    /// Number of leaderships, for elections that count them.
    pub(crate) elections: u64,
    /// Number of changes of the voters, if they change.
    pub(crate) changes: u64,
    /// Time without a leader because of a change, in a group without other faults.
    pub(crate) gap: Option<Duration>,
}

/// Sizes of groups, which take turns.
pub(crate) const SIZES: [usize; 5] = [1, 2, 3, 5, 7];

/// Returns the number of agents in the history of this seed, unless the command line names it.
pub(crate) fn size(seed: u64) -> usize {
    let at = usize::try_from(seed % 5).unwrap_or(0);
    SIZES.get(at).copied().unwrap_or(5)
}

impl Plan {
    /// Runs the history.
    ///
    /// # Errors
    /// With zero agents: a majority needs at least one.
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

    /// Runs a history with an additional node, the register.
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

    /// Returns the history as a recording, with a mark where a broken promise was found.
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

    /// Runs a history. If the network keeps its delay bound d, two agents may lead for at most 2 d.
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

    /// Returns the plan without the faults that are not in `allowed`.
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

    /// Returns the skew of the clocks. Every other history of the quorum election stretches its clocks to the limit of
    /// its promises: a promise is a quarter longer than a lease.
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

/// Writes the command that runs the history again.
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

/// Returns the names of the faults as the command line has them.
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
