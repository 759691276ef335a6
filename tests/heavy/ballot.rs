//! The ballot leader election: BLE3 and the properties on which it depends, in every order of events and without a
//! bound on delays.
//!
//! The model checks these invariants. A ballot belongs to one incarnation (`UniqueBallot`). The ballots that an agent
//! trusts never fall, also over restarts (`RisingTrust`). The ballots with which an agent leads rise
//! (`RisingLeadership`). The ballot with which an agent is a candidate, and the ballot that it trusts, are durable
//! (`DiskFirst`). A leader heard a majority in its last round (`MajorityHeard`). An observer keeps no record: its trust
//! never falls within one incarnation. The election does not promise that at most one agent leads at every instant.

use std::{sync::Arc, time::Duration};

use bully_classics::ballot::{Ballot, BallotConfig, BallotMessage, BallotRecord, Standing};
use bully_core::protocol::{Effect, Event, Round, Timings};

use crate::{
    limits::number,
    relative::ticks,
    rules::{Rules, Seen, name, position},
    timed::{Bounds, World},
};

/// Rules of a ballot election for a model.
#[derive(Clone, Debug)]
pub struct Ballots {
    config: Arc<BallotConfig>,
    /// Number of voters. They are the first agents; the other agents observe.
    voters: usize,
    /// Last round of an incarnation that the model explores.
    rounds: u8,
}

/// Highest number of a ballot that the model explores.
const NUMBERS: u8 = 3;

impl Ballots {
    /// Returns the rules for `voters` voters and two rounds. A round ends at a tick, or later by any time.
    pub fn new(voters: usize) -> Self {
        let timings = Timings::lan().to_builder().delay_bound(ticks(0.001));
        let config = BallotConfig {
            timings: timings.build().expect("only the delay is shorter"),
            round: Some(ticks(0.01)),
            cap: Some(ticks(0.01)),
            cooldown: ticks(1.5),
            ..BallotConfig::new((0..voters).map(name))
        };
        config.check().expect("a round is longer than two delays");
        Self {
            config: Arc::new(config),
            voters,
            rounds: 2,
        }
    }
}

/// The parts of a ballot that order it: its number, and the position of its holder plus one.
type Rank = (u8, u8);

/// Length of the ledger: one more than the highest number of a ballot.
const ROOM: usize = 5;

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leaderships {
    /// For each agent and each number of a ballot, the incarnation that was a candidate with it.
    taken: [[u8; ROOM]; 3],
    trusted: [Rank; 3],
    led: [u8; 3],
    rounds: u8,
    numbers: u8,
    broken: Option<&'static str>,
}

impl Leaderships {
    fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
    }

    fn trusts(&mut self, agent: usize, ballot: Rank) {
        if ballot < self.trusted[agent] {
            self.breaks("RisingTrust");
        }
        self.trusted[agent] = ballot;
    }

    fn leads(&mut self, agent: usize, term: u8, disk: &BallotRecord) {
        if term <= self.led[agent] {
            self.breaks("RisingLeadership");
        }
        if u64::from(term) > disk.n {
            self.breaks("DiskFirst");
        }
        self.led[agent] = term;
        self.trusts(agent, (term, small(agent) + 1));
    }

    /// Notes the ballot with which `agent` is a candidate; `round` names the incarnation.
    fn declares(
        &mut self,
        agent: usize,
        standing: &Standing,
        disk: &BallotRecord,
        round: Option<Round>,
    ) {
        let Some(ballot) = &standing.ballot else {
            return;
        };
        let n = small(ballot.n);
        self.numbers = self.numbers.max(n);
        if ballot.n > disk.n {
            self.breaks("DiskFirst");
        }
        if position(&ballot.id) != agent {
            self.breaks("UniqueBallot");
        }
        let Some(round) = round else { return };
        let incarnation = small(round.incarnation.0);
        let taken = &mut self.taken[agent][usize::from(n).min(ROOM - 1)];
        if *taken != 0 && *taken != incarnation {
            self.breaks("UniqueBallot");
        } else {
            *taken = incarnation;
        }
    }
}

impl Rules for Ballots {
    type Election = Ballot;
    type Ledger = Leaderships;

    fn set(&mut self, _: &mut Bounds, name: &str, value: &'static str) -> bool {
        match name {
            "voters" => *self = Self::new(number(value)),
            "rounds" => self.rounds = number(value),
            _ => return false,
        }
        true
    }

    fn config(&self) -> &Arc<BallotConfig> {
        &self.config
    }

    /// A reading in the past makes no difference: rounds have numbers, and no rule reads the age of a round.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    fn note(&self, ledger: &mut Leaderships, seen: &Seen<'_, Ballot>) {
        let agent = seen.agent;
        let nothing = BallotRecord::default();
        let disk = seen.disk.unwrap_or(&nothing);
        match seen.effect {
            Effect::Persist(record) if record.n < disk.n || record.max < disk.max => {
                ledger.breaks("RisingTrust");
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                ledger.leads(agent, small(term.0), disk);
            }
            Effect::Notify(Event::NewLeader(leader)) => {
                let holder = position(&leader.id);
                let max = disk.max.as_ref().map(|max| (max.n, position(&max.id)));
                if agent < self.voters && max < Some((leader.term.0, holder)) {
                    ledger.breaks("DiskFirst");
                }
                ledger.trusts(agent, (small(leader.term.0), small(holder) + 1));
            }
            Effect::Send { message, .. } => match message {
                BallotMessage::HeartbeatRequest(request) => {
                    ledger.rounds = ledger.rounds.max(small(request.round.counter));
                    ledger.declares(agent, &request.standing, disk, Some(request.round));
                }
                BallotMessage::HeartbeatReply(reply) => {
                    ledger.declares(agent, &reply.standing, disk, None);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        let is_alone = |(agent, _): (usize, u64)| {
            world
                .machine(agent)
                .is_some_and(|machine| !machine.is_connected())
        };
        let isolated = world.believers().any(is_alone).then_some("MajorityHeard");
        world.ledger.broken.or(isolated)
    }

    fn is_within(&self, ledger: &Leaderships) -> bool {
        ledger.rounds <= self.rounds && ledger.numbers <= NUMBERS
    }
}

fn small(number: impl TryInto<u8>) -> u8 {
    number.try_into().unwrap_or(u8::MAX)
}
