//! A disk that needs time.

use super::{MS, id, inputs, settled};

/// Returns a world in which `c` led and has just restarted. Each record of `c` takes 30 ms.
fn restarting() -> crate::sim::World<super::toy::Toy> {
    let mut world = settled();
    assert!(world.set_write_time("c", MS(30)) && !world.set_write_time("c", MS(30)));
    assert!(!world.set_write_time("x", MS(30)));
    world.crash("c");
    world.restart("c");
    world
}

#[test]
fn nothing_is_said_and_handled_before_the_record_is_written() {
    let mut world = restarting();
    let before = world.durable("c").copied();
    world.run_for(MS(29));
    assert_eq!(world.durable("c").copied(), before);
    assert!(!world.is_running("c") && !world.is_calm() && !world.resume("c"));
    assert!(!world.believers().contains(&id("c")));
    world.set_score("c", None);
    let handled = inputs(&world, "c").len();
    assert_eq!(handled, 1, "the start");
    world.run_for(MS(2));
    assert!(world.durable("c").copied() > before);
    assert!(world.is_running("c") && inputs(&world, "c").len() > handled);
    assert_eq!(world.violation(), None);
}

#[test]
fn a_write_that_has_begun_is_done_though_its_agent_crashes() {
    let mut world = restarting();
    let before = world.durable("c").copied();
    world.run_for(MS(10));
    world.crash("c");
    assert!(world.durable("c").copied() > before);
    assert!(world.restart("c"));
    world.run_for(MS(29));
    assert!(
        !world.is_running("c"),
        "only the former incarnation's write has ended"
    );
    world.run_for(MS(100));
    assert_eq!(world.believers(), [id("c")]);
    assert_eq!(world.violation(), None);
}

#[test]
fn a_disk_is_measured_only_if_its_agent_asks_for_it() {
    let mut world = settled();
    assert!(world.set_write_time("a", MS(5)));
    let before = world.machine("a").unwrap().measured;
    world.run_for(MS(61_000));
    assert_eq!(world.machine("a").unwrap().measured, before);
}
