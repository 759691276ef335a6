//! Tests of a quorum in which one store writes slowly; `quorum/slow_voters.rs` has machines with slow stores.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::quorum::Vote,
    protocol::Timings,
    store::{Generation, MemoryStore, Saving, StoreError, TermStore},
    testkit::VirtualClock,
};

use crate::common::virtual_system;

const MS: fn(u64) -> Duration = Duration::from_millis;
const VOTERS: [&str; 3] = ["a", "b", "c"];

/// A store on a disk that several stores share. Each record takes the milliseconds of the second field.
#[derive(Debug)]
struct SharedDisk(MemoryStore<Vote>, Arc<AtomicU64>);

impl SharedDisk {
    fn takes(&self) -> Duration {
        MS(self.1.load(Ordering::Relaxed))
    }
}

impl TermStore<Vote> for SharedDisk {
    fn begin(&self) -> Result<Generation, StoreError> {
        self.0.begin()
    }
    fn load(&self) -> Result<Option<Vote>, StoreError> {
        self.0.load()
    }
    fn save(&self, by: Generation, record: Vote) -> Saving {
        let (kept, took) = (self.0.clone(), self.takes());
        Box::pin(async move {
            sleep(took).await;
            kept.save(by, record).await
        })
    }
    fn is_volatile(&self) -> bool {
        true
    }
    fn probe(&self) -> Option<Duration> {
        Some(self.takes())
    }
}

/// Starts three voters. Each write of a voter takes the milliseconds of its number in `writes`.
fn voters(timings: &Timings, writes: [&Arc<AtomicU64>; 3]) -> Vec<BullyHandle> {
    let group = Group::new("voters").unwrap();
    let agents = VOTERS.iter().zip(writes).map(|(name, write)| {
        let agent = BullyAgent::builder(name)
            .timings(timings.clone())
            .quorum(VOTERS)
            .score(u32::from(name.bytes().next().unwrap()))
            .clock(VirtualClock::new())
            .store(SharedDisk(MemoryStore::new(), Arc::clone(write)));
        agent.join(&group).start().unwrap()
    });
    agents.collect()
}

/// Returns the number of new leaders within `seconds`.
async fn moves(agents: &[BullyHandle], seconds: u64) -> usize {
    let (mut moves, mut last) = (0, None);
    for _ in 0..seconds * 100 {
        sleep(MS(10)).await;
        let leading = agents.iter().position(BullyHandle::is_leader);
        moves += usize::from(leading.is_some() && leading != last);
        last = leading.or(last);
    }
    moves
}

/// `slow-waits`: only the probe shows a voter that its disk is fast again.
#[test]
fn a_voter_with_a_slow_disk_leaves_the_leadership_to_others_until_it_is_fast() {
    virtual_system().block_on(async {
        let (slow, fast) = (Arc::new(AtomicU64::new(150)), Arc::default());
        let agents = voters(&Timings::lan(), [&fast, &fast, &slow]);
        let moved = moves(&agents, 600).await;
        assert!(moved <= 3, "{moved}");
        assert!(agents[1].is_leader(), "{}", agents[1].diagnosis());
        let waits = "the store takes 150 ms to write a vote, and a round of 20 ms may be over before the votes come, so this voter leaves the leadership to others until its disk is faster: use Timings::wan(), Timings::measured(..) or a faster disk";
        let diagnosis = agents[2].diagnosis().to_string();
        assert!(diagnosis.contains(waits), "{diagnosis}");
        slow.store(1, Ordering::Relaxed);
        assert_eq!(moves(&agents, 600).await, 2, "the leader of before, and the best one");
        assert!(agents[2].is_leader(), "{}", agents[2].diagnosis());
    });
}
