//! Plays the same stories by the gossip leader election as written and by this crate's ballot election.
//! `tests/elections/ballot/written.rs` has more of its faults.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ballot::{Ballot, BallotConfig},
    protocol::{Event, Timings},
};
use bully_core::protocol::Election;
use bully_sim::{sim::World, trace::Trace};

use crate::traces::{
    ble,
    kit::{DELAY, Story, golden, seconds, with_beliefs, world},
};

/// Δ of the ballot election, as written and in this crate.
const ROUND: Duration = Duration::from_millis(50);

fn ballots(scores: &[i32]) -> World<Ballot> {
    let voters = ('a'..).take(scores.len());
    let voters = voters.map(|name| name.to_string().parse().unwrap());
    let config = BallotConfig {
        timings: Timings::lan(),
        round: Some(ROUND),
        ..BallotConfig::new(voters)
    };
    world(scores, &Arc::new(config))
}

/// Plays a story by the gossip leader election as written and by this crate's ballot election.
fn gossip(
    name: &str,
    scores: &[i32],
    old: Story<ble::AsWritten>,
    new: Story<Ballot>,
) -> (World<ble::AsWritten>, World<Ballot>) {
    let mut written: World<ble::AsWritten> = world(scores, &ROUND);
    old(&mut written);
    let said = written.agents().filter_map(|id| {
        let machine = written.machine(id)?;
        let (times, delay) = (machine.triggered(), machine.delay());
        Some(format!(
            "{id} said so {times} times, in rounds of {delay:?}\n"
        ))
    });
    let text = with_beliefs(&written) + &said.collect::<String>();
    golden(&format!("{name}.as-written"), &text);
    let mut ours = ballots(scores);
    new(&mut ours);
    assert_eq!(ours.violation().map(ToString::to_string), None);
    golden(&format!("{name}.ballot"), &with_beliefs(&ours));
    (written, ours)
}

/// Returns the number of leaderships of an agent.
fn led<E: Election>(world: &World<E>, agent: &str) -> usize {
    let acquired = |(_, event): &&(_, Event)| matches!(event, Event::Acquired { .. });
    world.events(agent).iter().filter(acquired).count()
}

#[test]
fn ble_an_even_split_elects_on_both_sides() {
    fn story<E: Election>(world: &mut World<E>) {
        world.partition([["a", "b"], ["c", "d"]]);
        seconds(world, 1);
        world.heal();
        seconds(world, 1);
    }
    let (written, ours) = gossip("ble-even-split", &[1, 2, 3, 4], story, story);
    assert_eq!([led(&written, "b"), led(&written, "d")], [1, 1]);
    assert_eq!([led(&ours, "b"), led(&ours, "d")], [0, 1], "after the heal");
}

#[test]
fn ble_an_isolated_leader_leads_for_ever() {
    fn story<E: Election>(world: &mut World<E>) {
        seconds(world, 1);
        world.isolate("c");
        seconds(world, 2);
    }
    let (written, ours) = gossip("ble-isolated-leader", &[1, 2, 3], story, story);
    assert_eq!(written.believers(), ["b", "c"]);
    assert_eq!(ours.believers(), ["b"]);
}

#[test]
fn ble_the_ends_of_a_chain_push_each_other_off() {
    fn story<E: Election>(world: &mut World<E>) {
        seconds(world, 1);
        world.cut("a", "c");
        world.run_for(ROUND * 10);
    }
    let (written, ours) = gossip("ble-chain", &[1, 2, 3], story, story);
    assert_eq!([led(&written, "a"), led(&written, "c")], [3, 3]);
    assert_eq!([led(&ours, "a"), led(&ours, "c")], [0, 1]);
}

/// The text has every message of the first two rounds. No agent announces itself; all agents ask.
#[test]
fn gossip_elects_without_an_announcement() {
    let mut world = ballots(&[1, 2, 3]);
    *world.trace_mut() = Trace::new().with_repeated();
    world.run_for(ROUND + DELAY * 2);
    assert_eq!(world.agreed().unwrap().id, "c");
    golden("two-rounds.ballot", &with_beliefs(&world));
}
