//! Plays the Go program's `main`: five nodes, and three scenarios with a status after each scenario.
//!
//! As written, no node starts an election at boot, because `checkLeader` looks for a leader only if the node knew one
//! before. So the first scenario has no leader to crash, and the first election is node 4's recovery in the second
//! scenario. In the third scenario the status comes before the nodes notice a silence of 3 s. This crate's machine
//! plays the same script with the same sleeps. It gets no reports of crashes, while the program reads `IsAlive` of
//! every peer.

use actix_bully::protocol::Time;
use bully_core::{elections::bully::Bully, protocol::Election};
use bully_sim::sim::World;

use crate::programs::{
    go::NodeState,
    kit::{
        MS, ORACLE, SECONDS, all_follow, as_written, assert_sound, current_leaders, followed,
        get_leader, leaders, ours, states, until,
    },
};

/// "Start all nodes", "Wait for initial election".
fn boot<E: Election>(mut world: World<E>) -> World<E> {
    world.run_for(SECONDS(1));
    world
}

/// "Scenario 1: Leader crashes".
fn leader_crashes<E: Election>(world: &mut World<E>) {
    world.run_for(SECONDS(1));
    assert!(world.crash("4"));
    world.run_for(SECONDS(3));
}

/// "Scenario 2: Original leader recovers".
fn leader_recovers<E: Election>(world: &mut World<E>) {
    world.run_for(SECONDS(1));
    assert!(world.restart("4"));
    world.run_for(SECONDS(3));
}

/// "Scenario 3: Multiple simultaneous failures".
fn two_crash<E: Election>(world: &mut World<E>) {
    world.run_for(SECONDS(1));
    assert!(world.crash("4") && world.crash("3"));
    world.run_for(SECONDS(3));
}

/// Plays the whole script by this crate's rules.
pub(crate) fn main_by_ours() -> World<Bully> {
    let mut world = boot(ours());
    leader_crashes(&mut world);
    leader_recovers(&mut world);
    two_crash(&mut world);
    world
}

#[test]
fn go_main_1_leader_crash() {
    let mut written = boot(as_written(ORACLE));
    assert_eq!(current_leaders(&written), ["-1"; 5], "no initial leader");
    leader_crashes(&mut written);
    assert_eq!(current_leaders(&written), ["-1"; 4]);
    assert_eq!(get_leader(&written), None);
    assert_eq!(written.tally().sent, 0, "no node has sent a message");
    written.run_for(SECONDS(600));
    assert_eq!(current_leaders(&written), ["-1"; 4], "nor ever will");
    assert_sound(&written);

    let mut ours = boot(ours());
    all_follow(&ours, "4", 1);
    leader_crashes(&mut ours);
    all_follow(&ours, "3", 2);
    assert_eq!(
        followed(&ours),
        ["3"; 4],
        "no node is left without a leader"
    );
}

#[test]
fn go_main_2_recovery() {
    let mut written = boot(as_written(ORACLE));
    leader_crashes(&mut written);
    leader_recovers(&mut written);
    assert_eq!(get_leader(&written), Some("4"));
    assert_eq!(current_leaders(&written), ["4"; 5]);
    let (first, _) = written.events("4").first().unwrap();
    let after = first.since(Time::ZERO);
    assert_eq!(after, MS(6_500), "the first election there is");
    assert_eq!(leaders(&written), [("4", 1)], "in the first term of all");
    assert_sound(&written);

    let mut ours = boot(ours());
    leader_crashes(&mut ours);
    leader_recovers(&mut ours);
    all_follow(&ours, "4", 3);
    assert_eq!(followed(&ours), ["4"; 5]);
}

#[test]
fn go_main_3_two_crash() {
    let mut written = boot(as_written(ORACLE));
    leader_crashes(&mut written);
    leader_recovers(&mut written);
    two_crash(&mut written);
    assert_eq!(
        get_leader(&written),
        None,
        "the program ends with no leader"
    );
    assert_eq!(current_leaders(&written), ["4"; 3], "which is dead");
    assert_eq!(states(&written), [NodeState::Follower; 3]);
    let later = until(&mut written, SECONDS(10), |w| get_leader(w).is_some());
    assert_eq!(later, SECONDS(1), "it would have taken 4 s");
    assert_eq!(get_leader(&written), Some("2"));
    assert_sound(&written);

    let mut ours = boot(ours());
    leader_crashes(&mut ours);
    leader_recovers(&mut ours);
    two_crash(&mut ours);
    all_follow(&ours, "2", 4);
    assert_eq!(followed(&ours), ["2"; 3]);
    assert_eq!(leaders(&ours), [("2", 4)]);
}
