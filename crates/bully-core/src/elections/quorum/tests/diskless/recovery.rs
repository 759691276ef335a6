//! `abstain-without-memory`, `recover-by-a-quorum`, `recover-by-the-clock`, `ask-after-the-claims`.

use super::*;

pub(super) fn no_vote_is_given_before_the_own_promise_is_over(config: QuorumConfig) -> bool {
    let mut me = begun(config);
    for _ in 0..4 {
        me.later(P / 4).fire(BullyTimer::Recover).whatever();
        for counter in 1..4 {
            me.hear(LOW, remembers(counter, OLD)).whatever();
            me.hear(HIGH, remembers(counter, OLD)).whatever();
        }
    }
    !granted(&me.hear(LOW, claim(BEGINS, 1)))
}

#[test]
fn it_asks_and_takes_part_above_what_a_quorum_of_others_remembers() {
    let mut me = begun(forgetful());
    me.later(ASKS)
        .fire(BullyTimer::Recover)
        .set(BullyTimer::Recover, E)
        .asked(Recover {
            round: round(1),
            ..Recover::default()
        })
        .nothing_else_happened();
    me.hear(LOW, remembers(1, 7)).nothing_else_happened();
    me.hear(HIGH, remembers(1, 9)).nothing_else_happened();
    assert!(!me.machine.core.binds(), "it still abstains");
    let effects = me.later(ABSTAINS - ASKS).fire(BullyTimer::Recover);
    assert!(!effects.writes());
    assert!(me.machine.core.binds());
    assert_eq!(me.durable(), (9, Some(ME.into())), "it may have voted in 9");
    for term in [7, 9] {
        assert!(!granted(&me.hear(LOW, claim(term, 1))), "in {term}");
    }
    assert!(granted(&me.hear(LOW, claim(BEGINS, 1))));
}

#[test]
fn a_vote_for_the_leader_that_it_heard_meanwhile_stays() {
    let mut me = asking(forgetful());
    me.hear(HIGH, elected(OLD, 9)).whatever();
    me.later(ABSTAINS - ASKS);
    me.hear(LOW, remembers(1, OLD)).whatever();
    me.hear(HIGH, remembers(1, OLD)).whatever();
    assert!(me.machine.core.binds());
    assert_eq!(me.durable(), (OLD, Some(HIGH.into())));
}

/// Three of four voters elect. One voter with a memory is not enough, while the other voters are silent.
pub(super) fn one_memory_of_four_is_not_enough(config: QuorumConfig) -> bool {
    let mut me = asking(among(&[LOW, ME, HIGH, "v4"], config));
    me.hear(LOW, remembers(1, OLD)).whatever();
    me.later(2 * E).fire(BullyTimer::Recover).whatever();
    let takes_part = me.machine.core.binds();
    me.hear(HIGH, remembers(2, OLD)).whatever();
    !takes_part && me.machine.core.binds()
}

/// Of three voters one has restarted and another one is down. There is no leader before the latter returns.
pub(super) fn silence_is_no_answer(config: QuorumConfig) -> bool {
    let mut me = asking(config);
    me.hear(LOW, remembers(1, OLD)).whatever();
    for _ in 0..5 {
        me.later(H).fire(BullyTimer::Recover).whatever();
    }
    !me.machine.core.binds()
}

pub(super) fn without_an_answer_no_vote_is_given(config: QuorumConfig) -> bool {
    let mut me = begun(config);
    me.later(ABSTAINS).fire(BullyTimer::Recover).whatever();
    !granted(&me.hear(LOW, claim(OLD, 1)))
}

/// LOW recovers too, hears that this voter has continued, and must still count it as forgetful. Otherwise LOW would
/// wait for ever. HIGH and later incarnations of LOW did not recover at the same time.
pub(super) fn a_voter_that_continued_by_the_clock_still_counts_for_the_voters_that_forgot_with_it(
    config: QuorumConfig,
) -> bool {
    let mut me = asking(config);
    me.hear_incarnation(LOW, 4, recovers(1, 0)).whatever();
    me.later(E).fire(BullyTimer::Recover).whatever();
    assert!(me.machine.core.binds());
    let mut says_that_it_recovers = |who, incarnation| {
        let round = Round {
            incarnation: Incarnation(incarnation),
            counter: 3,
        };
        let ask = Recover {
            round,
            ..Recover::default()
        };
        let effects = me.hear_incarnation(who, incarnation, ask);
        let [QuorumMessage::Recovered(answer)] = effects.messages()[..] else {
            panic!("{effects:?}");
        };
        assert_eq!(answer.term, Term(BEGINS + ASKS + E - 1));
        answer.recovering
    };
    assert!(!says_that_it_recovers(LOW, 5) && !says_that_it_recovers(HIGH, 4));
    says_that_it_recovers(LOW, 4)
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
    me.hear(HIGH, remembers(2, 3)).nothing_else_happened(); // this round was never asked
    me.hear(LOW, remembers(2, 3)).nothing_else_happened();
    assert!(!me.machine.core.binds());
}

/// Answers before the claims of a former incarnation are over may lack its last vote.
///
/// Of five voters, this one voted in the term 9, and restarted. LOW, `v4` and `v5` answer before HIGH's claim reaches
/// LOW, whose vote is the third. So no answer has the term 9. When LOW restarts too and asks this voter, `v4` and `v5`,
/// only the leader remembers the term.
pub(super) fn answers_from_before_the_claims_were_over_count_for_nothing(
    config: QuorumConfig,
) -> bool {
    let config = among(&[LOW, ME, HIGH, "v4", "v5"], config);
    let mut me = Kit::voter(&Arc::new(config));
    let up = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(1));
    me.members.join(["v4", "v5"].map(up));
    me.start().whatever();
    let asks = me.later(1).fire(BullyTimer::Recover);
    for voter in [LOW, "v4", "v5"] {
        me.hear(voter, remembers(1, OLD)).whatever();
    }
    // LOW votes in the meantime. If this voter asks late enough, LOW's answer has the term 9.
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
    !asks.speaks() && !granted(&me.hear("v4", claim(9, 1)))
}
