//! Stepping down, which ASTRA's agent does not know.

use super::*;

#[test]
fn an_agent_that_cooled_down_holds_an_election() {
    let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
    me.later(COOLDOWN)
        .fire(BullyTimer::Cooldown)
        .has_no_leader(MINE + 1)
        .sent_to(&[HIGH, LOW], ask(2, 5, MINE + 1))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn the_named_successor_leads_and_the_others_ask_if_it_does_not() {
    Kit::following()
        .hear(HIGH, resign(OLD, Some(ME)))
        .has_no_leader(OLD)
        .sent_all(elected(OLD + 1, 5))
        .acquired(OLD + 1)
        .nothing_else_happened();
    let mut me = Kit::following();
    me.hear(HIGH, resign(OLD, Some(LOW)))
        .has_no_leader(OLD)
        .set(BullyTimer::Campaign, STEP)
        .nothing_else_happened();
    me.later(STEP)
        .fire(BullyTimer::Campaign)
        .sent_to(&[HIGH, LOW], ask(1, 5, OLD))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}
