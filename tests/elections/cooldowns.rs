//! An agent that stepped down a short while ago lets others go first; how long may a group be without a
//! leader for that? The same questions to every election that has a cool-down, against the bound that is
//! stated beside its `cooldown`.
//!
//! Agents are `a`, `b`, … and the last has the highest rank. A cool-down is 60 s, so that one that waits
//! for its end is far beyond any bound.
#![expect(clippy::unwrap_used, reason = "what does not hold fails the test")]

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        invitation::{InvitationConfig, InvitationElection},
        quorum::QuorumConfig,
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Score, Timings},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::{
        bully::{Bully, BullyConfig},
        quorum::QuorumBully,
    },
    protocol::Election,
};
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::Trace,
};

const MS: fn(u64) -> Duration = Duration::from_millis;
const SEEDS: std::ops::Range<u64> = 0..20;
/// A failure of its own, after what came before it has settled.
const LATER: Duration = Duration::from_secs(2);

fn timings() -> Timings {
    Timings::in_process()
}

fn id(name: &str) -> AgentId {
    name.parse().unwrap()
}

/// One election, and what it promises.
struct Rules<E: Election> {
    config: E::Config,
    /// A voter that is never elected, where two could not elect.
    witness: bool,
    /// From the silent death of the leader of so many voters until all others agree on the next, if
    /// no agent cools down.
    failover: fn(&E::Config, usize) -> Duration,
    /// By how much a cool-down may delay that, where all that are left cool down.
    delay: fn() -> Duration,
}

impl<E: Election> Rules<E> {
    /// `n` voters of which the last leads.
    fn led(&self, seed: u64, n: usize, detection: Detection) -> World<E> {
        let voter = |(name, score): (char, Option<i32>)| {
            let (id, score) = (id(&name.to_string()), score.map(Score::from));
            Participant::voter(id, score, self.config.clone())
        };
        let scores = (1..=i32::try_from(n).unwrap()).map(Some);
        let witness = self.witness.then(|| voter(('w', None)));
        let delay = MS(1)..=timings().delay_bound();
        let mut world = World::builder(seed)
            .agents(('a'..).zip(scores).map(voter).chain(witness))
            .conditions(Conditions::builder().delay(delay).build().unwrap())
            .detection(detection)
            .trace(Trace::new())
            .build();
        let top = id(&('a'..).nth(n - 1).unwrap().to_string());
        comes_to_lead(&mut world, &top, LATER);
        world.run_for(LATER); // and has heard all others
        world
    }

    /// One leads, and all agree, within the bound.
    fn has_a_leader(&self, world: &mut World<E>, n: usize, delay: Duration) -> AgentId {
        let bound = (self.failover)(&self.config, n).saturating_add(delay);
        let agreed = |w: &World<E>| w.is_calm() && w.agreed().is_some();
        let in_time = world.run_until(agreed, bound);
        assert!(in_time, "{bound:?}\n{}", world.trace().to_text());
        assert_eq!(world.violation(), None);
        world.agreed().unwrap().id
    }

    /// The leader dies, and no agent is told. The only other one cools down; the dead is no company.
    fn the_dead_are_no_company(&self, delay: Duration) {
        for seed in SEEDS {
            let mut world = self.led(seed, 2, Detection::Silent(Duration::ZERO.into()));
            step_down(&mut world, "b", "a");
            world.run_for(LATER);
            assert_eq!(world.believers(), ["a"], "b cools down");
            world.crash("a");
            let leader = self.has_a_leader(&mut world, 2, delay);
            assert_eq!(leader, "b");
        }
    }

    /// All that are left cool down, and one of these leads.
    fn all_cool_down(&self, next: &[&str]) {
        for detection in [Detection::Certain, Detection::Suspect, Detection::Silent] {
            for seed in SEEDS {
                let mut world = self.led(seed, 3, detection(Duration::ZERO.into()));
                step_down(&mut world, "c", "b");
                world.run_for(LATER);
                step_down(&mut world, "b", "a");
                world.run_for(LATER);
                assert_eq!(world.believers(), ["a"]);
                world.crash("a");
                let leader = self.has_a_leader(&mut world, 3, (self.delay)());
                assert!(next.contains(&leader.as_str()), "{leader}");
            }
        }
    }

    /// The only other one has stepped down just before.
    fn both_step_down(&self) {
        for seed in SEEDS {
            let mut world = self.led(seed, 2, Detection::default());
            step_down(&mut world, "b", "a");
            world.run_for(LATER);
            assert!(world.step_down("a", None));
            let resigned = |w: &World<E>| w.believers().is_empty();
            assert!(world.run_until(resigned, LATER));
            self.has_a_leader(&mut world, 2, (self.delay)());
        }
    }

