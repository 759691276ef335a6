//! A process of another program that stands still for a while.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use crate::DEADLINE;

/// Stops the process where it stands, until [`resume`] is called.
pub fn freeze(process: u32) {
    signal(process, "-STOP");
    // SIGSTOP does not stop a process at once where cores are rare. A thread that is in a system call may still
    // finish the call, for example make a process, and one thread has to run once more to stop the other threads.
    let begun = Instant::now();
    while !stands_still(process) {
        assert!(begun.elapsed() < DEADLINE, "{process} goes on");
        thread::yield_now();
    }
}

/// Lets a stopped process run again.
pub fn resume(process: u32) {
    signal(process, "-CONT");
}

/// Returns whether all threads of the process are stopped or have ended.
fn stands_still(process: u32) -> bool {
    let Ok(mut threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return true;
    };
    threads.all(|thread| {
        let stat = thread.and_then(|it| fs::read_to_string(it.path().join("stat")));
        // A line of `stat` has the form `NUMBER (NAME) STATE ..`. A thread that has ended has no such file, or is a
        // zombie.
        stat.map_or(true, |stat| {
            let state = stat.rsplit(") ").next();
            state.is_some_and(|it| it.starts_with(['T', 'Z', 'X']))
        })
    })
}

/// Sends a signal. If the process has ended before, this is not an error.
fn signal(process: u32, signal: &str) {
    let mut kill = Command::new("kill");
    let kill = kill.arg(signal).arg(process.to_string());
    kill.stderr(Stdio::null()).status().ok();
}
