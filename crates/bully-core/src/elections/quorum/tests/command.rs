//! `Campaign` and `SetScore`.

use super::*;

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
