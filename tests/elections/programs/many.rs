//! Faults of the ASTRA rules that show over many seeds.

use std::{sync::Arc, time::Duration};

use actix_bully::testkit::faults::Conditions;
use bully_core::{elections::astra::Astra, protocol::Election};
use bully_sim::sim::{TermOrder, World};

use super::builder;
use crate::support::astra::{AsWritten, Participants};

/// Returns the world two minutes after the lowest of n agents has begun. A message takes up to `longest`.
fn played<E: Election>(config: &E::Config, seed: u64, n: i32, longest: Duration) -> World<E> {
    let delays = Conditions::builder().delay(Duration::ZERO..=longest);
    let scores: Vec<i32> = (1..=n).collect();
    let builder = builder(seed, 'a', &scores, config).conditions(delays.build().unwrap());
    let mut world = builder.term_order(TermOrder::Any).build();
    world.run_for(Duration::ZERO);
    world.campaign("a");
    world.run_for(Duration::from_secs(120));
    assert_eq!(world.violation().map(ToString::to_string), None);
    world
}

/// An agent that was told ok starts again and again. By the rules as written agent k may begin 2^(k - 1) times; by this
/// crate's rules it begins once, and an election takes 1.5 n (n - 1) messages.
#[test]
fn fault_6_multiplies_with_every_agent_more() {
    for (n, least) in [(5, 30), (10, 300), (14, 1_500)] {
        let mut sum = 0;
        for seed in 0..20 {
            let longest = Duration::from_millis(500);
            let ours = played::<Astra>(&Arc::default(), seed, n, longest)
                .tally()
                .sent;
            assert_eq!(
                ours,
                u64::try_from(3 * n * (n - 1) / 2).unwrap(),
                "seed {seed}"
            );
            sum += played::<AsWritten>(&Participants::All, seed, n, longest)
                .tally()
                .sent;
        }
        assert!(sum / 20 > least, "{n} agents: {}", sum / 20);
    }
}

/// No rules can promise agreement if delays exceed the deadline of 2 s. By the rules as written, hardly any group
/// agrees on one leader then. By this crate's rules, nearly every group does.
#[test]
fn fault_10_delays_above_the_deadline_leave_no_agreed_leader() {
    let (written, ours) = without_one_leader(3_000);
    assert!(
        written > 400 && ours < 25,
        "{written} as written, {ours} here"
    );
    let (written, ours) = without_one_leader(900);
    assert_eq!(ours, 0, "less than half the deadline");
    assert!(written > 50, "{written}, by an old intention");
    assert_eq!(without_one_leader(500), (0, 0));
}

/// Returns the number of groups without one agreed leader, of 500 groups of five agents in which every message takes up
/// to `longest` milliseconds: by the rules as written, and by this crate's rules.
fn without_one_leader(longest: u64) -> (u32, u32) {
    fn agree(world: &World<AsWritten>) -> bool {
        let mut believed = world.agents().filter_map(|id| world.machine(id));
        let first = believed.next().map(AsWritten::leaders);
        world.believers().len() == 1 && believed.all(|agent| Some(agent.leaders()) == first)
    }
    let longest = Duration::from_millis(longest);
    let (mut written, mut ours) = (0, 0);
    for seed in 0..500 {
        written += u32::from(!agree(&played(&Participants::All, seed, 5, longest)));
        let world = played::<Astra>(&Arc::default(), seed, 5, longest);
        ours += u32::from(world.agreed().is_none());
    }
    (written, ours)
}
