//! Agents whose lease is in a store: what the store is asked, what befalls it, and what is told of that. Each group is
//! a process, as it were; they share nothing but the store.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Finding, StartError},
    elections::bully::Preemption,
    protocol::{Term, Timings},
    register::{
        AttachError, ChangeStream, Entry, MemoryRegister, Register, RegisterError, RegisterKey,
        RegisterReading, RegisterRefusal, Swap, Swapping,
    },
    testkit::VirtualClock,
};
use bully_core::elections::lease::{LeaseRecord, RegisterRecord};

use crate::stage::{MS, play};

/// A store that tells of no change, counts what it is asked, and fails as it is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    inner: MemoryRegister,
    tells: bool,
    asked: Arc<AtomicUsize>,
    is_down: Arc<AtomicBool>,
    takes_no_writes: Arc<AtomicBool>,
    /// The next write is done, and its answer is lost.
    loses_answer: Arc<AtomicBool>,
    /// Nothing is answered at all.
    hangs: Arc<AtomicBool>,
    written: Arc<Mutex<Vec<LeaseRecord>>>,
}

impl Store {
    /// The same store, as another process reaches it.
    pub(crate) fn of_another_process(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            ..Self::default()
        }
    }

    /// Whether this process is cut off from it.
    pub(crate) fn cut(&self, is_cut: bool) {
        self.is_down.store(is_cut, SeqCst);
    }

    fn asked(&self) -> usize {
        self.asked.swap(0, Relaxed)
    }

    async fn wait(&self) -> Result<(), RegisterError> {
        self.asked.fetch_add(1, Relaxed);
        while self.hangs.load(SeqCst) {
            clock::sleep(MS(10)).await;
        }
        if self.is_down.load(SeqCst) {
            return Err(RegisterError::unreachable(io::Error::other("it is down")));
        }
        Ok(())
    }

    fn terms(&self) -> Vec<Term> {
        let mut terms: Vec<_> = self
            .written
            .lock()
            .unwrap()
            .iter()
            .filter(|record| record.holder.is_some())
            .map(|record| record.term)
            .collect();
        terms.dedup();
        terms
    }
}

impl Register for Store {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (store, key) = (self.clone(), key.clone());
        Box::pin(async move {
            store.wait().await?;
            store.inner.read(&key).await
        })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (store, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move {
            store.wait().await?;
            if store.takes_no_writes.load(SeqCst) {
                let full = io::Error::other("it is full");
                return Err(RegisterError::refused(RegisterRefusal::Full, full));
            }
            let record = LeaseRecord::decode(&value).ok();
            let swap = store.inner.swap(&key, expected.as_ref(), value).await?;
            if let (Swap::Done(_), Some(record)) = (&swap, record) {
                store.written.lock().unwrap().push(record);
            }
            if store.loses_answer.swap(false, SeqCst) {
                return Err(RegisterError::unknown(io::Error::other("it is lost")));
            }
            Ok(swap)
        })
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        if self.tells {
            self.inner.changes(key)
        } else {
            None
        }
    }
}

pub(crate) fn group() -> Group {
    Group::new("jobs").unwrap()
}

