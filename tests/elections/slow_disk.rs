//! What a quorum whose stores write slowly ends in: a leader, and until then a sentence that says what is slow.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Finding},
    elections::quorum::Vote,
    protocol::{Measurement, Timings},
    store::{Generation, MemoryStore, Saving, StoreError, TermStore},
    testkit::VirtualClock,
};

use crate::common::virtual_system;

const MS: fn(u64) -> Duration = Duration::from_millis;
const VOTERS: [&str; 3] = ["a", "b", "c"];

/// Takes that long for each record, as a disk does that many share.
#[derive(Debug)]
struct SharedDisk(MemoryStore<Vote>, Duration);

impl TermStore<Vote> for SharedDisk {
    fn begin(&self) -> Result<Generation, StoreError> {
        self.0.begin()
    }
    fn load(&self) -> Result<Option<Vote>, StoreError> {
        self.0.load()
    }
    fn save(&self, by: Generation, record: Vote) -> Saving {
        let (kept, took) = (self.0.clone(), self.1);
        Box::pin(async move {
            sleep(took).await;
            kept.save(by, record).await
        })
    }
    fn is_volatile(&self) -> bool {
        true
    }
}

/// Three voters on such disks, after half a minute.
async fn after_a_while(timings: &Timings, write: Duration) -> Vec<BullyHandle> {
    let group = Group::new("voters").unwrap();
    let agents = VOTERS.map(|name| {
        let agent = BullyAgent::builder(name)
            .timings(timings.clone())
            .quorum(VOTERS)
            .score(u32::from(name.bytes().next().unwrap()))
            .clock(VirtualClock::new())
            .store(SharedDisk(MemoryStore::new(), write));
        agent.join(&group).start().unwrap()
    });
    for _ in 0..3_000 {
        sleep(MS(10)).await;
        let leading = agents.iter().filter(|agent| agent.is_leader());
        assert!(leading.count() <= 1, "two consider themselves leader");
    }
    agents.into()
}

#[test]
fn timings_for_a_fast_disk_end_in_a_leader_and_say_what_makes_the_next_one_late() {
    virtual_system().block_on(async {
        // A leader that leaves waits for votes for half a lease: these come later.
        let agents = after_a_while(&Timings::lan(), MS(150)).await;
        assert!(agents[2].is_leader(), "{}", agents[2].diagnosis());
        agents[2].leave(MS(1_000)).await.unwrap();
        let sentence = "the store takes 150 ms to write a vote, and a round of 20 ms may be over before the votes come, so elections take longer: use Timings::wan(), Timings::measured(..) or a faster disk";
        let mut told = 0;
        for _ in 0..30_000 {
            sleep(MS(1)).await;
            let diagnosis = agents[0].diagnosis();
            let is_found = |found: &Finding| matches!(found, Finding::WriteTooLong { .. });
            let is_told = diagnosis.findings.iter().any(is_found);
            assert_ne!(diagnosis.leader.is_some(), is_told, "{diagnosis}");
            assert_eq!(diagnosis.to_string().contains(sentence), is_told);
            told += u32::from(is_told);
        }
        assert!(told > 0, "there was no time without a leader");
        assert!(agents[1].is_leader(), "{}", agents[1].diagnosis());
    });
}

#[test]
fn timings_that_were_measured_end_in_a_leader() {
    virtual_system().block_on(async {
        let (echo, write, stall) = (MS(1), MS(100), MS(0));
        let measured = Measurement { echo, write, stall };
        let timings = Timings::measured(measured).unwrap();
        for agent in after_a_while(&timings, write).await {
            let leader = agent.leader().map(|leader| leader.id.to_string());
            assert_eq!(leader.as_deref(), Some("c"), "{}", agent.diagnosis());
        }
    });
}
