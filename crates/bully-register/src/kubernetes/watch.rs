//! The changes that the API server reports.
//!
//! ```text
//!   a key that somebody waits for ──▶ LIST metadata.name=.. ──▶ WATCH from the list's version ──▶ Written, Unknown
//!                                         ▲                          │ ends by itself: goes on from the last bookmark
//!                                         └──── 410, an error ───────┘
//! ```
//!
//! Decided here: each key has a watch of its own, so that a Role can permit single objects, and no process receives the
//! renewals of other elections. A watch begins at the version of a *list*, since the server forgets the version of a
//! Lease that does not change. If a watch ends in the ordinary way, the next watch misses no change. If it has to begin
//! with a new list, changes before the list may be missed.

use std::{cell::RefCell, collections::BTreeSet, pin::pin, rc::Rc, time::Duration};

use futures::{StreamExt, TryStreamExt, future::select, stream::FuturesUnordered};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{ListParams, WatchParams},
    core::WatchEvent,
};
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, warn};

use super::{
    busy::BusyServer,
    failure::{self, KubeAnswer},
    lease, name,
};
use crate::{
    Change, RegisterKey, RegisterRefusal, Version,
    connection::{ANSWER, KeyChange, Meaning, Tellers},
};

/// Watches every key that has a listener.
pub(super) async fn watch_all(api: Api<Lease>, told: Tellers, busy: BusyServer) {
    let begun = Rc::new(RefCell::new(BTreeSet::new()));
    let mut watches = FuturesUnordered::new();
    loop {
        for key in told.heard() {
            if begun.borrow_mut().insert(key.clone()) {
                let watch = KeyWatch::new(api.clone(), key, told.clone(), busy.clone());
                let begun = Rc::clone(&begun);
                watches.push(async move {
                    let key = watch.run().await;
                    begun.borrow_mut().remove(&key);
                });
            }
        }
        let more = pin!(told.more_heard());
        if watches.is_empty() {
            more.await;
        } else {
            select(more, watches.next()).await;
        }
    }
}

/// Watches one key.
struct KeyWatch {
    api: Api<Lease>,
    key: RegisterKey,
    selector: String,
    told: Tellers,
    busy: BusyServer,
}

/// The reason why a watch has ended.
enum WatchEnd {
    /// The watch has ended without a gap: the next watch begins at the contained version.
    Ended(String),
    /// The watch may have missed a change.
    Broken(Reason),
}

enum Reason {
    /// The server has forgotten the version, or an event could not be read.
    Passes(String),
    /// This account may not watch.
    Forbidden(String),
}

impl KeyWatch {
    fn new(api: Api<Lease>, key: RegisterKey, told: Tellers, busy: BusyServer) -> Self {
        let selector = format!("metadata.name={}", name::object_name(&key));
        Self {
            api,
            key,
            selector,
            told,
            busy,
        }
    }

    /// Watches the key while it has a listener. At the end it returns the key, so that the key may be watched again.
    async fn run(self) -> RegisterKey {
        let mut failures = 0_u32;
        while self.told.is_heard(&self.key) {
            let begun = Instant::now();
            let reason = self.watch_from_list().await;
            if begun.elapsed() > LASTS {
                failures = 0;
            }
            // Writes since the end of the watch were not reported, so every key may have changed.
            self.tell(Change::Unknown);
            let Some(reason) = reason else { continue };
            failures = failures.saturating_add(1);
            sleep(self.pause_after(&reason, failures)).await;
        }
        self.key
    }

    /// Logs why the watch has ended, and returns the pause before the next watch.
    fn pause_after(&self, reason: &Reason, failures: u32) -> Duration {
        match reason {
            Reason::Passes(words) => {
                debug!(target: "actix_bully", key = %self.key, reason = words, "a watch of Kubernetes begins anew");
                PAUSE.saturating_mul(1 << failures.min(MOST_DOUBLINGS))
            }
            Reason::Forbidden(words) => {
                self.warn_forbidden(words);
                FORBIDDEN
            }
        }
    }

    fn warn_forbidden(&self, reason: &str) {
        warn!(
            target: "actix_bully", key = %self.key, reason,
            "this account may not watch leases: the record is read at intervals; give it the verbs list and watch"
        );
    }

