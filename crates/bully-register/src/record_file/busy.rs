//! A locked file, and the process that has the lock, for an operator.
//!
//! Decided here: when the process with the lock is searched for, and the words if it is not found. Linux lists locks
//! with the numbers of their processes. Linux does not list the lock of a process in another container, nor a lock
//! whose process has ended while a child still has the file. While locks change, the list may miss other locks as well.

use std::fmt;

use super::system::Status;

/// A locked file. The holder of the lock is searched for only on request, because most locks end before the search.
#[derive(Clone, Copy, Debug)]
pub struct Busy(pub(super) Option<Status>);

impl Busy {
    /// Returns the process that has the lock now, as far as this process can see it.
    pub fn holder(self) -> Option<u32> {
        find(self.0?, locks)
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holder() {
            Some(process) => write!(f, "process {process}"),
            None => f.write_str(UNSEEN),
        }
    }
}

/// Returns the list of this host's locks, in the form of `proc_locks(5)`.
fn locks() -> Option<String> {
    if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/locks").ok()
    } else {
        None
    }
}

/// Reads the list several times: if one list misses a lock because locks change, the next list has it.
fn find(file: Status, mut list: impl FnMut() -> Option<String>) -> Option<u32> {
    (0..LISTS).find_map(|_| holder(file, &list()?))
}

/// Reads a line such as `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF`.
fn holder(file: Status, locks: &str) -> Option<u32> {
    let Status { device, inode, .. } = file;
    let (major, minor) = numbers(device);
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        // The line of a process that waits for the lock has an additional word `->`, and is skipped.
        let [_, "FLOCK", _, _, process, of, ..] = words.as_slice() else {
            return None;
        };
        (*of == file).then(|| process.parse().ok()).flatten()
    })
}

#[cfg(target_os = "linux")]
fn numbers(device: u64) -> (u32, u32) {
    use rustix::fs::{major, minor};

    (major(device), minor(device))
}

#[cfg(not(target_os = "linux"))]
fn numbers(_: u64) -> (u32, u32) {
    (0, 0)
}

/// The words for a holder that is not found.
pub const UNSEEN: &str = "a process that is not visible here (of another container, or with the file from a process that has ended)";

/// Number of times that the list is read. Any number from 2 to 10 would do, because only the words of an error depend
/// on the list.
const LISTS: usize = 5;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const LISTED: &str = "1: POSIX  ADVISORY  WRITE 12 fe:00:131074 0 EOF\n\
        2: FLOCK  ADVISORY  WRITE 13 fe:00:131075 0 EOF\n\
        3: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF\n\
        3: -> FLOCK  ADVISORY  WRITE 4712 fe:00:131074 0 EOF\n";

    fn file(inode: u64) -> Status {
        Status {
            device: 0xfe00,
            inode,
            links: 1,
            len: 16_384,
            is_file: true,
        }
    }

    #[test]
    fn a_holder_is_named_that_any_of_several_lists_has() {
        for left_out in 0..LISTS {
            let mut lists = 0;
            let found = find(file(131_074), || {
                lists += 1;
                Some(if lists > left_out { LISTED } else { "" }.to_owned())
            });
            assert_eq!(found, Some(4711), "{left_out}");
        }
        assert_eq!(find(file(131_075), || Some(LISTED.to_owned())), Some(13));
    }

    #[test]
    fn a_holder_that_no_list_has_is_not_said_to_be_of_another_container() {
        let found = find(file(131_076), || Some(LISTED.to_owned()));
        assert_eq!(found, None);
        assert_eq!(find(file(131_074), || None), None);
        let words = Busy(None).to_string();
        let both = ["another container, or", "from a process that has ended"];
        assert!(both.iter().all(|part| words.contains(part)), "{words}");
    }
}
