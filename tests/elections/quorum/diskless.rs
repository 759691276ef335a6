//! Tests of voters without disks: one voter restarts, two restart, all restart, or all restart again while they
//! abstain; clocks are wrong. The oracle checks every invariant after every step.

use std::time::Duration;

use actix_bully::{
    protocol::{AgentId, Term},
    testkit::faults::Conditions,
};
use actix_bully_oracles::{QuorumScenario, Watched};
use bully_sim::{
    sim::{Participant, World},
    trace::Trace,
};

use crate::quorum::kit::{Group, Net, P, ms};

/// Reading of the wall clocks when a history begins, in milliseconds.
const DAY: u64 = 90_000_000_000;

/// Time for which a voter abstains after a restart: (P + E) (1 + r) / (1 - r), rounded up, in milliseconds.
const ABSTAINS: u64 = 163;

/// Returns a group of `n` voters. The wall clock of a voter's host differs from the right time by its entry in `wrong`,
/// in milliseconds.
pub(crate) fn world(n: i32, seed: u64, ppm: &[i32], wrong: &[i64]) -> Net {
    let group = Group::of(n).sticky();
    let has_right_clocks = ppm.is_empty() && wrong.is_empty();
    let scenario = QuorumScenario::without_disks(&group.config(), has_right_clocks);
    let voters = group.names().into_iter().enumerate().map(|(at, id)| {
        let offset = 1_000 * u64::try_from(at).unwrap();
        let wrong = wrong.get(at).copied().unwrap_or(0);
        let wall = (DAY - offset).saturating_add_signed(wrong);
        Participant {
            clock_offset: ms(offset),
            clock_ppm: ppm.get(at).copied().unwrap_or(0),
            ..Participant::voter(id, Some(1.into()), scenario.watch().on_host(wall))
        }
    });
    let voters: Vec<_> = voters.collect();
    let conditions = Conditions::builder().delay(Duration::from_micros(100)..=ms(1));
    let world = World::builder(seed)
        .agents(voters)
        .trace(Trace::new().with_repeated())
        .conditions(conditions.build().unwrap());
    Net::new(world.build(), scenario)
}

/// Returns a group in which the clock of the voter with the highest rank is a year ahead.
pub(crate) fn a_year_ahead() -> Net {
    world(3, 1, &[], &[0, 0, 365 * 86_400_000])
}

/// Returns a group in which `b` voted for `c`, whose clock is ahead, and has forgotten this vote. `b` reaches `a`,
/// which never knew of the vote.
pub(crate) fn forgotten_vote() -> Net {
    let mut net = world(3, 1, &[], &[0, 0, 9_000]);
    let (leader, first) = led_within(&mut net, start(3));
    assert_eq!(leader.as_str(), "c");
    net.world.partition([["a"], ["b"], ["c"]]);
    net.run(400);
    net.world.partition([["b", "c"]]);
    net.run(300);
    let second = net.world.view("c").and_then(|view| view.leading);
    assert!(second > first.next(), "by the clock");
    restart(&mut net, &["b"]);
    net.world.partition([["a", "b"]]);
    net
}

/// Returns the longest time until a group has its first leader.
pub(crate) fn start(n: i32) -> Duration {
    let group = Group::of(n);
    let scenario = QuorumScenario::without_disks(&group.config(), true);
    let above = u32::try_from(n - 1).unwrap();
    scenario.sound().worst_case_start(above)
}

/// Waits at most `limit` until an agent leads. Returns the leader and its term.
#[track_caller]
pub(crate) fn led_within(net: &mut Net, limit: Duration) -> (AgentId, Term) {
    let led = net
        .world
        .run_until(|world| !world.believers().is_empty(), limit);
    assert!(led, "no leader within {limit:?}: {:?}", net.world);
    net.run(30); // all agents have heard of the leader
    // A voter that voted for a rival a moment before follows the leader when its promise has ended.
    net.world
        .run_until(|world| world.agreed().is_some(), ms(150));
    let leader = net.leader();
    (leader.id, leader.term)
}

pub(crate) fn restart(net: &mut Net, names: &[&str]) {
    for name in names {
        assert!(net.world.crash(name));
    }
    for name in names {
        assert!(net.world.restart(name));
    }
}

#[test]
fn a_group_begins_within_its_formula_whatever_its_clocks() {
    let mut longest = Duration::ZERO;
    for seed in 0..60 {
        for n in [1, 2, 3, 5] {
            for ppm in [
                [0; 5],
                [-110_000; 5],
                [110_000, -110_000, 0, -110_000, 110_000],
            ] {
                let mut net = world(n, seed, &ppm, &[]);
                led_within(&mut net, start(n));
                longest = longest.max(net.world.now().since(actix_bully::protocol::Time::ZERO));
            }
        }
    }
    println!("longest {longest:?} of {:?}", start(5));
}

/// A majority remembers the last term, or the clocks agree. In both cases the next leader has a higher term.
#[test]
fn whoever_restarts_at_once_the_next_leader_has_a_higher_term() {
    let all: &[&str] = &["a", "b", "c"];
    // The voters that restart, and the number of times. Each further restart comes before the voter has abstained to
    // the end.
    for (what, names, times, limit) in [
        ("the leader", None, 1, start(3)),
        ("two of three", Some(&["a", "c"][..]), 1, start(3) + ms(P)),
        ("all", Some(all), 1, start(3)),
        ("all, again while they abstain", Some(all), 3, start(3)),
    ] {
        for seed in 0..30 {
            println!("{what}, seed {seed}");
            let mut net = world(3, seed, &[], &[]);
            let (leader, before) = led_within(&mut net, start(3));
            for time in 0..times {
                restart(&mut net, names.unwrap_or(&[leader.as_str()]));
                if times > 1 {
                    net.run(ABSTAINS - 1);
                    let none = net.believers().is_empty();
                    assert!(none, "{what}, {time}: each begins to wait anew");
                } else if names.is_some() {
                    net.run(1);
                    let none = |world: &World<Watched>| world.believers().is_empty();
                    let ends = net.world.run_until(none, limit);
                    assert!(ends, "{what}: too few support the leader");
                }
            }
            let (_, after) = led_within(&mut net, limit);
            assert!(
                after > before,
                "{what}, seed {seed}: {after} after {before}"
            );
        }
    }
}

/// The voter abstains and asks the other voters, so it does not repeat a vote that it forgot.
#[test]
fn a_voter_that_forgot_its_vote_elects_nobody() {
    let mut net = forgotten_vote();
    net.world.run_for(ms(2_000));
    assert_eq!((net.world.violation(), net.believers()), (None, vec![]));
}

#[test]
fn a_voter_whose_clock_is_a_year_ahead_leads_in_terms_by_the_others_clocks() {
    assert!(leads_by_the_others_clocks(&mut a_year_ahead()));
}

/// Returns whether `c` leads three seconds later, in a term that the clocks of the other voters allow.
pub(crate) fn leads_by_the_others_clocks(net: &mut Net) -> bool {
    net.world.run_for(ms(3_000));
    assert_eq!(net.world.violation(), None);
    let led = net.world.view("c").and_then(|view| view.leading);
    led.is_some_and(|term| term < Term(DAY + 60_000))
}
