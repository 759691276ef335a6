//! Tests of the ring election in a simulated world: scenarios 33 to 35, counts of messages and durations against their
//! formulas, and the bound on a list that a peer sends.
//!
//! Members are `a`, `b`, … in the order of the ring. Every message takes the same time, and nothing fails, except in the
//! scenarios. An election begins in a ring that has a leader, because no member then begins an election by itself.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "what does not hold fails the test"
)]

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::{AgentId, Score, Term, Time},
    testkit::faults::Conditions,
};
use bully_classics::ring::{Bounded, MOST};
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::{Checkpoint, Trace, What},
};

const MS: fn(u64) -> Duration = Duration::from_millis;
/// The bound d on delays in the default timings.
const D: Duration = Duration::from_millis(40);
/// Delay of every message.
const DELAY: Duration = Duration::from_millis(7);

/// Returns the names of `n` members, in the order of the ring.
fn names(n: usize) -> Vec<AgentId> {
    let name = |name: char| name.to_string().parse().unwrap();
    ('a'..='z').take(n).map(name).collect()
}

/// Returns the default rules without jitter, so that the formulas are exact.
fn config() -> RingConfig {
    let timings = actix_bully::protocol::Timings::default().to_builder();
    let timings = timings.jitter(Duration::ZERO).build().unwrap();
    RingConfig::new(timings)
}

/// Returns a ring whose members have these scores, in order. Only silence shows a crash.
fn ring(scores: &[i32], config: &RingConfig) -> World<Ring> {
    let names = names(scores.len()).into_iter().zip(scores);
    let config = Arc::new(config.clone());
    World::builder(1)
        .agents(names.map(|(name, score)| {
            Participant::voter(name, Some(Score::from(*score)), Arc::clone(&config))
        }))
        .conditions(Conditions::delayed(DELAY))
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::new().with_repeated())
        .build()
}

/// Waits until only one member considers itself leader and all members follow it. Returns the leader.
#[track_caller]
fn settles(world: &mut World<Ring>) -> AgentId {
    let leader = world.settle(Duration::from_secs(60));
    leader.unwrap_or_else(|wrong| panic!("{wrong}\n{}", world.trace().to_text()))
}

/// Returns the number of messages of this kind that were sent so far.
fn sent(world: &World<Ring>, kind: &str) -> u64 {
    world.trace().count_of(kind).sent
}

/// Waits until `name` leads in a term above `term` and all members follow it. Returns the time that passed.
#[track_caller]
fn comes_to_lead_above(
    world: &mut World<Ring>,
    term: Term,
    name: &str,
    limit: Duration,
) -> Duration {
    let before = world.now();
    let agreed = |w: &World<Ring>| {
        let leader = w.agreed().filter(|_| w.is_calm());
        leader.is_some_and(|l| l.id == name && l.term > term)
    };
    let in_time = world.run_until(agreed, limit);
    assert!(in_time, "{name}: {}", world.trace().to_text());
    world.now().since(before)
}

/// Returns a ring with these scores in which one member leads.
fn led_by(scores: &[i32]) -> World<Ring> {
    let mut world = ring(scores, &config());
    settles(&mut world);
    world
}

/// Returns the numbers of `Collect`, `Nominate` and `Coordinator` messages, and of their acknowledgements.
fn counted(world: &World<Ring>) -> [u64; 4] {
    let counts = ["collect", "nominate", "coordinator", "hop_ack"].map(|kind| sent(world, kind));
    let all = world.trace().election_messages_since(Checkpoint::default());
    assert_eq!(
        counts.iter().sum::<u64>(),
        all,
        "another message has its cost"
    );
    counts
}

/// Returns the time at which the leader's last announcement returned to it.
fn led_since(world: &World<Ring>) -> Time {
    let leader = world.agreed().unwrap();
    world.events(&leader.id).last().unwrap().0
}

/// Lets `starters` begin at the same instant. Returns the numbers of messages and the duration of the election.
fn begun_by<N: AsRef<str>>(world: &mut World<Ring>, starters: &[N]) -> ([u64; 4], Duration) {
    let (before, begun) = (counted(world), world.now());
    for starter in starters {
        world.campaign(starter);
    }
    let leader = settles(world);
    let done = led_since(world);
    world.run_for(MS(1_000)); // no other election follows
    assert_eq!(settles(world), leader);
    let mut counts = counted(world);
    for (count, before) in counts.iter_mut().zip(before) {
        *count -= before;
    }
    (counts, done.since(begun))
}

