//! Agents whose lease is in a store: the requests to the store, its faults, and the reports about the faults. Each
//! group stands for a process. The processes share only the store.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use actix::clock;
use actix_bully::{
    agent::{BullyAgent, BullyHandle, Finding, StartError},
    protocol::Timings,
    register::{AttachError, Register, RegisterKey},
    testkit::VirtualClock,
};

use crate::{
    stage::{MS, play},
    store::{Lists, Store, agent, group},
};

/// Starts agents of two processes. The first one leads, although the second one has a higher score.
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

/// The process may end as soon as its agent has left, so the release must be written before.
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

/// Each row has a fault of the store, and the words of the diagnosis about the fault.
#[test]
fn a_store_that_fails_ends_the_leadership_on_time_is_told_apart_and_elects_again() {
    type Switch = fn(&Store) -> &AtomicBool;
    let rows: [(&str, Switch, [&str; 2]); 3] = [
        (
            "no answer",
            |store| &store.is_down,
            ["register_fails", "it is down"],
        ),
        (
            "no write",
            |store| &store.takes_no_writes,
            ["register_takes_no_writes", "it is full"],
        ),
        ("it hangs", |store| &store.hangs, ["register_fails", ""]),
    ];
    for (fault, switch, told) in rows {
        play(async {
            let store = Store::default();
            let (a, b) = one_leads_and_one_follows(&store).await;
            switch(&store).store(true, SeqCst);
            clock::sleep(Timings::lan().lease()).await;
            assert_eq!(leader_of(&[&a, &b]), None, "{fault}: the lease is over");
            clock::sleep(MS(5_000)).await;
            for _ in 0..100 {
                clock::sleep(MS(17)).await;
                let found = found_of_store(&a);
                assert!(
                    found
                        .iter()
                        .any(|found| told.iter().all(|part| found.contains(part))),
                    "{fault}: {found:?}"
                );
            }
            switch(&store).store(false, SeqCst);
            clock::sleep(MS(3_000)).await;
            assert!(leader_of(&[&a, &b]).is_some(), "{fault}");
            assert_eq!(found_of_store(&a), [""; 0], "{fault}");
            assert!(store.terms().is_sorted(), "{fault}");
        });
    }
}

/// Returns the kind and the reason of each finding that has a reason.
fn found_of_store(agent: &BullyHandle) -> Vec<String> {
    let diagnosis = serde_json::to_value(agent.diagnosis()).unwrap();
    let findings = diagnosis["findings"].as_array().unwrap().iter();
    let of_store = findings.filter(|found| found["reason"].is_string());
    let text = |found: &serde_json::Value| {
        let [kind, reason] = ["kind", "reason"].map(|key| found[key].as_str().unwrap());
        format!("{kind}: {reason}")
    };
    of_store.map(text).collect()
}

#[test]
fn a_write_that_is_never_answered_leaves_time_for_the_next_one_before_the_lease_ends() {
    play(async {
        let store = Store::default();
        let a = BullyAgent::builder("a").lease(store.clone()).join(&group());
        let a = a.clock(VirtualClock::new()).start().unwrap();
        a.wait_for_leader(MS(5_000)).await.unwrap();
        store.swallows_write.store(true, SeqCst);
        clock::sleep(MS(5_000)).await;
        let was_asked = !store.swallows_write.load(SeqCst);
        assert!(was_asked && a.is_leader() && store.terms().len() == 1);
    });
}

/// A hand-over reads the list of the other agents, and an agent that leaves removes its row. Both must leave time for
/// the other steps.
#[test]
fn a_store_that_hangs_takes_no_more_than_its_part_of_the_time_to_leave() {
    play(async {
        let store = Store {
            lists: Lists::Hanging,
            ..Store::default()
        };
        let (a, b) = one_leads_and_one_follows(&store).await;
        a.leave(MS(200)).await.unwrap();
        clock::sleep(MS(1_000)).await;
        assert!(b.is_leader());
        let c = agent(&group(), &store, "c", 1);
        clock::sleep(MS(1_000)).await;
        store.hangs.store(true, SeqCst);
        let leave = clock::timeout(MS(101), c.leave(MS(100)));
        assert_eq!(leave.await.unwrap(), Ok(()));
    });
}

/// Either the bytes of the entry are not a lease, or the store itself reports a foreign entry.
#[test]
fn an_entry_that_is_not_the_lease_of_this_group_stays_and_is_reported() {
    for is_foreign in [false, true] {
        play(async move {
            let store = Store {
                is_foreign,
                ..Store::default()
            };
            let key: RegisterKey = "default/jobs/lease".parse().unwrap();
            store.put(&key, "hello".to_owned()).await;
            let group = group();
            let a = agent(&group, &store, "a", 1);
            clock::sleep(MS(10_000)).await;
            assert!(!a.is_leader());
            let diagnosis = a.diagnosis();
            let [Finding::RegisterForeign { .. }] = diagnosis.findings[..] else {
                panic!("{diagnosis}");
            };
            let kept = store.inner.read(&key).await.unwrap().unwrap();
            assert_eq!(kept.value, b"hello");
        });
    }
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
