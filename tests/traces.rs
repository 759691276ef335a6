//! Golden traces: what the agents say to each other, fault by fault, as written and repaired.
//!
//! The texts are in `tests/traces/`; `BLESS=1 cargo test --test traces` rewrites them. The faults
//! are those of the ASTRA seed; `*.as-written.txt` shows its rules to the letter, `*.strict.txt`
//! the strict profile on the same story, and `*.swift.txt` the default one. `ble-*` are the faults of
//! the gossip leader election, and `*.ballot.txt` what became of them; `*.ring.txt`
//! is the ring election.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        bully::{Bully, BullyConfig},
        ring::{Ring, RingConfig},
    },
    faults::Conditions,
    protocol::{AgentId, Election, Score, Timings},
    sim::{Detection, Participant, World},
    trace::Trace,
};
use support::{astra::AsWritten, ble};

#[path = "support/mod.rs"]
mod support;

const DELAY: Duration = Duration::from_millis(5);

/// Agents `a`, `b`, … with these scores; nobody is told of a crash, as in the seed.
fn world<E: Election>(scores: &[i32], config: &E::Config) -> World<E> {
    let agents = ('a'..).zip(scores).map(|(name, score)| {
        let id: AgentId = name.to_string().parse().unwrap();
        Participant::voter(id, Some(Score::from(*score)), config.clone())
    });
    let mut world = World::builder(1)
        .agents(agents)
        .conditions(Conditions::delayed(DELAY))
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::new())
        .build();
    world.run_for(Duration::ZERO);
    world
}

fn as_written(scores: &[i32]) -> World<AsWritten> {
    world(scores, &())
}

fn strict(scores: &[i32]) -> World<Bully> {
    world(scores, &Arc::new(BullyConfig::strict()))
}

fn swift(scores: &[i32]) -> World<Bully> {
    let config = BullyConfig {
        timings: Timings::lan(),
        ..BullyConfig::default()
    };
    world(scores, &Arc::new(config))
}

/// The same story for any machine.
type Story<E> = fn(&mut World<E>);

/// Plays a story by the rules as written and by the repaired ones, and holds both to their texts.
fn side_by_side(name: &str, scores: &[i32], old: Story<AsWritten>, new: Story<Bully>) {
    let mut broken = as_written(scores);
    old(&mut broken);
    assert_eq!(broken.violation().map(ToString::to_string), None);
    let beliefs = broken.agents().map(|id| {
        let leaders = broken
            .machine(id)
            .map(AsWritten::leaders)
            .unwrap_or_default();
        format!("{id} believes in {leaders}\n")
    });
    let text = broken.trace().to_text() + &beliefs.collect::<String>();
    golden(&format!("{name}.as-written"), &text);

    let mut repaired = strict(scores);
    new(&mut repaired);
    assert_eq!(repaired.violation().map(ToString::to_string), None);
    golden(&format!("{name}.strict"), &with_beliefs(&repaired));
}

fn with_beliefs<E: Election>(world: &World<E>) -> String {
    let beliefs = world.views().map(|(id, view)| {
        let leader = view
            .leader
            .map_or_else(|| "nobody".to_owned(), |l| l.id.to_string());
        format!("{id} follows {leader}\n")
    });
    world.trace().to_text() + &beliefs.collect::<String>()
}

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/traces/{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; BLESS=1 rewrites it");
}

fn seconds<E: Election>(world: &mut World<E>, n: u64) {
    world.run_for(Duration::from_secs(n));
}

#[test]
fn fault_1_equal_scores_elect_two_leaders() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.campaign("b");
        seconds(world, 3);
    }
    side_by_side("1-equal-scores", &[7, 7, 1], story, story);
}

#[test]
fn fault_2_the_winner_stays_silent_when_asked_again() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("b");
        seconds(world, 3);
        world.campaign("a");
        seconds(world, 3);
    }
    side_by_side("2-asked-again", &[1, 2], story, story);
}

#[test]
fn fault_3_a_new_leader_is_added_to_the_old_one() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("c");
        seconds(world, 3);
        world.crash("c");
        world.campaign("b");
        seconds(world, 6);
    }
    side_by_side("3-two-beliefs", &[1, 2, 3], story, story);
}

