//! `Start`, and the first record that the register shows.

use super::*;

#[test]
fn a_record_of_another_group_or_program_is_never_overwritten() {
    let foreign = |content| Answer::Holds {
        lease: Cell {
            version: version(None),
            content,
        },
        claim: Cell {
            version: version(None),
            content: Ok(None),
        },
    };
    let mut elsewhere = held(HIGH, 3, 1);
    elsewhere.name.group = id("other");
    for content in [Err(RecordError::Kind), Ok(Some(elsewhere))] {
        let mut me = Kit::starting();
        for _ in 0..20 {
            me.later(READ);
            let request = Some(me.asks());
            me.shown(request, foreign(content.clone()))
                .set(BullyTimer::Detect, POLL)
                .nothing_else_happened();
        }
    }
}
