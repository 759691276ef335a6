//! A process of another program that stands still for a while.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use crate::DEADLINE;

/// Stops that process where it is, until [`resume`].
///
/// # Panics
/// When it goes on until the deadline.
pub fn freeze(process: u32) {
    signal(process, "-STOP");
    // The signal does not stop it at once where cores are rare: a thread that is in a call of the kernel may still end
    // this call, for example make a process, and one thread has to run once more to stop the others.
    let begun = Instant::now();
    while !stands_still(process) {
        assert!(begun.elapsed() < DEADLINE, "{process} goes on");
        thread::yield_now();
    }
}

/// Lets that process go on.
pub fn resume(process: u32) {
    signal(process, "-CONT");
}

/// Returns whether all of its threads are stopped or have ended.
fn stands_still(process: u32) -> bool {
    let Ok(mut threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return true;
    };
    threads.all(|thread| {
        let stat = thread.and_then(|it| fs::read_to_string(it.path().join("stat")));
        // `NUMBER (NAME) STATE ..`; a thread that has ended has no such file, or is a zombie.
        stat.map_or(true, |stat| {
            let state = stat.rsplit(") ").next();
            state.is_some_and(|it| it.starts_with(['T', 'Z', 'X']))
        })
    })
}

/// A process that has ended meanwhile is no failure.
fn signal(process: u32, signal: &str) {
    let mut kill = Command::new("kill");
    let kill = kill.arg(signal).arg(process.to_string());
    kill.stderr(Stdio::null()).status().ok();
}
