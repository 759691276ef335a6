//! `Yield`: the early decision, and a leader's release.

use super::*;

#[test]
fn the_last_yield_wins() {
    let mut me = Kit::asking_voters();
    me.hear(LOW, yields(1)).nothing_else_happened();
    me.hear(LOW, yields(1)).nothing_else_happened(); // doubled
    me.hear(HIGH, yields(1)).led(1).nothing_else_happened();
}

#[test]
fn a_yield_of_another_round_counts_for_nothing() {
    for mut me in [
        Kit::asking_voters(),
        Kit::asking_found(),
        Kit::asking_leader(),
        Kit::waiting(),
    ] {
        let before = me.machine.state.clone();
        for counter in [0, 2] {
            for name in [LOW, HIGH] {
                me.hear(name, yields(counter)).nothing_else_happened();
                me.hear(name, releases(counter, OLD))
                    .nothing_else_happened();
            }
        }
        assert_eq!(me.machine.state, before);
    }
}

#[test]
fn the_asked_leader_that_does_not_lead_is_not_asked_again() {
    let elect = Elect {
        round: round(2),
        seen: Term(OLD),
        ..elect(5)
    };
    Kit::asking_leader()
        .hear(HIGH, yields(1))
        .has_no_leader(OLD)
        .sent_to(&[LOW], elect.clone())
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    Kit::asking_found()
        .hear(LOW, yields(1))
        .sent_to(&[HIGH], elect)
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn the_yield_of_an_agent_that_was_not_asked_changes_nothing() {
    Kit::asking_leader()
        .hear(LOW, yields(1))
        .nothing_else_happened();
}

#[test]
fn a_release_wins_even_when_a_follower_has_said_ok_before() {
    Kit::asking_voters()
        .after(LOW, ok(1))
        .hear(HIGH, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
}

/// It answers an earlier round.
#[test]
fn a_late_release_counts_while_no_later_term_is_known() {
    let again = Kit::asking_leader().after(HIGH, yields(1));
    let mut me = again.clone();
    me.hear(LOW, releases(1, OLD - 1)).nothing_else_happened();
    let mut me = again;
    me.hear(LOW, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
}
