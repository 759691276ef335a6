//! The driver's contract, item by item.

use super::{MS, id, inputs, settled, terms, three, toy::BEAT, voter};
use crate::{
    faults::Conditions,
    sim::{Participant, Reaction, Trap, World},
};
use bully_core::protocol::{Event, Incarnation, Term, Time};

/// Duty D1.
#[test]
fn a_step_sees_the_agents_own_clock() {
    let mut slow = voter("b", 2);
    (slow.clock_offset, slow.clock_ppm) = (MS(500), -100_000);
    let mut world = World::builder(1).agents([voter("a", 3), slow]).build();
    world.run_for(MS(100));
    let seen = |name| world.machine(name).unwrap().inputs.last().unwrap().1;
    assert_eq!(
        (seen("a"), seen("b")),
        (Time::from_millis(100), Time::from_millis(590))
    );
}

/// Duty D2.
#[test]
fn a_durable_record_outlives_a_crash_and_timers_do_not() {
    let mut world = settled();
    world.crash("c");
    world.run_for(MS(5));
    world.restart("c");
    assert_eq!(world.durable("c"), Some(&Term(3)), "1, and 2 for a restart");
    assert_eq!(terms(&world, "c"), [1, 3]);
    world.run_for(MS(9));
    assert_eq!(inputs(&world, "c"), ["start"], "an old beat was due at 10");
    world.crash("c");
    assert!(world.wipe("c") && !world.wipe("c"));
    assert_eq!(world.durable("c"), None);
}

/// Duty D3.
#[test]
fn timers_are_late_and_never_early_on_a_skewed_clock() {
    for ppm in [-110_000, 0, 110_000] {
        let skewed = Participant {
            clock_ppm: ppm,
            ..voter("a", 1)
        };
        let mut world = World::builder(1).agent(skewed).lateness(MS(3)).build();
        world.run_for(MS(300));
        let inputs = &world.machine("a").unwrap().inputs;
        assert!(inputs.len() > 15);
        for pair in inputs.windows(2) {
            let [(_, before), (_, after)] = pair else {
                continue;
            };
            let span = after.since(*before);
            assert!(span >= BEAT && span <= BEAT + MS(4), "{ppm}: {span:?}");
        }
    }
}

/// Duty D3.
#[test]
fn a_clock_that_changes_its_pace_moves_the_timers() {
    let mut world = World::builder(1).agent(voter("a", 1)).build();
    world.run_for(MS(15));
    world.set_clock_rate("a", -500_000);
    world.run_for(MS(9));
    assert_eq!(inputs(&world, "a").len(), 2, "5 ms left, at half the pace");
    world.run_for(MS(1));
    assert_eq!(inputs(&world, "a").len(), 3);
    world.set_clock_rate("a", -1_000_000);
    world.run_for(MS(100));
    world.set_clock_rate("a", 0);
    world.run_for(MS(10));
    assert_eq!(inputs(&world, "a").len(), 4);
}

/// Duty D5.
#[test]
fn no_agent_hears_itself() {
    let world = settled();
    assert!(
        inputs(&world, "c")
            .iter()
            .all(|input| !input.contains("from c"))
    );
    assert_eq!(inputs(&world, "a"), ["start", "elected term 1 from c"]);
}

/// Duty D7.
#[test]
fn a_message_from_an_ended_incarnation_or_a_stranger_is_dropped() {
    let mut world = three(1).conditions(Conditions::delayed(MS(5))).build();
    world.run_for(MS(1));
    world.crash("c");
    world.run_for(MS(10));
    let heard = |name| {
        inputs(&world, name)
            .iter()
            .any(|input| input.contains("from c"))
    };
    assert!(!heard("a") && !heard("b"), "\n{}", world.trace().to_text());
    assert!(
        world
            .trace()
            .to_text()
            .contains("dropped: from an ended incarnation")
    );

    let mut world = three(1).conditions(Conditions::delayed(MS(5))).build();
    world.run_for(MS(1));
    world.leave("c");
    world.run_for(MS(10));
    assert!(world.trace().to_text().contains("dropped: from a stranger"));
}

#[test]
fn a_later_incarnation_announces_itself_by_its_messages() {
    use crate::sim::Detection;
    let mut world = three(1).detection(Detection::Silent(MS(0).into())).build();
    world.run_for(MS(1));
    world.crash("c");
    world.run_for(MS(1));
    world.restart("c");
    world.run_for(MS(1));
    assert_eq!(
        inputs(&world, "a"),
        [
            "start",
            "elected term 1 from c",
            "members",
            "elected term 3 from c"
        ]
    );
    let known = world.known("a").unwrap().get(&id("c")).unwrap();
    assert_eq!(known.incarnation, Some(Incarnation(2)));
}

#[test]
fn a_crash_in_a_broadcast_leaves_the_others_without_the_message() {
    let mut world = three(1).build();
    assert!(world.arm(&Trap {
        by: Some(id("c")),
        kind: "elected",
        spared: 0,
        then: Reaction::Crash,
    }));
    world.run_for(MS(1));
    let text = world.trace().to_text();
    assert!(text.contains("c -> a     elected term 1\n"), "\n{text}");
    assert!(!text.contains("c -> b"), "\n{text}");
    assert_eq!(
        world.events("c"),
        [],
        "the rest of the step was not executed"
    );
    assert_eq!(
        (world.sprung(Reaction::Crash), world.durable("c")),
        (1, Some(&Term(1)))
    );
    assert_eq!(world.settle(MS(50)), Ok(id("b")));
}

#[test]
fn traps_pause_and_isolate_too_unless_they_are_taken_away() {
    for (then, left, is_armed) in [
        (Reaction::Pause, 2, true),
        (Reaction::Isolate, 1, true),
        (Reaction::Isolate, 2, false),
    ] {
        let mut world = three(1).build();
        let (by, kind, spared) = (None, "elected", 0);
        world.arm(&Trap {
            by,
            kind,
            spared,
            then,
        });
        if !is_armed {
            world.disarm();
        }
        world.run_for(MS(1));
        assert_eq!(world.is_running("c"), then != Reaction::Pause);
        assert_eq!(world.sprung(then), u64::from(is_armed));
        let count = world.trace().count_of("elected");
        assert_eq!(count.sent - count.lost, left);
    }
}

#[test]
fn work_ends_by_itself_or_when_it_is_said_to() {
    for span in [Some(MS(20)), None] {
        let mut world = three(1).drains_in(span).build();
        world.run_for(MS(1));
        assert!(world.step_down("c", None));
        world.run_for(MS(19));
        assert_eq!(world.believers(), [id("c")]);
        world.run_for(MS(1));
        assert_eq!(world.believers().is_empty(), span.is_some());
        assert!(world.drained("c"));
        assert!(world.believers().is_empty());
        let last = &world.events("c").last().unwrap().1;
        assert!(matches!(last, Event::Lost { .. }), "{last}");
    }
}
