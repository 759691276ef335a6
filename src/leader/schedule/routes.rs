//! The routes by which answers reach the schedules that have asked.
//!
//! Not here: which agents are asked (`service.rs`), and the task that asks a store (`mark_task.rs`).

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use crate::protocol::AgentId;

use super::message::Answer;

/// An answer, with the agent that gave it.
pub(super) type AnswerOf = (AgentId, Answer);

/// The routes by which answers reach schedules: each leadership of a schedule numbers its questions separately.
#[derive(Debug, Default)]
pub(super) struct AnswerRoutes(Mutex<RouteTable>);

#[derive(Debug, Default)]
struct RouteTable {
    last: u64,
    open: BTreeMap<u64, mpsc::Sender<AnswerOf>>,
}

/// Number of low bits of a question's number that count the questions within one leadership of a schedule. With a
/// question each millisecond, they are used up after 50 days; after that, a question would have a number of the next
/// leadership.
pub(super) const NUMBERS: u32 = 32;

/// Largest number of answers that wait for a schedule. A leader asks again if an answer finds no room.
const ANSWERS: usize = 256;

impl AnswerRoutes {
    pub(super) fn open(&self) -> (u64, mpsc::Receiver<AnswerOf>) {
        let (sender, answers) = mpsc::channel(ANSWERS);
        let mut table = self.table();
        table.last = table.last.saturating_add(1);
        let number = table.last;
        table.open.insert(number, sender);
        (number, answers)
    }

    pub(super) fn pass(&self, from: AgentId, answer: Answer) {
        let number = answer.round.counter >> NUMBERS;
        if let Some(route) = self.table().open.get(&number) {
            route.try_send((from, answer)).ok(); // if there is no room, the leader asks again
        }
    }

    pub(super) fn close(&self, number: u64) {
        self.table().open.remove(&number);
    }

    fn table(&self) -> MutexGuard<'_, RouteTable> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_route_is_not_kept() {
        let routes = AnswerRoutes::default();
        let (number, _answers) = routes.open();
        routes.close(number);
        assert!(routes.table().open.is_empty());
    }
}
