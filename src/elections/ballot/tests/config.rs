//! The parameters: every relation is checked, and every error is named.

use super::*;
use crate::protocol::{
    ClockKind, Electorate, Leaders, MembershipError, NotifyOrder, Requirements, Rules, Storage,
};

fn of(names: &[&str]) -> BallotConfigBuilder {
    BallotConfig::builder(names.iter().map(|name| id(name))).timings(Timings::lan())
}

#[test]
fn a_majority_is_more_than_half() {
    for (names, majority, tolerated, messages) in [
        (&["a"][..], 1, 0, 0),
        (&["a", "b"], 2, 0, 4),
        (&["a", "b", "c"], 2, 1, 12),
        (&["a", "b", "c", "d"], 3, 1, 24),
        (&["a", "b", "c", "d", "e"], 3, 2, 40),
    ] {
        let config = of(names).build().unwrap();
        let figures = (
            config.majority(),
            config.tolerated(),
            config.messages_per_round(),
        );
        assert_eq!(figures, (majority, tolerated, messages));
        let voters: Vec<_> = names.iter().map(|name| id(name)).collect();
        let electorate = Electorate::new(&voters, majority, majority);
        assert_eq!(config.electorate(), electorate);
    }
}

#[test]
fn each_broken_relation_is_named() {
    let ms = Duration::from_millis;
    let three = || of(&["a", "b", "c"]);
    let delay = ms(9);
    for (builder, expected) in [
        (of(&[]), BallotError::NoVoters),
        (
            of(&["a", "b", "a"]),
            BallotError::DuplicateVoter { id: id("a") },
        ),
        (three().timings(Timings::astra()), BallotError::NoRound),
        (
            three().round(ms(18)),
            BallotError::Round {
                round: ms(18),
                delay,
            },
        ),
        (
            three().round(ms(40)).cap(ms(39)),
            BallotError::Cap {
                cap: ms(39),
                round: ms(40),
            },
        ),
    ] {
        assert_eq!(builder.build(), Err(expected));
    }
    assert!(three().round(ms(19)).cap(ms(19)).build().is_ok());
    assert!(
        three()
            .timings(Timings::astra())
            .round(ms(2_000))
            .build()
            .is_ok()
    );
}

#[test]
fn every_preset_with_a_detector_will_do() {
    for timings in [
        Timings::default(),
        Timings::lan(),
        Timings::wan(),
        Timings::in_process(),
    ] {
        let config = of(&["a"]).timings(timings.clone()).build().unwrap();
        assert!(config.round() > timings.delay_bound() * 2);
        assert!(
            config.again() * 2 < config.round(),
            "asked again at least twice"
        );
        let detection = timings.detector().unwrap().detection;
        assert!(
            config.worst_case_failover()
                <= detection + timings.delay_bound() * 4 + config.round() / 2
        );
        assert_eq!(config.worst_case_isolation(), config.round() * 2);
    }
}

#[test]
fn a_voter_needs_a_record_and_has_to_be_listed() {
    let config = Arc::new(of(&["a", "b"]).build().unwrap());
    let asked = |name, kind| Ballot::requirements(&config, &id(name), kind);
    let of = |storage| {
        Ok(Requirements {
            rules: Rules::new("ballot"),
            leaders: Leaders::Unpromised,
            storage,
            clock: ClockKind::Any,
            notify: NotifyOrder::AllAtOnce,
            epoch: 0,
            voters: Some(config.electorate()),
            names: Some(["a", "b"].map(id).into()),
        })
    };
    assert_eq!(asked("a", MemberKind::Voter), of(Storage::Record));
    assert_eq!(asked("x", MemberKind::Observer), of(Storage::Nothing));
    let unlisted = MembershipError::NotListed { id: id("x") };
    assert_eq!(asked("x", MemberKind::Voter), Err(unlisted));
    let listed = MembershipError::ListedObserver { id: id("a") };
    assert_eq!(asked("a", MemberKind::Observer), Err(listed));
}
