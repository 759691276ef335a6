//! The parameters: every relation is checked, and every error is named.

use super::*;
use crate::protocol::MembershipError;

fn of(names: &[&str]) -> QuorumConfigBuilder {
    QuorumConfig::builder(names.iter().map(|name| id(name))).timings(Timings::lan())
}

#[test]
fn majorities_are_the_default() {
    for (names, quorum, tolerated) in [
        (&["a"][..], 1, 0),
        (&["a", "b"], 2, 0),
        (&["a", "b", "c"], 2, 1),
        (&["a", "b", "c", "d"], 3, 1),
        (&["a", "b", "c", "d", "e"], 3, 2),
    ] {
        let config = of(names).build().unwrap();
        assert_eq!(
            (config.vote_quorum(), config.lease_quorum()),
            (quorum, quorum)
        );
        assert_eq!(config.tolerated(), tolerated);
    }
}

#[test]
fn each_broken_relation_is_named() {
    let three = || of(&["a", "b", "c"]);
    let ms = Duration::from_millis;
    let name = |b: QuorumConfigBuilder| {
        let text = format!("{:?}", b.build().unwrap_err());
        text.split(' ').next().map(str::to_owned)
    };
    let cases = [
        (of(&[]), "NoVoters"),
        (three().epoch(1 << 24), "Epoch"),
        (of(&["a", "b", "a"]), "DuplicateVoter"),
        (of(&["a", "b", "c", "d"]).quorums(2, 3), "VoteQuorum"), // an even split
        (three().quorums(4, 2), "VoteQuorum"),
        (three().quorums(2, 1), "LeaseQuorum"),
        (three().quorums(2, 4), "LeaseQuorum"),
        (three().timings(Timings::astra()), "NoHeartbeat"),
        (three().wait(ms(2 * 20 + 4 * 9 - 1)), "Wait"),
        (three().preemption(Preemption::Immediately), "Preemption"),
        (three().preemption(Preemption::After(ms(300))), "Preemption"),
    ];
    for (builder, expected) in cases {
        assert_eq!(name(builder).as_deref(), Some(expected));
    }
    assert!(three().wait(ms(2 * 20 + 4 * 9)).build().is_ok());
    assert!(
        three()
            .preemption(Preemption::After(ms(301)))
            .build()
            .is_ok()
    );
    assert!(three().preemption(Preemption::Never).build().is_ok());
    assert!(three().quorums(3, 1).build().is_ok());
}

#[test]
fn an_error_says_what_to_do() {
    let error = of(&["a", "b", "c", "d"]).quorums(2, 3).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 of 4 votes must not elect: two groups could, or no group; ask for 3 to 4"
    );
}

#[test]
fn a_member_takes_part_as_it_is_listed() {
    let config = config();
    let check = |name, kind| config.check(&id(name), kind);
    assert_eq!(check(ME, MemberKind::Voter), Ok(()));
    assert_eq!(check(EYE, MemberKind::Observer), Ok(()));
    let unlisted = MembershipError::NotListed { id: id(EYE) };
    assert_eq!(check(EYE, MemberKind::Voter), Err(unlisted));
    assert!(check(ME, MemberKind::Observer).is_err());
}

#[test]
fn every_preset_with_a_detector_will_do() {
    for timings in [
        Timings::default(),
        Timings::lan(),
        Timings::wan(),
        Timings::in_process(),
    ] {
        let config = QuorumConfig::builder([id("a")])
            .timings(timings.clone())
            .build()
            .unwrap();
        assert!(config.drain() + timings.delay_bound() * 2 <= timings.lease());
    }
}
