//! The costs of processes, from the counters of Linux.

use std::{fs, io, path::Path};

/// Returns the running time of the threads of a process, in nanoseconds.
pub(crate) fn work(process: u32) -> io::Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        sum += work_of(&thread?.path())?;
    }
    Ok(sum)
}

/// Returns the running time of the thread with this folder in `/proc`, in nanoseconds.
pub(crate) fn work_of(thread: &Path) -> io::Result<u64> {
    let said = fs::read_to_string(thread.join("schedstat"))?;
    let ran = said.split_whitespace().next();
    Ok(ran.and_then(|ran| ran.parse().ok()).unwrap_or(0))
}

/// Returns the memory of a process in KiB. A page that several processes share counts in part for each.
pub(crate) fn memory(process: u32) -> io::Result<u64> {
    let said = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = said.lines().find_map(|line| line.strip_prefix("Pss:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other("the kernel names no Pss"))
}

/// Returns the bytes and packets that were sent over the loopback of this namespace. Each is received as well, so one
/// of the two counts is enough.
pub(crate) fn sent() -> io::Result<(u64, u64)> {
    let said = fs::read_to_string("/proc/net/dev")?;
    let line = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("lo:"));
    let mut numbers = line.unwrap_or_default().split_whitespace();
    let mut next = || numbers.next().and_then(|number| number.parse().ok());
    match (next(), next()) {
        (Some(bytes), Some(packets)) => Ok((bytes, packets)),
        _ => Err(io::Error::other("the counters cannot be read")),
    }
}
