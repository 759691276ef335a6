//! `Ok`: counts for the round it echoes, and never demotes a leader.

use super::*;

#[test]
fn an_answer_to_another_round_counts_for_nothing() {
    let former_life = Ok {
        round: Round {
            incarnation: Incarnation(0),
            counter: 1,
        },
        ..ok(1)
    };
    for mut me in [
        Kit::asking_voters(),
        Kit::asking_found(),
        Kit::asking_leader(),
    ] {
        me.hear(HIGH, ok(0)).nothing_else_happened();
        me.hear(HIGH, ok(2)).nothing_else_happened();
        me.hear(HIGH, former_life.clone()).nothing_else_happened();
        assert_eq!(me.role(), Role::Candidate);
    }
}
