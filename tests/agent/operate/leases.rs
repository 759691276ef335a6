//! Commands to a group whose lease is in a store. Each group of a test stands for a process. The processes share only
//! the store, so an agent knows the agents of other processes only by their rows in the store.

use std::{panic::resume_unwind, sync::Arc, time::Duration};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Finding, LeadError, Lifecycle, OnPanic},
    elections::{AnyMessage, bully::Preemption},
    group::{Envelope, Holder, RemoteLink, Update},
    history::LeadershipEnd,
    operate::{Command, CommandRefusal, ContenderReport, Operated, Order, Outcome},
    protocol::{About, AgentId, Incarnation, MemberKind, Timings},
    register::{Change, MemoryRegister, Register, RegisterKey},
    supervisor::RestartPolicy,
    testkit::{Inject, VirtualClock},
};
use bully_core::{
    elections::lease::{LeaseRecord, RegisterRecord},
    protocol::Member,
};
use futures::StreamExt;

use crate::{
    stage::{MS, id, play},
    store::{FailedRemoval, Store},
};

fn agent(name: &str, register: impl Register + 'static) -> BullyHandle {
    member(&Group::new("jobs").unwrap(), name, register)
}

/// Starts an agent that stays down for an hour after a crash.
fn member(group: &Group, name: &str, register: impl Register + 'static) -> BullyHandle {
    let hour = Duration::from_secs(3_600);
    let restarts = RestartPolicy::builder().max_restarts(1).window(2 * hour);
    let restarts = restarts.backoff_max(hour).backoff_base(hour).build();
    BullyAgent::builder(name)
        .timings(Timings::lan())
        .preemption(Preemption::Never)
        .restart_policy(restarts.unwrap())
        .lease(register)
        .clock(VirtualClock::new())
        .score(1)
        .join(group)
        .start()
        .unwrap()
}

/// Starts agents in processes of their own. The first agent leads, and the other agents follow.
async fn agents<const N: usize>(names: [&str; N], store: &MemoryRegister) -> [BullyHandle; N] {
    let first = names.first().map(|name| id(name));
    let mut all = Vec::new();
    for name in names {
        let agent = agent(name, store.clone());
        agent.wait_for_leader(MS(5_000)).await.unwrap();
        assert_eq!(agent.leader().map(|leader| leader.id), first);
        all.push(agent);
    }
    all.try_into().unwrap()
}

async fn ask(agent: &BullyHandle, command: Command) -> Outcome {
    Operated::new(agent).carry_out(Order::new(command)).await
}

fn step_down(to: Option<&str>) -> Command {
    Command::StepDown { to: to.map(id) }
}

#[test]
fn a_transfer_hands_over_to_the_agent_that_it_names_and_to_any_without_a_name() {
    play(async {
        let store = MemoryRegister::new();
        let [a, b, c] = agents(["a", "b", "c"], &store).await;
        let outcome = ask(&a, step_down(Some("c"))).await;
        let leader = c.leader().unwrap();
        assert!(c.is_leader(), "{outcome}");
        assert_eq!(outcome, Outcome::HandedOver { leader });
        let outcome = ask(&c, step_down(None)).await;
        assert!(matches!(outcome, Outcome::HandedOver { .. }), "{outcome}");
        assert!(a.is_leader() || b.is_leader());
    });
}

/// The agents of other processes are no members of the group. Their rows in the store have the published texts.
#[test]
fn a_report_shows_who_could_take_the_lease_with_what_each_says_of_itself() {
    play(async {
        let store = MemoryRegister::new();
        let [a, b, c] = agents(["a", "b", "c"], &store).await;
        // An observer is not in the list.
        let observer = BullyAgent::builder("o").timings(Timings::lan()).observer();
        let observer = observer.lease(store.clone()).clock(VirtualClock::new());
        let alone = Group::new("jobs").unwrap();
        let _observer = observer.join(&alone).start().unwrap();
        let said = |agent: &BullyHandle| {
            let report = Operated::new(agent).report().agents.swap_remove(0);
            let contender = |it: ContenderReport| {
                assert!(
                    it.seen_ms <= 31_000,
                    "each row is written every 30 s: {it:?}"
                );
                assert_eq!(it.score, Some(1.into()));
                (
                    it.agent.to_string(),
                    it.about.map(|about| about.to_string()),
                )
            };
            let contenders = report.contenders.into_iter().map(contender);
            contenders.collect::<Vec<_>>()
        };
        let left = |agent: &BullyHandle| Operated::new(agent).report().agents[0].lease_left_ms;
        assert!(left(&a).is_some_and(|left| 0 < left && left <= 240));
        assert_eq!(left(&b), None, "it does not lead");
        let of = |name: &str, about: Option<&str>| (name.to_owned(), about.map(str::to_owned));
        c.set_about(About::new("http://c").ok()).unwrap();
        clock::sleep(MS(61_500)).await;
        assert_eq!(
            said(&a),
            [of("c", Some("http://c")), of("b", None)],
            "the highest rank first"
        );
        // The record of the lease gets the leader's text at once. The leader's row gets the text later.
        a.set_about(About::new("http://a").ok()).unwrap();
        c.set_about(None).unwrap();
        clock::sleep(MS(1_000)).await;
        assert_eq!(b.leader_about(), About::new("http://a").ok());
        assert_eq!(said(&b), [of("c", Some("http://c")), of("a", None)]);
        clock::sleep(MS(60_000)).await;
        assert_eq!(
            said(&b),
            [of("c", None), of("a", Some("http://a"))],
            "within a minute"
        );
        // A row that is no longer written belongs to an agent that is gone.
        c.leave(MS(5_000)).await.unwrap();
        let seen = Operated::new(&c).history().remove(0).leaderships.pop();
        assert_eq!(seen.unwrap().end, Some(LeadershipEnd::Unseen));
        clock::sleep(MS(60_000)).await;
        assert_eq!(said(&b), [of("a", Some("http://a"))]);
    });
}

