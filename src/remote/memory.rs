//! A node's last incarnation, kept in a small file: so that the next one is later, whatever the wall
//! clock shows.
//!
//! Decided here: what the next incarnation is, and how it is made durable. Peers refuse an earlier
//! incarnation of a node than the last one they met, since they could not tell a restart from a
//! former process. A wall clock alone does not keep that order: after a start ten years ahead, or an
//! hour set back, a node would be refused until the peers [forget](super::Limits::forget) it.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::NodeIncarnation;

/// Later than the last one, and not earlier than the clock says.
fn next(last: Option<NodeIncarnation>, by_clock: NodeIncarnation) -> NodeIncarnation {
    let after = last.map(|last| NodeIncarnation(last.0.saturating_add(1)));
    after.map_or(by_clock, |after| after.max(by_clock))
}

/// The incarnation that begins now; it is durable before this returns.
pub(super) fn begin(path: &Path, by_clock: NodeIncarnation) -> io::Result<NodeIncarnation> {
    let incarnation = next(read(path)?, by_clock);
    write(path, incarnation)?;
    Ok(incarnation)
}

fn read(path: &Path) -> io::Result<Option<NodeIncarnation>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(reason) => return Err(reason),
    };
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text)?;
    let number = text.strip_prefix(HEAD).and_then(|n| n.strip_suffix('\n'));
    let number = number.and_then(|number| number.parse().ok());
    let incarnation = number.map(NodeIncarnation).ok_or_else(|| {
        let detail =
            "it holds no incarnation of a node: remove it, and peers forget this node in time";
        io::Error::new(io::ErrorKind::InvalidData, detail)
    })?;
    Ok(Some(incarnation))
}

/// Beside it first, then in its place: a crash leaves the former file or the new one.
fn write(path: &Path, incarnation: NodeIncarnation) -> io::Result<()> {
    let beside = beside(path);
    let mut file = File::create(&beside)?;
    file.write_all(format!("{HEAD}{incarnation}\n").as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&beside, path)?;
    sync_folder(path)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

/// A folder cannot be opened there; a rename is durable with its file system's journal.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

const HEAD: &str = "actix-bully node incarnation ";
/// So many bytes are read at most.
const MOST: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(last.is_none_or(|last| begun > last), "{millis}");
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
        for text in [
            "",
            "17\n",
            "actix-bully node incarnation 17",
            "actix-bully node incarnation x\n",
        ] {
            fs::write(&path, text).unwrap();
            let refused = begin(&path, at(1)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{text}");
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                text,
                "nothing was changed"
            );
        }
        assert!(begin(&folder.path().join("none").join("node"), at(1)).is_err());
    }

    /// It was written by an earlier release, and is read by a later one.
    #[test]
    fn the_file_is_one_line_of_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node");
        begin(&path, NodeIncarnation(17)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "actix-bully node incarnation 17\n");
        assert_eq!(
            begin(&path, NodeIncarnation(3)).unwrap(),
            NodeIncarnation(18)
        );
    }
}
