//! `Elect`: a voter always answers it. Also a late `Yield`, and a repeated `Elected`.

use super::*;

#[test]
fn a_repeated_question_is_answered_and_changes_no_more_than_the_first() {
    for (name, kit) in Kit::roles() {
        for (from, score) in [(LOW, 1), (HIGH, 9)] {
            for seen in [0, OLD, MINE] {
                let mut me = kit.clone();
                me.hear(from, ask(1, score, seen)).whatever();
                let first = me.machine.clone();
                let again = me.hear(from, ask(1, score, seen));
                assert_eq!(me.machine, first, "{name}, {from}");
                assert!(again.events().is_empty(), "{name}, {from}");
                assert!(again.messages().len() <= 1, "{name}, {from}");
            }
        }
    }
}

#[test]
fn a_repeated_announcement_changes_nothing_at_an_agent_that_follows() {
    let mut followed = 0;
    for (name, kit) in Kit::roles() {
        for (from, score) in [(LOW, 1), (HIGH, 9)] {
            for term in [OLD, MINE, MINE + 1] {
                let mut me = kit.clone();
                me.hear(from, elected(term, score)).whatever();
                let first = me.machine.clone();
                let leader = first.state.as_ref().and_then(State::followed);
                if leader.is_some_and(|followed| followed.leader.id == id(from)) {
                    let again = me.hear(from, elected(term, score));
                    assert_eq!(me.machine, first, "{name}, {from}, {term}");
                    assert!(again.events().is_empty(), "{name}, {from}, {term}");
                    assert!(again.messages().is_empty(), "{name}, {from}, {term}");
                    followed += 1;
                }
            }
        }
    }
    assert!(followed > 20, "{followed}");
}

fn answers_mine(term: u64) -> Elected {
    answers(1, term, 5)
}

#[test]
fn a_leader_stays_when_the_challenger_is_not_enough_better() {
    Kit::leading_by(&with(|config| config.margin = Some(5.into())))
        .hear(HIGH, elect(9))
        .sent(HIGH, answers_mine(MINE))
        .nothing_else_happened();
    Kit::leading_by(&with(|config| config.margin = Some(4.into())))
        .hear(HIGH, elect(9))
        .lost(MINE, LostReason::Outranked)
        .sent(HIGH, releases(1, MINE))
        .set(BullyTimer::Victory, 2 * D + S)
        .nothing_else_happened();
}

/// After the last term no agent competes, and no number wraps.
#[test]
fn an_agent_that_cannot_compete_yields() {
    let seen = Term(u64::MAX);
    Kit::with_slot()
        .after(LOW, Ok { seen, ..ok(0) })
        .hear(LOW, elect(1))
        .sent(LOW, Yield { seen, ..yields(1) })
        .nothing_else_happened();
}

/// A leader that released its term answers an earlier round.
#[test]
fn a_late_release_counts_while_no_later_term_is_known() {
    for (released, counts) in [(OLD - 1, false), (OLD, true)] {
        let me = Kit::asking_leader().after(HIGH, yields(1));
        let me = me.after(LOW, releases(1, released));
        assert_eq!(me.role() == Role::Leader, counts, "{released}");
    }
}
