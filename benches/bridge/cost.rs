//! The cost of a run for each message: time, and CPU of all threads of the process.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds for each message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// Returns the median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs `run`, and returns its cost.
pub(crate) async fn cost(messages: usize, run: impl Future<Output = ()>) -> Cost {
    let (began, used) = (Instant::now(), cpu());
    run.await;
    let each = |time: Duration| time.as_secs_f64() * 1e9 / messages as f64;
    Cost {
        wall: each(began.elapsed()),
        cpu: each(cpu() - used),
    }
}

/// Returns the CPU time of all threads of the process so far.
fn cpu() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(used.tv_nsec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}
