//! What the store is asked, and who hears of it, without a store.

use std::{io, time::Duration};

mod foreign;
mod hearsay;

use super::schedule::{KeeperSchedule, NextOperation, Operation, RegisterReply, WhichRecord};
use crate::{
    elections::lease::{
        Answer, ClaimRecord, Holder, LeaseName, LeaseRecord, Nonce, ReadRegister, RecordError,
        RegisterQuestion, RegisterRecord, RegisterShown, SwapRegister, Swapped, Version,
    },
    protocol::{AgentId, Incarnation, Score, Term, Time},
    register::{self, Change, Entry, RegisterError, RegisterRefusal, Swap},
};

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn name(group: &str) -> LeaseName {
    LeaseName {
        cluster: id("shop"),
        group: id(group),
    }
}

fn lease(group: &str, attempt: u64) -> LeaseRecord {
    LeaseRecord {
        name: name(group),
        term: Term(3),
        holder: Some(Holder {
            id: id("a"),
            incarnation: Incarnation(1),
            score: Score::from(1),
            about: None,
        }),
        lease: Duration::from_secs(1).into(),
        nonce: nonce(attempt),
        next: None,
    }
}

fn claim(attempt: u64) -> ClaimRecord {
    ClaimRecord {
        name: name("cron"),
        score: Some(Score::from(2)),
        seen: Term::ZERO,
        nonce: nonce(attempt),
    }
}

fn nonce(attempt: u64) -> Nonce {
    Nonce {
        id: id("a"),
        incarnation: Incarnation(1),
        attempt,
    }
}

fn entry(version: u64, value: impl Into<Vec<u8>>) -> Entry {
    let key = "shop/cron/lease".parse().unwrap();
    Entry::new(&key, register::Version::from(version), value.into()).unwrap()
}

fn unreachable<T>() -> Result<T, RegisterError> {
    Err(RegisterError::unreachable(io::Error::other("down")))
}

/// A schedule, its store's clock, and what it has said.
struct Scene {
    schedule: KeeperSchedule,
    now: Time,
    said: Vec<RegisterReply>,
}

impl Scene {
    fn new() -> Self {
        Self {
            schedule: KeeperSchedule::new(&name("cron"), 1),
            now: Time::from_millis(1_000),
            said: Vec::new(),
        }
    }

    /// One whose store was read, and holds that.
    fn that_holds(lease: Option<Entry>) -> (Self, Version) {
        let mut scene = Self::new();
        scene.ask("x", 1);
        scene.begin_read();
        scene.show(lease, None);
        let version = scene.answered("x", 1);
        scene.said.clear();
        (scene, version)
    }

    fn ask(&mut self, agent: &str, request: u64) {
        let read = RegisterQuestion::Read(ReadRegister { request });
        self.schedule
            .hear(self.now, id(agent), read, &mut self.said);
    }

    fn swap(&mut self, agent: &str, request: u64, expected: &Version, record: Swapped) {
        let swap = SwapRegister {
            request,
            expected: expected.clone(),
            record,
        };
        let swap = RegisterQuestion::Swap(Box::new(swap));
        self.schedule
            .hear(self.now, id(agent), swap, &mut self.said);
    }

    fn next(&mut self) -> NextOperation {
        self.schedule.next(self.now)
    }

    fn pass(&mut self, millis: u64) {
        self.now = self.now.after(Duration::from_millis(millis));
    }

    fn begin_read(&mut self) {
        self.pass(1_000);
        assert_eq!(self.next(), NextOperation::Run(Operation::Read));
    }

    /// The store is asked to replace the lease; says what it compares.
    fn begin_swap(&mut self) -> (Option<Entry>, Vec<u8>) {
        match self.next() {
            NextOperation::Run(Operation::Swap {
                which: WhichRecord::Lease,
                expected,
                value,
            }) => (expected, value),
            other @ (NextOperation::Run(_) | NextOperation::At(_) | NextOperation::Nothing) => {
                panic!("{other:?}")
            }
        }
    }

    fn tell(&mut self, which: WhichRecord, change: Change) {
        self.schedule.tell(self.now, which, change, &mut self.said);
    }

    fn show(&mut self, lease: Option<Entry>, claim: Option<Entry>) {
        self.schedule.read(Ok(lease), Ok(claim), &mut self.said);
    }

    fn swapped(&mut self, swap: Result<Swap, RegisterError>) {
        self.schedule.swapped(swap, &mut self.said);
    }

    /// The version of the lease that an agent was shown.
    fn answered(&self, agent: &str, request: u64) -> Version {
        let answer = self.answer(agent, request);
        let Answer::Holds { lease, .. } = answer else {
            panic!("{answer:?}");
        };
        lease.version
    }