#[test]
fn at_the_start_the_highest_goes_round_twice_and_no_other_begins() {
    for n in 2..=9_i32 {
        let scores: Vec<i32> = (1..=n).collect();
        let world = led_by(&scores);
        let n = u64::try_from(n).unwrap();
        assert_eq!(counted(&world), [n, 0, n, 2 * n]);
        assert_eq!(led_since(&world).as_nanos(), 2 * n * 7_000_000, "2 n d");
    }
}

/// The election takes n `Collect`, one `Nominate` for each hop from the origin to the winner, n `Coordinator`, and an
/// acknowledgement for each of these messages.
#[test]
fn one_initiator_takes_two_laps_and_its_distance_to_the_winner() {
    for n in 2..=9_i32 {
        let scores: Vec<i32> = (1..=n).collect();
        let mut distance = u64::try_from(n).unwrap();
        for starter in names(scores.len()).iter().take(scores.len() - 1) {
            distance -= 1;
            let mut world = led_by(&scores);
            let (counts, took) = begun_by(&mut world, &[starter]);
            let n = u64::try_from(n).unwrap();
            let hops = 2 * n + distance;
            assert_eq!(counts, [n, distance, n, hops], "n = {n}, from {starter}");
            assert_eq!(took, DELAY * u32::try_from(hops).unwrap());
            let members = scores.len();
            assert!(2 * hops <= config().worst_case_messages(members, 1));
            assert!(took <= config().worst_case_election(members, 0));
        }
    }
}

/// If the ranks fall along the ring, each token travels as far as possible before it meets a stronger member (the worst
/// case of Chang and Roberts). If the ranks rise, the first member that a token meets stops it, except for one token.
#[test]
fn where_all_begin_it_takes_n_n_plus_1_half_against_the_ranks_and_2_n_minus_1_along_them() {
    for members in 2..=9_i32 {
        let n = u64::try_from(members).unwrap();
        let along: Vec<i32> = (1..=members).collect();
        let against: Vec<i32> = along.iter().copied().rev().collect();
        for (scores, collects) in [(against, n * (n + 1) / 2), (along, 2 * n - 1)] {
            let mut world = ring(&scores, &config());
            world.run_for(Duration::ZERO);
            for name in names(scores.len()) {
                world.campaign(name); // the highest has begun by itself
            }
            settles(&mut world);
            assert_eq!(
                counted(&world),
                [collects, 0, n, collects + n],
                "{scores:?}"
            );
        }
    }
}

/// Plays every order of the ranks in a ring of five with every set of initiators.
#[test]
fn k_initiators_never_exceed_their_bound() {
    let names = names(5);
    let mut most = 0;
    for scores in permutations(&[1, 2, 3, 4, 5]) {
        for set in 1_u32..32 {
            let chosen = (0..).zip(&names).filter(|(bit, _)| set >> bit & 1 == 1);
            let starters: Vec<_> = chosen.map(|(_, name)| name).collect();
            let mut world = led_by(&scores);
            let (counts, _) = begun_by(&mut world, &starters);
            let [collects, nominations, announcements, acks] = counts;
            let all: u64 = counts.iter().sum();
            assert_eq!(collects + nominations + announcements, acks);
            let bound = config().worst_case_messages(5, starters.len());
            assert!(all <= bound, "{scores:?}, {starters:?}: {all} of {bound}");
            most = most.max(all);
        }
    }
    assert!(most > 35, "some of them meet late: {most}");
}

fn permutations(of: &[i32]) -> Vec<Vec<i32>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in of {
        let others: Vec<i32> = of.iter().copied().filter(|other| other != first).collect();
        for order in permutations(&others) {
            all.push([&[*first], order.as_slice()].concat());
        }
    }
    all
}

