//! Loses each message of a scene (scenario 22), and crashes the sender of each kind of message (8 and 9). No promise is
//! broken, and an agent leads in the end. Except in a ballot, this leader is the agent with the highest rank.

use std::time::Duration;

use bully_core::protocol::Election;
use bully_sim::sim::{Reaction, Trap, World};

use super::{Subject, Variant, Visit, in_each, play};
use crate::losses::{Losses, Scene, every_kind_but};

/// Scenes: the script before, and the script while messages are lost. No script commands an agent that is down.
const SCENES: [(&str, &str); 8] = [
    ("", ""),
    ("", "campaign a"),
    ("campaign d; settle", ""),
    ("campaign d; settle", "campaign b"),
    ("campaign d; settle", "crash d"),
    ("campaign d; settle; crash d", "campaign b"),
    ("campaign d; settle; crash d; settle", "restart d"),
    ("campaign d; settle", "step-down d"),
];

/// Time after the action of a scene in which messages are lost.
const SPAN: Duration = Duration::from_secs(2);

fn scenes<E: Subject>() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    SCENES.iter().chain(E::SCENES)
}

fn begins<E: Subject>(variant: Variant, seed: u64, before: &str) -> World<E> {
    let mut world = variant.world(seed, "1 2 3 4 o", false);
    if !before.is_empty() {
        play(&mut world, before);
    }
    world
}

/// Returns the scene that plays `act` after `before`.
fn scene<'a, E: Subject>(variant: Variant, before: &'a str, act: &'a str) -> Scene<'a, E> {
    Scene {
        stage: Box::new(move |seed| begins(variant, seed, before)),
        act: Box::new(move |world| acts(world, act)),
        span: SPAN,
    }
}

fn acts<E: Election>(world: &mut World<E>, act: &str) {
    if !act.is_empty() {
        play(world, act);
    }
}

/// Heals the network and asserts that all agents settle on one leader. In a bully election the leader must have the
/// highest rank.
#[track_caller]
fn recovers<E: Subject>(world: &mut World<E>) {
    world.heal();
    let mut story = play(world, "settle");
    if E::IS_TOLD {
        // Without heartbeats, an agent that missed an announcement follows another leader, or none, until it begins an
        // election. At most one agent may be in this state.
        let follows = |world: &World<E>| {
            world
                .views()
                .map(|(_, view)| view.leader)
                .collect::<Vec<_>>()
        };
        let all = follows(world);
        let most = all
            .iter()
            .map(|one| all.iter().filter(|other| *other == one).count());
        assert!(
            most.max().unwrap_or(0) + 1 >= all.len(),
            "{}",
            world.trace().to_text()
        );
        let names: Vec<_> = world.views().map(|(name, _)| name.to_string()).collect();
        let ask: Vec<_> = names
            .iter()
            .map(|name| format!("campaign {name}"))
            .collect();
        story = play(world, &(ask.join("; ") + "; settle"));
    }
    let leader = world.agreed().map(|leader| leader.id);
    let highest = world.highest().map(|rank| rank.id);
    let is_due = leader.is_some() && (leader == highest || !E::BULLIES);
    assert!(is_due, "{leader:?}, {story:?}\n{}", world.trace().to_text());
}

struct Each;
struct First;
struct Deaths;

impl Visit for Each {
    type Outcome = ();

    fn visit<E: Subject>(&self, variant: Variant) {
        // Of each kind, in each scene.
        let asked = std::env::var("LOSSES").ok();
        let most = asked.map_or(2, |number| number.parse().unwrap());
        lose::<E>(variant, |scene, seed, kinds, lost| {
            scene.lose_each(seed, kinds, most, &recovers, lost);
        });
    }
}

impl Visit for First {
    type Outcome = ();

    fn visit<E: Subject>(&self, variant: Variant) {
        lose::<E>(variant, |scene, seed, kinds, lost| {
            scene.lose_first(seed, kinds, &recovers, lost);
        });
    }
}

/// Returns the kinds of messages that the scenes must send.
fn kinds<E: Subject>(variant: Variant) -> Vec<&'static str> {
    match variant.name {
        "quorum, no disks" => vec!["recover", "recovered"],
        _ => every_kind_but::<E>(E::SPARED),
    }
}

fn lose<E: Subject>(
    variant: Variant,
    how: impl Fn(&Scene<'_, E>, u64, &[&'static str], &mut Losses),
) {
    if !variant.is_default() {
        return;
    }
    let (kinds, mut lost) = (kinds::<E>(variant), Losses::new());
    for (at, (before, act)) in scenes::<E>().enumerate() {
        // The scenes that an election adds exist for rare messages, so each added scene plays with three seeds.
        for seed in 0..if at < SCENES.len() { 1 } else { 3 } {
            how(&scene(variant, before, act), seed, &kinds, &mut lost);
        }
    }
    assert_each(variant, &kinds, &lost);
}

/// Asserts that each kind was lost, or that its sender died of it.
fn assert_each(variant: Variant, kinds: &[&'static str], lost: &Losses) {
    println!("{}: {lost:?}", variant.name);
    let missing = kinds.iter().filter(|kind| !lost.contains_key(*kind));
    assert_eq!(
        missing.collect::<Vec<_>>(),
        [&""; 0],
        "{}: {lost:?}",
        variant.name
    );
}

#[test]
fn s22_one_message_of_each_kind_is_lost() {
    in_each(&Each);
}

#[test]
fn s22_all_messages_of_a_kind_are_lost_at_one_moment() {
    in_each(&First);
}

impl Visit for Deaths {
    type Outcome = ();

    fn visit<E: Subject>(&self, variant: Variant) {
        if !variant.is_default() {
            return;
        }
        let kinds = kinds::<E>(variant);
        let mut deaths = Losses::new();
        for (at, (before, act)) in scenes::<E>().enumerate() {
            // As in `lose`, each added scene plays with more seeds.
            let seeds: &[(u64, u32)] = if at < SCENES.len() {
                &[(0, 0), (2, 2)]
            } else {
                &[(0, 0), (1, 0), (2, 0)]
            };
            for (seed, spared) in seeds.iter().copied() {
                let scene = scene::<E>(variant, before, act);
                for kind in scene.kinds_sent(seed, &kinds) {
                    let mut world = begins::<E>(variant, seed, before);
                    let (by, then) = (None, Reaction::Crash);
                    world.arm(&Trap {
                        by,
                        kind,
                        spared,
                        then,
                    });
                    acts(&mut world, act);
                    world.run_for(SPAN);
                    world.disarm();
                    let dies = world.sprung(Reaction::Crash);
                    let is_quorum = !E::COUNTS || world.views().count() > 3; // three of four voters, and the observer
                    if dies > 0 && is_quorum {
                        *deaths.entry(kind).or_default() += dies;
                        recovers(&mut world);
                    }
                }
            }
        }
        assert_each(variant, &kinds, &deaths);
    }
}

/// The message may be an announcement, an answer, a promise or a token: each kind has its own trap.
#[test]
fn s08_s09_the_sender_of_each_message_dies_right_after_it() {
    in_each(&Deaths);
}
