//! A node's last incarnation, kept in a small file: so that the next one is later, whatever the wall
//! clock shows.
//!
//! Decided here: what the next incarnation is. Not here: how a file is made durable (`store`).
//!
//! Peers refuse an earlier incarnation of a node than the last one they met, since they could not
//! tell a restart from a former process. A wall clock alone does not keep that order: after a start
//! ten years ahead, or an hour set back, a node would be refused until the peers
//! [forget](crate::remote::Limits::forget) it. Nor is the very next number enough: an agent that had crashed once
//! would begin by a number that it has had, and peers would hear nothing of it, since that one has ended.

use std::{io, path::Path};

use crate::planted::{Defect, has};
use crate::remote::NodeIncarnation;
use crate::store::line;

for_tests! {
    /// Later than the last one and than all incarnations of agents that began in it, and not earlier than the
    /// clock says.
    fn later_incarnation(
        last: Option<NodeIncarnation>,
        by_clock: NodeIncarnation,
    ) -> NodeIncarnation {
        let share = if has(Defect::IncarnationsOverlap) {
            1
        } else {
            SHARE
        };
        let after = last.map(|last| NodeIncarnation(last.0.saturating_add(share)));
        after.map_or(by_clock, |after| after.max(by_clock))
    }
}

/// The incarnation that begins now; it is durable before this returns.
pub(crate) fn begin(path: &Path, by_clock: NodeIncarnation) -> io::Result<NodeIncarnation> {
    // What is no incarnation ends the start: writing over it could destroy the file of something
    // else, or begin an incarnation that peers refuse.
    let last = line::read(path, MOST)?.as_deref().map(parse).transpose()?;
    let incarnation = later_incarnation(last, by_clock);
    line::replace(path, &format!("{HEAD}{incarnation}\n"))?;
    Ok(incarnation)
}

fn parse(text: &str) -> io::Result<NodeIncarnation> {
    let number = text.strip_prefix(HEAD).and_then(|n| n.strip_suffix('\n'));
    let number = number.and_then(|number| number.parse().ok());
    number.map(NodeIncarnation).ok_or_else(|| {
        let detail =
            "it holds no incarnation of a node: remove it, and peers forget this node in time";
        io::Error::new(io::ErrorKind::InvalidData, detail)
    })
}

/// The agents of a node count their incarnations on from the node's own: so many may begin before those of
/// its next process. By the clock that is 16 ms, in which no process ends and another one begins.
const SHARE: u64 = 1 << 20;

const HEAD: &str = "actix-bully node incarnation ";
/// So many bytes are read at most.
const MOST: u64 = 128;

#[cfg(test)]
mod tests {
    use std::fs;

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

    /// What one release writes, a later one reads.
    #[test]
    fn the_file_is_one_line_of_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node");
        begin(&path, NodeIncarnation(17)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "actix-bully node incarnation 17\n");
        assert_eq!(
            begin(&path, NodeIncarnation(3)).unwrap(),
            NodeIncarnation(17 + SHARE)
        );
    }
}
