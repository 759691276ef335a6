//! Counts the messages of an election exactly, and measures its duration.
//!
//! Every message takes the same time, and nothing fails. An election begins in a ring that has a leader, because no
//! member then begins an election by itself.

use std::time::Duration;

use actix_bully::{elections::ring::Ring, protocol::Time, testkit::faults::Conditions};
use bully_sim::sim::World;

use crate::ring::kit::{MS, builder, config, names, sent, settles};

const DELAY: Duration = Duration::from_millis(7);

/// Returns a ring with these scores in which one member leads.
fn led_by(scores: &[i32]) -> World<Ring> {
    let world = builder(1, scores, &config());
    let mut world = world.conditions(Conditions::delayed(DELAY)).build();
    settles(&mut world);
    world
}

/// Returns the numbers of `Collect`, `Nominate` and `Coordinator` messages, and of their acknowledgements.
fn counted(world: &World<Ring>) -> [u64; 4] {
    ["collect", "nominate", "coordinator", "hop_ack"].map(|kind| sent(world, kind))
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
            let world = builder(1, &scores, &config());
            let mut world = world.conditions(Conditions::delayed(DELAY)).build();
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
