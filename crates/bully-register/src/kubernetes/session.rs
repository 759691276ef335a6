//! Operations on Leases of one namespace.
//!
//! Decided here: the request of each operation, and its outcome. Every write contains the uid *and* the resource
//! version. By an update without a uid, the server would create a deleted Lease again, so a late write would bring back
//! a removed entry.
//!
//! | operation | request |
//! |---|---|
//! | read | GET without a version: the server asks a majority of its etcd |
//! | swap of nothing | POST |
//! | swap of an entry | PUT with both in the metadata |
//! | removal | DELETE with both as preconditions |
//! | list | LIST by label, in pages, without a version |

use std::{cell::RefCell, collections::BTreeMap};

use futures::future::join_all;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams, Preconditions},
    core::Status,
};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{
    busy::BusyServer,
    failure::{self, KubeAnswer},
    lease::{self, LeaseVersion},
    name,
};
use crate::{
    Entry, MOST_LISTED, RegisterError, RegisterKey, Removal, Swap, Version,
    connection::{Course, Meaning, StoreSession},
};

/// The operations of one client, for as long as its server answers.
pub(super) struct KubeSession {
    api: Api<Lease>,
    /// For each key: the fields of the last seen Lease that `kubectl` shows, such as the number of transitions. The
    /// next write continues these fields.
    seen: RefCell<BTreeMap<RegisterKey, (Version, LeaseSpec)>>,
    busy: BusyServer,
    /// Limits the requests under way, because a request that finds no free connection opens a new connection.
    at_once: Semaphore,
    /// Receives the next step (course) when an error shows that another connection is needed.
    end: mpsc::Sender<Course>,
    /// Dropping it ends the watches.
    _watches: oneshot::Sender<()>,
}

impl KubeSession {
    pub(super) fn new(
        api: Api<Lease>,
        busy: BusyServer,
        end: mpsc::Sender<Course>,
        watches: oneshot::Sender<()>,
    ) -> Self {
        Self {
            api,
            seen: RefCell::default(),
            busy,
            at_once: Semaphore::new(MOST_AT_ONCE),
            end,
            _watches: watches,
        }
    }

    /// Sends a request and waits for its answer, unless the server has asked for a pause.
    async fn ask<T>(
        &self,
        writes: bool,
        request: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, KubeAnswer> {
        // An error is not possible: the semaphore is never closed.
        let _turn = self.at_once.acquire().await;
        if let Some(busy) = self.busy.refusal() {
            return Err(KubeAnswer::Failed(busy));
        }
        let error = match request.await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let answer = failure::of_error(&error, writes);
        if let KubeAnswer::Failed(failed) = &answer {
            if let Some(wait) = failed.wait {
                self.busy.note(wait);
            }
            if failed.course.ends_connection() {
                self.end.try_send(failed.course).ok();
            }
        }
        Err(answer)
    }

    async fn read_one(&self, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
        let name = name::object_name(key);
        match self.ask(false, self.api.get(&name)).await {
            Ok(found) if found.metadata.name.as_ref() != Some(&name) => {
                // Answers on this connection seem to be mixed up, so another connection is needed.
                self.end.try_send(Course::MovesOn).ok();
                Err(Meaning::NotDone.error("the answer is of another Lease"))
            }
            Ok(found) => self.note(key, found).map(Some),
            Err(KubeAnswer::Absent) => Ok(None),
            Err(other) => Err(other.error(false)),
        }
    }

    /// Returns the entry of a Lease, and keeps the fields that `kubectl` shows.
    fn note(&self, key: &RegisterKey, found: Lease) -> Result<Entry, RegisterError> {
        let entry = lease::entry(key, &found)?;
        let mut seen = self.seen.borrow_mut();
        if seen.len() >= MOST_SEEN {
            // The loss is harmless: `kubectl` then shows a later acquire time and fewer transitions.
            seen.clear();
        }
        let spec = found.spec.unwrap_or_default();
        seen.insert(key.clone(), (entry.version.clone(), spec));
        Ok(entry)
    }

    /// Returns the fields for `kubectl` of the entry with this version, if it was seen.
    fn spec(&self, key: &RegisterKey, version: &Version) -> Option<LeaseSpec> {
        let seen = self.seen.borrow();
        let (known, spec) = seen.get(key)?;
        (known == version).then(|| spec.clone())
    }

    /// Returns the outcome of a write that the server has confirmed.
    fn written(
        &self,
        key: &RegisterKey,
        value: &[u8],
        stored: Lease,
    ) -> Result<Swap, RegisterError> {
        if stored.metadata.deletion_timestamp.is_some() {
            // Another client has deleted the Lease, and a finalizer still keeps it: this write will vanish with it.
            return Err(Meaning::Unknown.error(
                "this Lease is being deleted, and a finalizer keeps it: remove the finalizer",
            ));
        }
        match self.note(key, stored) {
            Ok(entry) if entry.value == value => Ok(Swap::Done(entry.version)),
            // A component of the server, such as a webhook, has changed the value.
            Ok(_) | Err(_) => Err(Meaning::Unknown.error(
                "the server shows another Lease than was written: find the admission webhook that changes its annotations",
            )),
        }
    }
}

impl StoreSession for KubeSession {
    async fn read(&self, keys: &[RegisterKey]) -> Vec<Result<Option<Entry>, RegisterError>> {
        join_all(keys.iter().map(|key| self.read_one(key))).await
    }

