//! The voters of a configuration.

use super::*;
use bully_core::protocol::{MembershipError, Storage};

#[test]
fn a_voter_needs_a_record_and_has_to_be_listed() {
    let config = Arc::new(listing([LOW, ME, HIGH]));
    let asked = |name, kind| {
        let asked = Ballot::requirements(&config, &id(name), kind);
        asked.map(|asked| (asked.storage, asked.voters.is_some()))
    };
    assert_eq!(asked(ME, MemberKind::Voter), Ok((Storage::Record, true)));
    let observer = asked("x", MemberKind::Observer);
    assert_eq!(observer, Ok((Storage::Nothing, true)));
    let unlisted = MembershipError::NotListed { id: id("x") };
    assert_eq!(asked("x", MemberKind::Voter), Err(unlisted));
    let listed = MembershipError::ListedObserver { id: id(ME) };
    assert_eq!(asked(ME, MemberKind::Observer), Err(listed));
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
