//! The ballot leader election: BLE3 and what it depends on, in every order and without any bound on
//! delays.
//!
//! Held against it: a ballot belongs to one incarnation (`UniqueBallot`); the ballots that an agent trusts
//! never fall, over restarts too (`RisingTrust`), and those that it leads by rise (`RisingLeadership`);
//! the ballot that it is a candidate with or trusts is durable (`DiskFirst`); a leader heard a majority in its last
//! round (`MajorityHeard`). An observer keeps no record: what it trusts never falls within one incarnation.
//! Not: one leader at every instant, which is not promised.

use std::{sync::Arc, time::Duration};

use bully_classics::ballot::{Ballot, BallotConfig, BallotMessage, BallotRecord, Standing};
use bully_core::protocol::{Effect, Event, Round, Timings};

use crate::{
    relative::ticks,
    rules::{Rules, Seen, name, position},
    timed::World,
};

/// A ballot election, and how it is judged.
#[derive(Clone, Debug)]
pub struct Ballots {
    config: Arc<BallotConfig>,
    /// How many vote: the first ones. The others observe.
    voters: usize,
    /// Held to what is not promised as well: that at most one leads.
    pub one_leader: bool,
    /// The model looks no further than this round of an incarnation.
    pub rounds: u8,
    /// Nor further than this number of a ballot.
    pub numbers: u8,
}

impl Ballots {
    /// So many voters, whose rounds end at every tick or as much later as the model likes.
    pub fn new(voters: usize, rounds: u8, numbers: u8) -> Self {
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
            one_leader: false,
            rounds,
            numbers,
        }
    }
}

/// A ballot, as far as it orders: its number, and the position of its holder plus one.
type Rank = (u8, u8);

/// The highest number that the ledger have room for.
const ROOM: usize = 5;

/// What was said and done in one history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leaderships {
    /// Which incarnation was a candidate with a number: for each agent, by number.
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

    /// `agent` says in a round of its incarnation which ballot it is a candidate with.
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

    fn config(&self) -> &Arc<BallotConfig> {
        &self.config
    }

    /// Rounds have numbers; no rule asks how long ago one was.
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
        if self.one_leader && world.believers().nth(1).is_some() {
            return Some("at most one leads");
        }
        let isolated = world.believers().any(is_alone).then_some("MajorityHeard");
        world.ledger.broken.or(isolated)
    }

    fn is_within(&self, ledger: &Leaderships) -> bool {
        ledger.rounds <= self.rounds && ledger.numbers <= self.numbers
    }
}

fn small(number: impl TryInto<u8>) -> u8 {
    number.try_into().unwrap_or(u8::MAX)
}
