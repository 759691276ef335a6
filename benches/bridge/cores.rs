//! The core of each end.

/// Gives the thread a core of its own, by number among the allowed cores, if there is one for each end. The ends of two
/// hosts never share a core. Without this call, the ends of a bench share one in some runs and not in others.
#[cfg(target_os = "linux")]
pub(crate) fn have_core(number: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let may = sched_getaffinity(None).expect("it can be read");
    let mut cores = (0..CpuSet::MAX_CPU).filter(|core| may.is_set(*core));
    if may.count() >= 2
        && let Some(core) = cores.nth(number)
    {
        let mut own = CpuSet::new();
        own.set(core);
        sched_setaffinity(None, &own).expect("it may have it");
    }
}

/// On other systems the system decides.
#[cfg(not(target_os = "linux"))]
pub(crate) fn have_core(_: usize) {}
