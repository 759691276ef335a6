//! Plays the Go program's faults one by one: the same script as written and by this crate's rules.
//!
//! No node gets a report of a crash, as on a network: the program assumes that a dead peer is alive until the peer does
//! not answer. The faults of its locks (a deadlock, a race, sends that wait up to 100 ms for a full inbox) cannot occur
//! in a machine that shares nothing.

use std::time::Duration;

use actix_bully::{
    protocol::{Event, Score, Term},
    testkit::faults::Conditions,
};
use bully_core::protocol::Election;
use bully_sim::sim::{Reaction, World};

use crate::programs::{
    go::{Node, NodeState},
    kit::{
        DELAY, MS, SECONDS, SILENT, all_follow, as_written, assert_sound, current_leaders, dies_of,
        followed, get_leader, leaders, ours, states, suppressing, terms, until,
    },
};

/// Sets the delay of all messages from one node to the nodes `to`; `None` restores the usual delay.
fn slow<E: Election>(world: &mut World<E>, from: &str, to: &[&str], takes: Option<Duration>) {
    for other in to {
        world.set_link(from, other, takes.map(Conditions::delayed));
    }
}

/// Returns the number of events that all nodes had so far.
fn events<E: Election>(world: &World<E>) -> usize {
    world.agents().map(|id| world.events(id).len()).sum()
}

/// Returns a world that node 4 leads. As written, node 4 needs a command to hold an election.
fn led<E: Election>(mut world: World<E>) -> World<E> {
    world.run_for(MS(100));
    world.campaign("4");
    world.run_for(MS(1_140));
    world
}

/// Defect 2. Node 4 answers and crashes, and the nodes knew no leader before.
#[test]
fn an_ok_of_a_superior_that_dies_leaves_the_asker_stuck() {
    fn story<E: Election>(world: &mut World<E>, ok: &'static str) {
        world.run_for(Duration::ZERO);
        dies_of(world, "4", ok, 1);
        world.campaign("3");
        world.run_for(SECONDS(12));
        assert_eq!(world.sprung(Reaction::Crash), 1);
        assert_sound(world);
    }
    let mut written = as_written(SILENT);
    story(&mut written, "OK");
    written.run_for(SECONDS(600));
    assert_eq!(current_leaders(&written), ["-1"; 4], "for ever");
    assert_eq!(states(&written), [NodeState::Follower; 4]);

    let mut ours = ours();
    story(&mut ours, "ok");
    all_follow(&ours, "3", 1);
}

/// Defect 3, scenario 23. Node 4 sends an OK at its last moment, and the OK takes 20 s. Meanwhile node 3 leads.
#[test]
fn s23_a_stale_ok_demotes_a_standing_leader() {
    /// Plays until the moment before the OK arrives.
    fn story<E: Election>(world: &mut World<E>, ok: &'static str) {
        world.run_for(Duration::ZERO);
        slow(world, "4", &["3"], Some(SECONDS(20)));
        dies_of(world, "4", ok, 1);
        world.campaign("3");
        world.run_for(DELAY);
        assert_eq!(world.sprung(Reaction::Crash), 1);
        world.run_for(MS(19_999));
    }
    let mut written = as_written(SILENT);
    story(&mut written, "OK");
    assert_eq!(leaders(&written), [("3", 1)]);
    written.run_for(MS(2));
    assert_eq!(leaders(&written), []);
    assert_eq!(current_leaders(&written), ["3"; 4], "which does not lead");
    let vacant = until(&mut written, SECONDS(10), |w| get_leader(w).is_some());
    assert!(vacant > SECONDS(1), "{vacant:?}");
    assert_sound(&written);

    let mut ours = ours();
    story(&mut ours, "ok");
    all_follow(&ours, "3", 1);
    let before = events(&ours);
    let arrives = ours.last_arrival();
    assert!(arrives > ours.now());
    ours.run_to(arrives.after(SECONDS(5)));
    assert_eq!(events(&ours), before, "no effect");
    all_follow(&ours, "3", 1);
}

