//! `SetScore`, and `Campaign`.

use super::*;

#[test]
fn a_score_or_a_campaign_ends_the_cooldown_of_a_follower() {
    for (score, input) in [
        (4, Input::SetScore(Some(4.into()))),
        (5, Input::SetScore(Some(5.into()))),
        (5, Input::Campaign),
    ] {
        let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
        me.step(input)
            .sent(LOW, ask(2, score, MINE + 1))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
    }
}

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
            me.hear(HIGH, yields(1)).nothing_else_happened(); // an answer to the former score
        }
    }
}