/// Returns the named successor, if the change released the lease.
async fn next(change: Change) -> Option<AgentId> {
    let Change::Written { entry, .. } = change else {
        return None;
    };
    let record = LeaseRecord::decode(&entry.value).unwrap();
    record.next.map(|next| next.id)
}

/// The scores are equal, so the name decides. Agent `c` has left and removed its row. If the row still existed, `a`
/// would name `c`, and `b` would wait.
#[test]
fn a_leader_that_leaves_hands_over_to_the_best_agent_that_its_store_lists_now() {
    hands_over_to_b(async |c| c.leave(MS(5_000)).await.unwrap());
}

#[test]
fn a_leader_hands_over_to_no_agent_that_waits_for_its_restart() {
    hands_over_to_b(async |c| {
        c.addr().do_send(Inject::Crash);
        clock::sleep(MS(31_000)).await; // until the row of `c` shows the crash
    });
}

#[track_caller]
fn hands_over_to_b(goes: impl AsyncFnOnce(&BullyHandle)) {
    play(async {
        let store = MemoryRegister::new();
        let [a, b, c] = agents(["a", "b", "c"], &store).await;
        clock::sleep(MS(2_000)).await; // until the rows show that both agents can lead
        goes(&c).await;
        let lease: RegisterKey = "default/jobs/lease".parse().unwrap();
        let changes = store.changes(&lease).unwrap();
        let released = actix::spawn(changes.filter_map(next).boxed().into_future());
        a.leave(MS(5_000)).await.unwrap();
        let (next, _) = released.await.unwrap();
        assert_eq!(next, Some(id("b")));
        while !b.is_leader() {
            clock::sleep(MS(1)).await;
        }
        // The other process either reads the released record, or reads only the record of the next leader.
        let history = Operated::new(&b).history().swap_remove(0);
        let row = history.leaderships.iter().find(|row| row.leader == id("a"));
        let ends = [LeadershipEnd::HandedOver, LeadershipEnd::Replaced].map(Some);
        assert!(
            row.is_some_and(|row| ends.contains(&row.end)),
            "{history:?}"
        );
    });
}

#[test]
fn two_processes_of_one_name_are_told_of_at_both_and_a_restart_is_not() {
    play(async {
        let store = MemoryRegister::new();
        let twice = |agent: &BullyHandle| {
            let found = agent.diagnosis().findings;
            let is_twice = |found: &Finding| matches!(found, Finding::TwoOfOneName { .. });
            found.iter().any(is_twice)
        };
        let [first] = agents(["a"], &store).await;
        first.leave(MS(500)).await.unwrap();
        let holder = agent("a", store.clone());
        holder.wait_for_leader(MS(5_000)).await.unwrap();
        clock::sleep(Duration::from_secs(70)).await;
        assert!(holder.is_leader() && !twice(&holder), "the first one left");
        let other = agent("a", store.clone());
        clock::sleep(Duration::from_secs(70)).await;
        assert!(twice(&holder) && twice(&other));
        assert!(holder.is_leader() && !other.is_leader());
        let words = holder.diagnosis().to_string();
        assert!(
            words.contains("give each agent a name of its own"),
            "{words}"
        );
        other.leave(MS(500)).await.unwrap();
        clock::sleep(Duration::from_secs(200)).await;
        assert!(!twice(&holder));
    });
}