/// Defect 4, scenario 24. Node 3 announces itself and crashes, and the announcement takes 20 s. Meanwhile node 4
/// returns and leads in a higher term.
#[test]
fn s24_a_stale_announcement_of_a_lower_node_is_followed_by_all() {
    /// Plays until the moment before the announcement arrives.
    fn story<E: Election>(world: &mut World<E>, announcement: &'static str) {
        let others = ["0", "1", "2", "4"];
        world.crash("4");
        dies_of(world, "3", announcement, 4);
        world.campaign("3");
        slow(world, "3", &others, Some(SECONDS(20)));
        until(world, SECONDS(5), |w| w.sprung(Reaction::Crash) == 1);
        slow(world, "3", &others, None);
        world.restart("4");
        world.run_for(SECONDS(10));
        world.campaign("4"); // once more
        world.run_for(MS(9_999));
    }
    let mut written = led(as_written(SILENT));
    story(&mut written, "COORDINATOR");
    println!("{}", written.trace().to_text());
    assert_eq!(leaders(&written), [("4", 3)]);
    assert_eq!(current_leaders(&written), ["4"; 4]);
    written.run_for(MS(2));
    assert_eq!(leaders(&written), [], "node 4 has given in as well");
    assert_eq!(current_leaders(&written), ["3"; 4], "which is dead");
    assert_eq!(terms(&written), [2; 4], "and the terms went backwards");
    let vacant = until(&mut written, SECONDS(10), |w| get_leader(w).is_some());
    assert!(vacant > SECONDS(3), "{vacant:?}");
    assert_sound(&written);

    let mut ours = led(ours());
    story(&mut ours, "elected");
    let leader = ours.agreed().unwrap();
    assert_eq!(leader.id, "4");
    assert!(leader.term > Term(2), "node 3 led in the second term");
    let (before, arrives) = (events(&ours), ours.last_arrival());
    assert!(arrives > ours.now());
    ours.run_to(arrives.after(SECONDS(5)));
    assert_eq!(events(&ours), before, "no effect");
    all_follow(&ours, "4", leader.term.0);
}

/// Defect 5, scenario 25. Every announcement is lost, and heartbeats arrive.
#[test]
fn s25_a_node_that_missed_the_announcement_never_learns_from_heartbeats() {
    fn story<E: Election>(mut world: World<E>, announcement: &'static str) -> World<E> {
        world.ignore(announcement);
        world.run_for(Duration::ZERO);
        world.campaign("4");
        world.run_for(MS(100));
        assert!(world.tally().ignored >= 4, "{:?}", world.tally());
        world.recover();
        world
    }
    let mut written = story(as_written(SILENT), "COORDINATOR");
    written.run_for(SECONDS(8));
    assert_eq!(leaders(&written), [("4", 1)]);
    assert!(written.trace().count_of("HEARTBEAT").sent >= 60);
    assert_eq!(current_leaders(&written), ["-1", "-1", "-1", "-1", "4"]);

    let mut ours = story(ours(), "elected");
    let heartbeat = MS(180);
    ours.run_for(heartbeat + DELAY);
    all_follow(&ours, "4", 1);
}

/// Defect 9. The sleep of an old election ends during the next election, which takes it for its own sleep.
#[test]
fn an_old_round_makes_a_node_that_was_told_ok_announce_itself() {
    fn story<E: Election>(world: &mut World<E>) {
        world.campaign("0");
        world.run_for(MS(995));
        world.campaign("0");
        world.run_for(MS(6));
    }
    let mut written = led(as_written(SILENT));
    story(&mut written);
    assert!(leaders(&written).iter().any(|(id, _)| *id == "0"));
    assert_eq!(states(&written).len(), 5, "and all above it are alive");
    written.run_for(DELAY);
    assert_eq!(current_leaders(&written), ["0"; 5]);
    assert_sound(&written);

    let mut ours = led(ours());
    story(&mut ours);
    ours.run_for(SECONDS(5));
    let acquired = |(_, event): &(_, Event)| matches!(event, Event::Acquired { .. });
    assert!(!ours.events("0").iter().any(acquired));
    all_follow(&ours, "4", 1);
}

/// Defect 11. A live leader that gets ELECTION holds another election, and so do all other nodes.
#[test]
fn a_question_at_a_live_leader_shakes_every_node() {
    let mut written = led(as_written(SILENT));
    assert_eq!(leaders(&written), [("4", 1)]);
    let before = written.trace().count_of("COORDINATOR").sent;
    written.campaign("0");
    written.run_for(MS(100));
    let led = written.events("4").iter();
    let lost = led.filter(|(_, event)| matches!(event, Event::Lost { .. }));
    assert!(lost.count() >= 1, "the leadership was interrupted");
    assert!(leaders(&written).iter().all(|(_, term)| *term > 1));
    assert!(written.trace().count_of("COORDINATOR").sent > before);

    let mut ours = self::led(ours());
    let before = ours.events("4").len();
    ours.campaign("0");
    ours.run_for(SECONDS(5));
    assert_eq!(ours.events("4").len(), before);
    all_follow(&ours, "4", 1);
}

