//! The ballot leader election: BLE3 and what it rests on, in every order and without any bound on
//! delays.
//!
//! Held against it: a ballot belongs to one life (`UniqueBallot`); the ballots that an agent trusts
//! never fall, over restarts too (`RisingTrust`), and those that it leads by rise (`RisingReign`);
//! what it stands with or trusts is durable (`DiskFirst`); who leads heard a majority in its last
//! round (`MajorityHeard`). An observer keeps no record: what it trusts never falls within one life.
//! Not: one leader at every instant, which nobody promises.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ballot::{Ballot, BallotConfig, BallotMessage, BallotRecord, Standing},
    protocol::{Effect, Event, Round, Timings},
};

use crate::{
    relative::ticks,
    rules::{Rules, Seen, name, place},
    timed::World,
};

/// A ballot election, and how it is judged.
#[derive(Clone, Debug)]
pub struct Ballots {
    config: Arc<BallotConfig>,
    /// Who votes: the first ones. The others observe.
    voters: usize,
    /// Held to what is not promised as well: that at most one leads.
    pub one_leader: bool,
    /// The model looks no further than this round of a life.
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

/// A ballot, as far as it orders: its number, and the place of its holder plus one.
type Rank = (u8, u8);

/// The highest number that the books have room for.
const ROOM: usize = 5;

/// What was said and done in one history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reigns {
    /// Whose life stood with a number: for each agent, by number.
    taken: [[u8; ROOM]; 3],
    trusted: [Rank; 3],
    led: [u8; 3],
    rounds: u8,
    numbers: u8,
    broken: Option<&'static str>,
}

impl Reigns {
    fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
    }

    fn trusts(&mut self, who: usize, ballot: Rank) {
        if ballot < self.trusted[who] {
            self.breaks("RisingTrust");
        }
        self.trusted[who] = ballot;
    }

    fn leads(&mut self, who: usize, term: u8, disk: &BallotRecord) {
        if term <= self.led[who] {
            self.breaks("RisingReign");
        }
        if u64::from(term) > disk.n {
            self.breaks("DiskFirst");
        }
        self.led[who] = term;
        self.trusts(who, (term, small(who) + 1));
    }

    /// `who` says in that round of its life how it stands.
    fn stands(
        &mut self,
        who: usize,
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
        if place(&ballot.id) != who {
            self.breaks("UniqueBallot");
        }
        let Some(round) = round else { return };
        let life = small(round.incarnation.0);
        let taken = &mut self.taken[who][usize::from(n).min(ROOM - 1)];
        if *taken != 0 && *taken != life {
            self.breaks("UniqueBallot");
        } else {
            *taken = life;
        }
    }
}

impl Rules for Ballots {
    type Election = Ballot;
    type Books = Reigns;

    fn config(&self) -> &Arc<BallotConfig> {
        &self.config
    }

    /// Rounds have numbers; nobody asks how long ago one was.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    fn note(&self, books: &mut Reigns, seen: &Seen<'_, Ballot>) {
        let who = seen.who;
        let nothing = BallotRecord::default();
        let disk = seen.disk.unwrap_or(&nothing);
        match seen.effect {
            Effect::Persist(record) if record.n < disk.n || record.max < disk.max => {
                books.breaks("RisingTrust");
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                books.leads(who, small(term.0), disk);
            }
            Effect::Notify(Event::NewLeader(leader)) => {
                let holder = place(&leader.id);
                let max = disk.max.as_ref().map(|max| (max.n, place(&max.id)));
                if who < self.voters && max < Some((leader.term.0, holder)) {
                    books.breaks("DiskFirst");
                }
                books.trusts(who, (small(leader.term.0), small(holder) + 1));
            }
            Effect::Send { message, .. } => match message {
                BallotMessage::HeartbeatRequest(request) => {
                    books.rounds = books.rounds.max(small(request.round.counter));
                    books.stands(who, &request.standing, disk, Some(request.round));
                }
                BallotMessage::HeartbeatReply(reply) => {
                    books.stands(who, &reply.standing, disk, None);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        let is_alone = |(who, _): (usize, u64)| {
            world
                .machine(who)
                .is_some_and(|machine| !machine.is_connected())
        };
        if self.one_leader && world.believers().nth(1).is_some() {
            return Some("at most one leads");
        }
        let isolated = world.believers().any(is_alone).then_some("MajorityHeard");
        world.books.broken.or(isolated)
    }

    fn is_within(&self, books: &Reigns) -> bool {
        books.rounds <= self.rounds && books.numbers <= self.numbers
    }
}

fn small(number: impl TryInto<u8>) -> u8 {
    number.try_into().unwrap_or(u8::MAX)
}
