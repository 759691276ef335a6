//! Removes the marks that no leader has asked for in 30 days from the store of a lease.
//!
//! Decided here: which records are removed, and how often the store is searched. A record is removed only if it has not
//! changed since it was read, so a record that a leader writes in the meantime is kept. A store that cannot list or
//! remove records keeps all of them. Not here: the age of a mark (`age.rs`).

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use actix::clock::timeout;
use futures::{FutureExt, future::LocalBoxFuture};
use tracing::debug;

use crate::{
    clock::WallTime,
    elections::lease::LeaseName,
    protocol::{AgentId, Time},
    register::{Entry, RegisterKey, Removal, keeper::Keeper},
};

use super::mark_record::MarkRecord;

/// Time between an agent's first question and its first search. In this time the application can start its schedules,
/// because marks of running schedules are kept.
const FIRST: Duration = Duration::from_secs(600);

/// Time between two searches.
const EVERY: Duration = Duration::from_secs(24 * 3_600);

/// The names of the schedules that run at one agent.
pub(super) type RunningNames = Arc<Mutex<BTreeSet<AgentId>>>;

/// Time of an agent's next search, and the search that runs.
#[derive(Default)]
pub(super) struct Forgetting {
    due: Option<Time>,
    running: Option<LocalBoxFuture<'static, ()>>,
}

impl Forgetting {
    /// Notes that the agent, which leads, asks for a mark, and begins a search if one is due. `running` has the names
    /// of the schedules that run at this agent.
    pub(super) fn asked(&mut self, keeper: &Arc<Keeper>, wall: WallTime, running: &RunningNames) {
        let now = keeper.now();
        let due = *self.due.get_or_insert_with(|| now.after(FIRST));
        if due <= now {
            self.due = Some(now.after(EVERY));
            let running = running.lock().unwrap_or_else(PoisonError::into_inner);
            let looks = forget(Arc::clone(keeper), wall, running.clone());
            // A store that panics counts as a store that does not answer: the agent searches again the next day.
            let looks = AssertUnwindSafe(looks).catch_unwind();
            self.running = Some(looks.map(drop).boxed_local());
        }
    }

    /// Continues the search that runs.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) {
        if let Some(running) = &mut self.running
            && let Poll::Ready(()) = running.poll_unpin(task)
        {
            self.running = None;
        }
    }
}

async fn forget(keeper: Arc<Keeper>, wall: WallTime, running: BTreeSet<AgentId>) {
    let limit = keeper.limit();
    let Ok((register, below)) = keeper.of_schedules() else {
        return;
    };
    let Some(listing) = register.list(&below) else {
        return; // a store that cannot list keeps all marks
    };
    let Ok(Ok(listed)) = timeout(limit, listing).await else {
        return;
    };
    for (schedule, key, entry) in forgotten(keeper.lease_name(), &listed, &running, wall) {
        let Some(removing) = register.remove(key, entry) else {
            return;
        };
        match timeout(limit, removing).await {
            Ok(Ok(Removal::Done)) => {
                debug!(group = %keeper.lease_name().group, %schedule, "mark removed: no leader has used it for 30 days");
            }
            Ok(Ok(Removal::Conflict(_))) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

/// Returns the records that may be removed. The schedule in the key of such a record does not run at this agent.
fn forgotten<'a>(
    name: &LeaseName,
    listed: &'a [(RegisterKey, Entry)],
    running: &BTreeSet<AgentId>,
    wall: WallTime,
) -> Vec<(AgentId, &'a RegisterKey, &'a Entry)> {
    let forgotten = listed.iter().filter_map(|(key, entry)| {
        let last = key.as_str().rsplit('/').next()?;
        let schedule = AgentId::new(last).ok()?;
        let record = MarkRecord::decode(name, &schedule, &entry.value).ok()?;
        let is_old = !running.contains(&schedule) && record.is_forgotten(wall);
        is_old.then_some((schedule, key, entry))
    });
    forgotten.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::Version;

    /// A day in milliseconds.
    const DAY: u64 = 24 * 3_600 * 1_000;

    #[test]
    fn a_mark_is_removed_after_30_days_without_a_question_unless_its_schedule_runs_here() {
        let id = |name: &str| AgentId::new(name).unwrap();
        let name = LeaseName {
            cluster: id("shop"),
            group: id("jobs"),
        };
        // Each schedule has the days of its last question and of its last tick.
        let listed = [
            ("old", 69, 3),
            ("asked", 70, 3),
            ("begun", 3, 70),
            ("here", 1, 1),
        ];
        let listed = listed.map(|(schedule, asked, begun)| {
            let (asked, begun) = (asked * DAY, begun * DAY);
            let value = format!(
                r#"{{"record":"actix-bully schedule 1","cluster":"shop","group":"jobs","schedule":"{schedule}","leader":{{"number":{{"term":5,"incarnation":7}},"node":"a"}},"mark":{{"begun":{begun},"done":{begun}}},"asked":{asked}}}"#
            );
            let key: RegisterKey = format!("shop/jobs/schedule/{schedule}").parse().unwrap();
            let entry = Entry::new(&key, Version::from(1_u64), value.into_bytes()).unwrap();
            (key, entry)
        });
        let wall = WallTime::from_millis(100 * DAY);
        let found = forgotten(&name, &listed, &[id("here")].into(), wall);
        let found: Vec<_> = found.into_iter().map(|(schedule, ..)| schedule).collect();
        assert_eq!(found, [id("old")]);
    }
}
