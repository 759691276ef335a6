//! Every role by every input, and random incarnations: no cell panics, and the contract holds.

use super::*;

#[test]
fn no_cell_panics_and_none_loses_its_timer() {
    let roles = [
        Kit::idle(),
        Kit::following(),
        Kit::holding(),
        Kit::deferring(),
        Kit::leading(),
        Kit::draining(),
        Kit::cooling_down(),
    ];
    all_keep_the_contract(roles, &[0, STEP, DEADLINE, VICTORY, 2 * COOLDOWN]);
}

#[test]
fn any_incarnation_keeps_the_contract() {
    keeps_the_contract::<Astra>(1_000, &Arc::default());
}

#[test]
fn nothing_happens_before_the_start() {
    let mut me = Kit::voter(&Arc::default());
    for input in inputs(&me.clone()) {
        if !matches!(input, Input::Start(_)) {
            me.step(input).nothing_else_happened();
        }
    }
    me.set_score(10).nothing_else_happened();
    me.start().nothing_else_happened();
    me.step(Input::Campaign)
        .asked(&[HIGH, LOW], elect(10))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}
