//! "Leaders at once", and "two leaders in one term".

use std::{collections::BTreeSet, ops::Range, time::Duration};

use actix_bully::{
    elections::AnyBully,
    protocol::{Term, Timings},
};
use actix_bully_oracles::{AstraScenario, BullyScenario, QuorumScenario};
use bully_core::protocol::Election;
use bully_sim::sim::{
    Violation, World,
    chaos::{ChaosOptions, Contested, Fault, Scenario, chaos},
};

use crate::promises::{
    kit::{Mode, available, names, size},
    partition::{ask, divided},
};

fn options(mode: Mode, faults: &[Fault]) -> ChaosOptions {
    ChaosOptions {
        faults_for: Duration::from_secs(if mode == Mode::Astra { 20 } else { 4 }),
        faults: faults.to_vec(),
        ..ChaosOptions::default()
    }
}

/// Returns whether the history ended because terms fell. The rules of ASTRA compare no terms, so this is no fault (see
/// `Event`).
pub(crate) fn goes_back(violation: Option<&Violation>) -> bool {
    violation.is_some_and(|v| v.what.starts_with("NewLeader in a lower term"))
}

/// Returns for how long two agents led at once in the histories of `seeds` seeds. Panics if a history breaks its
/// promise.
fn contested(mode: Mode, seeds: u64, faults: &[Fault], longest: Option<Duration>) -> Contested {
    let options = ChaosOptions {
        contested_for: longest,
        ..options(mode, faults)
    };
    let mut all = Contested::default();
    for seed in 0..seeds {
        let n = size(seed);
        let report = if mode == Mode::Astra {
            chaos(seed, n, &options, &mut AstraScenario::default())
        } else {
            chaos(seed, n, &options, &mut BullyScenario::new(available()))
        };
        let broken = report.violation.as_ref();
        let broken = broken.filter(|_| mode != Mode::Astra || !goes_back(broken));
        assert_eq!(broken, None);
        all.times += report.contested.times;
        all.longest = all.longest.max(report.contested.longest);
    }
    all
}

fn newcomers_disturb(mode: Mode, seeds: u64) {
    let newcomers = [Fault::Campaign, Fault::Join, Fault::Leave];
    let two = contested(mode, seeds, &newcomers, None);
    assert!(
        two.times > 0,
        "a newcomer never disturbs: the promise is too weak"
    );
}

pub(crate) fn available_within_the_delay_bound() {
    let longest = Mode::Available.timings().delay_bound() * 2;
    let two = contested(Mode::Available, 300, &BullyScenario::BOUNDED, Some(longest));
    assert!(
        two.times > 0,
        "two agents never lead at once: the promise is too weak"
    );
    newcomers_disturb(Mode::Available, 100);
}

pub(crate) fn astra_within_the_delay_bound() {
    let two = contested(Mode::Astra, 900, &BullyScenario::BOUNDED, None);
    assert_eq!(two.times, 0);
    newcomers_disturb(Mode::Astra, 300);
}

/// Checks that no history breaks an invariant, and that at most one agent leads at every instant.
pub(crate) fn one_leads<S: Scenario>(
    seeds: Range<u64>,
    faults: &[Fault],
    skew: fn(u64) -> u32,
    scenario: fn(u64) -> (usize, S),
) {
    for seed in seeds {
        let (agents, mut scenario) = scenario(seed);
        let options = ChaosOptions {
            skew: skew(seed),
            ..options(Mode::Quorum, faults)
        };
        let report = chaos(seed, agents, &options, &mut scenario);
        assert_eq!((report.violation, report.contested.times), (None, 0));
    }
}

fn drawn(seed: u64) -> (usize, QuorumScenario) {
    let n = size(seed);
    (n, QuorumScenario::drawn(seed, n).unwrap())
}

pub(crate) fn quorum_within_the_delay_bound() {
    one_leads(0..150, &BullyScenario::BOUNDED, |_| 0, drawn);
}

/// Checks voters without disks. If clocks agree, terms increase for ever; else while a majority of the voters
/// remembers.
fn diskless(seeds: Range<u64>, faults: &[Fault]) {
    one_leads(seeds, faults, QuorumScenario::diskless_skew, |seed| {
        let n = size(seed);
        (n, QuorumScenario::diskless(seed, n).unwrap())
    });
}

pub(crate) fn diskless_within_the_delay_bound() {
    diskless(0..100, &BullyScenario::BOUNDED);
}

pub(crate) fn diskless_on_any_network() {
    diskless(0..100, &Fault::ALL);
}

pub(crate) fn diskless_shares_no_term_while_a_majority_remembers() {
    diskless(1_000..1_060, &Fault::ALL);
}

