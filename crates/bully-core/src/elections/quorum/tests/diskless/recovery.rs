//! `abstain-without-memory`, `recover-by-a-quorum`, `recover-by-the-clock`, `ask-after-the-claims`.

use super::*;

#[test]
fn an_incarnation_abstains_and_stores_nothing() {
    let mut me = begun(forgetful());
    me.later(ABSTAINS - 1);
    assert!(!acknowledged(&me.hear(HIGH, heartbeat(OLD, 9))));
    assert_eq!(
        me.leader().as_deref(),
        Some(HIGH),
        "it follows all the same"
    );
    for question in [elect(OLD, 1).into(), QuorumMessage::from(claim(OLD + 1, 1))] {
        let seen = me.hear(LOW, question);
        assert!(!seen.writes() && !granted(&seen));
        let answers = seen.messages();
        assert!(matches!(
            answers[..],
            [QuorumMessage::Ok(_) | QuorumMessage::ClaimReply(_)]
        ));
    }
}

#[test]
fn the_term_that_a_recovering_voter_has_seen_counts() {
    let mut me = asking(forgetful());
    me.hear(LOW, recovers(1, 70)).nothing_else_happened();
    me.later(ABSTAINS - ASKS);
    for name in [LOW, HIGH] {
        me.hear(name, remembers(1, 7)).whatever();
    }
    assert!(me.machine.core.binds());
    assert_eq!(me.durable().0, 70);
}

/// It may have recovered since.
#[test]
fn a_voter_that_recovered_a_round_ago_is_asked_anew() {
    let mut me = asking(five());
    me.hear(LOW, recovers(1, 7)).nothing_else_happened();
    me.later(10_000).fire(BullyTimer::Recover).whatever();
    me.hear(HIGH, recovers(2, 7)).nothing_else_happened();
    me.later(10_000).fire(BullyTimer::Recover).whatever();
    assert!(!me.machine.core.binds(), "three others may remember");
    for name in [LOW, HIGH] {
        me.hear(name, recovers(3, 7)).nothing_else_happened();
    }
    me.later(10_000).fire(BullyTimer::Recover).whatever();
    assert!(me.machine.core.binds());
}

#[test]
fn no_vote_is_given_before_the_own_promise_is_over() {
    assert!(!votes_after_a_promise(forgetful()));
}

fn votes_after_a_promise(config: QuorumConfig) -> bool {
    let mut me = begun(config);
    for _ in 0..4 {
        me.later(P / 4).fire(BullyTimer::Recover).whatever();
        for counter in 1..4 {
            me.hear(LOW, remembers(counter, OLD)).whatever();
            me.hear(HIGH, remembers(counter, OLD)).whatever();
        }
    }
    granted(&me.hear(LOW, claim(BEGINS, 1)))
}

#[test]
fn it_asks_and_takes_part_above_what_a_quorum_of_others_remembers() {
    let mut me = begun(forgetful());
    me.later(ASKS)
        .fire(BullyTimer::Recover)
        .set(BullyTimer::Recover, E)
        .asked(Recover {
            round: round(1),
            seen: Term::ZERO,
        })
        .nothing_else_happened();
    me.hear(LOW, remembers(1, 7)).nothing_else_happened();
    me.hear(HIGH, remembers(1, 9)).nothing_else_happened();
    assert!(!me.machine.core.binds(), "it still abstains");
    let seen = me.later(ABSTAINS - ASKS).fire(BullyTimer::Recover);
    assert!(!seen.writes());
    seen.whatever();
    assert!(me.machine.core.binds());
    assert_eq!(me.durable(), (9, Some(ME.into())), "it may have voted in 9");
    for term in [7, 9] {
        assert!(!granted(&me.hear(LOW, claim(term, 1))), "in {term}");
    }
    assert!(granted(&me.hear(LOW, claim(BEGINS, 1))));
}

/// Of three voters one has restarted and another one is gone: no leader until it returns.
#[test]
fn silence_is_no_answer() {
    assert!(!takes_part_after_silence(forgetful()));
}

fn takes_part_after_silence(config: QuorumConfig) -> bool {
    let mut me = asking(config);
    me.hear(LOW, remembers(1, OLD)).whatever();
    for _ in 0..5 {
        me.later(H).fire(BullyTimer::Recover).whatever();
    }
    me.machine.core.binds()
}

#[test]
fn without_an_answer_no_vote_is_given() {
    assert!(!votes_unanswered(forgetful()));
}

fn votes_unanswered(config: QuorumConfig) -> bool {
    let mut me = begun(config);
    me.later(ABSTAINS).fire(BullyTimer::Recover).whatever();
    granted(&me.hear(LOW, claim(OLD, 1)))
}