#[test]
fn fault_4_nobody_leads_when_the_superior_dies_after_its_ok() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.run_for(DELAY * 2);
        world.crash("b");
        seconds(world, 8);
    }
    side_by_side("4-superior-dies", &[1, 2], story, story);
}

#[test]
fn fault_5_those_known_to_rank_below_are_asked_again() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        seconds(world, 3);
    }
    side_by_side("5-asks-all", &[1, 2, 3], story, story);
}

#[test]
fn fault_6_an_agent_that_was_told_ok_starts_again_and_again() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("a");
        world.run_for(DELAY * 2 + DELAY / 2);
        world.campaign("b");
        world.run_for(DELAY * 2 + DELAY / 2);
        world.campaign("a");
        seconds(world, 4);
    }
    side_by_side("6-restarts", &[1, 2, 3, 4], story, story);
}

/// What a leader's crash looks like in the default profile.
#[test]
fn a_crash_costs_one_announcement() {
    let mut world = swift(&[1, 2, 3]);
    world.settle(Duration::from_secs(3)).unwrap();
    world.crash("c");
    world.settle(Duration::from_secs(3)).unwrap();
    world.restart("c");
    world.settle(Duration::from_secs(3)).unwrap();
    golden("crash-and-recovery.swift", &with_beliefs(&world));
}

/// Δ of the ballot election, as written and ours.
const ROUND: Duration = Duration::from_millis(50);

fn ballots(scores: &[i32]) -> World<Ballot> {
    let voters = ('a'..).take(scores.len());
    let voters = voters.map(|name| name.to_string().parse().unwrap());
    let config = BallotConfig::builder(voters).timings(Timings::lan());
    world(scores, &Arc::new(config.round(ROUND).build().unwrap()))
}

/// Plays a story by the gossip leader election as written, and by ours.
fn gossip(name: &str, scores: &[i32], old: Story<ble::AsWritten>, new: Story<Ballot>) {
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
}

#[test]
fn ble_an_even_split_elects_on_both_sides() {
    fn story<E: Election>(world: &mut World<E>) {
        world.partition([["a", "b"], ["c", "d"]]);
        seconds(world, 1);
        world.heal();
        seconds(world, 1);
    }
    gossip("ble-even-split", &[1, 2, 3, 4], story, story);
}

#[test]
fn ble_an_isolated_leader_believes_for_ever() {
    fn story<E: Election>(world: &mut World<E>) {
        seconds(world, 1);
        world.isolate("c");
        seconds(world, 2);
    }
    gossip("ble-isolated-leader", &[1, 2, 3], story, story);
}

#[test]
fn ble_the_ends_of_a_chain_push_each_other_off() {
    fn story<E: Election>(world: &mut World<E>) {
        seconds(world, 1);
        world.cut("a", "c");
        world.run_for(ROUND * 10);
    }
    gossip("ble-chain", &[1, 2, 3], story, story);
}

/// Every message of the first two rounds: nobody is told anything, all of them ask.
#[test]
fn gossip_elects_without_an_announcement() {
    let mut world = ballots(&[1, 2, 3]);
    *world.trace_mut() = Trace::new().with_repeated();
    world.run_for(ROUND + DELAY * 2);
    assert_eq!(world.agreed().unwrap().id, "c");
    golden("two-rounds.ballot", &with_beliefs(&world));
}

/// A ring elects, loses two neighbours, the leader among them, and gets the leader back.
#[test]
fn a_ring_passes_over_the_dead() {
    let config = RingConfig::builder().timings(Timings::lan()).build();
    let mut world: World<Ring> = world(&[1, 2, 3, 4], &Arc::new(config.unwrap()));
    world.settle(Duration::from_secs(3)).unwrap();
    world.crash("c");
    world.crash("d");
    world.settle(Duration::from_secs(3)).unwrap();
    world.restart("d");
    world.settle(Duration::from_secs(3)).unwrap();
    assert_eq!(world.violation().map(ToString::to_string), None);
    golden("two-neighbours-die.ring", &with_beliefs(&world));
}
