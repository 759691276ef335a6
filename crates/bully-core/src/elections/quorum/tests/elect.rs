//! `Elect`, `Ok` and `Yield`: asking, and answering an asker.

use super::*;

/// `NoDisrupt`
#[test]
fn a_question_changes_nothing_durable_in_any_role() {
    for (role, mut me) in Kit::roles() {
        for score in [1, 9] {
            for seen in [0, OLD, 50] {
                let before = me.durable();
                let effects = me.hear(LOW, elect(seen, score));
                assert!(!effects.writes(), "{role}");
                assert_eq!(me.durable(), before, "{role}");
                let answers = effects.messages().len();
                assert_eq!(answers == 0, role == "observer", "{role}");
            }
        }
    }
}

#[test]
fn it_objects_to_the_same_one_only_once() {
    let mut me = Kit::vacant();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, objects(1, 4))
        .whatever();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, yields_at(1, 4))
        .nothing_else_happened();
    let mut me = me.after(HIGH, heartbeat(OLD, 9));
    me.later(P).fire(BullyTimer::Election).whatever();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, objects(1, 4))
        .whatever();
}

#[test]
fn an_agent_whose_cooldown_is_over_objects_again() {
    let cooldown = Duration::from_secs(1);
    let mut me = Kit::leading_by(QuorumConfig {
        cooldown,
        ..config()
    });
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    let (seen, _) = me.durable();
    me.later(1_000 - 1)
        .hear(LOW, elect(seen, 1))
        .sent(LOW, yields_at(1, seen))
        .nothing_else_happened();
    me.later(1)
        .hear(LOW, elect(seen, 1))
        .sent(LOW, objects(1, seen))
        .whatever(); // and asks itself
}

/// `ask-before-claim`
#[test]
fn a_campaign_begins_by_asking() {
    let mut me = Kit::vacant();
    me.fire(BullyTimer::Election)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
    me.later(S)
        .fire(BullyTimer::Election)
        .asked(elect(0, 5))
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
}

#[test]
fn a_claim_does_not_wait_for_a_voter_that_is_down() {
    let mut me = Kit::asking().after(LOW, yields(1));
    me.is_suspected(HIGH).nothing_else_happened();
    me.ends(HIGH)
        .asked(claim(MINE, 5))
        .wrote(MINE, ME)
        .whatever();
}

#[test]
fn refusals_by_all_end_the_round_at_once() {
    let mut me = Kit::asking();
    me.hear(LOW, alive(1, 0, 40)).nothing_else_happened();
    me.hear(HIGH, alive(1, 0, 60))
        .set(BullyTimer::Election, 60 + S)
        .nothing_else_happened();
}

/// 80
#[test]
fn a_term_out_of_all_measure_is_not_heard() {
    for (role, mut me) in Kit::roles() {
        let before = me.machine.clone();
        let most = u64::MAX;
        me.hear(LOW, elect(most, 1)).nothing_else_happened();
        me.hear(LOW, claim(most, 1)).nothing_else_happened();
        me.hear(LOW, elected(most, 1)).nothing_else_happened();
        me.hear(LOW, nack(LAST_TERM.0 + 1)).nothing_else_happened();
        me.hear(LOW, resign(most, Some(ME))).nothing_else_happened();
        me.hear(LOW, yields_at(1, most)).nothing_else_happened();
        assert_eq!(me.machine, before, "{role}");
    }
}

/// 80
#[test]
fn at_the_end_of_the_terms_it_does_not_campaign() {
    let vote = vote(LAST_TERM.0, None, P);
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), vote).started();
    me.later(P + S)
        .fire(BullyTimer::Election)
        .nothing_else_happened();
    me.step(Input::Campaign).nothing_else_happened();
    assert_eq!(me.view().role, Role::Follower);
}
