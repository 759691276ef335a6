//! Voters that are slower than the timings assume: `same-term-again`, `late-vote-counts`, `longer-after-late-answer`.

use super::{super::pace::RoundPace, *};

/// Returns an agent whose claim ran out twice. It waits for its slot, and has not claimed anything else.
fn unvoted(config: QuorumConfig) -> Kit {
    let mut me = Kit::claiming_by(config);
    for _ in 0..2 {
        me.later(E).fire(BullyTimer::Round).whatever();
    }
    me
}

/// Returns an agent in its second round of questions. The first round ran out.
fn asking_again(config: QuorumConfig) -> Kit {
    let mut me = Kit::asking_by(config);
    me.later(E).fire(BullyTimer::Round).whatever();
    me.later(S).fire(BullyTimer::Election).whatever();
    me
}

/// Lets the present round of questions run out, and returns the length of the next round.
fn next_round(me: &mut Kit) -> Duration {
    let State::Asking(asking) = &me.machine.state else {
        panic!("it asks: {:?}", me.machine.state);
    };
    me.now = asking.due;
    me.fire(BullyTimer::Round).whatever();
    me.later(2 * E).fire(BullyTimer::Election).whatever();
    let State::Asking(asking) = &me.machine.state else {
        panic!("it asks again: {:?}", me.machine.state);
    };
    asking.due.since(me.now)
}

fn answer_late(me: &mut Kit, to: u64) {
    me.hear(LOW, yields(to)).nothing_else_happened();
    me.hear(HIGH, alive(to, 0, 60)).nothing_else_happened();
}

#[test]
fn a_claim_that_brought_too_few_votes_is_made_again_for_the_same_term() {
    let mut me = Kit::claiming();
    me.later(E)
        .fire(BullyTimer::Round)
        .asked(claim(MINE, 5))
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
    let refused = Kit::claiming().after(LOW, refuses(MINE, MINE, 0));
    for mut me in [me, refused] {
        me.later(E)
            .fire(BullyTimer::Round)
            .set(BullyTimer::Election, S)
            .nothing_else_happened();
    }
}

pub(super) fn a_late_vote_elects(config: QuorumConfig) -> bool {
    let mut me = unvoted(config);
    let effects = me.hear(LOW, grants(MINE));
    let said = effects.messages();
    let elects =
        |said: &&QuorumMessage| matches!(said, QuorumMessage::Elected(m) if m.term == Term(MINE));
    said.iter().any(elects)
}

/// The claim ends by a vote in a higher term, an objection, a leader, a refusal, or another score.
#[test]
fn a_late_vote_for_a_claim_that_has_ended_elects_no_agent() {
    let ends: [fn(&mut Kit); 5] = [
        |me| me.hear(HIGH, claim(MINE + 1, 9)).whatever(),
        |me| {
            me.later(S + E).fire(BullyTimer::Election).whatever();
            me.hear(HIGH, objects(2, MINE)).whatever();
        },
        |me| me.hear(HIGH, elected(MINE + 1, 9)).whatever(),
        |me| me.hear(HIGH, refuses(MINE, MINE, 0)).whatever(),
        |me| me.set_score(6).whatever(),
    ];
    for (at, end) in ends.into_iter().enumerate() {
        let mut me = unvoted(config());
        end(&mut me);
        me.hear(LOW, grants(MINE)).nothing_else_happened();
        assert!(!matches!(me.machine.state, State::Leading(_)), "{at}");
    }
}

pub(super) fn a_late_answer_doubles_the_next_round(config: QuorumConfig) -> bool {
    let mut me = asking_again(config);
    answer_late(&mut me, 1);
    next_round(&mut me) == Duration::from_millis(2 * E)
}

#[test]
fn rounds_double_up_to_the_deadline_and_a_minute_under_one_leader_ends_that() {
    assert!(a_late_answer_doubles_the_next_round(config()));
    let mut me = asking_again(config());
    let mut lengths = Vec::new();
    for round in 1..6 {
        answer_late(&mut me, round);
        lengths.push(next_round(&mut me).as_millis());
    }
    assert_eq!(lengths, [10, 20, 40, 50, 50]);
    me.hear(HIGH, elected(MINE, 9)).whatever();
    let beats = 60_000 / H;
    for beat in 1..=beats {
        let is_over = me.machine.core.pace == RoundPace::default();
        assert!(!is_over, "after {beat} heartbeats");
        me.later(H).hear(HIGH, heartbeat(MINE, 9)).whatever();
    }
    assert_eq!(me.machine.core.pace, RoundPace::default());
}
