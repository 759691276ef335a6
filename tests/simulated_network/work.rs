//! What applications do with a leadership: work while it lasts, and end the work when asked to.
//!
//! Decided here: that each poll of such work is looked at. It must not happen once the leadership
//! has ended by the clock of the belief itself, nor, as `check.rs` sees it, while another one
//! believes; and a hand-over has to wait for all of it.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc, time::Duration};

use actix::prelude::*;
use actix_bully::{
    agent::{BullyHandle, DrainingToken, LeaderGuard, Notice},
    protocol::{AgentId, Event, LostReason, Timings},
};
use futures::future::{Either, select};
use tokio::time::{Instant, sleep};

use crate::ledger::Ledger;

/// A start of an agent: its host, the process there, and its place among that process's starts.
pub type Start = (usize, u64, usize);

/// The agents that have worked since the last look.
pub type Worked = Rc<RefCell<BTreeSet<Start>>>;

/// Works whenever the agent leads; when it has to hand over, for so long to come.
pub async fn work(
    handle: BullyHandle,
    start: Start,
    worked: Worked,
    ledger: Ledger,
    ending: Duration,
) {
    let toil = |guard: LeaderGuard| {
        let (worked, ledger) = (Rc::clone(&worked), ledger.clone());
        async move {
            let poll = || {
                worked.borrow_mut().insert(start);
                if !guard.is_leader() {
                    let leader = guard.token();
                    ledger.breaks(format!("work of {leader} ran after its leadership"));
                }
            };
            loop {
                poll();
                let (pause, asked) = (Box::pin(sleep(PAUSE)), Box::pin(guard.stepping_down()));
                if let Either::Right(_) = select(pause, asked).await {
                    break;
                }
            }
            let until = Instant::now() + ending;
            while Instant::now() < until {
                poll();
                sleep(PAUSE).await;
            }
        }
    };
    handle.lead(toil).await.ok(); // in a runtime
}

/// A subscriber that works while the agent leads, and says when that has ended.
pub struct Drainer {
    pub id: AgentId,
    /// The agent that says so.
    pub token: Rc<RefCell<Option<DrainingToken>>>,
    pub ending: Duration,
    /// Whether it stops after it has said so.
    pub is_short: bool,
    pub ledger: Ledger,
    /// Whether another one may not lead before that.
    pub is_quorum: bool,
    /// How long the agent waits for it: then it hands over all the same.
    pub limit: Duration,
    /// The hand-over that it works for, and when it began.
    pub drains: Option<(SpawnHandle, Instant)>,
}

/// How long the work of a leader of a quorum may take to end, by the fastest of the clocks here.
pub fn time_to_end(timings: &Timings) -> Duration {
    let limit = timings.lease().saturating_sub(timings.delay_bound() * 2);
    limit.mul_f64(0.9)
}

impl Actor for Drainer {
    type Context = Context<Self>;
}

impl Handler<Notice> for Drainer {
    type Result = ();

    fn handle(&mut self, notice: Notice, ctx: &mut Context<Self>) {
        match notice.event {
            Event::Draining { .. } if self.drains.is_none() => {
                let ends = ctx.run_later(self.ending, |drainer, ctx| {
                    drainer.drains = None;
                    if let Some(token) = &*drainer.token.borrow() {
                        token.drained().ok(); // it may have ended
                    }
                    if drainer.is_short {
                        ctx.stop();
                    }
                });
                self.drains = Some((ends, Instant::now()));
            }
            Event::Lost { term, reason } => {
                let Some((ends, began)) = self.drains.take() else {
                    return;
                };
                ctx.cancel_future(ends);
                // A hand-over; not a lease that ran out, nor an end, nor a host that stood still for so long that
                // the time of the work was over. In available mode another one may have announced itself
                // meanwhile.
                let in_time = began.elapsed() < self.limit;
                if self.is_quorum && reason == LostReason::Resigned && in_time {
                    let agent = &self.id;
                    let broken = format!("{agent} handed {term} over before its work had ended");
                    self.ledger.breaks(broken);
                }
            }
            _ => {}
        }
    }
}

/// Between two polls of work. What it ends within has to be short beside any hand-over's limit.
const PAUSE: Duration = Duration::from_millis(10);
