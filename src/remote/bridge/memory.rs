//! A node's last incarnation, kept in a store of votes or in a small file, so that the next incarnation is later,
//! whatever the wall clock shows.
//!
//! Decided here: the next incarnation. Not here: how a file is made durable (`record_file` of `bully-register`).
//!
//! Peers refuse an incarnation of a node that is earlier than the last incarnation that they met, since they could not
//! distinguish a restart from an earlier process. A wall clock alone does not give growing numbers: after a start with
//! a clock ten years ahead, or after the clock was set back by an hour, a node would be refused until the peers
//! [forget](crate::remote::Limits::forget) its last incarnation. The last incarnation plus one is not enough either: an
//! agent that was restarted in the last process may have used this number, and peers ignore an incarnation that has
//! ended.
//!
//! This memory may also contain an earlier incarnation, after a backup was restored or a file was copied. Then the wall
//! clock decides, as without a memory. If the clock was set back as well, the peers know a later incarnation: they
//! refuse the new incarnation, with a message that gives this reason, until they forget the later incarnation. The
//! leadership does not depend on this memory.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::protocol::Incarnation;
use crate::remote::NodeIncarnation;
use crate::store::{Incarnations, StoreError};
use bully_register::record_file::{FileSystem, Host, RecordFile, RecordFileError};

/// The place where a node keeps its last incarnation.
#[derive(Clone, Debug)]
pub(crate) enum NodeMemory {
    File(PathBuf),
    Store(Arc<dyn Incarnations>),
}

for_tests! {
    /// Returns an incarnation that is later than the last one and all incarnations of agents that began in it, and that
    /// is not earlier than the clock shows.
    fn later_incarnation(
        last: Option<NodeIncarnation>,
        by_clock: NodeIncarnation,
    ) -> NodeIncarnation {
        let after = last.map(|last| NodeIncarnation(last.0.saturating_add(SHARE)));
        after.map_or(by_clock, |after| after.max(by_clock))
    }
}

/// Returns the incarnation that begins now. It is durable before this function returns.
pub(crate) fn begin(path: &Path, by_clock: NodeIncarnation) -> io::Result<NodeIncarnation> {
    let system: Arc<dyn FileSystem> = Arc::new(Host);
    let mut file = match RecordFile::open(Arc::clone(&system), path) {
        Err(RecordFileError::Missing) => {
            RecordFile::create(system, path, MOST, text(by_clock).as_bytes())?;
            return Ok(by_clock);
        }
        file => file?,
    };
    // If a file contains no incarnation, the start fails: to overwrite it could destroy the file of another program, or
    // begin an incarnation that peers refuse.
    let last = str::from_utf8(file.record()).ok().and_then(parse);
    let last = last.ok_or_else(|| {
        let detail = "no bridge wrote it: check the path";
        io::Error::new(io::ErrorKind::InvalidData, detail)
    })?;
    let incarnation = later_incarnation(Some(last), by_clock);
    file.write(text(incarnation).as_bytes())?;
    Ok(incarnation)
}

/// Does the same as [`begin`], with a store.
pub(crate) fn begin_in(
    store: &dyn Incarnations,
    by_clock: NodeIncarnation,
) -> Result<NodeIncarnation, StoreError> {
    let last = store.last()?;
    let last = (last > Incarnation(0)).then_some(NodeIncarnation(last.0));
    let incarnation = later_incarnation(last, by_clock);
    store.remember(Incarnation(incarnation.0))?;
    Ok(incarnation)
}

fn text(incarnation: NodeIncarnation) -> String {
    format!("{HEAD}{incarnation}\n")
}

fn parse(text: &str) -> Option<NodeIncarnation> {
    let number = text.strip_prefix(HEAD)?.strip_suffix('\n')?;
    number.parse().ok().map(NodeIncarnation)
}

/// Number of incarnations that are kept free between two processes of a node, because the agents of a node number their
/// incarnations from the node's own. An incarnation from the clock grows by this number in 16 ms. No process ends and
/// starts again within 16 ms, so the clock stays ahead of the kept number.
const SHARE: u64 = 1 << 20;

const HEAD: &str = "actix-bully node incarnation ";
/// Longest record, in bytes.
const MOST: usize = 128;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::MemoryStore;

    const HOUR: u64 = 60 * 60 * 1_000;

    fn at(millis: u64) -> NodeIncarnation {
        NodeIncarnation(millis << 16)
    }

    #[test]
    fn every_start_is_later_whatever_the_clock_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node");
        let now = 1_800_000_000_000;
        let years = 10 * 365 * 24 * HOUR;
        let clock = [
            now,
            now + years,
            now + 1_000,
            now - HOUR,
            0,
            now + 2 * years,
        ];
        let mut last = None;
        for millis in clock {
            let begun = begin(&path, at(millis)).unwrap();
            let of_agents = last.map(|last: NodeIncarnation| last.0 + 1_000_000);
            assert!(
                of_agents.is_none_or(|last| begun.0 > last),
                "later than those of its agents: {millis}"
            );
            assert!(begun >= at(millis));
            last = Some(begun);
        }
        assert_eq!(
            last,
            Some(at(now + 2 * years)),
            "a right clock is enough again"
        );
    }

    #[test]
    fn a_file_that_holds_something_else_is_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node");
        fs::write(&path, "17\n").unwrap();
        let refused = begin(&path, at(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
        assert_eq!(fs::read_to_string(&path).unwrap(), "17\n");
        fs::remove_file(&path).unwrap();
        for text in [
            "",
            "17\n",
            "actix-bully node incarnation 17",
            "actix-bully node incarnation x\n",
        ] {
            drop(RecordFile::create(Arc::new(Host), &path, MOST, text.as_bytes()).unwrap());
            let refused = begin(&path, at(1)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{text}");
            let file = RecordFile::open(Arc::new(Host), &path).unwrap();
            assert_eq!(file.record(), text.as_bytes(), "nothing was changed");
            drop(file);
            fs::remove_file(&path).unwrap();
        }
        assert!(begin(&folder.path().join("none").join("node"), at(1)).is_err());
    }

    /// A later release reads the file of an earlier release.
    #[test]
    fn the_record_is_one_line_of_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node");
        begin(&path, NodeIncarnation(17)).unwrap();
        let file = RecordFile::open(Arc::new(Host), &path).unwrap();
        assert_eq!(file.record(), b"actix-bully node incarnation 17\n");
        drop(file);
        assert_eq!(
            begin(&path, NodeIncarnation(3)).unwrap(),
            NodeIncarnation(17 + SHARE)
        );
    }

    #[test]
    fn a_node_with_a_store_of_votes_begins_a_later_incarnation_when_its_clock_was_set_back() {
        let store = MemoryStore::<u64>::new();
        assert_eq!(begin_in(&store, at(HOUR)).unwrap(), at(HOUR));
        let again = begin_in(&store, at(1)).unwrap();
        assert_eq!(again, NodeIncarnation(at(HOUR).0 + SHARE));
        assert_eq!(store.last().unwrap(), Incarnation(again.0));
    }
}
