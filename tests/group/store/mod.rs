//! Stores keep the saved record, and refuse wrong files. The tests use real files in their own folders.
#![expect(clippy::expect_used, reason = "what a test cannot prepare fails it")]

mod beginnings;
mod faults;
mod records;
mod refusals;

use std::path::{Path, PathBuf};

use actix_bully::{
    protocol::{AgentId, Term},
    store::{FileStore, Saving, StoreError, StoreIdentity, TermStore},
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Vote {
    term: Term,
    voted_for: Option<AgentId>,
}

fn vote(term: u64) -> Vote {
    Vote {
        term: Term(term),
        voted_for: "api-2".parse().ok(),
    }
}

fn identity(node: &str) -> StoreIdentity {
    StoreIdentity {
        cluster: "production".parse().expect("a name"),
        group: "jobs".parse().expect("a name"),
        node: node.parse().expect("a name"),
    }
}

fn create(path: &Path) -> Result<FileStore<Vote>, StoreError> {
    FileStore::create(path, identity("api-1"))
}

fn open(path: &Path) -> Result<FileStore<Vote>, StoreError> {
    FileStore::open(path, identity("api-1"))
}

/// Saves a record as an agent that has just begun.
fn keep(store: &impl TermStore<Vote>, record: Vote) -> Saving {
    store.save(store.begin().unwrap_or_default(), record)
}

/// Returns the record that another process finds.
fn kept(path: &Path) -> Option<Vote> {
    let store = open(path).expect("free, whole and ours");
    store.load().expect("it can be read")
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.store");
    (folder, path)
}

fn names(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
