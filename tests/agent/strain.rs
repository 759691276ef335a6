//! What an agent notices of its own thread: a standstill is one, and the wait for a record is none.

use std::sync::Arc;

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Diagnosis, Finding},
    protocol::Timings,
    store::MemoryStore,
    testkit::{FaultyStore, VirtualClock},
};

use crate::{
    stage::{MS, Stage, play},
    toy::{Act, Toy},
};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Three voters of one group.
fn three() -> [BullyHandle; 3] {
    let group = Group::new("jobs").unwrap();
    NAMES.map(|name| {
        let agent = BullyAgent::builder(name).score(1).quorum(NAMES);
        let agent = agent.clock(VirtualClock::new()).store(MemoryStore::new());
        agent.timings(Timings::lan()).join(&group).start().unwrap()
    })
}

fn stalls(diagnosis: &Diagnosis) -> bool {
    let is_one = |finding: &Finding| matches!(finding, Finding::Stalls { .. });
    diagnosis.findings.iter().any(is_one)
}

#[test]
fn an_agent_whose_thread_stood_still_says_for_how_long_for_a_minute() {
    play(async {
        let agents = three();
        clock::sleep(MS(5_000)).await;
        let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
        assert!(!stalls(&leader.diagnosis()), "{}", leader.diagnosis());
        // Nothing on this thread goes on meanwhile, and the leader's next heartbeat is due within 60 ms.
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
