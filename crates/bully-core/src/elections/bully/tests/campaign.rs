//! `Campaign`: the user wants an election.

use super::*;

fn ask(counter: u64, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(5)
    }
}

#[test]
fn an_agent_that_cools_down_competes_again_when_it_is_told_to() {
    let mut me = Kit::cooling_down();
    me.step(Input::Campaign)
        .sent_to(&[HIGH, LOW], ask(2, MINE))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
    me.step(Input::Campaign)
        .sent(LOW, ask(2, MINE + 1))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}
