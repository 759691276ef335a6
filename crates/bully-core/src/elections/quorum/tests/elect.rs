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
fn a_voter_consents_to_an_agent_that_outranks_it() {
    let mut me = Kit::vacant();
    me.hear(HIGH, elect(4, 9))
        .sent(HIGH, yields_at(1, 4))
        .nothing_else_happened();
}

#[test]
fn a_voter_objects_to_an_agent_that_it_outranks_and_asks_itself() {
    let mut me = Kit::vacant();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, objects(1, 4))
        .asked(elect(4, 5))
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
    assert_eq!(me.view().role, Role::Candidate);
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
fn an_agent_in_its_cooldown_consents_to_all_until_it_asks_itself() {
    let mut me = Kit::leading();
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    let (seen, _) = me.durable();
    me.hear(LOW, elect(seen, 1))
        .sent(LOW, yields_at(1, seen))
        .nothing_else_happened();
    me.later(60_000 - 1).fire(BullyTimer::Election).whatever();
    assert_eq!(me.view().role, Role::Candidate);
    me.hear(LOW, elect(seen, 1))
        .sent(LOW, objects(1, seen))
        .nothing_else_happened();
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

#[test]
fn a_witness_never_objects() {
    let mut me = Kit::witness();
    me.hear(LOW, elect(4, 1))
        .sent(LOW, yields_at(1, 4))
        .nothing_else_happened();
}

#[test]
fn a_voter_that_is_bound_to_a_leader_says_for_how_long() {
    let mut me = Kit::following();
    me.later(25)
        .hear(LOW, elect(9, 1))
        .sent(LOW, alive(1, 9, 100))
        .nothing_else_happened();
    me.hear(HIGH, elect(9, 9))
        .sent(HIGH, yields_at(1, 9)) // the holder itself
        .nothing_else_happened();
}

#[test]
fn a_leader_with_a_lease_says_for_how_long() {
    let mut me = Kit::leading();
    me.later(10)
        .hear(HIGH, elect(9, 9))
        .sent(HIGH, alive(1, 9, D - 10))
        .nothing_else_happened();
}

#[test]
fn a_term_that_is_not_new_is_stale() {
    let mut me = Kit::following();
    me.later(P)
        .hear(LOW, elect(OLD - 1, 1))
        .sent(LOW, stale(1, OLD))
        .nothing_else_happened();
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

/// `wait-for-higher-ranked`
#[test]
fn a_claim_waits_for_the_voter_that_outranks_it() {
    let mut me = Kit::asking().after(LOW, yields(1));
    assert!(
        matches!(me.machine.state, State::Asking(_)),
        "a quorum, but HIGH is silent"
    );
    me.hear(HIGH, yields(1))
        .asked(claim(MINE, 5))
        .wrote(MINE, ME)
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
}

#[test]
fn a_claim_does_not_wait_for_ever() {
    let mut me = Kit::asking().after(LOW, yields(1));
    me.later(E - 1)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Round, 1)
        .nothing_else_happened();
    me.later(1)
        .fire(BullyTimer::Round)
        .asked(claim(MINE, 5))
        .wrote(MINE, ME)
        .whatever();
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
fn a_claim_does_not_wait_for_the_leader_that_fell_silent() {
    let mut me = Kit::following();
    me.later(P)
        .fire(BullyTimer::Election)
        .has_no_leader(OLD)
        .set(BullyTimer::Election, 0)
        .nothing_else_happened();
    me.fire(BullyTimer::Election)
        .asked(elect(OLD, 5))
        .whatever();
    me.hear(LOW, yields(1))
        .asked(claim(OLD + 1, 5))
        .wrote(OLD + 1, ME)
        .whatever();
}

#[test]
fn consent_counts_for_its_own_round_only() {
    let mut me = Kit::asking();
    me.later(E).fire(BullyTimer::Round).whatever();
    me.later(S).fire(BullyTimer::Election).whatever();
    let before = me.machine.state.clone();
    assert!(matches!(before, State::Asking(_)));
    for counter in [0, 1, 3] {
        for name in [LOW, HIGH] {
            me.hear(name, yields(counter)).nothing_else_happened();
            me.hear(name, objects(counter, 0)).nothing_else_happened();
            me.hear(name, alive(counter, 0, 60)).nothing_else_happened();
        }
    }
    assert_eq!(me.machine.state, before);
    me.hear(LOW, yields(2)).nothing_else_happened();
    me.hear(HIGH, yields(2))
        .asked(claim(MINE, 5))
        .wrote(MINE, ME)
        .whatever();
}

#[test]
fn an_answer_that_comes_late_changes_nothing() {
    for (role, mut me) in Kit::roles() {
        if role == "asking" {
            continue;
        }
        let before = me.machine.clone();
        for counter in 0..3 {
            for name in [LOW, HIGH] {
                me.hear(name, yields(counter)).nothing_else_happened();
                me.hear(name, objects(counter, 0)).nothing_else_happened();
                me.hear(name, alive(counter, 0, 60)).nothing_else_happened();
            }
        }
        assert_eq!(me.machine, before, "{role}");
    }
}

#[test]
fn an_objection_makes_it_defer() {
    let mut me = Kit::asking();
    me.hear(HIGH, objects(1, 9))
        .set(BullyTimer::Election, W)
        .nothing_else_happened();
    assert_eq!(me.view().role, Role::Waiting);
    assert_eq!(me.view().term, Term(9));
}

#[test]
fn a_stale_term_is_asked_again_higher() {
    let mut me = Kit::asking();
    me.hear(LOW, stale(1, 20))
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
    me.later(S)
        .fire(BullyTimer::Election)
        .asked(Elect {
            round: round(2),
            ..elect(20, 5)
        })
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

#[test]
fn without_a_quorum_it_tries_again_later() {
    let mut me = Kit::asking();
    me.later(E)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
    assert_eq!(me.durable(), (0, None), "nothing was used up");
}

#[test]
fn no_voter_listens_to_strangers_and_observers() {
    for (role, mut me) in Kit::roles() {
        let before = me.machine.clone();
        for from in [EYE, "stranger", ME] {
            me.hear(from, elect(50, 99)).nothing_else_happened();
            me.hear(from, claim(50, 99)).nothing_else_happened();
            me.hear(from, elected(50, 99)).nothing_else_happened();
            me.hear(from, resign(50, Some(ME))).nothing_else_happened();
            me.hear(from, nack(50)).nothing_else_happened();
        }
        assert_eq!(me.machine, before, "{role}");
    }
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
