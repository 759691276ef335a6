//! `Campaign` and `SetScore`.

use super::*;

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
