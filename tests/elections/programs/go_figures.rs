//! Compares the Go document's costs of an election with the costs of its program and of this crate's rules.
//!
//! The document's table has n (n - 1) / 2 messages if node 0 starts, and "2 RTT" until all nodes know the leader. It
//! counts only ELECTION messages, and leaves out the second that the program sleeps.

use std::time::Duration;

use actix_bully::protocol::Event;
use bully_core::protocol::Election;
use bully_sim::sim::World;

use crate::programs::kit::{
    DELAY, MS, SECONDS, SILENT, all_follow, as_written, current_leaders, leaders, ours, until,
};

/// Number n of nodes in the kit's groups.
const N: u64 = 5;

fn sent<E: Election>(world: &World<E>, kind: &str) -> u64 {
    world.trace().count_of(kind).sent
}

#[test]
fn one_election_costs_more_than_its_questions() {
    let mut written = as_written(SILENT);
    written.run_for(Duration::ZERO);
    written.campaign("0");
    written.run_for(MS(490)); // before the first heartbeat
    assert_eq!(leaders(&written), [("4", 4)]);
    let questions = N * (N - 1) / 2;
    assert_eq!(sent(&written, "ELECTION"), questions);
    assert_eq!(sent(&written, "OK"), questions, "each is answered");
    let again = (N - 1) * (N - 1);
    assert_eq!(sent(&written, "COORDINATOR"), again, "n - 1 times to all");
    assert_eq!(written.tally().sent, 36);
    let acquired = |(_, event): &&(_, Event)| matches!(event, Event::Acquired { .. });
    assert_eq!(written.events("4").iter().filter(acquired).count(), 4);

    let mut ours = ours();
    ours.run_for(MS(100)); // before the first heartbeat
    all_follow(&ours, "4", 1);
    assert_eq!(ours.tally().sent, 3 * (N - 1), "asked, yielded, announced");
    assert_eq!(ours.events("4").len(), 1);
    ours.crash("4");
    ours.run_for(SECONDS(2));
    all_follow(&ours, "3", 2);
    assert_eq!(
        (sent(&ours, "elect"), sent(&ours, "elected")),
        (N - 1, 2 * (N - 1))
    );
}

#[test]
fn two_round_trips_leave_out_the_sleep() {
    let two_round_trips = DELAY * 4;
    let mut written = as_written(SILENT);
    written.run_for(Duration::ZERO);
    written.crash("4");
    written.campaign("0");
    let took = until(&mut written, SECONDS(5), |w| current_leaders(w) == ["3"; 4]);
    assert_eq!(took, SECONDS(1) + DELAY * 2);
    assert!(took > two_round_trips * 25);

    // Once nodes have followed a leader, they notice its end, and the next node announces itself without a question.
    let mut ours = ours();
    ours.run_for(MS(100));
    ours.crash("4");
    until(&mut ours, SECONDS(5), |w| w.believers() == ["3"]);
    let took = until(&mut ours, SECONDS(5), |w| w.agreed().is_some());
    assert_eq!(took, DELAY);
}