    fn answer(&self, agent: &str, request: u64) -> Answer {
        let answers: Vec<_> = self.answers(agent, request).collect();
        match &*answers {
            [one] => one.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn answers(&self, agent: &str, request: u64) -> impl Iterator<Item = Answer> {
        self.said.iter().filter_map(move |reply| match reply {
            RegisterReply::To(
                to,
                RegisterShown {
                    request: of,
                    answer,
                    ..
                },
            ) if to.as_str() == agent && *of == Some(request) => Some(answer.clone()),
            RegisterReply::To(..) | RegisterReply::ToOthers { .. } => None,
        })
    }

    /// What was said unasked, and to all but which.
    fn unasked(&self) -> Vec<(&[AgentId], &Answer)> {
        let unasked = self.said.iter().filter_map(|reply| match reply {
            RegisterReply::ToOthers { but, answer, .. } => Some((&**but, answer)),
            RegisterReply::To(..) => None,
        });
        unasked.collect()
    }
}

fn stored(record: &LeaseRecord) -> Vec<u8> {
    record.encode().into_bytes()
}

#[test]
fn all_that_ask_before_a_read_begins_are_answered_by_it_and_each_only_once() {
    let mut scene = Scene::new();
    scene.ask("agent-0", 6);
    for agent in 0..1_000 {
        scene.ask(&format!("agent-{agent}"), 7);
    }
    scene.begin_read();
    scene.ask("late", 9);
    assert_eq!(
        scene.next(),
        NextOperation::Nothing,
        "one operation at a time"
    );
    scene.show(Some(entry(1, stored(&lease("cron", 1)))), None);
    let answered = (0..1_000).filter(|agent| {
        let answer = scene.answer(&format!("agent-{agent}"), 7);
        matches!(answer, Answer::Holds { lease, .. } if lease.content.is_ok())
    });
    assert_eq!(answered.count(), 1_000);
    assert_eq!(scene.answers("agent-0", 6).count(), 0);
    assert_eq!(scene.answers("late", 9).count(), 0, "it asked later");
    scene.begin_read();
    scene.show(Some(entry(1, stored(&lease("cron", 1)))), None);
    scene.answered("late", 9);
}

#[test]
fn a_store_is_read_a_hundred_times_a_second_at_most() {
    let (mut scene, _) = Scene::that_holds(None);
    let mut reads = 0;
    for _ in 0..1_000 {
        scene.ask("a", 1);
        if scene.next() == NextOperation::Run(Operation::Read) {
            reads += 1;
            scene.show(None, None);
        }
        scene.pass(1);
    }
    assert_eq!(reads, 99, "the first one had begun just before");
}

#[test]
fn a_store_that_fails_is_asked_ever_less_and_at_once_more_when_it_answers() {
    let (mut scene, _) = Scene::that_holds(None);
    let mut pauses = Vec::new();
    for _ in 0..9 {
        scene.ask("a", 1);
        let mut waited = 0;
        while scene.next() != NextOperation::Run(Operation::Read) {
            scene.pass(10);
            waited += 10;
        }
        pauses.push(waited);
        scene
            .schedule
            .read(unreachable(), Ok(None), &mut scene.said);
    }
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 640, 640]);
    let failed = scene.answers("a", 1).filter(|it| *it == Answer::Failed);
    assert_eq!(failed.count(), 9);
    scene.ask("a", 2);
    scene.begin_read();
    scene.show(None, None);
    scene.ask("a", 3);
    scene.pass(10);
    assert_eq!(scene.next(), NextOperation::Run(Operation::Read));
}

/// A full store answers reads, and refuses writes.
#[test]
fn a_store_that_takes_no_writes_is_asked_ever_less_to_write_although_it_is_read() {
    let (mut scene, version) = Scene::that_holds(None);
    let begun = scene.now;
    let (mut writes, mut reads) = (Vec::new(), 0);
    for attempt in 0..5_000 {
        scene.ask("x", attempt);
        scene.swap(
            "a",
            attempt,
            &version,
            Swapped::Lease(lease("cron", attempt)),
        );
        let since = scene.now.since(begun).as_millis();
        match scene.next() {
            NextOperation::Run(Operation::Swap { .. }) => {
                writes.push(since);
                let full = io::Error::other("no space");
                scene.swapped(Err(RegisterError::refused(RegisterRefusal::Full, full)));
            }
            NextOperation::Run(Operation::Read) => {
                reads += 1;
                scene.show(None, None);
            }
            NextOperation::At(_) | NextOperation::Nothing => {}
        }
        scene.pass(1);
    }
    let first: Vec<_> = writes.iter().take(8).copied().collect();
    assert_eq!(first, [0, 20, 60, 140, 300, 620, 1_260, 1_900]);
    assert_eq!(writes.len(), 12, "every 640 ms at last");
    assert!(reads > 400, "{reads} reads: they go on");
    // A write that succeeds is followed by the next one at once.
    scene.pass(1_000);
    scene.swap("a", 6_000, &version, Swapped::Lease(lease("cron", 1)));
    scene.begin_swap();
    scene.swapped(Ok(Swap::Done(register::Version::from(41))));
    let Answer::Applied(applied) = scene.answer("a", 6_000) else {
        panic!("it was applied");
    };
    scene.swap("a", 6_001, &applied, Swapped::Lease(lease("cron", 2)));
    scene.begin_swap();
}