    /// Lists, then watches until a change may have been missed; `None` when the last listener has gone.
    async fn watch_from_list(&self) -> Option<Reason> {
        self.busy.is_over().await;
        let asked = ListParams::default().fields(&self.selector);
        let found = match timeout(ANSWER, self.api.list(&asked)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Some(self.reason(&error)),
            Err(_) => return Some(Reason::Passes("no answer in time".to_owned())),
        };
        let mut last = found.items.first().and_then(lease::version);
        let mut from = found.metadata.resource_version.unwrap_or_default();
        self.tell(Change::Unknown);
        let mut short = 0_u32;
        while self.told.is_heard(&self.key) {
            let begun = Instant::now();
            match self.watch_from(from, &mut last).await {
                WatchEnd::Ended(version) => from = version,
                WatchEnd::Broken(reason) => return Some(reason),
            }
            short = if begun.elapsed() < LASTS {
                short.saturating_add(1)
            } else {
                0
            };
            if short > 1 {
                sleep(PAUSE.saturating_mul(1 << short.min(MOST_DOUBLINGS))).await;
            }
        }
        None
    }

    /// Runs one watch, which the server ends after some minutes. `last` is the key's present version, if it is known.
    async fn watch_from(&self, mut from: String, last: &mut Option<Version>) -> WatchEnd {
        let asked = WatchParams {
            field_selector: Some(self.selector.clone()),
            timeout: Some(WATCH_SECONDS),
            bookmarks: true,
            ..WatchParams::default()
        };
        self.busy.is_over().await;
        let begun = match timeout(ANSWER, self.api.watch(&asked, &from)).await {
            Ok(Ok(begun)) => begun,
            Ok(Err(error)) => return WatchEnd::Broken(self.reason(&error)),
            Err(_) => return WatchEnd::Broken(Reason::Passes("no answer in time".to_owned())),
        };
        let mut events = pin!(begun);
        loop {
            let event = match events.try_next().await {
                Ok(Some(event)) => event,
                Ok(None) => return WatchEnd::Ended(from),
                Err(error) => return WatchEnd::Broken(self.reason(&error)),
            };
            match event {
                WatchEvent::Added(found) | WatchEvent::Modified(found) => {
                    resume_at(&mut from, found.metadata.resource_version.as_ref());
                    self.tell_written(&found, last);
                }
                WatchEvent::Deleted(gone) => {
                    resume_at(&mut from, gone.metadata.resource_version.as_ref());
                    *last = None;
                    self.tell(Change::Unknown);
                }
                WatchEvent::Bookmark(mark) => from = mark.metadata.resource_version,
                WatchEvent::Error(status) => {
                    return WatchEnd::Broken(Reason::Passes(status.message));
                }
            }
            if !self.told.is_heard(&self.key) {
                return WatchEnd::Ended(from);
            }
        }
    }

    fn tell_written(&self, found: &Lease, last: &mut Option<Version>) {
        let version = lease::version(found);
        let replaced = std::mem::replace(last, version);
        let change = match lease::entry(&self.key, found) {
            Ok(entry) => Change::Written { entry, replaced },
            // The Lease is foreign: a read of the key reports that.
            Err(_) => Change::Unknown,
        };
        self.tell(change);
    }

    fn tell(&self, change: Change) {
        let key = self.key.as_str().into();
        self.told.tell(KeyChange::Key(key, change));
    }

    fn reason(&self, error: &kube::Error) -> Reason {
        match failure::of_error(error, false) {
            KubeAnswer::Failed(failed)
                if failed.meaning == Meaning::Refused(RegisterRefusal::Credentials) =>
            {
                Reason::Forbidden(failed.words)
            }
            KubeAnswer::Failed(failed) => {
                if let Some(wait) = failed.wait {
                    self.busy.note(wait);
                }
                Reason::Passes(failed.words)
            }
            KubeAnswer::Absent | KubeAnswer::Conflict => Reason::Passes(error.to_string()),
        }
    }
}

fn resume_at(from: &mut String, version: Option<&String>) {
    if let Some(version) = version {
        from.clone_from(version);
    }
}

/// Time after which the server ends a watch, so that a dead connection does not stay for ever; a new watch continues.
/// If the session gets no answers, it ends earlier, together with its watches.
const WATCH_SECONDS: u32 = 290;
/// Shortest time that a watch must last; a shorter one counts as a failure.
const LASTS: Duration = Duration::from_secs(1);
/// Half of the first pause before the next watch.
const PAUSE: Duration = Duration::from_millis(100);
/// Largest number of doublings of the pause. The longest pause is 6.4 s.
const MOST_DOUBLINGS: u32 = 6;
/// Pause before a watch is tried again if the account lacks the right to watch.
const FORBIDDEN: Duration = Duration::from_secs(60);
