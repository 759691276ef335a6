//! An agent notices that its thread stands still or that its disk is slow. A wait for a record does not count as a
//! standstill.

use std::{sync::Arc, time::Duration};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, Diagnosis, Finding},
    elections::bully::Preemption,
    protocol::Timings,
    store::{Generation, MemoryStore, Saving, StoreError, TermStore},
    testkit::{FaultyStore, VirtualClock},
};

use crate::{
    stage::{MS, Stage, play, three_voters},
    toy::{Act, Toy},
};

const NAMES: [&str; 3] = ["a", "b", "c"];

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

/// A store whose disk takes 97 ms for a write when it is measured.
#[derive(Debug)]
struct Measured<S>(S);

impl<D, S: TermStore<D>> TermStore<D> for Measured<S> {
    fn begin(&self) -> Result<Generation, StoreError> {
        self.0.begin()
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        self.0.load()
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        self.0.save(by, record)
    }

    fn is_volatile(&self) -> bool {
        self.0.is_volatile()
    }

    fn probe(&self) -> Option<Duration> {
        Some(MS(97))
    }
}

#[test]
fn the_disk_of_the_next_leader_is_measured_each_minute_and_it_waits_with_a_slow_one() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let start = |name, score| {
            let agent = BullyAgent::builder(name).score(score).quorum(NAMES);
            let agent = agent.preemption(Preemption::Never).timings(Timings::lan());
            let agent = agent.clock(VirtualClock::new()).join(&group);
            agent.store(Measured(MemoryStore::new())).start().unwrap()
        };
        let [_a, b] = [start("a", 1), start("b", 2)];
        clock::sleep(MS(5_000)).await;
        let c = start("c", 3);
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