    /// One that does not cool down goes first, though the one that does has the higher rank.
    fn others_go_first(&self) {
        for detection in [Detection::Certain, Detection::Silent] {
            for seed in SEEDS {
                let mut world = self.led(seed, 3, detection(Duration::ZERO.into()));
                step_down(&mut world, "c", "b");
                world.run_for(LATER);
                world.crash("b");
                let leader = self.has_a_leader(&mut world, 3, (self.delay)());
                assert_eq!(leader, "a");
                world.run_for(LATER);
                assert_eq!(world.believers(), ["a"], "and c cools down still");
            }
        }
    }
}

#[track_caller]
fn comes_to_lead<E: Election>(world: &mut World<E>, name: &AgentId, limit: Duration) {
    let agreed = |w: &World<E>| w.is_calm() && w.agreed().is_some_and(|leader| leader.id == *name);
    let in_time = world.run_until(agreed, limit);
    assert!(in_time, "{name}\n{}", world.trace().to_text());
}

#[track_caller]
fn step_down<E: Election>(world: &mut World<E>, name: &str, to: &str) {
    assert!(world.step_down(name, Some(id(to))));
    comes_to_lead(world, &id(to), LATER);
}

/// Eight places more in line.
fn places() -> Duration {
    timings().step() * 8
}

fn bully() -> Rules<Bully> {
    Rules {
        config: Arc::new(BullyConfig {
            timings: timings(),
            ..BullyConfig::default()
        }),
        witness: false,
        failover: |config, n| {
            let silent = u32::try_from(n - 2).unwrap();
            config.timings.worst_case_failover(silent).unwrap()
        },
        delay: || places() + timings().deadline() + timings().delay_bound() * 2,
    }
}

fn ring() -> Rules<Ring> {
    Rules {
        config: Arc::new(RingConfig::new(timings())),
        witness: false,
        failover: |config, n| config.worst_case_failover(n, n - 1),
        delay: places,
    }
}

fn reorganization() -> Rules<Reorganization> {
    Rules {
        config: Arc::new(ReorganizationConfig::new(timings())),
        witness: false,
        failover: |config, _| config.worst_case_failover(),
        delay: || places() * 2 + timings().victory_wait() + timings().jitter(),
    }
}

fn invitation() -> Rules<InvitationElection> {
    Rules {
        config: Arc::new(InvitationConfig::new(timings())),
        witness: false,
        failover: |config, n| config.worst_case_failover(u32::try_from(n - 2).unwrap()),
        delay: || places() + timings().victory_wait(),
    }
}

fn quorum(n: usize) -> Rules<QuorumBully> {
    let voters = ('a'..).take(n).map(|name| id(&name.to_string()));
    let witness = (n == 2).then(|| id("w"));
    let config = QuorumConfig {
        timings: timings(),
        ..QuorumConfig::new(voters.chain(witness))
    };
    Rules {
        config: Arc::new(config),
        witness: n == 2,
        failover: |config, n| {
            let above = u32::try_from(n - 2).unwrap();
            timings().worst_case_quorum_failover(above) + config.wait()
        },
        delay: places,
    }
}

#[test]
fn the_dead_leader_is_no_company_to_one_that_cools_down() {
    ring().the_dead_are_no_company(Duration::ZERO);
    reorganization().the_dead_are_no_company(Duration::ZERO);
    invitation().the_dead_are_no_company(Duration::ZERO);
    let bully = bully();
    bully.the_dead_are_no_company((bully.delay)()); // it asks in the last slot all the same
    quorum(2).the_dead_are_no_company(places());
}

#[test]
fn all_that_are_left_cool_down_and_one_leads_within_the_bound() {
    bully().all_cool_down(&["c"]); // among those that cool down the rank counts
    ring().all_cool_down(&["c"]);
    reorganization().all_cool_down(&["c"]);
    invitation().all_cool_down(&["c"]);
    // A leader is told no score by one that cools down, so that it names no such successor: after it has
    // stepped down itself, it does not know whether it goes second.
    quorum(3).all_cool_down(&["b", "c"]);
}

#[test]
fn two_step_down_one_after_the_other_and_one_leads_within_the_bound() {
    bully().both_step_down();
    ring().both_step_down();
    reorganization().both_step_down();
    invitation().both_step_down();
    quorum(2).both_step_down();
}

#[test]
fn an_agent_that_does_not_cool_down_goes_first() {
    bully().others_go_first();
    ring().others_go_first();
    reorganization().others_go_first();
    invitation().others_go_first();
    quorum(3).others_go_first();
}
