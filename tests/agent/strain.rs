//! An agent notices that its thread stands still or that its disk is slow. A wait for a record does not count as a
//! standstill.

use std::sync::Arc;

use actix::clock;
use actix_bully::{
    Group,
    agent::{Diagnosis, Finding},
    elections::bully::Preemption,
    store::MemoryStore,
    testkit::FaultyStore,
};

use crate::{
    stage::{MS, Stage, VOTERS, play, three_voters, voter},
    term_store::TestStore,
    toy::{Act, Toy},
};

fn stalls(diagnosis: &Diagnosis) -> bool {
    let is_one = |finding: &Finding| matches!(finding, Finding::Stalls { .. });
    diagnosis.findings.iter().any(is_one)
}

#[test]
fn an_agent_whose_thread_stood_still_says_for_how_long_for_a_minute() {
    play(async {
        let agents = three_voters();
        clock::sleep(MS(5_000)).await;
        let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
        assert!(!stalls(&leader.diagnosis()), "{}", leader.diagnosis());
        // No task of this thread runs meanwhile, and the leader's next heartbeat is due within 60 ms.
        tokio::time::advance(MS(400)).await;
        clock::sleep(MS(10)).await;
        let found = leader.diagnosis();
        assert!(stalls(&found), "{found}");
        let stall = found.measured.stall;
        assert!(MS(340) <= stall && stall <= MS(400), "{stall:?}");
        clock::sleep(MS(60_500)).await;
        let found = leader.diagnosis();
        assert!(!stalls(&found) && found.measured.stall.is_zero(), "{found}");
    });
}

#[test]
fn the_disk_of_the_next_leader_is_measured_each_minute_and_it_waits_with_a_slow_one() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let start = |name| {
            let agent = voter(&group, name, VOTERS).preemption(Preemption::Never);
            let store = TestStore {
                measured: Some(MS(97)),
                ..TestStore::default()
            };
            agent.store(store).start().unwrap()
        };
        let [_a, b] = [start("a"), start("b")];
        clock::sleep(MS(5_000)).await;
        let c = start("c");
        clock::sleep(MS(65_000)).await;
        assert_eq!(c.diagnosis().measured.write, MS(97));
        assert!(b.is_leader(), "and writes no probe");
        assert_eq!(b.diagnosis().measured.write, MS(0));
        clock::sleep(MS(300_000)).await;
        let found = c.diagnosis();
        let waits = |found: &Finding| matches!(found, Finding::WriteTooLong { waits: true, .. });
        assert!(found.findings.iter().any(waits), "{found}");
    });
}

#[test]
fn a_wait_for_the_store_is_a_slow_write_and_no_standstill() {
    play(async {
        let stage = Stage::new();
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        let toy = Toy::builder("toy", &stage).store(Arc::clone(&store));
        let toy = toy.start().unwrap();
        store.hold();
        stage.tell(&toy, &[Act::Set('t', MS(20)), Act::Save(1)]);
        clock::sleep(MS(200)).await;
        store.release();
        clock::sleep(MS(10)).await;
        let measured = toy.diagnosis().measured;
        assert!(measured.write >= MS(199), "{measured:?}");
        assert!(measured.stall.is_zero(), "{measured:?}");
    });
}