#[test]
fn a_swap_compares_what_was_shown_and_tells_the_others() {
    let (mut scene, version) = Scene::that_holds(None);
    scene.swap("a", 5, &version, Swapped::Lease(lease("cron", 1)));
    assert_eq!(scene.begin_swap(), (None, stored(&lease("cron", 1))));
    scene.swapped(Ok(Swap::Done(register::Version::from(41))));
    let Answer::Applied(applied) = scene.answer("a", 5) else {
        panic!("{:?}", scene.said);
    };
    assert_ne!(applied, version);
    let [(but, Answer::Holds { lease: shown, .. })] = &*scene.unasked() else {
        panic!("{:?}", scene.said);
    };
    assert_eq!((*but, &shown.version), (&[id("a")][..], &applied));
    assert_eq!(shown.content, Ok(Some(lease("cron", 1))));
    scene.said.clear();
    scene.swap("a", 6, &applied, Swapped::Lease(lease("cron", 2)));
    let expected = Some(entry(41, stored(&lease("cron", 1))));
    assert_eq!(scene.begin_swap(), (expected, stored(&lease("cron", 2))));
}

#[test]
fn a_swap_that_expects_what_is_gone_is_refused_without_the_store() {
    let (mut scene, version) = Scene::that_holds(None);
    for (agent, attempt) in [("a", 1), ("b", 2), ("c", 3)] {
        scene.swap(agent, 5, &version, Swapped::Lease(lease("cron", attempt)));
    }
    scene.begin_swap();
    assert_eq!(scene.answers("b", 5).count(), 0, "it may succeed yet");
    scene.swapped(Ok(Swap::Done(register::Version::from(1))));
    for agent in ["b", "c"] {
        assert_eq!(scene.answer(agent, 5), Answer::Changed);
    }
    assert_eq!(scene.next(), NextOperation::Nothing);
    scene.swap("b", 6, &version, Swapped::Lease(lease("cron", 4)));
    assert_eq!(scene.answer("b", 6), Answer::Changed);
    assert_eq!(scene.next(), NextOperation::Nothing);
}

#[test]
fn a_swap_that_failed_or_conflicted_leaves_the_next_one_its_turn() {
    let (mut scene, version) = Scene::that_holds(None);
    scene.swap("a", 1, &version, Swapped::Lease(lease("cron", 1)));
    scene.swap("b", 1, &version, Swapped::Lease(lease("cron", 2)));
    scene.begin_swap();
    scene.swapped(Err(RegisterError::unknown(io::Error::other("lost"))));
    assert_eq!(scene.answer("a", 1), Answer::Failed);
    // After the pause it compares the same: if the lost one was done, this one is not.
    scene.pass(20);
    assert_eq!(scene.begin_swap(), (None, stored(&lease("cron", 2))));
    scene.swapped(Ok(Swap::Conflict(Some(entry(
        7,
        stored(&lease("cron", 1)),
    )))));
    assert_eq!(scene.answer("b", 1), Answer::Changed);
    assert!(scene.unasked().is_empty(), "nothing was written");
}

#[test]
fn a_renewal_is_not_kept_waiting_by_readers() {
    let (mut scene, version) = Scene::that_holds(None);
    scene.pass(1_000);
    scene.ask("x", 2);
    scene.swap("a", 5, &version, Swapped::Lease(lease("cron", 1)));
    scene.begin_swap();
}

#[test]
fn only_the_newest_attempt_of_an_agent_is_written() {
    let (mut scene, version) = Scene::that_holds(None);
    scene.ask("x", 2);
    scene.begin_read();
    scene.swap("a", 5, &version, Swapped::Lease(lease("cron", 1)));
    scene.swap("a", 6, &version, Swapped::Claim(claim(2)));
    scene.swap("a", 7, &version, Swapped::Lease(lease("cron", 3)));
    scene.show(None, None);
    let mut written = Vec::new();
    while let NextOperation::Run(Operation::Swap { which, .. }) = scene.next() {
        written.push(which);
        scene.swapped(Ok(Swap::Done(register::Version::from(1))));
    }
    assert_eq!(written, [WhichRecord::Claim, WhichRecord::Lease]);
    assert_eq!(scene.answers("a", 5).count(), 0);
}

#[test]
fn nothing_is_written_before_it_was_read() {
    let mut scene = Scene::new();
    let guessed = Version::new(&[0; 16]).unwrap();
    scene.swap("a", 1, &guessed, Swapped::Lease(lease("cron", 1)));
    assert_eq!(scene.answer("a", 1), Answer::Changed);
    assert_eq!(scene.next(), NextOperation::Nothing);
}

/// A task that ended, and the next one: what one has shown means nothing to the other.
#[test]
fn versions_of_another_schedule_are_not_the_same() {
    let (mut scene, version) = Scene::that_holds(None);
    scene.schedule = KeeperSchedule::new(&name("cron"), 2);
    scene.ask("x", 2);
    scene.begin_read();
    scene.show(None, None);
    scene.swap("a", 5, &version, Swapped::Lease(lease("cron", 1)));
    assert_eq!(scene.answer("a", 5), Answer::Changed);
}
