//! `Elect` to take over, and `Takeover`.

use super::*;

/// Returns a follower of LOW that has heard LOW for a leader's grace period.
fn steady() -> Kit {
    let mut me = Kit::following_low();
    for _ in 0..AFTER / H - 1 {
        me.later(H).hear(LOW, heartbeat(OLD, 1)).whatever();
    }
    me.later(H);
    me
}

/// Returns a question of HIGH, which wants to replace this leader.
fn wants(term: u64) -> Elect {
    Elect {
        takeover: Some(Box::new(leadership(ME, term))),
        ..elect(term, 9)
    }
}

/// Returns a leader that has heard HIGH for a grace period.
fn heard() -> Kit {
    heard_by(config())
}

fn heard_by(config: QuorumConfig) -> Kit {
    let mut me = Kit::leading_by(config);
    me.acked(HIGH, 9).whatever();
    hears_both(&mut me, AFTER);
    me
}

/// Both other voters acknowledge the leader for this number of milliseconds.
fn hears_both(me: &mut Kit, millis: u64) {
    for _ in 0..millis / H {
        me.later(H).acked(HIGH, 9).whatever();
        me.acked(LOW, 1).whatever();
    }
}

#[test]
fn a_gap_begins_the_grace_period_anew() {
    let mut me = steady();
    let asked = |effects: StepEffects| effects.messages().len() == 2; // an acknowledgement and a question
    assert!(
        asked(me.clone().later(2 * H).hear(LOW, heartbeat(OLD, 1))),
        "3 H is not a gap"
    );
    for beats in 0..AFTER / H {
        let gap = if beats == 0 { 2 * H + 1 } else { H };
        let effects = me.later(gap).hear(LOW, heartbeat(OLD, 1));
        assert!(!asked(effects), "after {beats} more");
    }
    assert!(asked(me.later(H).hear(LOW, heartbeat(OLD, 1))));
}

/// The score of the leader changes after the gap.
#[test]
fn a_gap_before_another_score_begins_the_grace_period_anew() {
    for (gap, anew) in [(3 * H, false), (3 * H + 1, true)] {
        let mut me = Kit::following_low();
        let since = me.now;
        me.later(gap).hear(LOW, heartbeat(OLD, 2)).whatever();
        let State::Following(followed) = &me.machine.state else {
            panic!("it follows LOW");
        };
        let begins = if anew { me.now } else { since };
        assert_eq!(followed.since, begins, "{gap}");
        let takes_over = begins.after(Duration::from_millis(AFTER));
        assert_eq!(me.machine.prospects().takeover_at, Some(takes_over));
    }
}

/// `leader-decides-takeover` at the leader: the acknowledgements of a challenger have a gap.
#[test]
fn a_gap_in_acknowledgements_begins_the_grace_period_anew() {
    let gap = |millis: u64| {
        let mut me = heard();
        let rest = (0..millis / H).map(|_| H).chain([millis % H]);
        for pause in rest {
            me.later(pause).acked(LOW, 1).whatever(); // LOW keeps the lease alive
        }
        me.acked(HIGH, 9).whatever();
        me
    };
    gap(3 * H)
        .hear(HIGH, wants(MINE))
        .sent(HIGH, yields_at(1, MINE))
        .nothing_else_happened();
    let mut me = gap(3 * H + 1);
    me.hear(HIGH, wants(MINE))
        .sent(HIGH, alive(1, MINE, AFTER))
        .nothing_else_happened();
}

/// `ask-before-takeover`: the other voters gave their consent to an earlier question, at another moment.
#[test]
fn consent_to_an_earlier_challenge_does_not_count() {
    let mut me = steady().after(LOW, heartbeat(OLD, 1));
    me.later(E).fire(BullyTimer::Round).whatever();
    let asked = (0..40).any(|_| {
        let effects = me.later(H).hear(LOW, heartbeat(OLD, 1));
        effects.messages().len() == 2
    });
    assert!(asked, "it asks once more");
    for name in [HIGH, LOW] {
        me.hear(name, yields(1)).nothing_else_happened();
    }
    me.hear(LOW, yields(2))
        .sent(LOW, Takeover { term: Term(OLD) })
        .nothing_else_happened();
}

