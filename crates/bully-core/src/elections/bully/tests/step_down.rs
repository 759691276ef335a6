//! `StepDown` and `Drained`: what only a bully does when it hands over.

use super::*;

#[test]
fn an_agent_that_steps_down_alone_comes_back_in_the_last_slot() {
    let mut me = Kit::draining();
    for name in [LOW, HIGH] {
        me.ends(name).nothing_else_happened();
    }
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, None))
        .set(BullyTimer::Campaign, 8 * S)
        .nothing_else_happened();
    me.later(8 * S)
        .fire(BullyTimer::Campaign)
        .led(MINE + 1)
        .nothing_else_happened();
}
