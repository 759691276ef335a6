//! The parameters: every relation is checked, and every error is named.

use super::*;
use bully_core::protocol::{MembershipError, Requirements, Rules, Storage};

fn of(names: &[&str]) -> BallotConfig {
    BallotConfig {
        timings: Timings::lan(),
        ..BallotConfig::new(names.iter().map(|name| id(name)))
    }
}

#[test]
fn each_broken_relation_is_named() {
    let ms = Duration::from_millis;
    let three = || of(&["a", "b", "c"]);
    for (config, expected) in [
        (of(&[]), "there are no voters"),
        (of(&["a", "b", "a"]), "the voter a is listed twice"),
        (
            BallotConfig {
                timings: Timings::astra(),
                ..three()
            },
            "so the round has no length",
        ),
        (
            BallotConfig {
                round: Some(ms(18)),
                ..three()
            },
            "a round of 18ms is too short, because an answer may take twice the delay bound of 9ms",
        ),
        (
            BallotConfig {
                round: Some(ms(40)),
                cap: Some(ms(39)),
                ..three()
            },
            "a cap of 39ms is shorter than a round of 40ms",
        ),
    ] {
        let refused = config.check().unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    let least = BallotConfig {
        round: Some(ms(19)),
        cap: Some(ms(19)),
        ..three()
    };
    assert_eq!(least.check(), Ok(()));
    let round = Some(ms(2_000));
    let without_detector = BallotConfig {
        timings: Timings::astra(),
        round,
        ..three()
    };
    assert_eq!(without_detector.check(), Ok(()));
}

#[test]
fn a_voter_needs_a_record_and_has_to_be_listed() {
    let config = Arc::new(of(&["a", "b"]));
    let asked = |name, kind| Ballot::requirements(&config, &id(name), kind);
    let expected = |storage| {
        Ok(Requirements {
            storage,
            voters: Some(config.electorate()),
            names: Some(["a", "b"].map(id).into()),
            ..Requirements::new(Rules::new("ballot"))
        })
    };
    assert_eq!(asked("a", MemberKind::Voter), expected(Storage::Record));
    assert_eq!(asked("x", MemberKind::Observer), expected(Storage::Nothing));
    let unlisted = MembershipError::NotListed { id: id("x") };
    assert_eq!(asked("x", MemberKind::Voter), Err(unlisted));
    let listed = MembershipError::ListedObserver { id: id("a") };
    assert_eq!(asked("a", MemberKind::Observer), Err(listed));
    let wrong = Arc::new(of(&["a", "a"]));
    let refused = Ballot::requirements(&wrong, &id("a"), MemberKind::Voter);
    assert!(matches!(refused, Err(MembershipError::Config(_))));
}

#[test]
fn a_single_voter_is_the_majority_and_leads_at_once() {
    let mut me = Kit::began(MemberKind::Voter, Some(5), None);
    let config = valid(BallotConfig::new([id(ME)]));
    me.machine = Ballot::new(me.machine.core.me.identity(), &Arc::new(config), None);
    me.start()
        .wrote(1, None)
        .wrote(1, Some(ballot(1, ME)))
        .notified(Event::Acquired { term: Term(1) })
        .next(&Effect::Send {
            to: To::Set([EYE, HIGH, LOW].map(id).into()),
            message: Leads {
                ballot: ballot(1, ME),
            }
            .into(),
        })
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
}

#[test]
fn an_agent_that_is_not_listed_observes() {
    let mut identity = Kit::fresh().machine.core.me.identity();
    identity.id = id("stranger");
    let config = valid(BallotConfig::new([id(ME)]));
    let machine = Ballot::new(identity, &Arc::new(config), None);
    assert_eq!(machine.core.me.kind, MemberKind::Observer);
}
