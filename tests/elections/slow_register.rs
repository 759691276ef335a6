//! Tests of a lease in a store that answers slowly. The group keeps its leader, or the diagnosis names the slow store.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Finding},
    protocol::Timings,
    register::{Entry, MemoryRegister, Register, RegisterKey, RegisterReading, Swapping},
    testkit::VirtualClock,
};

use crate::common::virtual_system;

const MS: fn(u64) -> Duration = Duration::from_millis;
const NAMES: [&str; 3] = ["a", "b", "c"];

/// A register far away. Half of the duration passes before the register gets a request, and half after it.
#[derive(Clone, Debug)]
struct FarRegister(MemoryRegister, Duration);

impl Register for FarRegister {
    fn name(&self) -> &'static str {
        "far"
    }
    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (one_way, read) = (self.1 / 2, self.0.read(key));
        Box::pin(async move {
            sleep(one_way).await;
            let read = read.await;
            sleep(one_way).await;
            read
        })
    }
    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (one_way, swap) = (self.1 / 2, self.0.swap(key, expected, value));
        Box::pin(async move {
            sleep(one_way).await;
            let swapped = swap.await;
            sleep(one_way).await;
            swapped
        })
    }
}

/// Starts agents that share a store, as if each agent had a process of its own. The last agent ranks highest. `answers`
/// has the time of an answer for each agent, in milliseconds.
fn agents(timings: &Timings, answers: [u64; 3]) -> Vec<BullyHandle> {
    let store = MemoryRegister::new();
    let with_scores = NAMES.into_iter().zip(answers).zip(1_u32..);
    let start = |((name, answer), score)| {
        let agent = BullyAgent::builder(name)
            .timings(timings.clone())
            .score(score)
            .lease(FarRegister(store.clone(), MS(answer)))
            .clock(VirtualClock::new());
        agent.join(&Group::new("jobs").unwrap()).start().unwrap()
    };
    with_scores.map(start).collect()
}

/// Returns the number of leaderships and the time without a leader, both from the first leader on.
async fn watch(agents: &[BullyHandle], seconds: u64) -> (u32, Duration) {
    let first = agents.first().unwrap();
    first.wait_for_leader(MS(60_000)).await.unwrap();
    let (mut leaderships, mut vacant, mut last) = (0, Duration::ZERO, None);
    for _ in 0..seconds * 100 {
        sleep(MS(10)).await;
        let leading = || agents.iter().filter(|agent| agent.is_leader());
        assert!(leading().count() <= 1, "two consider themselves leader");
        let leader = leading().next().map(BullyHandle::id);
        match leader {
            None => vacant += MS(10),
            Some(_) if leader != last => leaderships += 1,
            Some(_) => {}
        }
        last = leader;
    }
    (leaderships, vacant)
}

/// Three answers fit into each of these leases. An agent with a slow way to the store does not move the leadership.
#[test]
fn a_slow_store_has_a_leader_that_stays() {
    for (timings, answers) in [
        (Timings::default(), [180; 3]),
        (Timings::default(), [220; 3]),
        (Timings::wan(), [1_200; 3]),
        (Timings::lan(), [75; 3]),
        (Timings::default(), [2, 2, 180]),
        (Timings::default(), [2, 2, 300]),
        (Timings::lan(), [2, 2, 80]),
    ] {
        virtual_system().block_on(async {
            let agents = agents(&timings, answers);
            let (leaderships, vacant) = watch(&agents, 120).await;
            // The agent of the highest rank takes over once.
            let (most, longest) = match answers {
                [2, ..] => (3, MS(1_000)),
                _ => (2, timings.lease()),
            };
            let is_steady = leaderships <= most && vacant <= longest;
            assert!(is_steady, "{answers:?}: {leaderships}, {vacant:?}");
        });
    }
}

#[test]
fn the_diagnosis_names_the_time_of_an_answer_and_the_timings_that_fit() {
    let words = |answer| {
        virtual_system().block_on(async move {
            let agents = agents(&Timings::default(), [answer; 3]);
            sleep(MS(10_000)).await;
            let diagnosis = agents[0].diagnosis();
            let is_found = |found: &&Finding| matches!(found, Finding::RegisterIsSlow { .. });
            let found = diagnosis.findings.iter().find(is_found);
            found.map(ToString::to_string)
        })
    };
    assert_eq!(words(60), None);
    let slow = "the store answers in 220 ms (far), and these timings allow 80 ms: leaders are elected more slowly: use Timings::wan()";
    assert_eq!(words(220).as_deref(), Some(slow));
    let far = "the store answers in 300 ms (far), and these timings allow 80 ms: no leader can keep a lease of 720 ms, into which three answers have to fit: use Timings::wan()";
    assert_eq!(words(300).as_deref(), Some(far));
}