/// A heartbeat goes round the ring once per H, and each hop has an acknowledgement.
#[test]
fn a_heartbeat_costs_n_and_n_acknowledgements() {
    for n in 2..=9_u8 {
        let scores: Vec<i32> = (1..=i32::from(n)).collect();
        let mut world = led_by(&scores);
        let beats = 10;
        world.run_for(MS(180) * beats + MS(170)); // the last heartbeat completes its round
        let expected = u64::from(n) * u64::from(beats);
        assert_eq!(sent(&world, "beat"), expected);
        assert_eq!(sent(&world, "beat_ack"), expected);
        assert_eq!(sent(&world, "probe"), 0, "no member is skipped");
    }
}

/// Returns a ring whose members `dead` have just crashed. `starter` begins an election at this moment, without
/// knowledge of the crashes.
fn begins(scores: &[i32], dead: &[&str], starter: &str, config: &RingConfig) -> World<Ring> {
    let mut world = ring(scores, config);
    world.settle(MS(5_000)).unwrap();
    world.run_for(MS(60)); // no heartbeat is under way
    for name in dead {
        world.crash(name);
    }
    world.campaign(starter);
    world
}

#[test]
fn s33_two_adjacent_dead_members_cost_two_hops() {
    let once = RingConfig {
        sends: 1,
        hop: Some(D * 2 + MS(20)),
        ..RingConfig::default()
    };
    for config in [config(), once] {
        let mut world = begins(&[1, 2, 3, 4, 5, 6], &["c", "d"], "b", &config);
        let began = world.now();
        let took = comes_to_lead_above(&mut world, Term(1), "f", MS(10_000));
        // a, b, e and f are left. The token of b collects 4 entries, the nomination takes 2 hops, and f announces
        // itself over 4 hops. The last acknowledgement ends the election.
        let hops = 4 + 2 + 4 + 1;
        assert_eq!(took, config.hop() * 2 + DELAY * hops, "2 Hop and 11 d");
        assert!(took <= config.worst_case_election(6, 2));
        // Each dead member gets a message as often as the configuration sends it, and no more.
        let tries = lost_on(&world, &["c", "d"], began);
        assert_eq!(tries, usize::try_from(config.sends).unwrap() * 2);
    }
}

/// Returns the number of messages to `dead` since then, without probes and heartbeats.
fn lost_on(world: &World<Ring>, dead: &[&str], since: Time) -> usize {
    let entries = world.trace().entries().filter(|entry| entry.at >= since);
    let to_them = entries.filter(|entry| match &entry.what {
        What::Sent { message, .. } => {
            dead.contains(&message.to.as_str()) && message.kind != "probe" && message.kind != "beat"
        }
        _ => false,
    });
    to_them.count()
}

/// The next member closes the list in place of the origin, so no other election begins.
#[test]
fn s34_the_origin_dies_while_its_token_circulates() {
    for hops in 1..=4 {
        let mut world = led_by(&[1, 2, 3, 4, 5]);
        let (before, term) = (sent(&world, "collect"), world.view("a").unwrap().term);
        world.campaign("c");
        assert!(world.run_until(|w| sent(w, "collect") == before + hops, MS(5_000)));
        world.crash("c");
        let bound = config().worst_case_election(5, 1) + D * 2;
        comes_to_lead_above(&mut world, term, "e", bound);
        assert_eq!(world.agreed().unwrap().term, term.next().unwrap());
    }
}

/// The nomination returns without having met the winner, so another election begins at once.
#[test]
fn s35_the_winner_dies_before_its_nomination() {
    let mut world = led_by(&[1, 2, 3, 4, 5]);
    let (before, term) = (sent(&world, "collect"), world.view("a").unwrap().term);
    world.campaign("b");
    // `e` enters the list, passes it on and dies.
    assert!(world.run_until(|w| sent(w, "collect") == before + 4, MS(5_000)));
    world.crash("e");
    let bound = config().worst_case_election(5, 1) * 2;
    comes_to_lead_above(&mut world, term, "d", bound);
}

#[test]
fn a_list_beyond_its_bound_is_refused_when_it_is_read() {
    let read = |len| serde_json::from_value::<Bounded<u8>>(vec![0; len].into());
    assert!(read(MOST).is_ok());
    let refused = read(MOST + 1).unwrap_err().to_string();
    let bound = format!("a list of at most {MOST} items");
    assert!(refused.contains(&bound), "{refused}");
}
