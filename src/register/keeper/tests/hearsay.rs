//! What a store tells unasked, and what is read all the same.

use super::*;

/// An agent has read a lease that its holder renews; the versions are those of its attempts.
fn held() -> Scene {
    let (mut scene, _) = Scene::that_holds(Some(entry(1, stored(&lease("cron", 1)))));
    scene.said.clear();
    scene
}

fn written(attempt: u64, replaced: u64) -> Change {
    of(attempt, replaced, &lease("cron", attempt))
}

fn of(version: u64, replaced: u64, record: &LeaseRecord) -> Change {
    Change::Written {
        entry: entry(version, stored(record)),
        replaced: Some(register::Version::from(replaced)),
    }
}

fn released() -> LeaseRecord {
    LeaseRecord {
        holder: None,
        ..lease("cron", 9)
    }
}

impl Scene {
    fn is_read(&mut self) -> bool {
        self.pass(1_000);
        matches!(self.next(), NextOperation::Run(Operation::Read))
    }

    /// The store shows that lease, and fails to show the claim.
    fn half_read(&mut self, lease: Entry) {
        let said = &mut self.said;
        self.schedule.read(Ok(Some(lease)), unreachable(), said);
    }

    fn broken(&self) -> Vec<bool> {
        let broken = self.said.iter().map(|reply| match reply {
            RegisterReply::To(_, shown) => shown.is_broken,
            RegisterReply::ToOthers { is_broken, .. } => *is_broken,
        });
        broken.collect()
    }
}

#[test]
fn a_notified_renewal_of_the_known_entry_is_shown_without_a_read() {
    let mut scene = held();
    for attempt in 2..20 {
        scene.said.clear();
        scene.pass(1_000);
        scene.tell(WhichRecord::Lease, written(attempt, attempt - 1));
        let [(but, Answer::Holds { lease: shown, .. })] = &*scene.unasked() else {
            panic!("{:?}", scene.said);
        };
        assert!(but.is_empty());
        assert_eq!(shown.content, Ok(Some(lease("cron", attempt))));
        assert_eq!(scene.next(), NextOperation::Nothing);
    }
}

#[test]
fn notifications_are_compared_with_the_store_every_thirty_seconds() {
    let mut scene = held();
    for attempt in 2..31 {
        scene.pass(1_000);
        scene.tell(WhichRecord::Lease, written(attempt, attempt - 1));
        assert_eq!(scene.next(), NextOperation::Nothing, "{attempt}");
    }
    scene.pass(1_000);
    scene.tell(WhichRecord::Lease, written(31, 30));
    assert!(scene.is_read());
}

/// Any role of a database can tell a change.
#[test]
fn everything_but_a_renewal_is_read_and_nothing_is_shown_before() {
    let mut other = lease("cron", 2);
    other.holder.as_mut().unwrap().id = id("z");
    let mut later = lease("cron", 2);
    later.term = Term(later.term.0 + 1);
    for (which, change) in [
        (WhichRecord::Lease, Change::Unknown),
        (WhichRecord::Claim, written(2, 1)),
        (WhichRecord::Lease, written(3, 2)),
        (WhichRecord::Lease, of(2, 1, &released())),
        (WhichRecord::Lease, of(2, 1, &other)),
        (WhichRecord::Lease, of(2, 1, &later)),
        (WhichRecord::Lease, of(2, 1, &lease("other", 2))),
    ] {
        let mut scene = held();
        scene.tell(which, change.clone());
        assert!(scene.said.is_empty(), "{change:?}");
        assert!(scene.is_read(), "{change:?}");
    }
}

#[test]
fn its_own_write_that_is_told_is_nothing_new() {
    for is_early in [true, false] {
        let (mut scene, version) = Scene::that_holds(Some(entry(1, stored(&lease("cron", 1)))));
        scene.swap("a", 5, &version, Swapped::Lease(lease("cron", 2)));
        scene.begin_swap();
        if is_early {
            scene.tell(WhichRecord::Lease, written(2, 1));
        }
        scene.swapped(Ok(Swap::Done(register::Version::from(2))));
        scene.schedule.tell_rest(scene.now, &mut scene.said);
        if !is_early {
            scene.tell(WhichRecord::Lease, written(2, 1));
        }
        assert_eq!(scene.unasked().len(), 1, "the others hear of the swap");
        assert!(!scene.is_read());
    }
}

