//! `Elect`: a voter always answers it.

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
fn a_question_from_below_counts_as_an_answer() {
    let mut me = Kit::asking_voters();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .nothing_else_happened();
    me.hear(HIGH, yields(1)).led(1).nothing_else_happened();
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
