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

/// Scenario 41.
#[test]
fn a_later_incarnation_holds_no_ballot_and_leaves_the_leader_alone() {
    let max = Some(ballot(7, HIGH));
    let record = BallotRecord { n: 3, max };
    let mut me = Kit::began(MemberKind::Voter, Some(99), Some(record));
    me.start()
        .asked(1, Some(ballot(7, HIGH)), alone(idle()))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
    let view = me.view();
    assert_eq!((view.role, view.term), (Role::Follower, Term(7)));
}

#[test]
fn its_next_ballot_is_above_all_that_it_used_and_all_that_it_heard() {
    for (n, max, next) in [(3, 7, 8), (12, 7, 13)] {
        let max = Some(ballot(max, HIGH));
        let record = BallotRecord { n, max };
        let mut me = Kit::began(MemberKind::Voter, Some(5), Some(record)).started();
        me.answered(LOW, idle());
        me.over().whatever();
        assert_eq!(me.machine.own(), Some(&ballot(next, ME)));
        assert_eq!(me.machine.record().n, next);
    }
}

#[test]
fn a_witness_asks_and_takes_no_ballot() {
    let mut me = Kit::began(MemberKind::Voter, None, None);
    let members = Arc::new(me.members.clone());
    let eligible = false;
    me.step(Input::Start(members))
        .asked(1, None, Standing { eligible, ..idle() })
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
}

#[test]
fn an_observer_waits_to_be_told() {
    let mut me = Kit::began(MemberKind::Observer, Some(5), None);
    me.start().nothing_else_happened();
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
