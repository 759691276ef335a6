//! What processes need: read from where Linux counts it.

use std::{fs, io, path::Path};

/// How long the threads of a process have run, in nanoseconds.
pub(crate) fn work(process: u32) -> io::Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        sum += work_of(&thread?.path())?;
    }
    Ok(sum)
}

/// How long the thread of that folder in `/proc` has run, in nanoseconds.
pub(crate) fn work_of(thread: &Path) -> io::Result<u64> {
    let said = fs::read_to_string(thread.join("schedstat"))?;
    let ran = said.split_whitespace().next();
    Ok(ran.and_then(|ran| ran.parse().ok()).unwrap_or(0))
}

/// The memory of a process in KiB; a page that several share counts for each of them in part.
pub(crate) fn memory(process: u32) -> io::Result<u64> {
    let said = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = said.lines().find_map(|line| line.strip_prefix("Pss:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other("the kernel names no Pss"))
}

/// What was sent over the loopback of this namespace so far: bytes and packets. All that was sent was received: one of
/// the two counts.
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
