//! Which core an end has.

/// Gives the thread the core of that number, of those that it may have, where there is one for each end. The ends of two
/// hosts never share one; left alone, those of a bench do in one run and not in the next.
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

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
pub(crate) fn have_core(_: usize) {}
