//! An agent that starts on an old copy of its votes, and reports this to the operator: real files, in virtual time.
//! Within one process a start on another store is refused; `tests/remote/stores.rs` tests this case between hosts.

use std::{fs, path::Path};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyHandle, Finding, Lifecycle},
    protocol::Term,
    store::{FileStore, StoreIdentity, TermStore},
};
use tempfile::TempDir;
use tracing::Level;

use crate::{
    logs::logged,
    stage::{MS, VOTERS, id, voter},
};

fn store<D>(path: &Path, name: &str) -> FileStore<D>
where
    FileStore<D>: TermStore<D>,
    D: Clone + std::fmt::Debug + PartialEq + Send + 'static,
    D: serde::Serialize + serde::de::DeserializeOwned,
{
    let identity = StoreIdentity {
        cluster: id("test"),
        group: id("jobs"),
        node: id(name),
    };
    FileStore::open_or_create(path, identity).unwrap()
}

/// Starts one of three voters. Its votes are in a file of its own.
fn start(group: &Group, folder: &TempDir, name: &str) -> BullyHandle {
    let agent = voter(group, name, VOTERS);
    let store = store(&folder.path().join(name), name);
    agent.store(store).start().unwrap()
}

/// Starts three voters. The last one leads, and the other voters have acknowledged the leader.
async fn three(group: &Group, folder: &TempDir) -> [BullyHandle; 3] {
    let voters = VOTERS.map(|name| start(group, folder, name));
    clock::sleep(MS(5_000)).await;
    assert!(voters[2].is_leader());
    voters
}

/// Ends a voter. The voter closes its file.
async fn end(voter: BullyHandle) {
    voter.leave(MS(5_000)).await.unwrap();
    drop(voter);
    clock::sleep(MS(1)).await;
}

#[test]
fn an_agent_on_an_old_copy_of_its_votes_ends_and_says_which_voter_knows_better() {
    logged(Level::ERROR, async |lines| {
        let (group, folder) = (Group::new("jobs").unwrap(), tempfile::tempdir().unwrap());
        let [a, b, c] = three(&group, &folder).await;
        let first = c.current().leading.unwrap();
        end(a).await;
        let (file, backup) = (folder.path().join("a"), folder.path().join("backup"));
        fs::copy(&file, &backup).unwrap();

        // With its own file the voter takes part again, in a later term.
        let a = start(&group, &folder, "a");
        clock::sleep(MS(5_000)).await;
        c.step_down(None).unwrap();
        clock::sleep(MS(5_000)).await;
        let later = b.current().term.max(c.current().term);
        assert!(later > first, "{later} after {first}");
        assert_eq!(a.current().lifecycle, Lifecycle::Running);
        assert_eq!(a.current().term, later);
        end(a).await;
        assert_eq!(lines.about("record"), [""; 0]);

        fs::copy(&backup, &file).unwrap();
        let a = start(&group, &folder, "a");
        clock::sleep(MS(5_000)).await;
        assert_eq!(a.current().lifecycle, Lifecycle::Ended);
        let found = a.diagnosis();
        let Some(Finding::OldRecord { by, term, heard }) = found
            .findings
            .iter()
            .find(|finding| matches!(finding, Finding::OldRecord { .. }))
        else {
            panic!("{found}");
        };
        assert!([b.id(), c.id()].contains(&by), "{by}");
        assert!(*term < *heard && *heard <= later, "{term}, {heard}");
        assert_eq!(found.findings[0], Finding::Ended);
        assert!(found.to_string().contains("bring the newest record back"));
        let said = lines.about("record");
        assert!(
            said.len() == 1
                && said[0].contains("the record is an old copy")
                && said[0].contains("the agent stops"),
            "{said:#?}"
        );
        // The other voters go on without this agent.
        assert!(b.is_leader() || c.is_leader());
        let (b_term, c_term): (Term, Term) = (b.current().term, c.current().term);
        assert_eq!(b_term, c_term);
    });
}
