//! `SetScore`.

use super::*;

fn ask(counter: u64, score: i32, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(score)
    }
}

// ---- followers ----

#[test]
fn any_score_ends_the_cooldown() {
    for score in [4, 5] {
        let mut me = Kit::cooling_down();
        me.set_score(score)
            .set(BullyTimer::Campaign, S)
            .nothing_else_happened();
        let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
        me.set_score(score)
            .sent(LOW, ask(2, score, MINE + 1))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
    }
}

// ---- candidates, and agents that wait ----

#[test]
fn a_round_belongs_to_one_score() {
    for score in [2, 10] {
        Kit::asking_leader()
            .set_score(score)
            .sent(HIGH, ask(2, score, OLD))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
        Kit::asking_found()
            .set_score(score)
            .sent(LOW, ask(2, score, OLD))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
        for mut me in [
            Kit::asking_voters(),
            Kit::asking_voters().after(LOW, elect(1)),
            Kit::waiting(),
            Kit::waiting().after(LOW, elect(1)),
        ] {
            me.set_score(score)
                .sent_to(&[HIGH, LOW], ask(2, score, 0)) // no agent is known to fail
                .set(BullyTimer::Deadline, T)
                .nothing_else_happened();
            me.hear(HIGH, yields(1)).nothing_else_happened(); // to the former score
        }
    }
}
