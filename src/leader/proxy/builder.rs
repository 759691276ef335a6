//! Starts a proxy: checks its settings first, then registers its name with the agent's endpoint.
//!
//! Decided here: the settings, their defaults and their ranges.

use std::{fmt, ops::RangeInclusive, sync::Arc, time::Duration};

use actix::{Actor, Recipient};

use crate::{
    agent::{AgentReader, ElectionHandle, Feature},
    leader::messages::{Messages, MessagesError, check_name},
    metrics::ProxyMeter,
    protocol::{AgentId, Election},
};

use super::{
    LeaderMessage, LeaderProxy, ProxyCounts, ProxyStartError,
    exchange::ProxyBounds,
    handle::ProxyActor,
    state::{Handling, ProxyState},
};

/// Settings of a [`LeaderProxy`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct ProxyBuilder<M: LeaderMessage> {
    agent: AgentReader,
    name: String,
    handling: Handling<M>,
    /// Whether both `deliver_to` and `deliver_to_found` were called, so that `start` refuses the settings.
    is_contradictory: bool,
    bounds: ProxyBounds,
    longest: usize,
    answer_within: Duration,
}

impl<M: LeaderMessage> LeaderProxy<M> {
    /// Makes the settings of a proxy that sends from `agent`. All agents of the group know the type by the name `name`,
    /// so keep the name while the type is the same. A type whose fields change gets another name.
    pub fn builder<E: Election>(agent: &ElectionHandle<E>, name: &str) -> ProxyBuilder<M> {
        ProxyBuilder {
            agent: agent.reader(),
            name: name.to_owned(),
            handling: Handling::Nobody,
            is_contradictory: false,
            bounds: ProxyBounds {
                messages: 1_024,
                bytes: 1 << 20,
                patience: Duration::from_secs(2),
            },
            longest: Messages::MAX_LEN,
            answer_within: Duration::from_secs(5),
        }
    }
}

impl<M: LeaderMessage> ProxyBuilder<M> {
    /// Sets the actor that gets the messages while this agent leads. Default: none, for an agent that never leads.
    pub fn deliver_to(mut self, to: Recipient<M>) -> Self {
        self.is_contradictory |= matches!(self.handling, Handling::Found { .. });
        self.handling = Handling::Fixed(to);
        self
    }

    /// Like [`deliver_to`](Self::deliver_to), for an actor that starts and ends, such as the actor of a
    /// [`Singleton`](crate::leader::Singleton). `find` is called before each message, and messages wait while it
    /// returns `None` or panics. `find` must be quick, and must not use this proxy. The start refuses both methods
    /// together.
    pub fn deliver_to_found(
        mut self,
        find: impl Fn() -> Option<Recipient<M>> + Send + Sync + 'static,
    ) -> Self {
        self.is_contradictory |= matches!(self.handling, Handling::Fixed(_));
        self.handling = Handling::found(find);
        self
    }

    /// Sets the largest number of messages that wait for a leader or for its acknowledgement, and the largest number of
    /// bytes of their encoded form. While this agent leads, the same limits hold for the messages of all other agents
    /// together that wait at this agent for its actor, and for the unhandled messages of the actor. Further messages
    /// wait in the senders' own buffers. Default: 1,024 messages and 1 MiB. From 1 message and 1 KiB to 1,048,576
    /// messages and 256 MiB.
    pub fn buffer(mut self, messages: usize, bytes: usize) -> Self {
        (self.bounds.messages, self.bounds.bytes) = (messages, bytes);
        self
    }

    /// Sets the time to wait for a leader's answer. After this time, the outcome of the messages on their way to that
    /// leader counts as unknown, and the next messages are sent. Choose a longer time than a lost link needs to come
    /// back. Default: 2 s, from 100 ms to 10 minutes.
    pub fn unknown_after(mut self, patience: Duration) -> Self {
        self.bounds.patience = patience;
        self
    }

    /// Sets the deadline of answers that callers of the [`recipient`](LeaderProxy::recipient) await. Default: 5 s, from
    /// 1 ms to 10 minutes.
    pub fn answer_within(mut self, within: Duration) -> Self {
        self.answer_within = within;
        self
    }

    /// Sets the largest length of a message, in bytes of its encoded form. Use the same limit at every agent, because
    /// the limit holds for answers too. It must fit into a frame of the bridge
    /// ([`LimitsBuilder::frame`](crate::remote::LimitsBuilder::frame)). A message that this agent's own actor takes at
    /// once is not encoded, and has no limit. Default: [`Messages::MAX_LEN`], 32 KiB; from 64 bytes to 960 KiB.
    pub fn longest(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Starts the proxy, which ends with its agent. Dropping the handle does not end the proxy, and the name stays
    /// taken.
    ///
    /// # Errors
    /// [`ProxyStartError`], and nothing was changed.
    pub fn start(self) -> Result<LeaderProxy<M>, ProxyStartError> {
        if self.is_contradictory {
            return Err(ProxyStartError::TwoActors);
        }
        check("messages", self.bounds.messages, 1..=1 << 20)?;
        check("bytes", self.bounds.bytes, 1 << 10..=256 << 20)?;
        check("longest", self.longest, 64..=960 << 10)?; // fits into the largest frame, 1 MiB
        check_span("unknown_after", self.bounds.patience, 100..=600_000)?;
        check_span("answer_within", self.answer_within, 1..=600_000)?;
        let name = check_name(&self.name)?;
        let offers = self.agent.offers();
        offers
            .check(Feature::LeaderProxy)
            .map_err(MessagesError::from)?;
        let messages = Messages::of_reader(&self.agent)?;
        let endpoint = messages.state();
        let state = Arc::new(ProxyState::new(
            name.clone(),
            (Arc::clone(endpoint), self.agent),
            self.handling,
            self.longest,
            self.bounds,
        ));
        measure(&state, &name);
        let inbox = Arc::clone(&state);
        endpoint.register(&name, inbox)?;
        endpoint.wake();
        let actor = ProxyActor::new(Arc::clone(&state), self.answer_within);
        Ok(LeaderProxy::new(state, actor.start()))
    }
}

/// Shows the counts of a proxy together with the counts of its agent.
fn measure<M: LeaderMessage>(state: &Arc<ProxyState<M>>, name: &AgentId) {
    let agent = &state.agent;
    let meter = ProxyMeter::new(agent.group(), agent.id().as_str(), name.as_str());
    let state = Arc::downgrade(state);
    agent.sample_also(move || {
        let Some(state) = state.upgrade() else {
            return false;
        };
        let ProxyCounts {
            delivered,
            refused,
            unknown,
            undeliverable,
            waiting,
        } = state.counts();
        let outcomes = [delivered, refused, unknown, undeliverable];
        meter.show(waiting, outcomes);
        true
    });
}

fn check(
    limit: &'static str,
    value: usize,
    range: RangeInclusive<usize>,
) -> Result<(), ProxyStartError> {
    let wide = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
    let (min, max) = (wide(*range.start()), wide(*range.end()));
    if range.contains(&value) {
        return Ok(());
    }
    Err(ProxyStartError::Limit {
        limit,
        value: wide(value),
        min,
        max,
    })
}

/// Checks a duration, in milliseconds.
fn check_span(
    limit: &'static str,
    value: Duration,
    range: RangeInclusive<usize>,
) -> Result<(), ProxyStartError> {
    let millis = usize::try_from(value.as_millis()).unwrap_or(usize::MAX);
    check(limit, millis, range)
}

impl<M: LeaderMessage> fmt::Debug for ProxyBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyBuilder")
            .field("agent", self.agent.id())
            .field("name", &self.name)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}
