//! Changes that a register hears, the ends of a watch, and the next watch.

use actix_bully::register::{Change, ChangeStream, Version};
use actix_bully_register_tests::kubernetes::double::{
    KubeFault, KubeStatus,
    KubeVerb::{List, Watch},
    WatchEnd,
};
use futures::{FutureExt, StreamExt};
use serde_json::json;
use tokio::time::timeout;

use super::*;

/// A register that listens, and another register that writes.
struct Scene {
    server: KubeDouble,
    changes: ChangeStream,
    register: Box<dyn Register>,
    other: Box<dyn Register>,
    last: Option<Entry>,
    writes: u32,
}

impl Scene {
    /// Starts a server and two registers. The watch of the first register is open, and its first changes were
    /// skipped.
    async fn new() -> Self {
        let server = KubeDouble::start();
        let (register, other) = (server.open(), server.open());
        let changes = register.changes(&holder()).expect("it tells");
        let mut scene = Self {
            server,
            changes,
            register: Box::new(register),
            other: Box::new(other),
            last: None,
            writes: 0,
        };
        scene.is_open(1).await;
        while scene.changes.next().now_or_never().is_some() {}
        scene
    }

    /// Waits until one watch is open. Fails unless the register has asked for `asked` watches in total.
    async fn is_open(&self, asked: usize) {
        let is_open = || self.server.asked(Watch) >= asked && self.server.watches() == 1;
        until("it watches", is_open).await;
        assert_eq!(self.server.asked(Watch), asked);
    }

    /// Waits until one watch is open, and asserts that the register hears a write from then on.
    async fn goes_on(&mut self, asked: usize) {
        self.is_open(asked).await;
        while self.changes.next().now_or_never().is_some() {}
        self.hears_a_write().await;
    }

    /// Writes an entry as another client. Returns the entry and the version that it replaced.
    async fn written(&mut self) -> (Entry, Option<Version>) {
        self.writes += 1;
        let value = format!("write {}", self.writes).into_bytes();
        let replaced = self.last.take();
        done(swap(&*self.other, &holder(), replaced.as_ref(), &value).await);
        let entry = self.other.read(&holder()).await.expect("it can be read");
        self.last.clone_from(&entry);
        (
            entry.expect("it is there"),
            replaced.map(|entry| entry.version),
        )
    }

    async fn next(&mut self) -> Change {
        let next = timeout(DEADLINE, self.changes.next()).await;
        next.expect("it is told").expect("it goes on")
    }

    /// Writes an entry, and asserts that the next change is this write.
    async fn hears_a_write(&mut self) {
        let (entry, replaced) = self.written().await;
        assert_eq!(self.next().await, Change::Written { entry, replaced });
    }

    /// Asserts that the next change is an unknown one.
    async fn hears_of_a_gap(&mut self) {
        assert_eq!(self.next().await, Change::Unknown);
    }

    fn hears_nothing(&mut self) {
        assert_eq!(self.changes.next().now_or_never(), None);
    }

    /// Changes another Lease `times` times.
    fn others_change(&self, times: u32) {
        if self.server.lease("another").is_none() {
            self.server
                .create(json!({"metadata": {"name": "another"}, "spec": {}}));
        }
        for time in 0..times {
            self.server.edit("another", |lease| {
                lease["spec"]["leaseTransitions"] = json!(time + 1);
            });
        }
    }
}

#[test]
fn a_watch_that_ends_goes_on_where_it_was_without_a_list() {
    block_on(async {
        let mut scene = Scene::new().await;
        let mut asked = 1;
        for end in [
            WatchEnd::Ordinary,
            WatchEnd::HalfAnEvent,
            WatchEnd::Ordinary,
        ] {
            scene.hears_a_write().await;
            scene.server.plan(&[Watch], 1, KubeFault::Held);
            scene.server.end_watches(end);
            asked += 1;
            until("it asks again", || scene.server.asked(Watch) == asked).await;
            // This write happens while no watch is open.
            let (entry, replaced) = scene.written().await;
            scene.hears_nothing();
            scene.server.release();
            assert_eq!(scene.next().await, Change::Written { entry, replaced });
            scene.is_open(asked).await;
        }
        scene.hears_a_write().await;
        let last = scene.last.take().expect("it was written");
        let gone = removed(&*scene.other, &holder(), &last).await;
        gone.expect("it is removed");
        scene.hears_of_a_gap().await;
        scene.hears_a_write().await; // it replaced nothing
        assert_eq!(scene.server.asked(List), 1);
    });
}

