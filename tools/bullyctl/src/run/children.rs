//! The children of this process: finds, kills and reaps them, until none is left.
//!
//! A process whose parent ends becomes a child of the nearest *subreaper* above it. The guard is a subreaper, so every
//! process that the command starts is or becomes a child of the guard, also after `setsid` and a double fork. A killed
//! child leaves its own children to the guard, so passes are repeated until a pass finds no children.

use std::{
    fs, io,
    num::NonZeroI32,
    time::{Duration, Instant},
};

use rustix::{
    event::{Timespec, poll},
    io::Errno,
    process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, kill_process,
        set_child_subreaper, waitid,
    },
};

/// Makes this process a subreaper: orphans below it become its children.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Returns the children, including children that have ended and are not reaped yet.
pub(super) fn children() -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    for task in fs::read_dir("/proc/self/task")? {
        match fs::read_to_string(task?.path().join("children")) {
            Ok(text) => found.extend(text.split_ascii_whitespace().filter_map(process)),
            // The kernel has no such file, or the thread has ended: search all processes instead.
            Err(error) if is_gone(&error) => return by_parent(),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Finds the children among all processes, if the kernel lists no children (`CONFIG_PROC_CHILDREN`).
fn by_parent() -> io::Result<Vec<Pid>> {
    let own = getpid().as_raw_nonzero().get();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(child) = entry.file_name().to_str().and_then(process) else {
            continue;
        };
        // The name of a process need not be UTF-8.
        match fs::read(entry.path().join("stat")) {
            Ok(stat) if parent_in(&String::from_utf8_lossy(&stat)) == Some(own) => {
                found.push(child);
            }
            Ok(_) => {}
            // The process has ended meanwhile, or belongs to another user, so that it cannot be killed anyway.
            Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn is_gone(error: &io::Error) -> bool {
    let no_process = Some(Errno::SRCH.raw_os_error());
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == no_process
}

/// Reads the parent, the second field after the name. The name may have spaces and parentheses.
fn parent_in(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn process(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Returns the status of a child, if it has ended. The child and its number stay until it is [reaped](reap).
pub(super) fn has_ended(child: Pid) -> Option<WaitIdStatus> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    wait_for(child, look)
}

/// Reaps a child if it has ended, and returns its status.
pub(super) fn reap(child: Pid) -> Option<WaitIdStatus> {
    wait_for(child, WaitIdOptions::EXITED | WaitIdOptions::NOHANG)
}

/// Reaps all ended children except `than`, for which another caller waits.
pub(super) fn reap_others(than: Option<Pid>) {
    for child in children().unwrap_or_default() {
        if Some(child) != than {
            reap(child);
        }
    }
}

fn wait_for(child: Pid, options: WaitIdOptions) -> Option<WaitIdStatus> {
    loop {
        match waitid(WaitId::Pid(child), options) {
            Ok(ended) => return ended,
            Err(Errno::INTR) => {}
            // The process is not a child, or was reaped.
            Err(_) => return None,
        }
    }
}

/// Kills and reaps all children except the children in `spared`, and their orphans, until none is left.
///
/// # Errors
/// The children that are left after 5 s. A process that waits for a disk cannot be killed before the disk answers.
pub(super) fn end_all(spared: &[Pid]) -> Result<(), ChildrenLeft> {
    end_listed(children, spared, LONGEST_END)
}

/// The children that have not ended in time.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChildrenLeft {
    #[error(
        "these processes of the command were killed but do not end, and may still work: look whether they wait for a disk, or restart the host ({0:?})"
    )]
    Alive(Vec<NonZeroI32>),
    #[error(
        "processes of the command may still work, because this process cannot list its children: look for them, and end them ({0})"
    )]
    Unknown(io::Error),
}

#[expect(
    clippy::disallowed_methods,
    reason = "no runtime: a bound for processes that the kernel cannot end"
)]
fn end_listed(
    mut list: impl FnMut() -> io::Result<Vec<Pid>>,
    spared: &[Pid],
    within: Duration,
) -> Result<(), ChildrenLeft> {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let left = match list() {
            Ok(mut found) => {
                found.retain(|child| !spared.contains(child));
                if found.is_empty() {
                    return Ok(());
                }
                found.retain(|child| {
                    // The child is not reaped yet, so its number cannot belong to another process.
                    kill_process(*child, Signal::KILL).ok();
                    reap(*child).is_none()
                });
                // A reaped child may have left children of its own: list them at once.
                if found.is_empty() {
                    continue;
                }
                ChildrenLeft::Alive(found.iter().map(|it| it.as_raw_nonzero()).collect())
            }
            // If the list cannot be read, it is unknown whether a child is left.
            Err(error) => ChildrenLeft::Unknown(error),
        };
        if begun.elapsed() > within {
            return Err(left);
        }
        rest(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Waits for this time, or until a signal arrives.
pub(super) fn rest(pause: Duration) {
    let pause = Timespec::try_from(pause).ok();
    poll(&mut [], pause.as_ref()).ok();
}

const LONGEST_END: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn children_that_cannot_be_listed_are_not_taken_for_ended() {
        let failed = || io::Error::from(io::ErrorKind::PermissionDenied);
        let left = end_listed(|| Err(failed()), &[], Duration::ZERO);
        assert!(matches!(left, Err(ChildrenLeft::Unknown(_))), "{left:?}");
        let mut lists = vec![Ok(Vec::new()), Err(failed()), Err(failed())];
        let list = || lists.pop().unwrap_or_else(|| Err(failed()));
        assert!(end_listed(list, &[], LONGEST_END).is_ok());
        assert!(lists.is_empty());
    }

    #[test]
    fn a_child_is_found_among_all_processes() {
        // The name of the process is not UTF-8.
        let script = "printf '\\377' >/proc/$$/comm; echo; read -r end";
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", script]).stdin(Stdio::piped());
        let mut child = shell.stdout(Stdio::piped()).spawn().unwrap();
        let process = Pid::from_child(&child);
        let mut line = [0];
        let named = child.stdout.as_mut().unwrap();
        named.read_exact(&mut line).unwrap();
        let found = [children(), by_parent()].map(Result::unwrap);
        child.kill().unwrap();
        child.wait().unwrap();
        for found in found {
            assert!(found.contains(&process), "{found:?}");
        }
    }

    #[test]
    fn a_name_with_parentheses_hides_no_parent() {
        assert_eq!(parent_in("12 (a) b) (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in("12 (sh) S 1 12 12 0"), Some(1));
        for wrong in ["", "12 (sh", "12 (sh) S", "12 (sh) S x"] {
            assert_eq!(parent_in(wrong), None, "{wrong}");
        }
    }
}
