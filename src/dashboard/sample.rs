//! Samples a running node while the page has viewers.
//!
//! Decided here: the interval, and that nothing is sampled without viewers. The sampler runs in a task of the server.
//! It reads the state that the agents have published, so no agent waits for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use actix_web::rt::{
    self,
    time::{Instant, interval},
};

use super::{
    board::Board,
    hours::WallBegin,
    moment::PageMoment,
    running::{self, SentByGroup, VacancyWatch},
    said::told,
};
use crate::operate::Operated;

/// Starts the sampling of a node. The flag shows whether a task samples the node at present.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSampler(Arc<AtomicBool>);

/// The claim of the task that samples. It is released when the task ends, or when its runtime drops the task.
struct SamplingClaim(Arc<AtomicBool>);

impl Drop for SamplingClaim {
    fn drop(&mut self) {
        self.0.store(false, SeqCst);
    }
}

impl NodeSampler {
    /// Starts a task that samples the node, unless such a task runs.
    pub(super) fn begin(&self, operated: &Operated, board: &Arc<Board>, since: Instant) {
        if self.0.swap(true, SeqCst) {
            return;
        }
        let claim = SamplingClaim(Arc::clone(&self.0));
        let (operated, board, sampler) = (operated.clone(), Arc::clone(board), self.clone());
        let mut wall = WallBegin::default();
        show(&operated, &board, since, &mut wall);
        rt::spawn(async move {
            let mut beats = interval(EACH);
            let mut vacancy = VacancyWatch::default();
            while board.has_viewers() {
                beats.tick().await;
                let (moment, sent) = look(&operated, since.elapsed(), &mut wall);
                let mut said = told(&board.moment(), &moment);
                said.extend(vacancy.look(&moment, &sent));
                board.publish(moment, said, 0);
            }
            drop(claim);
            // A viewer may have come after the last sample, while the claim was still taken.
            if board.has_viewers() {
                sampler.begin(&operated, &board, since);
            }
        });
    }
}

/// Publishes the present state of the node before a new viewer reads. Otherwise the new viewer's snapshot would show
/// the state at which the last viewer left.
fn show(operated: &Operated, board: &Board, since: Instant, wall: &mut WallBegin) {
    let (moment, _) = look(operated, since.elapsed(), wall);
    board.publish(moment, Vec::new(), 0);
}

fn look(operated: &Operated, at: Duration, wall: &mut WallBegin) -> (PageMoment, SentByGroup) {
    let (mut moment, sent) = running::look(operated, at);
    moment.began_unix_ms = Some(wall.look(at));
    (moment, sent)
}

/// Interval between two samples. People cannot see shorter changes, and only elections within one process are shorter.
const EACH: Duration = Duration::from_millis(100);
