//! The use that applications make of a leadership: they work while it lasts, and end the work when they are asked to.
//!
//! Decided here: each poll of such work is checked. No poll may happen after the agent's own clock has ended its
//! leadership, or, as `check.rs` sees it, while another agent considers itself leader. A hand-over has to wait for
//! the end of all such work.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc, time::Duration};

use actix::prelude::*;
use actix_bully::{
    agent::{BullyHandle, DrainingToken, LeaderGuard, Notice},
    protocol::{AgentId, Event, LostReason, Timings},
};
use futures::future::{Either, select};
use tokio::time::{Instant, sleep};

use crate::ledger::Ledger;

/// A start of an agent: its host, the process there, and its index among the starts of that process.
pub type Start = (usize, u64, usize);

/// The agents that have worked since the last check.
pub type Worked = Rc<RefCell<BTreeSet<Start>>>;

/// Works whenever the agent leads. When the agent has to hand over, the work goes on for `ending`.
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

/// A subscriber that works while the agent leads, and reports the end of its work.
pub struct Drainer {
    pub id: AgentId,
    /// The token with which the subscriber reports the end of its work to the agent.
    pub token: Rc<RefCell<Option<DrainingToken>>>,
    pub ending: Duration,
    /// Whether the subscriber stops after its report.
    pub is_short: bool,
    pub ledger: Ledger,
    /// Whether no other agent may lead before the report.
    pub is_quorum: bool,
    /// Longest time for which the agent waits for the report. After that time it hands over without the report.
    pub limit: Duration,
    /// The timer of the work for the present hand-over, and the beginning of that hand-over.
    pub drains: Option<(SpawnHandle, Instant)>,
}

/// Returns the time within which the work of a quorum's leader may end, by the fastest clock of a history.
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
                // Only a hand-over must wait. A lease that ran out, an end of the agent, and a host that stood still
                // until the time of the work was over need not. In available mode another agent may have announced
                // itself meanwhile.
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

/// Time between two polls of work. It must be short compared to the limit of any hand-over.
const PAUSE: Duration = Duration::from_millis(10);
