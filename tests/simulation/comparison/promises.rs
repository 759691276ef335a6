//! Each election keeps its promise in the table of `elections`.
//!
//! A promise of one leader, or of a leader on each side, holds in the measures. Messages take 20 ms at most in all
//! cases. If a promise supposes that no message is lost, it is checked in the cases without a fault of the network. In
//! the end all agents agree on one leader, with every election.

use std::time::Duration;

use crate::comparison::{
    SEEDS,
    cases::{Case, Look},
    contenders::ALL,
    measures,
    watch::Measure,
};

const MS: fn(u64) -> Duration = Duration::from_millis;

type Keeps = fn(&'static str);

/// An election, its promise in the words of the program, and the check of the promise.
const PROMISES: [(&str, &str, Keeps); 9] = [
    ("astra", "one, if no message is late", one_at_once),
    ("bully", "always a leader", bully),
    ("quorum", "never two leaders", quorum),
    ("lease", "never two leaders", lease),
    ("lease-told", "never two leaders", lease),
    (
        "reorganization",
        "one, if nothing is late or lost",
        one_at_once,
    ),
    (
        "invitation",
        "a leader of each group",
        the_highest_leads_on_every_side,
    ),
    ("ring", "a leader of each ring", one_at_once),
    ("ballot", "in the end one leader", ballot),
];

#[test]
fn every_election_keeps_its_promise() {
    let printed: Vec<_> = ALL.iter().map(|one| (one.name, one.promise)).collect();
    let held: Vec<_> = PROMISES
        .iter()
        .map(|(name, what, _)| (*name, *what))
        .collect();
    assert_eq!(printed, held);
    for (name, _, keeps) in PROMISES {
        println!("{name}");
        keeps(name);
    }
}

#[test]
fn in_the_end_all_agents_agree_in_every_case() {
    for entrant in ALL {
        every(entrant.name, Case::ALL, "all agree", |measure| {
            measure.agreed.is_some()
        });
    }
}

/// Checks that every seed of these cases has the property `what`.
#[track_caller]
fn every(
    protocol: &'static str,
    cases: impl IntoIterator<Item = Case>,
    what: &str,
    holds: impl Fn(&Measure) -> bool,
) {
    for case in cases {
        let measures = measures(protocol, case);
        assert_eq!(u64::try_from(measures.len()), Ok(SEEDS));
        for (seed, measure) in measures.iter().enumerate() {
            assert!(
                holds(measure),
                "{protocol} after {}, seed {seed}, {what}: {measure:?}",
                case.name()
            );
        }
    }
}

/// Returns the cases without a lasting fault; they lose no message.
fn moments() -> impl Iterator<Item = Case> {
    let at_once = |case: &Case| case.look() == Look::Agreement;
    Case::ALL.into_iter().filter(at_once)
}

fn one_leads(measure: &Measure) -> bool {
    measure.leaders <= 1
}

fn is_never_vacant(measure: &Measure) -> bool {
    measure.vacant.is_zero()
}

/// Checks that the highest-ranked agent leads in the end, and that each side of a partition has a leader of its own for
/// most of the time.
fn the_highest_leads_on_every_side(protocol: &'static str) {
    // After a hand-over the highest-ranked agent cools down.
    let cases = Case::ALL.into_iter();
    let cases = cases.filter(|case| *case != Case::HandOver);
    every(protocol, cases, "of the highest", |measure| measure.highest);
    for (case, sides) in [(Case::Split, 2), (Case::Shattered, 3)] {
        every(protocol, [case], "on every side", |measure| {
            measure.leaders >= sides && measure.contested > MS(12_000) && measure.vacant.is_zero()
        });
    }
}

/// Checks that the side with a majority has a leader, and no other side has one.
fn only_a_majority_leads(protocol: &'static str) {
    every(
        protocol,
        [Case::Shattered],
        "without a majority",
        |measure| measure.elections == 0 && measure.vacant > MS(18_500),
    );
    every(protocol, [Case::Split], "with a majority", |measure| {
        measure.elections >= 1 && measure.vacant < MS(1_500)
    });
}

/// Checks that at most one agent leads while no message is lost and no agent is passed over. A coordinator (GM1 of the
/// paper) steps down when the network fails.
fn one_at_once(protocol: &'static str) {
    every(protocol, moments(), "one at once", one_leads);
    the_highest_leads_on_every_side(protocol);
}

/// Checks "one; two for at most two delays after a start, a crash, a recovery, a hand-over".
fn bully(protocol: &'static str) {
    let two_delays = MS(2 * 20);
    every(protocol, moments(), "one but for two delays", |measure| {
        measure.contested <= two_delays
    });
    the_highest_leads_on_every_side(protocol);
    // No agent waits for a majority, so there is always a leader.
    let lasting = [Case::Chain, Case::Star, Case::Mute, Case::DeafFollower];
    every(protocol, lasting, "always a leader", is_never_vacant);
}

fn quorum(protocol: &'static str) {
    every(protocol, Case::ALL, "never two", one_leads);
    only_a_majority_leads(protocol);
}

/// Checks that the agents that reach the store have a leader, and no others. The store is on the larger side, with one
/// of two pairs, and at the hub of a star. The first holder of a lease may be of lower rank; it hands over after 10 s.
fn lease(protocol: &'static str) {
    every(protocol, Case::ALL, "never two", one_leads);
    let moves = [Case::Split, Case::Deaf, Case::Mute];
    every(protocol, moves, "near the store", |measure| {
        (1..=2).contains(&measure.elections) && measure.vacant < MS(2_000)
    });
    // In these cases the leader may still reach the store.
    let some_move = [Case::Chain, Case::Shattered];
    every(protocol, some_move, "near the store", |measure| {
        measure.elections <= 2 && measure.vacant < MS(2_000)
    });
    let stays = [Case::Star, Case::DeafFollower, Case::Flapping];
    every(protocol, stays, "reaches the store", |measure| {
        measure.elections <= 1 && measure.vacant < MS(500)
    });
}

/// A store that reports changes saves the wait for the next read. It does not help to notice a crash sooner.
#[test]
fn a_hand_over_is_faster_with_a_store_that_reports_changes() {
    let agreed = |protocol, case| {
        let measures = measures(protocol, case).iter();
        measures
            .map(|measure| measure.agreed.unwrap())
            .max()
            .unwrap()
    };
    assert!(agreed("lease-told", Case::HandOver) < agreed("lease", Case::HandOver) / 2);
    assert!(
        agreed("lease-told", Case::Crash) > MS(700),
        "the lease has to end first"
    );
}

/// Questions to a store and its answers count as messages, also while nothing changes: the holder asks twice per
/// heartbeat.
#[test]
fn questions_to_a_store_and_its_answers_are_messages() {
    for protocol in ["lease", "lease-told"] {
        every(protocol, [Case::Star], "two questions", |measure| {
            measure.messages > 20.0 && measure.bytes > measure.messages * 8.0
        });
        every(
            protocol,
            [Case::HandOver],
            "release, acquire, learn",
            |measure| (3..=8).contains(&measure.rounds),
        );
    }
}

/// Checks that two agents lead at most until the end of the round in which the former leader misses its majority.
fn ballot(protocol: &'static str) {
    only_a_majority_leads(protocol);
    let partitions = [Case::Split, Case::Deaf, Case::Mute, Case::Shattered];
    every(protocol, partitions, "two for rounds at most", |measure| {
        measure.contested < MS(500)
    });
}

/// Gossip always sends the same number of messages. So a round of an election counts only if an agent says something
/// new in it.
#[test]
fn gossip_counts_only_rounds_with_new_content() {
    every("ballot", moments(), "new statements", |measure| {
        (1..=10).contains(&measure.rounds)
    });
    every("ballot", [Case::Start], "fewer than all", |measure| {
        f64::from(measure.rounds) < measure.messages
    });
}

#[test]
fn a_one_way_link_differs_from_a_cut_link() {
    // The other agents still hear a deaf leader, so a bully elects no other leader.
    every("bully", [Case::Deaf], "stays", |measure| {
        measure.leaders == 1 && measure.elections == 0
    });
    // A mute leader is replaced, and a deaf follower announces itself in vain.
    every(
        "bully",
        [Case::Mute, Case::DeafFollower],
        "two",
        |measure| measure.leaders >= 2 && measure.elections >= 1,
    );
    // A leader without acknowledgements steps down. A deaf follower changes nothing.
    every("quorum", [Case::Deaf, Case::Mute], "replaced", |measure| {
        measure.elections == 1
    });
    every("quorum", [Case::DeafFollower], "stays", |measure| {
        measure.elections == 0 && measure.vacant.is_zero()
    });
}