/// Defect 12. A node that suppresses an ELECTION does not answer, so the asker gets no OK and wins.
#[test]
fn election_suppression_elects_two_that_then_follow_each_other() {
    fn story<E: Election>(world: &mut World<E>) {
        world.run_for(Duration::ZERO);
        world.crash("4");
        world.campaign("3");
        world.campaign("2");
    }
    let mut plain = as_written(SILENT);
    story(&mut plain);
    plain.run_for(MS(1_100));
    assert_eq!(leaders(&plain), [("3", 1)]);

    let mut suppressed = suppressing();
    story(&mut suppressed);
    suppressed.run_for(MS(1_005));
    assert_eq!(leaders(&suppressed), [("2", 1), ("3", 1)]);
    suppressed.run_for(MS(10));
    assert_eq!(leaders(&suppressed), []);
    assert_eq!(current_leaders(&suppressed)[2..], ["3", "2"]);

    let mut ours = ours();
    story(&mut ours);
    ours.run_for(SECONDS(10));
    all_follow(&ours, "3", 1);
}

/// Defect 13. The formula "priority := (hardware * 1000) + (location * 100) + ID" has the same result for two nodes.
#[test]
fn priorities_made_of_one_number_collide() {
    const fn priority(hardware: i64, location: i64, id: i64) -> i64 {
        hardware * 1_000 + location * 100 + id
    }
    assert_eq!(priority(1, 0, 100), priority(1, 1, 0));
    assert!(
        priority(1, 10, 0) >= priority(2, 0, 0),
        "nor is it an order"
    );
    let score = |hardware: i64, location: i64, id: i64| Score::from((hardware, location, id));
    assert!(score(1, 0, 100) < score(1, 1, 0));
    assert!(score(1, 10, 0) < score(2, 0, 0));
}

/// Defects 5 and 14, and the document's "Test split-brain". Each side keeps its leader for ever, because heartbeats of
/// another leader do not count, and `GetLeader` names the first leader that it finds.
#[test]
fn a_split_brain_outlives_the_partition_and_is_hidden() {
    fn story<E: Election>(world: &mut World<E>) {
        world.partition([["0", "1", "2"].as_slice(), &["3", "4"]]);
        world.run_for(SECONDS(10));
        world.heal();
    }
    let mut written = led(as_written(SILENT));
    story(&mut written);
    written.run_for(SECONDS(600));
    assert_eq!(written.believers(), ["2", "4"]);
    assert_eq!(current_leaders(&written), ["2", "2", "2", "4", "4"]);
    assert_eq!(get_leader(&written), Some("2"), "the lower one, and alone");

    let mut ours = led(ours());
    story(&mut ours);
    assert_eq!(followed(&ours), ["2", "2", "2", "4", "4"]);
    assert_eq!(ours.believers(), ["2", "4"], "both are shown");
    ours.run_for(SECONDS(1));
    let term = ours.agreed().map(|leader| leader.term.0);
    all_follow(&ours, "4", term.unwrap());
}

/// Defect 8. With an oracle, a node does not even ask dead nodes. Without an oracle, their silence costs 1 s.
#[test]
fn the_path_without_an_answer_is_never_taken_with_an_oracle() {
    fn story(mut written: World<Node>) -> (World<Node>, Duration) {
        written.crash("4");
        written.run_for(Duration::ZERO);
        written.campaign("3");
        let led = |w: &World<Node>| w.believers() == ["3"];
        let took = until(&mut written, SECONDS(5), led);
        (written, took)
    }
    let (asked, took) = story(led(as_written(SILENT)));
    assert_eq!(
        (asked.trace().count_of("ELECTION").sent, took),
        (1, SECONDS(1))
    );
    let (told, took) = story(led(as_written(crate::programs::kit::ORACLE)));
    assert_eq!(
        (told.trace().count_of("ELECTION").sent, took),
        (0, Duration::ZERO)
    );
}
