//! Expectations of a test about an agent's events.
//!
//! Decided here: the error of an expectation that is not met contains the events that came instead. No event is
//! examined twice: each expectation begins after the events that the previous expectation examined.

use std::{fmt, time::Duration};

use actix::{Actor, Addr, Context, Handler};
use futures::{
    StreamExt,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
};

use crate::{
    agent::{CommandError, ElectionHandle, Notice},
    clock::{Clock, RuntimeClock},
    protocol::{AgentId, Election, Event, Time},
};

/// The events of one agent, in their order, each with the time of its arrival since the log began. The first event is the agent's present state, if it leads or follows a
/// leader.
///
/// ```
/// use std::time::Duration;
/// use actix_bully::{protocol::Event, testkit::{EventLog, cluster::Cluster, virtual_system}};
///
/// virtual_system().block_on(async {
///     let mut cluster = Cluster::builder().agents(3).start()?;
///     cluster.settle().await?;
///     let mut events = EventLog::of(cluster.handle("agent-2")?)?;
///     cluster.crash("agent-3").await?;
///     let second = Duration::from_secs(1);
///     events.expect(second, "it leads", |event| matches!(event, Event::Acquired { .. })).await?;
///     events.expect_none(second, "a loss", |event| matches!(event, Event::Lost { .. })).await?;
///     # Ok::<(), Box<dyn std::error::Error>>(())
/// }).unwrap();
/// ```
#[derive(Debug)]
pub struct EventLog {
    agent: AgentId,
    events: UnboundedReceiver<(Time, Event)>,
    _listener: Addr<EventListener>,
}

impl EventLog {
    /// Begins to listen to an agent.
    ///
    /// # Errors
    /// [`CommandError::Ended`] if the agent has left its group, or has ended for good.
    pub fn of<E: Election>(agent: &ElectionHandle<E>) -> Result<Self, CommandError> {
        let (into, events) = unbounded();
        let clock = RuntimeClock::new();
        let listener = EventListener { into, clock }.start();
        agent.subscribe(listener.clone().recipient())?;
        Ok(Self {
            agent: agent.id().clone(),
            events,
            _listener: listener,
        })
    }

    /// Waits for the first event for which `is_it` is true, and skips the events before it. `what` describes the event
    /// in the error.
    ///
    /// # Errors
    /// [`Unexpected`] if no such event came within the time.
    pub async fn expect(
        &mut self,
        within: Duration,
        what: &str,
        is_it: impl Fn(&Event) -> bool,
    ) -> Result<(Time, Event), Unexpected> {
        let mut others = Vec::new();
        let met = actix::clock::timeout(within, self.until(is_it, &mut others)).await;
        met.ok().flatten().ok_or_else(|| Unexpected {
            agent: self.agent.clone(),
            expected: what.to_owned(),
            within,
            came: others,
        })
    }

    /// Waits for the given time, and takes the events that come.
    ///
    /// # Errors
    /// [`Unexpected`] as soon as `is_it` is true for an event; this event is the last event in [`Unexpected::came`].
    pub async fn expect_none(
        &mut self,
        within: Duration,
        what: &str,
        is_it: impl Fn(&Event) -> bool,
    ) -> Result<(), Unexpected> {
        let mut came = Vec::new();
        let met = actix::clock::timeout(within, self.until(is_it, &mut came)).await;
        let Ok(Some(met)) = met else {
            // When the agent ends, `events` stays open, because the log keeps its listener. So the call always waits
            // for the whole time.
            return Ok(());
        };
        came.push(met);
        Err(Unexpected {
            agent: self.agent.clone(),
            expected: format!("no event such as: {what}"),
            within,
            came,
        })
    }

    /// Returns the events that have come and were not examined yet.
    pub fn take(&mut self) -> Vec<(Time, Event)> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    async fn until(
        &mut self,
        is_it: impl Fn(&Event) -> bool,
        others: &mut Vec<(Time, Event)>,
    ) -> Option<(Time, Event)> {
        loop {
            let came = self.events.next().await?;
            if is_it(&came.1) {
                return Some(came);
            }
            others.push(came);
        }
    }
}

/// An expectation that was not met.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Unexpected {
    /// The agent.
    agent: AgentId,
    /// The expected event.
    expected: String,
    /// The time within which it was expected.
    within: Duration,
    /// The events that came while the call waited.
    pub came: Vec<(Time, Event)>,
}

debug_is_text!(Unexpected);

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            agent,
            expected,
            within,
            came,
        } = self;
        write!(f, "expected of {agent} in {within:?}: {expected}; reported")?;
        if came.is_empty() {
            return f.write_str(" nothing");
        }
        f.write_str(":")?;
        came.iter()
            .try_for_each(|(at, event)| write!(f, "\n  {at} ms  {event}"))
    }
}

/// Records the events of the agent.
#[derive(Debug)]
struct EventListener {
    into: UnboundedSender<(Time, Event)>,
    clock: RuntimeClock,
}

impl Actor for EventListener {
    type Context = Context<Self>;
}

impl Handler<Notice> for EventListener {
    type Result = ();

    fn handle(&mut self, Notice { event, .. }: Notice, _: &mut Context<Self>) {
        // The error is ignored: it means that the log was dropped, and then this actor ends as well.
        let at = self.clock.now();
        self.into.unbounded_send((at, event)).ok();
    }
}
