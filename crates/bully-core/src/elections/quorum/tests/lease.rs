//! `Ack`, `Nack`, and the timers of a leader.

use super::*;

#[test]
fn the_lease_begins_with_a_quorum_of_acknowledgements() {
    let mut me = Kit::elected();
    let said = me.now;
    me.later(3)
        .hear(LOW, ack(MINE, said, 1))
        .set(BullyTimer::Lease, D - 3)
        .acquired(MINE)
        .nothing_else_happened();
    let view = me.view();
    assert_eq!(view.leading, Some(Term(MINE)));
    assert_eq!(view.leader, Some(leader(ME, MINE)));
    assert_eq!(view.valid_until, said.after(Duration::from_millis(D)));
}

/// 66: the lease counts from when the heartbeat was sent.
#[test]
fn an_acknowledgement_that_took_as_long_as_the_lease_is_worth_nothing() {
    let mut me = Kit::elected();
    let said = me.now;
    me.later(D)
        .hear(LOW, ack(MINE, said, 1))
        .nothing_else_happened();
    assert_eq!(me.view().leading, None);
}

#[test]
fn acknowledgements_of_something_else_do_not_count() {
    let mut me = Kit::elected();
    let now = me.now;
    me.hear(LOW, ack(MINE - 1, now, 1)).nothing_else_happened();
    let ahead = now.after(Duration::from_millis(1));
    me.hear(LOW, ack(MINE, ahead, 1)).nothing_else_happened();
    assert_eq!(me.view().leading, None);
    Kit::following()
        .hear(LOW, ack(OLD, now, 1))
        .nothing_else_happened();
}

#[test]
fn the_newest_acknowledgement_counts() {
    let mut me = Kit::leading();
    let first = me.now;
    me.later(H).acked(LOW, 1).nothing_else_happened();
    let until = me.view().valid_until;
    assert_eq!(until, me.now.after(Duration::from_millis(D)));
    me.hear(LOW, ack(MINE, first, 1)).nothing_else_happened();
    assert_eq!(me.view().valid_until, until, "an old one, late");
}

#[test]
fn of_five_voters_the_second_best_word_counts() {
    let voters = [LOW, ME, HIGH, "x", "y"].map(id);
    let config = valid(QuorumConfig::new(voters));
    let mut me = Kit::elected_by_five(config);
    let first = me.now;
    me.acked(LOW, 1).nothing_else_happened();
    me.later(10).acked(LOW, 1).nothing_else_happened();
    me.hear(HIGH, ack(MINE, first, 9)).whatever();
    assert_eq!(me.view().valid_until, first.after(Duration::from_millis(D)));
}

impl Kit {
    fn elected_by_five(config: QuorumConfig) -> Self {
        let mut kit = Self::known(config, Some(5));
        kit.machine.core.voter.seen = Term(MINE - 1);
        kit.later(S).fire(BullyTimer::Election).whatever();
        kit.after(LOW, yields(1))
            .after(HIGH, yields(1))
            .after(LOW, grants(MINE))
            .after(HIGH, grants(MINE))
    }
}

/// 62: a predicate of the clock, not an event.
#[test]
fn the_leadership_ends_with_the_lease_before_any_step() {
    let mut me = Kit::leading();
    me.later(D - 1);
    assert_eq!(me.view().leading, Some(Term(MINE)));
    me.later(1);
    assert_eq!((me.view().leading, me.view().role), (None, Role::Follower));
    assert_eq!(me.view().leader, None);
}

/// `lease-ends-by-clock`
#[test]
fn every_step_begins_by_looking_whether_the_lease_is_over() {
    let inputs = [
        Input::TimedOut(BullyTimer::Heartbeat),
        Input::TimedOut(BullyTimer::Lease),
        Input::Drained,
        Input::StepDown { to: None },
        Input::SetScore(None),
    ];
    for input in inputs {
        let mut me = Kit::leading();
        let mut effects = me.later(3 * D).step(input);
        let lost = Event::Lost {
            term: Term(MINE),
            reason: LostReason::LeaseExpired,
        };
        assert_eq!(effects.0.pop_front(), Some(Effect::Notify(lost)));
        assert!(effects.messages().is_empty());
        assert_eq!(me.view().leading, None);
    }
}

#[test]
fn an_acknowledgement_after_the_end_does_not_revive_a_leadership() {
    let mut me = Kit::leading();
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let said = me.now;
    me.later(D - H)
        .hear(LOW, ack(MINE, said, 1))
        .lost(MINE, LostReason::LeaseExpired)
        .whatever();
    assert_eq!(me.view().leading, None);
}