pub(crate) fn agent(
    group: &Group,
    store: &(impl Register + Clone + 'static),
    name: &str,
    rank: i32,
) -> BullyHandle {
    let agent = BullyAgent::builder(name)
        .score(rank)
        .timings(Timings::lan())
        .lease(store.clone())
        .preemption(Preemption::Never)
        .clock(VirtualClock::new())
        .join(group);
    agent.start().unwrap()
}

/// Agents of two processes, of which the one leads that was there first.
async fn one_leads_and_one_follows(store: &Store) -> (BullyHandle, BullyHandle) {
    let a = agent(&group(), store, "a", 1);
    clock::sleep(MS(2_000)).await;
    let b = agent(&group(), store, "b", 2);
    clock::sleep(MS(1_000)).await;
    assert!(a.is_leader());
    (a, b)
}

fn leader_of(agents: &[&BullyHandle]) -> Option<String> {
    let leading: Vec<_> = agents.iter().filter(|agent| agent.is_leader()).collect();
    assert!(leading.len() <= 1, "{leading:?}");
    leading.first().map(|agent| agent.id().to_string())
}

#[test]
fn processes_that_share_a_store_alone_have_one_leader_and_then_the_next() {
    play(async {
        let store = Store::default();
        let (one, other) = (group(), group());
        let a = agent(&one, &store, "a", 1);
        clock::sleep(MS(2_000)).await;
        let b = agent(&other, &store, "b", 2);
        clock::sleep(MS(2_000)).await;
        assert_eq!(leader_of(&[&a, &b]).as_deref(), Some("a"));
        assert_eq!(b.leader().unwrap().id, "a");
        a.step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        assert_eq!(leader_of(&[&a, &b]).as_deref(), Some("b"));
        assert_eq!(a.leader().unwrap().id, "b");
        let terms = store.terms();
        assert!(terms.is_sorted() && terms.len() == 2, "{terms:?}");
        assert_eq!(one.members().iter().count(), 1, "a store is no member");
    });
}

#[test]
fn a_store_that_tells_of_changes_hands_over_at_once() {
    play(async {
        let store = Store {
            tells: true,
            ..Store::default()
        };
        let (one, other) = (group(), group());
        let a = agent(&one, &store, "a", 1);
        let b = agent(&other, &store, "b", 2);
        clock::sleep(MS(3_000)).await;
        let first = leader_of(&[&a, &b]).unwrap();
        let (leads, follows) = if first == "a" { (&a, &b) } else { (&b, &a) };
        leads.step_down(None).unwrap();
        clock::sleep(MS(50)).await;
        assert!(follows.is_leader(), "it did not wait for its next look");
    });
}

/// Its process may end as soon as it has left: what is written later is not written at all.
#[test]
fn an_agent_has_left_when_the_store_knows_that_it_leads_no_more() {
    play(async {
        let store = Store::default();
        let (a, b) = one_leads_and_one_follows(&store).await;
        a.leave(MS(5_000)).await.unwrap();
        let released = store.written.lock().unwrap().last().cloned().unwrap();
        assert_eq!(released.holder, None);
        let begun = clock::Instant::now();
        b.wait_for_leader(MS(5_000)).await.unwrap();
        assert!(begun.elapsed() < Timings::lan().lease(), "the next look");
    });
}

#[test]
fn a_store_that_does_not_answer_keeps_no_agent_for_longer_than_others_wait() {
    play(async {
        let store = Store::default();
        let group = group();
        let a = agent(&group, &store, "a", 1);
        clock::sleep(MS(3_000)).await;
        assert!(a.is_leader());
        store.is_down.store(true, SeqCst);
        let begun = clock::Instant::now();
        a.leave(MS(5_000)).await.unwrap();
        let longest = Timings::lan().lease() + Timings::lan().promise();
        assert!(begun.elapsed() <= longest, "{:?}", begun.elapsed());
    });
}

#[test]
fn a_store_that_goes_away_ends_the_leadership_on_time_and_says_since_when() {
    play(async {
        let store = Store::default();
        let (a, b) = one_leads_and_one_follows(&store).await;
        store.is_down.store(true, SeqCst);
        clock::sleep(Timings::lan().lease()).await;
        assert_eq!(leader_of(&[&a, &b]), None, "the lease is over");
        clock::sleep(MS(5_000)).await;
        for agent in [&a, &b] {
            let diagnosis = agent.diagnosis();
            let fails = diagnosis.findings.iter().find_map(|finding| {
                let Finding::RegisterFails { since, reason, .. } = finding else {
                    return None;
                };
                Some((*since, reason.clone()))
            });
            let (since, reason) = fails.unwrap_or_else(|| panic!("{diagnosis}"));
            assert!(MS(4_500) < since && since < MS(5_500), "{since:?}");
            assert!(reason.contains("it is down"), "{reason}");
        }
        store.is_down.store(false, SeqCst);
        clock::sleep(MS(3_000)).await;
        assert!(leader_of(&[&a, &b]).is_some());
        let findings = a.diagnosis().findings;
        let fails = |finding: &Finding| matches!(finding, Finding::RegisterFails { .. });
        assert!(!findings.iter().any(fails), "{findings:?}");
        assert!(store.terms().is_sorted());
    });
}

/// It is read all the time.
#[test]
fn a_store_that_takes_no_writes_is_told_apart() {
    play(async {
        let store = Store::default();
        let (a, b) = one_leads_and_one_follows(&store).await;
        store.takes_no_writes.store(true, SeqCst);
        clock::sleep(MS(5_000)).await;
        assert_eq!(leader_of(&[&a, &b]), None);
        for _ in 0..100 {
            clock::sleep(MS(17)).await;
            let findings = a.diagnosis().findings;
            let is_told = |finding: &Finding| matches!(finding, Finding::RegisterTakesNoWrites { reason, .. } if reason.contains("it is full"));
            assert!(findings.iter().any(is_told), "{findings:?}");
        }
    });
}

#[test]
fn a_store_that_hangs_is_given_up_and_asked_again() {
    play(async {
        let store = Store::default();
        let group = group();
        let a = agent(&group, &store, "a", 1);
        clock::sleep(MS(2_000)).await;
        assert!(a.is_leader());
        store.hangs.store(true, SeqCst);
        clock::sleep(MS(3_000)).await;
        assert!(!a.is_leader());
        store.hangs.store(false, SeqCst);
        clock::sleep(MS(3_000)).await;
        assert!(a.is_leader());
    });
}

#[test]
fn an_answer_that_is_lost_costs_no_leadership() {
    play(async {
        let store = Store::default();
        let group = group();
        let a = agent(&group, &store, "a", 1);
        clock::sleep(MS(2_000)).await;
        assert!(a.is_leader());
        for _ in 0..5 {
            store.loses_answer.store(true, SeqCst);
            clock::sleep(MS(1_000)).await;
            assert!(!store.loses_answer.load(SeqCst), "it was lost");
            assert!(a.is_leader());
        }
        assert_eq!(store.terms().len(), 1);
    });
}

#[test]
fn a_thousand_agents_of_a_process_cost_the_store_what_a_few_do() {
    let operations = |agents: usize| {
        let mut asked = 0;
        play(async {
            let store = Store::default();
            let group = group();
            let _agents: Vec<_> = (0..agents)
                .map(|number| agent(&group, &store, &format!("agent-{number:04}"), 1))
                .collect();
            clock::sleep(MS(3_000)).await;
            store.asked();
            clock::sleep(MS(10_000)).await;
            asked = store.asked();
        });
        asked
    };
    let (few, many) = (operations(10), operations(1_000));
    assert!(many <= few + few / 4, "{few} and {many} in ten seconds");
}

#[test]
fn an_entry_that_is_not_the_lease_of_this_group_stays_and_is_reported() {
    play(async {
        let store = Store::default();
        let key: RegisterKey = "default/jobs/lease".parse().unwrap();
        store
            .inner
            .swap(&key, None, b"hello".to_vec())
            .await
            .unwrap();
        let group = group();
        let a = agent(&group, &store, "a", 1);
        clock::sleep(MS(10_000)).await;
        assert!(!a.is_leader());
        let diagnosis = a.diagnosis();
        let is_told = |finding: &Finding| matches!(finding, Finding::RegisterForeign { .. });
        assert!(diagnosis.findings.iter().any(is_told), "{diagnosis}");
        let kept = store.inner.read(&key).await.unwrap().unwrap();
        assert_eq!(kept.value, b"hello");
    });
}

#[test]
fn one_group_has_one_register() {
    play(async {
        let (store, group) = (Store::default(), group());
        let _a = agent(&group, &store, "a", 1);
        let other = BullyAgent::builder("b").lease(Store::default());
        let refused = other.clock(VirtualClock::new()).join(&group).start();
        assert!(
            matches!(
                refused,
                Err(StartError::Register(AttachError::AnotherRegister { .. }))
            ),
            "{refused:?}"
        );
        assert_eq!(group.members().iter().count(), 1, "nothing was left behind");
    });
}

/// Two processes with an agent of one name each, by mistake: their incarnations differ, so one leads.
#[test]
fn two_agents_of_one_name_in_two_processes_do_not_both_lead() {
    play(async {
        let store = Store::default();
        let (one, other) = (group(), group());
        let a = agent(&one, &store, "a", 1);
        let same = agent(&other, &store, "a", 1);
        for _ in 0..1_000 {
            clock::sleep(MS(10)).await;
            leader_of(&[&a, &same]);
        }
        assert!(leader_of(&[&a, &same]).is_some());
        assert!(store.terms().is_sorted());
    });
}
