//! The Leases of one namespace, as an API server over etcd keeps them.
//!
//! Decided here: the effect of each write, as Kubernetes 1.36 answers it. One number grows with each write of any
//! Lease. An update without a uid makes a deleted Lease anew. An update without a change gets no new version. A Lease
//! that waits for a finalizer is deleted by the update that leaves the finalizer out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::status::KubeStatus;

/// The Leases and their history; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct LeaseStore {
    leases: BTreeMap<String, Value>,
    revision: u64,
    /// Number of Leases that were made. It gives the uid of the next one.
    made: u64,
    /// All events for the watches, in their order.
    pub(super) events: Vec<StoreEvent>,
    /// Oldest version from which a watch may begin.
    oldest: u64,
    /// The remaining pages of the lists that have begun, by the token that continues the list.
    rests: BTreeMap<String, LeasePage>,
}

/// An event for the watches.
#[derive(Clone, Debug)]
pub(super) enum StoreEvent {
    Written {
        kind: &'static str,
        revision: u64,
        lease: Value,
    },
    /// A bookmark: no later event will have an older version.
    Bookmark(u64),
    End(WatchEnd),
}

/// The way in which the watches end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The end after `timeoutSeconds`.
    Ordinary,
    /// A connection that breaks.
    Abrupt,
    /// An end in the middle of an event.
    HalfAnEvent,
    /// An event with the status 410.
    Gone,
}

/// Some Leases of a list, and the version at which the list began.
#[derive(Clone, Debug, Default)]
pub(super) struct LeasePage {
    pub(super) leases: Vec<Value>,
    pub(super) revision: u64,
}

/// The Leases that a request selects.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaseSelector {
    pub(super) name: Option<String>,
    /// A label and its value; `None` stands for any label.
    pub(super) label: Option<(String, String)>,
}

impl LeaseSelector {
    pub(super) fn selects(&self, lease: &Value) -> bool {
        let is_named = self
            .name
            .as_ref()
            .is_none_or(|name| lease["metadata"]["name"] == **name);
        let is_labelled = self
            .label
            .as_ref()
            .is_none_or(|(label, value)| lease["metadata"]["labels"][label] == **value);
        is_named && is_labelled
    }
}

impl LeaseStore {
    pub(super) const fn new() -> Self {
        Self {
            leases: BTreeMap::new(),
            revision: 100,
            made: 0,
            events: Vec::new(),
            oldest: 0,
            rests: BTreeMap::new(),
        }
    }

    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) const fn oldest(&self) -> u64 {
        self.oldest
    }

    pub(super) fn get(&self, name: &str) -> Result<&Value, KubeStatus> {
        self.leases
            .get(name)
            .ok_or_else(|| KubeStatus::absent(name))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.leases.values()
    }

    pub(super) fn create(&mut self, mut lease: Value) -> Result<Value, KubeStatus> {
        let name = text(&lease["metadata"]["name"]);
        if self.leases.contains_key(&name) {
            return Err(KubeStatus::exists(&name));
        }
        self.made += 1;
        lease["metadata"]["uid"] = json!(format!("5d0a3c1e-0000-4000-8000-{:012x}", self.made));
        lease["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        Ok(self.write("ADDED", name, lease))
    }

    pub(super) fn update(&mut self, name: &str, mut lease: Value) -> Result<Value, KubeStatus> {
        let (uid, version) = stamps(&lease["metadata"]);
        let Some(known) = self.leases.get(name) else {
            if uid.is_empty() {
                return self.create(lease);
            }
            return Err(KubeStatus::conflict(name, "Precondition failed: UID"));
        };
        let (known_uid, known_version) = stamps(&known["metadata"]);
        if !uid.is_empty() && uid != known_uid {
            return Err(KubeStatus::conflict(name, "Precondition failed: UID"));
        }
        if version.is_empty() {
            let why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
            return Err(KubeStatus::invalid(name, why));
        }
        if version != known_version {
            let why = "the object has been modified; please apply your changes to the latest version and try again";
            return Err(KubeStatus::conflict(name, why));
        }
        for kept in ["uid", "creationTimestamp", "namespace", "deletionTimestamp"] {
            if let Some(value) = known["metadata"].get(kept) {
                lease["metadata"][kept] = value.clone();
            }
        }
        if lease == *known {
            return Ok(lease);
        }
        if lease["metadata"].get("deletionTimestamp").is_some() && !is_held(&lease) {
            self.leases.remove(name);
            return Ok(self.note("DELETED", lease));
        }
        Ok(self.write("MODIFIED", name.to_owned(), lease))
    }

    /// Deletes a Lease. `only` has the uid and the version that the Lease must have.
    pub(super) fn delete(&mut self, name: &str, only: &Value) -> Result<Value, KubeStatus> {
        let known = stamps(&self.get(name)?["metadata"]);
        let (uid, version) = stamps(only);
        for (wanted, found) in [(uid, &known.0), (version, &known.1)] {
            if !wanted.is_empty() && wanted != *found {
                return Err(KubeStatus::conflict(name, "Precondition failed"));
            }
        }
        if let Some(mut lease) = self.leases.remove(name) {
            if is_held(&lease) {
                lease["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                return Ok(self.write("MODIFIED", name.to_owned(), lease));
            }
            self.note("DELETED", lease);
        }
        Ok(json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": name, "group": "coordination.k8s.io", "kind": "leases", "uid": known.0},
        }))
    }

    fn write(&mut self, kind: &'static str, name: String, lease: Value) -> Value {
        let lease = self.note(kind, lease);
        self.leases.insert(name, lease.clone());
        lease
    }

    /// Gives the Lease the next version, and records an event of it.
    fn note(&mut self, kind: &'static str, mut lease: Value) -> Value {
        self.revision += 1;
        lease["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.events.push(StoreEvent::Written {
            kind,
            revision: self.revision,
            lease: lease.clone(),
        });
        lease
    }

    pub(super) fn list(&self, selector: &LeaseSelector) -> LeasePage {
        let selected = self.all().filter(|lease| selector.selects(lease));
        LeasePage {
            leases: selected.cloned().collect(),
            revision: self.revision,
        }
    }

    /// Returns the remaining Leases of the list that this token continues.
    pub(super) fn rest(&self, token: &str) -> Result<LeasePage, KubeStatus> {
        let rest = self.rests.get(token).cloned();
        rest.ok_or_else(|| KubeStatus::expired("The provided continue parameter is too old"))
    }

    /// Shortens the page to the limit. Keeps the remaining Leases, and returns the token that continues the list;
    /// `None` if all Leases fit on the page.
    pub(super) fn cut(&mut self, page: &mut LeasePage, limit: usize) -> Option<String> {
        if limit == 0 || page.leases.len() <= limit {
            return None;
        }
        let rest = LeasePage {
            leases: page.leases.split_off(limit),
            revision: page.revision,
        };
        let token = format!("continue-{}", self.rests.len());
        self.rests.insert(token.clone(), rest);
        Some(token)
    }

    /// Forgets all versions before the present one. A watch from an older version and the remaining pages of a list
    /// are refused from now on.
    pub(super) fn forget(&mut self) {
        self.oldest = self.revision;
        self.rests.clear();
    }
}

/// Returns whether a finalizer delays the deletion of the Lease.
fn is_held(lease: &Value) -> bool {
    let finalizers = lease["metadata"]["finalizers"].as_array();
    finalizers.is_some_and(|all| !all.is_empty())
}

/// Returns the uid and the version in the metadata; an empty text stands for a missing value.
fn stamps(metadata: &Value) -> (String, String) {
    (text(&metadata["uid"]), text(&metadata["resourceVersion"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