#[test]
fn a_watch_whose_connection_breaks_misses_nothing() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.hears_a_write().await;
        scene.server.end_watches(WatchEnd::Abrupt);
        let (entry, replaced) = scene.written().await;
        // The register either continues at its last version, or reports a gap.
        match scene.next().await {
            Change::Unknown => until("it begins anew", || scene.server.asked(List) == 2).await,
            written => assert_eq!(written, Change::Written { entry, replaced }),
        }
        scene.goes_on(2).await;
    });
}

#[test]
fn a_version_that_the_server_has_forgotten_costs_a_list_and_a_gap() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.hears_a_write().await;
        scene.server.end_watches(WatchEnd::Gone);
        scene.hears_of_a_gap().await;
        scene.goes_on(2).await;
        assert_eq!(scene.server.asked(List), 2);
        // This time the server refuses the watch by the status code of HTTP.
        let status = KubeStatus::new(410, "Expired", "too old resource version");
        scene.server.plan(&[Watch], 1, KubeFault::Status(status));
        scene.server.end_watches(WatchEnd::Ordinary);
        scene.hears_of_a_gap().await;
        scene.goes_on(4).await;
        assert_eq!(scene.server.asked(List), 3);
    });
}

#[test]
fn a_quiet_record_costs_no_list_while_others_change_and_bookmarks_come() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.hears_a_write().await;
        let mut asked = 1;
        for _ in 0..3 {
            scene.others_change(1_000);
            scene.server.bookmark();
            scene.server.forget();
            scene.server.end_watches(WatchEnd::Ordinary);
            asked += 1;
            scene.is_open(asked).await;
        }
        assert_eq!(scene.server.asked(List), 1);
        scene.hears_a_write().await;
        // The server forgets the last version that the register knows.
        scene.others_change(1_000);
        scene.server.forget();
        scene.server.end_watches(WatchEnd::Ordinary);
        scene.hears_of_a_gap().await;
        scene.goes_on(asked + 2).await;
        assert_eq!(scene.server.asked(List), 2);
    });
}

#[test]
fn an_account_that_may_not_watch_works_without_changes() {
    for verb in [Watch, List] {
        let (server, holder) = (KubeDouble::start(), holder());
        let message =
            "leases.coordination.k8s.io is forbidden: User \"me\" cannot watch resource \"leases\"";
        let status = KubeStatus::new(403, "Forbidden", message);
        server.plan(&[verb], usize::MAX, KubeFault::Status(status));
        let register = server.open();
        let mut changes = register.changes(&holder).expect("it tells");
        block_on(until("it asks", || server.asked(verb) == 1));
        let connections = server.connections();
        let mut entry = written(&register, &holder, b"one");
        block_on(async {
            for _ in 0..100 {
                done(swap(&register, &holder, Some(&entry), b"next").await);
                let found = register.read(&holder).await.expect("it can be read");
                entry = found.expect("it is there");
            }
            while let Some(change) = changes.next().now_or_never() {
                assert_eq!(change, Some(Change::Unknown));
            }
        });
        assert_eq!(server.asked(verb), 1, "it is asked seldom");
        assert!(
            server.connections() <= connections + 2,
            "no session has ended"
        );
    }
}

#[test]
fn a_watch_ends_when_nobody_listens_and_begins_again_with_a_listener() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.hears_a_write().await;
        let elsewhere = scene
            .register
            .changes(&key("group/other"))
            .expect("it tells");
        drop(std::mem::replace(&mut scene.changes, elsewhere));
        until("the other is watched", || scene.server.asked(Watch) == 2).await;
        scene.server.bookmark();
        until("one has ended", || scene.server.watches() == 1).await;
        scene.written().await;
        assert_eq!(scene.server.asked(Watch), 2);
        scene.changes = scene.register.changes(&holder()).expect("it tells");
        until("the first one again", || {
            scene.server.watches() >= 1 && scene.server.asked(Watch) == 3
        })
        .await;
        while scene.changes.next().now_or_never().is_some() {}
        scene.hears_a_write().await;
        let Scene {
            server,
            changes,
            register,
            ..
        } = scene;
        drop(register);
        until("all have ended", || server.watches() == 0).await;
        let told: Vec<_> = changes.collect().await;
        assert!(told.len() <= 1, "it has ended with the register: {told:?}");
    });
}

#[test]
fn a_new_connection_goes_on_watching() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.hears_a_write().await;
        let away = KubeStatus::new(503, "ServiceUnavailable", "shutting down");
        scene
            .server
            .plan(&[KubeVerb::Get], 1, KubeFault::Status(away));
        scene
            .register
            .read(&holder())
            .await
            .expect_err("it is shutting down");
        scene.hears_of_a_gap().await;
        scene.goes_on(2).await;
    });
}