/// Two agents lead where messages are slow or lost, or an agent hangs. The rows of the partition show the leader of
/// each side.
pub(crate) fn available_on_any_network() {
    for fault in [Fault::LongDelay, Fault::Loss, Fault::Pause] {
        let two = contested(Mode::Available, 100, &[fault], None);
        assert!(two.times > 0, "{fault}: the promise is too weak");
    }
}

pub(crate) fn astra_on_any_network() {
    let slow = [Fault::LongDelay, Fault::Campaign];
    let two = contested(Mode::Astra, 300, &slow, None);
    assert!(two.times > 0, "the promise is too weak");
    for seed in 0..20 {
        let mut world = Mode::Astra.led(seed, 3);
        world.pause("c");
        world.campaign("b");
        world.run_for(Mode::Astra.timings().victory_wait() * 2);
        assert_eq!(
            world.believers(),
            names(3)[1..],
            "one believer hangs, the other one leads"
        );
    }
}

/// Checks all faults, with every clock wrong by up to 11 %.
pub(crate) fn quorum_on_any_network() {
    one_leads(0..150, &Fault::ALL, |_| 110_000, drawn);
    assert!(
        clocks_that_err(400_000, led_quorum).0 > 0,
        "the clocks do not matter"
    );
    assert_eq!(clocks_that_err(110_000, led_quorum).0, 0);
}

/// Isolates a leader with a slow clock from agents with fast clocks. Returns how often two agents considered themselves
/// leader at once, and how often in one term.
pub(crate) fn clocks_that_err<E: Election>(
    ppm: i32,
    led: fn(u64, usize) -> World<E>,
) -> (u32, u32) {
    let (mut two, mut in_one_term) = (0, 0);
    for seed in 0..40 {
        let mut world = led(seed, 5);
        for name in names(5) {
            world.set_clock_rate(&name, if name == "e" { -ppm } else { ppm });
        }
        world.run_for(Duration::from_millis(100));
        world.isolate("e");
        two += u32::from(world.run_until(World::is_contested, Duration::from_secs(2)));
        in_one_term += u32::from(is_shared(&world));
    }
    (two, in_one_term)
}

fn led_quorum(seed: u64, n: usize) -> World<AnyBully> {
    Mode::Quorum.led(seed, n)
}

/// Returns whether two agents consider themselves leader in the same term.
fn is_shared<E: Election>(world: &World<E>) -> bool {
    let terms = || world.beliefs().map(|(_, term)| term);
    terms().collect::<BTreeSet<Term>>().len() < terms().count()
}

pub(crate) fn available_shares_a_term() {
    let shared = (0..60).any(|seed| is_shared(&divided(Mode::Available, seed).0));
    assert!(shared, "the promise is too weak");
}

pub(crate) fn astra_shares_a_term() {
    let shared = (0..60).any(|seed| {
        let (mut world, sides) = divided(Mode::Astra, seed);
        ask(&mut world, &sides, seed);
        is_shared(&world)
    });
    assert!(shared, "the promise is too weak");
}

/// Checks the invariants over all incarnations and faults, and that no wrong clock leads to two leaders in one term.
pub(crate) fn quorum_shares_no_term() {
    one_leads(1_000..1_080, &Fault::ALL, |_| 0, drawn);
    assert_eq!(clocks_that_err(400_000, led_quorum).1, 0);
}

fn believes<E: Election>(world: &World<E>) -> bool {
    world.believers().iter().any(|one| *one == "e")
}

/// Lets the leader of five agents hang. It considers itself leader until the time that its view names, and not at that
/// time.
fn says_no_within<E: Election>(longest: Duration, led: impl Fn(u64) -> World<E>) {
    for seed in 0..20 {
        let mut world = led(seed);
        world.pause("e");
        let (view, now) = (world.view("e").unwrap(), world.reading("e").unwrap());
        let left = view.valid_until.since(now);
        assert!(left <= longest, "seed {seed}: {left:?}");
        world.run_for(left.saturating_sub(Duration::from_nanos(1)));
        assert!(believes(&world), "seed {seed}");
        world.run_for(Duration::from_nanos(1));
        assert!(!believes(&world), "seed {seed}");
    }
}

pub(crate) fn available_ends_with_its_steps() {
    let detector = Mode::Available.timings().detector().unwrap();
    says_no_within(detector.detection, |seed| Mode::Available.led(seed, 5));
}

pub(crate) fn astra_does_not_notice_that_it_hangs() {
    let mut world = Mode::Astra.led(1, 5);
    world.pause("e");
    world.run_for(Duration::from_secs(3_600));
    assert!(believes(&world));
}

/// Checks an election with the timings `lan`.
pub(crate) fn ends_with_its_lease<E: Election>(led: impl Fn(u64) -> World<E>) {
    says_no_within(Timings::lan().lease(), led);
}
