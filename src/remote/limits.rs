//! Every limit of the bridge: one table with defaults and ranges.
//!
//! Decided here: how much a peer, or any stranger that finds the port, can make this side hold, wait for
//! or do. Each number is a default that [`Limits::builder`] changes within its range.
//!
//! What a limit counts, which part enforces it, and what a breach is called: the docs of each.

use std::{fmt::Debug, ops::RangeInclusive, time::Duration};

use super::wire::Bounds;

/// The limits of one bridge; one that exists is valid. [`Default`] suits most.
///
/// ```
/// use actix_bully::remote::Limits;
/// use std::time::Duration;
/// let limits = Limits::builder().handshake(Duration::from_secs(1)).build()?;
/// assert!(Limits::builder().frame(2 << 20).build().is_err()); // 1 MiB at most
/// # Ok::<(), actix_bully::remote::LimitsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits(Table);

/// Changes limits; made by [`Limits::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct LimitsBuilder(Table);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

macro_rules! limits {
    ($( $(#[doc = $doc:literal])* $name:ident: $kind:ty = $default:expr, $min:expr, $max:expr; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct Table { $($name: $kind,)* }

        impl Default for Limits {
            fn default() -> Self {
                Self(Table { $($name: $default,)* })
            }
        }

        impl Limits {
            for_tests! {
                $( #[doc = concat!("See [`LimitsBuilder::", stringify!($name), "`].")]
                #[must_use]
                fn $name(&self) -> $kind {
                    self.0.$name
                } )*
            }
        }

        impl LimitsBuilder {
            $( $(#[doc = $doc])*
            #[doc = concat!("\n\nDefault `", stringify!($default), "`, from `", stringify!($min),
                "` to `", stringify!($max), "`.")]
            pub const fn $name(mut self, value: $kind) -> Self {
                self.0.$name = value;
                self
            } )*

            fn in_range(&self) -> Result<(), LimitsError> {
                $( check(stringify!($name), &self.0.$name, &($min..=$max))?; )*
                Ok(())
            }
        }
    };
}

limits! {
    /// From accepting or making a connection until both sides are ready, TLS included.
    /// Breach: `handshake_timeout`.
    handshake: Duration = ms(3_000), ms(100), ms(60_000);
    /// From accepting a connection until its other end has said anything, TLS included; no longer
    /// than [`handshake`](Self::handshake) in any case. Breach: `handshake_timeout`.
    first_byte: Duration = ms(600), ms(20), ms(60_000);
    /// The longest frame before both sides are ready, in bytes. Breach: `frame_too_large`.
    early_frame: usize = KIB, KIB, 16 * KIB;
    /// The longest frame afterwards, in bytes; the peer is told. Breach: `frame_too_large`.
    frame: usize = 64 * KIB, 4 * KIB, MIB;
    /// From the first byte of a frame to its last. Breach: `frame_timeout`.
    frame_time: Duration = ms(5_000), ms(100), ms(60_000);
    /// How deep arrays and options of a message may nest; less than 10 has no room for a list of voters that changes.
    /// Breach: `malformed`.
    depth: u8 = 12, 4, 16;
    /// The most items of all arrays of one message together, and of any one array of a frame: its
    /// messages, the receivers of a message. Breach: `malformed`.
    items: usize = 1_024, 64, 16_384;
    /// The longest text, in bytes. Breach: `malformed`.
    text: usize = 256, 256, 4 * KIB;
    /// Connections that others made, in all. Beyond that one that is not ready yet gives way, or,
    /// if there is none, the newest is refused: `too_many_connections`.
    inbound: usize = 256, 1, 65_536;
    /// Of those, the ones that are not ready yet, from addresses of no peer. Beyond that the oldest
    /// gives way, those first that have said nothing: `too_many_connections`.
    unready: usize = 32, 1, 65_536;
    /// Of those that are not ready, the ones from one address; as many for each configured peer
    /// that is there. Beyond that the oldest from there gives way.
    unready_per_address: usize = 8, 1, 65_536;
    /// Bytes per second that a peer may send in the long run. Breach: `rate`. The peer is told,
    /// and sends an eighth less, and half of [`burst`](Self::burst).
    rate: usize = 16 * MIB, 64 * KIB, 1_024 * MIB;
    /// Bytes that a peer may send at once on top of that. Breach: `rate`.
    burst: usize = 32 * MIB, 128 * KIB, 1_024 * MIB;
    /// The first pause before a peer that broke [`rate`](Self::rate) is linked again.
    rate_pause_min: Duration = ms(1_000), ms(100), ms(60_000);
    /// The longest such pause.
    rate_pause_max: Duration = ms(60_000), ms(1_000), ms(600_000);
    /// Bytes that wait to be sent to a peer; no more than [`rate`](Self::rate) lets through in
    /// [`ping_after`](Self::ping_after), but a frame in any case. Beyond that the newest messages
    /// are lost, and counted; repeated ones have a quarter more room. Breach by a peer that has not
    /// taken what was written for 1/32 of [`write_time`](Self::write_time): `slow_peer`.
    queue: usize = MIB, 64 * KIB, 64 * MIB;
    /// Bytes of messages of all peers together that wait in the mailbox of one agent here. Beyond
    /// that the newest is dropped: `mailbox_full`. What applications say takes half of it at most, and counts until their
    /// own actor has it. Messages of agents of the same process are not
    /// counted, nor dropped.
    mailbox: usize = MIB, 16 * KIB, 64 * MIB;
    /// How long a message may wait to be sent. Breach: `slow_peer`.
    queue_time: Duration = ms(2_000), ms(100), ms(60_000);
    /// The most messages in one frame that is sent.
    messages: usize = 1_024, 1, 16_384;
    /// How long one write may take, and how long the kernel tries to deliver. Breach: `slow_peer`.
    write_time: Duration = ms(2_000), ms(100), ms(60_000);
    /// After so much silence this side asks whether the peer is there; a quarter later where agents talk. A link on which nothing
    /// depends is asked 16 times less often for each peer that there is, but every 2 minutes: one between followers of a quorum whose
    /// leader is heard. When that leader falls silent all links are asked at once.
    ping_after: Duration = ms(180), ms(5), ms(60_000);
    /// After so much silence a peer counts as gone, where it is asked after [`ping_after`](Self::ping_after); elsewhere
    /// when it has not answered for the rest of it. Breach: `silent`.
    silence: Duration = ms(900), ms(20), ms(300_000);
    /// The first pause between two attempts to dial.
    dial_min: Duration = ms(100), ms(1), ms(60_000);
    /// The longest one.
    dial_max: Duration = ms(10_000), ms(10), ms(600_000);
    /// After so long without a link to a peer, the last incarnation of it is forgotten, and one with
    /// an earlier number is let in: a node that was started once with a clock far ahead. Choose more
    /// than any lease: within this time an earlier number is a former process, whose promises and
    /// ends must not be mixed with those of the last one. A recorded greeting gains nothing by it: no
    /// link is made without an answer to this side's own nonce.
    forget: Duration = ms(600_000), ms(1_000), ms(86_400_000);
    /// Messages to agents or groups that are not here, forgiven within
    /// [`unknown_window`](Self::unknown_window). Breach: `unknown_targets`. So many groups may begin
    /// anew in it as well. Breach: `openings`.
    unknown: usize = 100, 1, 100_000;
    /// The window in which those are counted.
    unknown_window: Duration = ms(10_000), ms(100), ms(600_000);
    /// The most groups a peer may announce. Breach: `too_many_agents`.
    groups: usize = 1_024, 1, 65_536;
    /// The most agents a peer may announce, in all groups. Breach: `too_many_agents`.
    agents: usize = 16_384, 1, 1_048_576;
}

impl Limits {
    for_tests! {
        /// Bytes read beyond what a frame needs: how far ahead a reader reads.
        const READ_AHEAD: usize = 8 * KIB;
    }

    /// Begins with the defaults.
    pub fn builder() -> LimitsBuilder {
        LimitsBuilder(Self::default().0)
    }

    for_tests! {
        /// What a message may be made of.
        #[must_use]
        fn bounds(&self) -> Bounds {
            Bounds {
                depth: self.depth(),
                items: self.items(),
                text: self.text(),
            }
        }
    }
}

impl LimitsBuilder {
    /// Checks every range, and the relations between limits.
    ///
    /// # Errors
    /// [`LimitsError`] names the first limit that is wrong.
    pub fn build(self) -> Result<Limits, LimitsError> {
        self.in_range()?;
        let table = self.0;
        let relations = [
            ("early_frame", "frame", table.early_frame <= table.frame),
            // A peer sends half of the burst at once, and a frame cannot be sent in parts.
            (
                "burst",
                "frame",
                table.burst >= table.frame.saturating_mul(2),
            ),
            ("queue", "frame", table.queue >= table.frame),
            ("unready", "inbound", table.unready <= table.inbound),
            (
                "unready_per_address",
                "unready",
                table.unready_per_address <= table.unready,
            ),
            // A peer that has nothing to say must have the time to answer.
            (
                "silence",
                "ping_after",
                table.silence >= table.ping_after.saturating_mul(2),
            ),
            ("dial_min", "dial_max", table.dial_min <= table.dial_max),
            (
                "rate_pause_min",
                "rate_pause_max",
                table.rate_pause_min <= table.rate_pause_max,
            ),
        ];
        match relations.into_iter().find(|(_, _, holds)| !holds) {
            Some((limit, other, _)) => Err(LimitsError::Relation { limit, other }),
            None => Ok(Limits(table)),
        }
    }
}

fn check<T: PartialOrd + Debug>(
    limit: &'static str,
    value: &T,
    range: &RangeInclusive<T>,
) -> Result<(), LimitsError> {
    if range.contains(value) {
        return Ok(());
    }
    Err(LimitsError::Range {
        limit,
        value: format!("{value:?}").into(),
        min: format!("{:?}", range.start()).into(),
        max: format!("{:?}", range.end()).into(),
    })
}

/// Why limits were refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// A limit lies outside of its range.
    #[error("the limit `{limit}` is {value}: choose from {min} to {max}")]
    Range {
        /// Which.
        limit: &'static str,
        /// What it is.
        value: Box<str>,
        /// The smallest that is allowed.
        min: Box<str>,
        /// The largest.
        max: Box<str>,
    },
    /// Two limits contradict each other.
    #[error("the limits `{limit}` and `{other}` contradict each other: see the docs of both")]
    Relation {
        /// One.
        limit: &'static str,
        /// The other.
        other: &'static str,
    },
}

debug_is_text!(LimitsError);
