//! Each pair of a feature and a class of agents with equal offers: the feature works, or it is refused in words that
//! name the setting.
//!
//! The expectation comes from the same data as the table on the page of `leader`.
#![expect(clippy::panic, reason = "a test fails by a panic")]

mod trials;
mod world;

use actix_bully::agent::{Feature, Lack};

use trials::tried;
use world::{OfferClass, TrialWorld, TriedMode};

use crate::kit::play;

/// Returns the words of a refusal that name the setting. Refusals that are older than the table have their own words.
const fn setting(lack: Lack) -> &'static [&'static str] {
    match lack {
        Lack::Carrier => &["`listen` and `[[peers]]`"],
        Lack::Fence => &["`.quorum([..])`"],
        Lack::FenceWithoutCondition => &["give the voters stores"],
        Lack::Voters => &["only agents with `.quorum("],
        Lack::VotersThatChange => &["an `epoch` higher by 1"],
        Lack::StoredMarks => &["the agents of this group keep", "another name"],
        Lack::Policy => &["`astra(..)`", "remove one of the two"],
        _ => panic!("a new offer needs its words here"),
    }
}

/// The features that a mode may change: some modes refuse them, or the mode decides how the agents agree on them. All
/// other features need a leader and nothing else.
const TRIED: &[Feature] = &[
    Feature::Fence,
    Feature::Gate,
    Feature::LeaderProxy,
    Feature::Messages,
    Feature::Margin,
    Feature::Preemption,
    Feature::ChangeVoters,
    Feature::CtlVoters,
    Feature::CtlSchedulesReset,
    Feature::ScheduleSkip,
    Feature::ScheduleLate,
    Feature::ScheduleAtLeastOnce,
    Feature::ScheduleStream,
    Feature::Diagnosis,
    Feature::About,
];

async fn try_all(class: OfferClass) {
    for feature in TRIED {
        let world = TrialWorld::set(class).await;
        let offers = world.leader().offers();
        for other in Feature::ALL.iter().filter(|other| !TRIED.contains(other)) {
            assert!(offers.check(*other).is_ok(), "{other} needs a trial");
        }
        try_one(class, *feature, &world).await;
        world.end().await;
    }
}

async fn try_one(class: OfferClass, feature: Feature, world: &TrialWorld) {
    let offered = world.leader().offers().check(feature);
    let found = tried(feature, world).await;
    match (offered, found) {
        (Ok(()), Ok(())) => {}
        (Ok(()), Err(said)) => panic!("{class}: {feature} does not work: {said}"),
        (Err(refused), Ok(())) => panic!("{class}: {feature} works, but {refused}"),
        (Err(refused), Err(said)) => {
            let is_named = setting(refused.lack())
                .iter()
                .all(|word| said.contains(word));
            assert!(
                is_named,
                "{class}: {feature} is refused, but not in words: {said}"
            );
        }
    }
}

/// Defines one test for each class, so that the tests run in parallel.
macro_rules! classes {
    ($($name:ident: $mode:ident $linked:literal,)*) => {$(
        #[test]
        fn $name() {
            play(try_all(OfferClass { mode: TriedMode::$mode, is_linked: $linked }));
        }
    )*};
}

// Over links the two kinds of a lease are one class.
classes! {
    available_in_one_process: Available false,
    available_over_links: Available true,
    astra_in_one_process: Astra false,
    astra_over_links: Astra true,
    a_quorum_in_one_process: Quorum false,
    a_quorum_over_links: Quorum true,
    voters_without_a_disk_in_one_process: Diskless false,
    voters_without_a_disk_over_links: Diskless true,
    a_lease_in_memory: LeaseInMemory false,
    a_lease_without_links: LeaseInStore false,
    a_lease_over_links: LeaseInStore true,
}