#[test]
fn a_read_continues_the_notifications_only_if_the_store_sent_that_change() {
    let now = released();
    let release = || of(9, 2, &now);
    for (told, is_broken) in [
        (Some(release()), false),
        (None, true),
        (Some(of(9, 3, &now)), true),
        (Some(of(8, 2, &now)), true),
        (Some(Change::Unknown), true),
    ] {
        let mut scene = held();
        scene.tell(WhichRecord::Lease, written(2, 1));
        if let Some(told) = told.clone() {
            scene.tell(WhichRecord::Lease, told);
        }
        scene.said.clear();
        scene.ask("a", 7);
        scene.begin_read();
        scene.show(Some(entry(9, stored(&now))), None);
        assert_eq!(scene.broken(), [is_broken, is_broken], "{told:?}");
        // From here on the lease is known by a read.
        scene.said.clear();
        scene.ask("a", 8);
        scene.begin_read();
        scene.show(None, None);
        assert_eq!(scene.broken(), [false, false]);
    }
}

#[test]
fn a_change_that_the_store_tells_is_read_and_shown_to_all() {
    let (mut scene, version) = Scene::that_holds(None);
    scene.tell(WhichRecord::Lease, Change::Unknown);
    scene.begin_read();
    scene.show(None, None);
    assert!(scene.said.is_empty(), "nothing has changed");
    scene.tell(WhichRecord::Lease, Change::Unknown);
    scene.begin_read();
    scene.ask("late", 3);
    scene.show(Some(entry(2, stored(&lease("cron", 1)))), None);
    let [(but, Answer::Holds { lease, .. })] = &*scene.unasked() else {
        panic!("{:?}", scene.said);
    };
    assert!(but.is_empty());
    assert_ne!(lease.version, version);
}

/// The agents hear of a lease only by whole reads, and of a broken chain with the first one that succeeds.
#[test]
fn a_broken_chain_that_half_a_read_has_seen_is_told_by_the_next_whole_one() {
    let mut scene = held();
    scene.tell(WhichRecord::Lease, written(2, 1));
    scene.said.clear();
    scene.ask("a", 7);
    scene.begin_read();
    let found = entry(9, stored(&released()));
    scene.half_read(found.clone());
    assert_eq!(scene.broken(), [false], "a failure, to the one that asked");
    // The holder of that record is told to renew it: nobody here has heard of it yet.
    scene.said.clear();
    scene.tell(WhichRecord::Lease, of(10, 9, &lease("cron", 10)));
    assert!(scene.said.is_empty());
    scene.begin_read();
    scene.show(Some(found.clone()), None);
    assert_eq!(scene.broken(), [true], "to all, although nobody asked");
    scene.said.clear();
    scene.ask("a", 8);
    scene.begin_read();
    scene.show(Some(found), None);
    assert_eq!(scene.broken(), [false], "once");
}

#[test]
fn a_renewal_over_what_half_a_read_has_shown_is_read_first() {
    let mut scene = held();
    scene.tell(WhichRecord::Lease, written(2, 1));
    scene.said.clear();
    scene.ask("a", 7);
    scene.begin_read();
    scene.half_read(entry(5, stored(&lease("cron", 5))));
    scene.said.clear();
    scene.tell(WhichRecord::Lease, written(6, 5));
    assert!(scene.said.is_empty());
    scene.begin_read();
    scene.show(Some(entry(6, stored(&lease("cron", 6)))), None);
    assert_eq!(scene.broken(), [true]);
}

#[test]
fn a_swap_that_finds_another_lease_breaks_the_chain_and_all_hear_of_it() {
    for (is_told, is_broken) in [(false, true), (true, false)] {
        let (mut scene, version) = Scene::that_holds(Some(entry(1, stored(&lease("cron", 1)))));
        scene.tell(WhichRecord::Lease, written(2, 1));
        let known = scene.schedule.lease.version();
        assert_ne!(known, version);
        if is_told {
            scene.tell(WhichRecord::Lease, of(9, 2, &released()));
        }
        scene.swap("a", 5, &known, Swapped::Lease(lease("cron", 3)));
        scene.begin_swap();
        scene.said.clear();
        let found = entry(9, stored(&released()));
        scene.swapped(Ok(Swap::Conflict(Some(found.clone()))));
        assert_eq!(scene.answer("a", 5), Answer::Changed);
        scene.said.clear();
        scene.begin_read();
        scene.show(Some(found), None);
        assert_eq!(scene.broken(), [is_broken], "to all, although nobody asked");
    }
}

/// A store that tells nothing more would be read every thirty seconds.
#[test]
fn a_change_that_was_told_is_read_again_after_a_read_that_failed() {
    let mut scene = held();
    scene.tell(WhichRecord::Lease, Change::Unknown);
    scene.begin_read();
    scene
        .schedule
        .read(unreachable(), unreachable(), &mut scene.said);
    assert!(scene.is_read());
}