    async fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, RegisterError> {
        let by = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        let answer = match expected {
            None => {
                let lease = lease::lease(key, value, None, None);
                self.ask(true, self.api.create(&by, &lease)).await
            }
            Some(entry) => {
                let Some(version) = LeaseVersion::read(&entry.version) else {
                    return Ok(Swap::Conflict(self.read_one(key).await?));
                };
                let spec = self.spec(key, &entry.version);
                let lease = lease::lease(key, value, Some(&version), spec.as_ref());
                let name = name::object_name(key);
                self.ask(true, self.api.replace(&name, &by, &lease)).await
            }
        };
        match answer {
            Ok(stored) => self.written(key, value, stored),
            Err(KubeAnswer::Conflict | KubeAnswer::Absent) => {
                Ok(Swap::Conflict(self.read_one(key).await?))
            }
            Err(other) => Err(other.error(true)),
        }
    }

    async fn list(&self, prefix: &RegisterKey) -> Result<Vec<(RegisterKey, Entry)>, RegisterError> {
        let mut page = ListParams::default()
            .labels(&name::selector(prefix))
            .limit(PAGE);
        let mut all = BTreeMap::new();
        loop {
            let listed = self.ask(false, self.api.list(&page)).await;
            let listed = listed.map_err(|answer| answer.error(false))?;
            for found in listed.items {
                // A Lease with our label that no register wrote is left out; a read of its key reports the problem.
                let Some(key) = lease::key(&found).filter(|key| key.is_below(prefix)) else {
                    continue;
                };
                if let Ok(entry) = lease::entry(&key, &found) {
                    all.insert(key, entry);
                }
            }
            if all.len() > MOST_LISTED {
                let prefix = prefix.clone();
                return Err(RegisterError::TooMany { prefix });
            }
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page.continue_token = Some(token),
                None => return Ok(all.into_iter().collect()),
            }
        }
    }

    async fn remove(&self, key: &RegisterKey, expected: &Entry) -> Result<Removal, RegisterError> {
        let Some(LeaseVersion { uid, resource }) = LeaseVersion::read(&expected.version) else {
            return Ok(Removal::Conflict(self.read_one(key).await?));
        };
        let only = Preconditions {
            uid: Some(uid),
            resource_version: Some(resource),
        };
        let how = DeleteParams::background().preconditions(only);
        let name = name::object_name(key);
        match self.ask(true, self.api.delete(&name, &how)).await {
            Ok(answer) if answer.as_ref().right().is_some_and(Status::is_success) => {
                Ok(Removal::Done)
            }
            // A Lease in the answer means that it still exists, because a finalizer of another program keeps it.
            Ok(_) => Err(Meaning::Unknown.error(
                "a finalizer still keeps the deleted Lease: find out what set it, and remove it",
            )),
            Err(KubeAnswer::Conflict | KubeAnswer::Absent) => {
                Ok(Removal::Conflict(self.read_one(key).await?))
            }
            Err(other) => Err(other.error(true)),
        }
    }
}

/// Number of Leases on one page of a list. Chosen: 500 of the longest (8 KB each) take half of the largest answer.
const PAGE: u32 = 500;
/// Largest number of requests under way at one time, each on a connection of its own. Chosen: the renewals of several
/// hundred elections in one second need only a few.
const MOST_AT_ONCE: usize = 16;
/// Largest number of entries whose `kubectl` fields are kept: the entries of a few hundred elections.
const MOST_SEEN: usize = 1_024;
/// The name under which this client writes fields (the field manager of Kubernetes).
const MANAGER: &str = "actix-bully";
