//! The work that only the leader does: here it prints that it leads.

use std::time::Duration;

use actix_bully::agent::{BullyHandle, ConditionalFence, LeadError, LeaderGuard};
use futures::future::{Either, select};
use std::pin::pin;

use crate::screen::{Happening, Screen};

/// Works whenever the agent leads, until it has left.
pub(crate) async fn work(
    agent: &BullyHandle,
    screen: &Screen,
    pulse: Option<Duration>,
) -> Result<(), LeadError> {
    agent
        .lead(|guard| async move {
            // Without disks, terms increase while no clock is wrong and not all voters restart at once. That is enough
            // here.
            let unless = || guard.conditional_fence().map(ConditionalFence::accept);
            let (term, fence) = (guard.token().term, guard.fence().or_else(unless));
            let fence = fence.map(|fence| fence.number());
            screen.say(&Happening::Leads { term, fence });
            let over = pin!(guard.stepping_down());
            let beating = pin!(beat(&guard, screen, pulse));
            if let Either::Left(_) = select(over, beating).await {
                screen.say(&Happening::Released { term });
            }
        })
        .await
}

/// Prints from time to time that it leads, each time after a check.
async fn beat(guard: &LeaderGuard, screen: &Screen, pulse: Option<Duration>) {
    let Some(pulse) = pulse else {
        return futures::future::pending().await;
    };
    loop {
        // Read before the check: at this time the node led, even if the process pauses afterwards.
        let at = screen.now();
        let term = guard.token().term;
        if guard.is_leader() {
            screen.say(&Happening::Works { at, term });
        }
        actix::clock::sleep(pulse).await;
    }
}
