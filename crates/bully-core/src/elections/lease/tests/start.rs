//! `Start`, and what the register shows first.

use super::*;

#[test]
fn it_reads_and_will_again() {
    let mut me = Kit::voter(&Arc::new(config()));
    let none = me.request();
    me.start()
        .read(none + 1)
        .set(BullyTimer::Detect, POLL)
        .nothing_else_happened();
    me.later(POLL)
        .fire(BullyTimer::Detect)
        .read(none + 2)
        .set(BullyTimer::Detect, POLL)
        .nothing_else_happened();
}

/// It cannot know whether another agent leads by a record that somebody deleted.
#[test]
fn an_empty_register_is_taken_after_a_whole_lease() {
    let mut me = Kit::starting();
    me.later(5)
        .sees(None)
        .set(BullyTimer::Detect, POLL)
        .next_slot(PATIENCE + SLOT);
}

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