/// A store that cannot list its agents does not show that the named successor is absent. So the leader tries to hand
/// over, and an agent leads afterwards.
#[test]
fn where_the_store_cannot_list_a_transfer_is_tried_and_taken_back() {
    play(async {
        let store = Store::default();
        let [a, b] = ["a", "b"].map(|name| agent(name, store.clone()));
        a.wait_for_leader(MS(5_000)).await.unwrap();
        let leader = if a.is_leader() { &a } else { &b };
        let outcome = ask(leader, step_down(Some("x"))).await;
        assert!(!matches!(outcome, Outcome::Refused(_)), "{outcome}");
        assert!(a.is_leader() || b.is_leader(), "{outcome}");
    });
}

#[test]
fn the_reset_of_a_mark_says_what_became_of_the_mark() {
    let mark = Some(r#"{"record":"actix-bully schedule 1","cluster":"default"}"#);
    let failed = |removal| Store {
        removal: Some(removal),
        ..Store::whole()
    };
    let written = Store {
        written_meanwhile: Some("another mark".to_owned()),
        ..Store::whole()
    };
    let keeps_all = Store {
        removes: false,
        ..Store::whole()
    };
    for (store, value, says) in [
        (Store::whole(), None, "no progress (mark)"),
        (Store::whole(), mark, "no mark of x any more"),
        (Store::whole(), Some("{}"), "holds something else"),
        (keeps_all, mark, "cannot remove"),
        (written, mark, "it was written just then"),
        (failed(FailedRemoval::Absent), mark, "no progress (mark)"),
        (failed(FailedRemoval::Refused), mark, "it is full"),
        (
            failed(FailedRemoval::Unanswered),
            mark,
            "may still be removed",
        ),
        (failed(FailedRemoval::Hanging), mark, "may still be removed"),
    ] {
        play(async {
            if let Some(value) = value {
                let key = "default/jobs/schedule/x".parse().unwrap();
                store.put(&key, value.to_owned()).await;
            }
            let agent = agent("a", store);
            agent.wait_for_leader(MS(5_000)).await.unwrap();
            let schedule = id("x");
            let outcome = ask(&agent, Command::ResetSchedule { schedule }).await;
            assert!(outcome.to_string().contains(says), "{outcome}");
        });
    }
}

#[test]
fn an_agent_that_gives_up_is_a_successor_no_more() {
    play(async {
        let store = MemoryRegister::new();
        let [c, a, b] = agents(["c", "a", "b"], &store).await;
        clock::sleep(MS(2_000)).await;
        let work = |_| async { resume_unwind(Box::new("a bug in the work")) };
        let end = c.lead_with(OnPanic::GiveUp, work).await;
        assert_eq!(end, Err(LeadError::GaveUp));
        clock::sleep(MS(1_000)).await;
        let leader = [&a, &b].into_iter().find(|agent| agent.is_leader());
        let outcome = ask(leader.unwrap(), step_down(Some("c"))).await;
        let refused = CommandRefusal::NoMember { to: id("c") };
        assert_eq!(outcome, Outcome::Refused(refused));
    });
}

/// A link to another host that carries nothing.
#[derive(Debug)]
struct Silent;

impl RemoteLink<AnyMessage> for Silent {
    fn carry(&self, _: &[AgentId], _: Envelope<AnyMessage>) {}
    fn lost(&self, _: &AgentId, _: &Holder) {}
}

/// A crashed agent of the process sees no leadership, and an agent of another host writes a history of its own.
#[test]
fn a_leadership_is_out_of_sight_once_no_agent_of_the_process_is_up() {
    let unseen = Some(LeadershipEnd::Unseen);
    for (is_here, crashes, end) in [
        (true, true, unseen),
        (true, false, None),
        (false, false, unseen),
    ] {
        play(async move {
            let store = MemoryRegister::new();
            let [_leader] = agents(["a"], &store).await;
            let group = Group::new("jobs").unwrap();
            let b = member(&group, "b", store.clone());
            b.wait_for_leader(MS(5_000)).await.unwrap();
            let c = is_here.then(|| member(&group, "c", store));
            if let Some(c) = &c {
                c.wait_for_leader(MS(5_000)).await.unwrap();
                if crashes {
                    c.addr().do_send(Inject::Crash);
                    clock::sleep(MS(1)).await;
                    assert_eq!(c.current().lifecycle, Lifecycle::Down);
                }
            } else {
                let other = group.remote("host-d", Arc::new(Silent));
                other.set_up(true);
                let d = Member::up(id("d"), MemberKind::Voter, None, Incarnation(7));
                assert_eq!(other.apply([Update::Known(d)]), []);
            }
            b.leave(MS(10)).await.unwrap();
            let history = Operated::new(&b).history().swap_remove(0);
            let last = history.leaderships.last().unwrap();
            assert_eq!(last.end, end);
        });
    }
}
