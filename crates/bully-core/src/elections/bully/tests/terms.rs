//! Near the largest term no number wraps, and no agent asks for a leadership that it could not take.

use super::*;

const LAST: u64 = u64::MAX;

/// Returns the same machine after it has heard of the term `term`.
fn having_seen(me: Kit, term: u64) -> Kit {
    let seen = Term(term);
    me.after(LOW, Ok { seen, ..ok(0) })
}

#[test]
fn no_agent_competes_after_the_last_term() {
    let mut me = having_seen(Kit::with_slot(), LAST);
    me.step(Input::Campaign).nothing_else_happened();
    me.later(S)
        .fire(BullyTimer::Campaign)
        .nothing_else_happened();
    let mut me = having_seen(Kit::following(), LAST);
    me.step(Input::Campaign).nothing_else_happened();
    me.set_score(20).nothing_else_happened();
    me.ends(HIGH).has_no_leader(OLD).nothing_else_happened();
}

#[test]
fn an_agent_that_cannot_compete_yields() {
    let mut me = having_seen(Kit::with_slot(), LAST);
    me.hear(LOW, elect(1))
        .sent(
            LOW,
            Yield {
                seen: Term(LAST),
                ..yields(1)
            },
        )
        .nothing_else_happened();
}