#[test]
fn where_too_many_have_forgotten_the_clock_decides() {
    let mut me = asking(forgetful());
    me.hear(LOW, recovers(1, 0)).nothing_else_happened();
    me.later(ABSTAINS - ASKS);
    assert!(!me.machine.core.binds(), "not before the round is over");
    me.fire(BullyTimer::Recover).whatever();
    let (floor, _) = me.durable();
    assert_eq!(floor, BEGINS + ABSTAINS - 1);
    assert!(!granted(&me.hear(LOW, claim(floor, 1))));
    assert!(granted(&me.hear(LOW, claim(floor + 1, 1))));
}

/// What a voter that recovers answers was true then; who remembers goes on to remember.
#[test]
fn an_answer_of_one_that_recovers_counts_for_its_round_only() {
    let mut me = asking(forgetful());
    me.later(E + 1).fire(BullyTimer::Recover).whatever();
    me.hear(LOW, recovers(1, 0)).nothing_else_happened();
    me.later(H).fire(BullyTimer::Recover).whatever();
    assert!(!me.machine.core.binds());
    me.hear(HIGH, remembers(1, 3)).nothing_else_happened();
    me.hear(LOW, remembers(2, 4)).whatever();
    assert!(me.machine.core.binds());
}

#[test]
fn answers_to_another_incarnation_count_for_nothing() {
    let mut me = asking(forgetful());
    let old = |counter| Recovered {
        round: Round {
            incarnation: Incarnation(0),
            counter,
        },
        ..remembers(1, 3)
    };
    me.later(ABSTAINS - ASKS);
    for counter in [0, 1, 2, u64::MAX] {
        me.hear(LOW, old(counter)).nothing_else_happened();
        me.hear(HIGH, old(counter)).nothing_else_happened();
    }
    me.hear(HIGH, remembers(2, 3)).nothing_else_happened(); // never asked
    me.hear(LOW, remembers(2, 3)).nothing_else_happened();
    assert!(!me.machine.core.binds());
}

#[test]
fn a_voter_says_what_it_remembers_and_whether_it_does() {
    let question = Recover {
        round: round(8),
        seen: Term::ZERO,
    };
    let mut me = recovered(forgetful(), OLD);
    me.hear(LOW, question.clone())
        .sent(LOW, remembers(8, OLD))
        .nothing_else_happened();
    begun(forgetful())
        .hear(LOW, question.clone())
        .sent(LOW, recovers(8, 0))
        .nothing_else_happened();
    Kit::vacant().hear(LOW, question).nothing_else_happened(); // it has a disk
}

#[test]
fn the_only_voter_rests_on_its_clock() {
    let config = valid(QuorumConfig {
        voters: vec![id(ME)],
        ..forgetful()
    });
    let mut me = asking(config);
    assert_eq!(me.view().leading, None);
    me.later(E).fire(BullyTimer::Recover).whatever();
    assert_eq!(me.view().leading, Some(Term(BEGINS + ABSTAINS)));
}

/// An answer that was given before the former incarnation's votes had to be counted does not know of them.
///
/// Of five: this voter voted in 9, and restarted. LOW, `v4` and `v5` answer before HIGH's claim reaches LOW, whose
/// vote is the third. So all that this voter asked know nothing of 9; and when LOW restarts in its turn and
/// asks this one, `v4` and `v5`, only the leader remembers.
#[test]
fn answers_from_before_the_claims_were_over_count_for_nothing() {
    let (asks_early, votes) = votes_after_early_answers(five());
    assert!(!asks_early && !votes);
}

/// Whether it asks before the claims are over, and votes in 9 afterwards.
fn votes_after_early_answers(config: QuorumConfig) -> (bool, bool) {
    let mut me = Kit::voter(&Arc::new(config));
    let up = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(1));
    me.members.join(["v4", "v5"].map(up));
    me.start().whatever();
    let asks = me.later(1).fire(BullyTimer::Recover);
    let asks_early = !asks.messages().is_empty();
    drop(asks);
    for voter in [LOW, "v4", "v5"] {
        me.hear(voter, remembers(1, OLD)).whatever();
    }
    // Meanwhile LOW votes. When this one asks in time LOW knows of the term 9.
    me.later(ASKS - 1).fire(BullyTimer::Recover).whatever();
    me.later(ABSTAINS - ASKS)
        .fire(BullyTimer::Recover)
        .whatever();
    if !me.machine.core.binds() {
        for (voter, term) in [(LOW, 9), ("v4", OLD), ("v5", OLD)] {
            me.hear(voter, remembers(1, term)).whatever();
        }
    }
    assert!(me.machine.core.binds());
    (asks_early, granted(&me.hear("v4", claim(9, 1))))
}
