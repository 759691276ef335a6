//! `Start`: the first incarnation stands at once, a later one when the leadership is vacant.

use super::*;

#[test]
fn the_first_incarnation_takes_a_ballot_durable_before_it_is_said() {
    let mut me = Kit::began(MemberKind::Voter, Some(5), None);
    me.start()
        .wrote(1, None)
        .asked(1, None, standing(1, ME))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
    assert_eq!(me.view().role, Role::Candidate);
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
