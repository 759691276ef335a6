//! A process of another program that stands still for a while.

use std::{fs, process::Command, thread, time::Instant};

use crate::DEADLINE;

/// Stops that process where it is, until [`resume`].
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]
pub fn freeze(process: u32) {
    signal(process, "-STOP");
    // One thread has to run once more to stop the others, which answer until then: a while, where cores are rare.
    let begun = Instant::now();
    while !stands_still(process) {
        assert!(begun.elapsed() < DEADLINE, "it goes on");
        thread::yield_now();
    }
}

/// It goes on.
pub fn resume(process: u32) {
    signal(process, "-CONT");
}

/// Whether all of its threads are stopped.
fn stands_still(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let mut threads = threads.expect("this system lists the threads of a process");
    threads.all(|thread| {
        let stat = thread.and_then(|it| fs::read_to_string(it.path().join("stat")));
        // `NUMBER (NAME) STATE ..`
        stat.is_ok_and(|stat| {
            stat.rsplit(") ")
                .next()
                .is_some_and(|it| it.starts_with('T'))
        })
    })
}

fn signal(process: u32, signal: &str) {
    let mut kill = Command::new("kill");
    let done = kill.arg(signal).arg(process.to_string()).status();
    assert!(done.is_ok_and(|status| status.success()));
}
