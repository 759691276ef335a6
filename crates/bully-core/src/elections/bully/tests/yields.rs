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
fn a_leaders_release_wins_at_once() {
    Kit::asking_leader()
        .hear(HIGH, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
    Kit::asking_found()
        .hear(LOW, releases(1, OLD))
        .led(OLD + 1)
        .nothing_else_happened();
    Kit::asking_voters()
        .hear(LOW, releases(1, OLD))
        .led(OLD + 1)
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

#[test]
fn a_release_is_no_use_to_an_agent_that_follows_another_by_now() {
    Kit::asking_voters()
        .after(HIGH, elected(OLD + 1, 9))
        .hear(LOW, releases(1, OLD))
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

#[test]
fn a_release_counts_once() {
    let mut me = Kit::asking_leader().after(HIGH, releases(1, OLD));
    me.hear(HIGH, elect(9)).whatever();
    assert_eq!(me.role(), Role::Waiting);
    me.hear(HIGH, releases(1, OLD)).nothing_else_happened();
    assert_eq!(me.role(), Role::Waiting);
}

#[test]
fn a_waiting_agent_takes_no_notice_of_a_yield() {
    let mut me = Kit::waiting();
    let before = me.machine.state.clone();
    me.hear(LOW, yields(1)).nothing_else_happened();
    me.hear(HIGH, yields(1)).nothing_else_happened();
    assert_eq!(me.machine.state, before);
}

#[test]
fn an_agent_that_asked_nothing_takes_no_notice() {
    for (role, mut me) in Kit::roles() {
        if matches!(me.role(), Role::Candidate | Role::Waiting) {
            continue;
        }
        let before = me.machine.state.clone();
        for counter in 0..3 {
            me.hear(HIGH, yields(counter)).nothing_else_happened();
            me.hear(LOW, releases(counter, OLD)).nothing_else_happened();
        }
        assert_eq!(me.machine.state, before, "{role}");
    }
}

/// The round is over: what was asked of its leader is answered by now.
#[test]
fn a_yield_that_comes_late_leaves_the_leader_in_place() {
    for counter in [0, 1, 2] {
        let mut me = Kit::asking_leader().after(HIGH, elected(OLD, 9));
        let before = (me.machine.state.clone(), me.view().leader);
        assert!(before.1.is_some());
        me.hear(HIGH, yields(counter)).nothing_else_happened();
        me.hear(LOW, yields(counter)).nothing_else_happened();
        assert_eq!((me.machine.state.clone(), me.view().leader), before);
    }
}

#[test]
fn a_leader_renews_above_the_term_it_is_told_of() {
    for mut me in [Kit::leading(), Kit::draining()] {
        let (seen, term) = (Term(MINE + 2), Term(MINE + 3));
        me.hear(EYE, Behind { seen })
            .sent_all(elected(MINE + 3, 5))
            .notified(Event::Renewed { term })
            .nothing_else_happened();
    }
}