#[test]
fn a_leader_is_heard_again_and_again() {
    let mut me = Kit::leading();
    me.later(H - 1)
        .fire(BullyTimer::Heartbeat)
        .set(BullyTimer::Heartbeat, 1)
        .nothing_else_happened();
    me.later(1);
    let sent_at = Some(me.now);
    me.fire(BullyTimer::Heartbeat)
        .sent_all(Heartbeat {
            sent_at,
            ..heartbeat(MINE, 5)
        })
        .set(BullyTimer::Heartbeat, H)
        .nothing_else_happened();
}

#[test]
fn the_lease_timer_moves_with_the_lease() {
    let mut me = Kit::leading();
    me.later(H).acked(LOW, 1).nothing_else_happened();
    me.later(D - H)
        .fire(BullyTimer::Lease)
        .set(BullyTimer::Lease, H)
        .nothing_else_happened();
    me.later(H)
        .fire(BullyTimer::Lease)
        .lost(MINE, LostReason::LeaseExpired)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
}

/// `give-up-unacknowledged`
#[test]
fn an_elected_agent_that_is_not_acknowledged_gives_up() {
    let mut me = Kit::elected();
    me.later(E)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
    me.later(E)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
    me.fire(BullyTimer::Heartbeat).nothing_else_happened();
}

/// 72
#[test]
fn without_a_lease_an_elected_agent_steps_down_for_a_higher_term() {
    let mut me = Kit::elected();
    me.hear(LOW, nack_of(MINE - 1, MINE))
        .nothing_else_happened();
    me.hear(LOW, nack(20))
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
    me.acked(HIGH, 9).nothing_else_happened();
    assert_eq!((me.view().leading, me.view().term), (None, Term(20)));
}

/// 58, `raise-term-without-gap`
#[test]
fn a_leader_with_a_lease_raises_its_term_without_a_gap() {
    let mut me = Kit::leading();
    me.hear(HIGH, nack(20))
        .wrote(21, ME)
        .asked(claim(21, 5))
        .nothing_else_happened();
    assert_eq!(
        me.view().leading,
        Some(Term(MINE)),
        "in the old term meanwhile"
    );
    me.hear(HIGH, nack(21)).nothing_else_happened();
    me.later(10);
    let sent_at = Some(me.now);
    me.hear(HIGH, grants(21))
        .notified(Event::Renewed { term: Term(21) })
        .sent_all(Elected {
            sent_at,
            ..elected(21, 5)
        })
        .nothing_else_happened();
    assert_eq!(me.view().leading, Some(Term(21)));
    assert_eq!(
        me.view().valid_until,
        me.now.after(Duration::from_millis(D - 10))
    );
}

#[test]
fn the_claim_of_a_higher_term_is_repeated_with_each_heartbeat() {
    let mut me = Kit::leading().after(HIGH, nack(20));
    me.later(H);
    let sent_at = Some(me.now);
    me.fire(BullyTimer::Heartbeat)
        .sent_all(Heartbeat {
            sent_at,
            ..heartbeat(MINE, 5)
        })
        .set(BullyTimer::Heartbeat, H)
        .asked(claim(21, 5))
        .nothing_else_happened();
}

#[test]
fn a_still_higher_term_is_claimed_instead() {
    let mut me = Kit::leading().after(HIGH, nack(20));
    me.hear(HIGH, refuses(21, 30, 0))
        .wrote(31, ME)
        .asked(claim(31, 5))
        .nothing_else_happened();
    me.hear(LOW, grants(21)).nothing_else_happened();
    me.hear(LOW, grants(31))
        .notified(Event::Renewed { term: Term(31) })
        .whatever();
}

#[test]
fn the_lease_ends_while_a_higher_term_is_claimed() {
    let mut me = Kit::leading().after(HIGH, nack(20));
    me.later(D)
        .hear(LOW, grants(21))
        .lost(MINE, LostReason::LeaseExpired)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
}

/// `lose-before-resign`: the term that was led, never the one that is being claimed.
#[test]
fn resigning_while_a_higher_term_is_claimed_names_the_term_that_was_led() {
    let mut me = Kit::leading().after(HIGH, nack(20));
    me.step_down(None).whatever();
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .sent_all(resign(MINE, Some(LOW)))
        .set(BullyTimer::Election, W + 9 * S)
        .nothing_else_happened();
}

/// 80
#[test]
fn a_leader_does_not_raise_its_term_beyond_the_last_one() {
    let mut me = Kit::leading();
    me.hear(HIGH, nack(LAST_TERM.0)).nothing_else_happened();
    assert_eq!(me.view().leading, Some(Term(MINE)));
}