/// `ask-before-takeover`
#[test]
fn a_quorum_with_the_leader_in_it_lets_it_ask_for_the_leadership() {
    let mut me = steady().after(LOW, heartbeat(OLD, 1));
    me.hear(HIGH, yields(1)).nothing_else_happened();
    let takeover = Takeover { term: Term(OLD) };
    me.hear(LOW, yields(1))
        .sent(LOW, takeover)
        .nothing_else_happened();
    me.hear(LOW, yields(1)).nothing_else_happened();
}

#[test]
fn a_refusal_by_the_leader_says_when_to_ask_again() {
    let mut me = steady().after(LOW, heartbeat(OLD, 1));
    me.hear(LOW, alive(1, OLD, 40)).nothing_else_happened();
    let again = |me: &mut Kit| me.hear(LOW, heartbeat(OLD, 1)).messages().len() == 2;
    assert!(!again(me.later(39)));
    assert!(again(me.later(1)));
}

/// Returns the successor that a leader below LOW and HIGH chooses when LOW asks to take over. The leader has heard LOW
/// for the grace period, and HIGH for `high_for` milliseconds.
fn successor_of_the_last(config: QuorumConfig, high_for: u64, is_slow: bool) -> Option<AgentId> {
    let mut me = Kit::leading_by(config);
    me.set_score(0).whatever();
    for k in 0..=AFTER / H {
        if k > 0 {
            me.later(H);
        }
        me.acked(LOW, 1).whatever();
        if k * H + high_for >= AFTER {
            let ack = Ack {
                slow: is_slow,
                ..ack(MINE, me.now, 9)
            };
            me.hear(HIGH, ack).whatever();
        }
    }
    let effects = me.hear(LOW, Takeover { term: Term(MINE) });
    me.prepared(effects).whatever();
    let State::Leading(leading) = &me.machine.state else {
        return None;
    };
    leading.leaving.as_ref()?.handover.to.clone()
}

/// `leader-decides-takeover`
pub(super) fn a_leader_hands_over_to_the_best_voter_for_any_asker(config: QuorumConfig) -> bool {
    successor_of_the_last(config, AFTER, false) == Some(id(HIGH))
}

#[test]
fn a_slow_or_late_better_voter_is_not_the_successor_of_an_asker() {
    assert!(a_leader_hands_over_to_the_best_voter_for_any_asker(config()));
    let low = Some(id(LOW));
    assert_eq!(successor_of_the_last(config(), AFTER, true), low);
    assert_eq!(successor_of_the_last(config(), AFTER - H, false), low);
}

#[test]
fn a_leader_yields_only_to_a_better_agent_that_is_heard_in_its_own_term() {
    let takeover = || Takeover { term: Term(MINE) };
    let (mut silent, mut better, mut leaving) = (heard(), heard(), heard());
    silent.later(2 * H + 1);
    better.set_score(10).whatever();
    leaving.step_down(LOW).whatever();
    for (mut me, from, said) in [
        (heard(), LOW, takeover()),
        (heard(), HIGH, Takeover { term: Term(OLD) }),
        (silent, HIGH, takeover()),
        (better, HIGH, takeover()),
        (leaving, HIGH, takeover()),
    ] {
        me.hear(from, said).nothing_else_happened();
    }
}

#[test]
fn a_margin_keeps_a_leader_that_is_hardly_worse() {
    for (margin, drains) in [(5, false), (4, true)] {
        let margin = Some(margin.into());
        let mut me = heard_by(QuorumConfig { margin, ..config() });
        let takes_over = me.hear(HIGH, Takeover { term: Term(MINE) });
        assert_eq!(takes_over.speaks(), drains, "it asks for votes ahead");
    }
}

/// `wait-longer-for-flapping`, scenario 57
#[test]
fn an_agent_that_keeps_losing_the_leadership_waits_longer() {
    let mut me = Kit::vacant();
    me.machine.core.voter.seen = Term(MINE - 1);
    me.hear(HIGH, heartbeat(MINE - 1, 9)).whatever();
    me.later(P).fire(BullyTimer::Election).whatever();
    me.fire(BullyTimer::Election).whatever();
    let mut me = me.after(LOW, yields(1)).after(LOW, grants(MINE));
    me.acked(LOW, 1).whatever();
    me.acked(HIGH, 9).whatever();
    hears_both(&mut me, AFTER);
    me.hear(HIGH, wants(MINE))
        .sent(HIGH, alive(1, MINE, AFTER))
        .nothing_else_happened();
    hears_both(&mut me, AFTER * 16);
    me.hear(HIGH, wants(MINE))
        .sent(HIGH, yields_at(1, MINE))
        .nothing_else_happened();
}
