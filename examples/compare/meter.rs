//! A machine around another machine, which sends the same messages and counts their costs.
//!
//! Every message has its size, and the length of the chain of messages that caused it since the meter was restarted.
//! This length is the number of message delays that an election takes. Repeated messages (heartbeats) cause nothing. If
//! an election has only repeated messages, because it gossips or asks a store again and again, then the messages with
//! new content are counted.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use actix_bully::protocol::{AgentId, MemberKind, Time};
use bully_core::protocol::{
    Effect, Effects, EffectsOf, Election, Identity, InputOf, MembershipError, MinimumRole,
    PeerMessage, Requirements, To, View,
};
use bully_sim::trace::MessageText;

/// The settings that all machines of one world share.
#[derive(Clone, Debug)]
pub(crate) struct Metering<C, M> {
    pub(crate) config: C,
    /// Returns the bytes of a message.
    pub(crate) size: fn(&M) -> usize,
    /// Whether the election repeats this message again and again.
    pub(crate) repeats: fn(&M) -> bool,
    /// Returns the content of a repeated message, if it may cause other messages.
    pub(crate) says: fn(&M) -> Option<String>,
    pub(crate) meter: Meter,
}

type MeteringOf<E> = Metering<<E as Election>::Config, <E as Election>::Message>;

/// Marks the time from which messages are counted. Clones refer to the same mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<AtomicU64>);

impl Meter {
    /// Restarts the count: later messages have no earlier causes.
    pub(crate) fn restart(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A message with its costs.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Stamped<M> {
    inner: M,
    stamp: Stamp,
}

/// The costs of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) bytes: usize,
    /// Length of the chain of messages that caused it, including the message itself; 0 for a repeated message without
    /// new content.
    pub(crate) depth: u32,
    epoch: u64,
}

impl Stamp {
    /// Reads the costs from a recorded message.
    pub(crate) fn of(message: &MessageText) -> Self {
        let mut numbers = message.text.split(' ').map(str::parse);
        let bytes = numbers.next().and_then(Result::ok).unwrap_or(0);
        let depth = numbers.next().and_then(Result::ok).unwrap_or(0);
        Self {
            bytes,
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            epoch: 0,
        }
    }
}

/// Writes the size and the depth first, for [`Stamp::of`].
impl<M: fmt::Display> fmt::Display for Stamped<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp { bytes, depth, .. } = self.stamp;
        write!(f, "{bytes} {depth} {}", self.inner)
    }
}

impl<M: PeerMessage> PeerMessage for Stamped<M> {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn needs(&self, from: &AgentId) -> MinimumRole {
        self.inner.needs(from)
    }

    fn is_repeated(&self) -> bool {
        self.inner.is_repeated()
    }
}

/// The outer machine.
#[derive(Debug)]
pub(crate) struct Metered<E: Election> {
    inner: E,
    metering: MeteringOf<E>,
    /// Depth of the deepest message that was received since the meter was restarted.
    depth: u32,
    epoch: u64,
    /// The last content of each kind that went to each of the other agents.
    told: BTreeMap<(Vec<AgentId>, &'static str), String>,
    said: EffectsOf<E>,
}

impl<E: Election> Metered<E> {
    /// Returns the input of the inner machine, and notes its depth.
    fn unstamp(&mut self, input: InputOf<Self>) -> Option<InputOf<E>> {
        let epoch = self.metering.meter.0.load(Ordering::Relaxed);
        if epoch != self.epoch {
            (self.epoch, self.depth) = (epoch, 0);
        }
        let mut heard = None;
        let inner = input.translate(
            |message: Stamped<E::Message>| {
                heard = Some(message.stamp);
                Some(message.inner)
            },
            Some,
        );
        if let Some(stamp) = heard.filter(|stamp| stamp.epoch == epoch) {
            self.depth = self.depth.max(stamp.depth);
        }
        inner
    }

    fn stamp(&mut self, to: &To, inner: E::Message) -> Stamped<E::Message> {
        let bytes = (self.metering.size)(&inner);
        let counts = !(self.metering.repeats)(&inner) || self.is_new(to, &inner);
        let depth = if counts {
            self.depth.saturating_add(1)
        } else {
            0
        };
        let epoch = self.epoch;
        Stamped {
            inner,
            stamp: Stamp {
                bytes,
                depth,
                epoch,
            },
        }
    }
}

impl<E: Election> Metered<E> {
    /// Returns whether the receivers have not got the same content before.
    fn is_new(&mut self, to: &To, message: &E::Message) -> bool {
        let Some(says) = (self.metering.says)(message) else {
            return false;
        };
        let receivers = match to {
            To::One(one) => vec![one.clone()],
            To::Set(some) => some.to_vec(),
            To::All => Vec::new(),
        };
        let key = (receivers, message.kind());
        let before = self.told.insert(key, says.clone());
        before.is_none_or(|before| before != says)
    }
}

impl<E: Election> Election for Metered<E> {
    type Message = Stamped<E::Message>;
    type Timer = E::Timer;
    type Ask = E::Ask;
    type Told = E::Told;
    type Durable = E::Durable;
    type Config = MeteringOf<E>;

    fn new(identity: Identity, config: &Self::Config, durable: Option<Self::Durable>) -> Self {
        Self {
            inner: E::new(identity, &config.config, durable),
            metering: config.clone(),
            depth: 0,
            epoch: 0,
            told: BTreeMap::new(),
            said: Effects::new(),
        }
    }

    fn requirements(
        config: &Self::Config,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        E::requirements(&config.config, agent, kind)
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        let Some(input) = self.unstamp(input) else {
            return; // each input has its counterpart
        };
        let mut said = std::mem::take(&mut self.said);
        self.inner.handle(now, input, &mut said);
        for effect in said.drain() {
            match effect {
                Effect::Persist(record) => out.persist(record),
                Effect::Send { to, message } => {
                    let stamped = self.stamp(&to, message);
                    out.send_to(to, stamped);
                }
                Effect::SetTimer { timer, after } => out.set_timer(timer, after),
                Effect::Ask(question) => out.ask(question),
                Effect::CancelTimer(timer) => out.cancel_timer(timer),
                Effect::Notify(event) => out.notify(event),
            }
        }
        self.said = said;
    }

    fn view(&self, now: Time) -> View {
        self.inner.view(now)
    }
}
