//! `Campaign` and `SetScore`.

use super::*;

#[test]
fn campaigning_asks_now_unless_bound() {
    let mut me = Kit::vacant();
    me.step(Input::Campaign)
        .asked(elect(0, 5))
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
    me.step(Input::Campaign).nothing_else_happened();
    let mut me = Kit::following();
    me.step(Input::Campaign).nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
}

#[test]
fn campaigning_under_a_lesser_leader_challenges_it() {
    let mut me = Kit::following_low();
    let takeover = Some(leadership(LOW, OLD));
    me.step(Input::Campaign)
        .asked(Elect {
            takeover,
            ..elect(OLD, 5)
        })
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
}

#[test]
fn a_leader_that_campaigns_is_heard() {
    let mut me = Kit::leading();
    let sent_at = Some(me.now);
    me.step(Input::Campaign)
        .sent_all(Heartbeat {
            sent_at,
            ..heartbeat(MINE, 5)
        })
        .nothing_else_happened();
}

#[test]
fn an_ineligible_agent_does_not_campaign() {
    for mut me in [Kit::witness(), Kit::observer()] {
        me.step(Input::Campaign).nothing_else_happened();
    }
}

/// `slot-by-rank`
#[test]
fn an_agent_that_becomes_eligible_takes_a_slot() {
    let mut me = Kit::witness();
    me.set_score(5)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
    let mut me = Kit::witness().after(HIGH, heartbeat(OLD, 9));
    me.set_score(5).nothing_else_happened();
}

#[test]
fn a_round_belongs_to_one_score() {
    let mut me = Kit::asking();
    let again = Elect {
        round: round(2),
        ..elect(MINE - 1, 10)
    };
    me.set_score(10)
        .asked(again)
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
}

#[test]
fn an_agent_that_becomes_ineligible_gives_up() {
    for mut me in [Kit::vacant(), Kit::asking(), Kit::claiming()] {
        me.set_score(None).nothing_else_happened();
        assert_eq!(me.view().role, Role::Follower);
        me.fire(BullyTimer::Round).nothing_else_happened();
        me.later(1_000)
            .fire(BullyTimer::Election)
            .nothing_else_happened();
    }
}

#[test]
fn a_leader_tells_its_score() {
    let mut me = Kit::leading();
    let sent_at = Some(me.now);
    me.set_score(6)
        .sent_all(Heartbeat {
            sent_at,
            ..heartbeat(MINE, 6)
        })
        .nothing_else_happened();
    me.set_score(6).nothing_else_happened();
}

#[test]
fn campaigning_ends_a_cooldown() {
    let mut me = Kit::leading();
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    me.step(Input::Campaign)
        .asked(Elect {
            round: round(2),
            released: Some(leader(ME, MINE)),
            ..elect(MINE, 5)
        })
        .whatever();
    let mut me = Kit::leading();
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    me.fire(BullyTimer::Election)
        .set(BullyTimer::Election, W + 9 * S)
        .nothing_else_happened();
}
