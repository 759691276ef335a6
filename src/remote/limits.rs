//! Every limit of the bridge: one table with defaults and ranges.
//!
//! Decided here: how much a peer, or any stranger that finds the port, can make this side store, wait for or do. Each
//! limit has a default and a range. [`Limits::builder`] changes the limits that depend on the application or its
//! network; only tests change the other limits. The docs of each limit state the counted quantity and the name under
//! which a breach is counted.

use std::{fmt::Debug, ops::RangeInclusive, time::Duration};

use super::wire::Bounds;

/// The limits of one bridge. A value of this type is always valid. [`Default`] suits most bridges.
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

/// Declares the limits. An application may change some of them; only tests change the rest.
macro_rules! limits {
    (
        { $( $(#[doc = $doc:literal])* $name:ident: $kind:ty = $default:expr, $min:expr, $max:expr; )* }
        { $( $(#[doc = $own_doc:literal])* $own:ident: $own_kind:ty = $own_default:expr, $own_min:expr, $own_max:expr; )* }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct Table { $($name: $kind,)* $($own: $own_kind,)* }

        impl Default for Limits {
            fn default() -> Self {
                Self(Table { $($name: $default,)* $($own: $own_default,)* })
            }
        }

        impl Limits {
            for_tests! {
                $( #[doc = concat!("See [`LimitsBuilder::", stringify!($name), "`].")]
                #[must_use]
                fn $name(&self) -> $kind {
                    self.0.$name
                } )*
                $( #[doc = concat!("See [`LimitsBuilder::", stringify!($own), "`].")]
                #[must_use]
                fn $own(&self) -> $own_kind {
                    self.0.$own
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

            $( $(#[doc = $own_doc])*
            #[doc = concat!("\n\nDefault `", stringify!($own_default), "`, from `", stringify!($own_min),
                "` to `", stringify!($own_max), "`.")]
            #[cfg(feature = "testkit")]
            pub const fn $own(mut self, value: $own_kind) -> Self {
                self.0.$own = value;
                self
            } )*

            fn in_range(&self) -> Result<(), LimitsError> {
                $( check(stringify!($name), &self.0.$name, &($min..=$max))?; )*
                $( check(stringify!($own), &self.0.$own, &($own_min..=$own_max))?; )*
                Ok(())
            }
        }
    };
}

limits! {
    {
        /// Longest time from a new connection, accepted or made, until both sides are ready, TLS included. Breach:
        /// `handshake_timeout`.
        handshake: Duration = ms(3_000), ms(100), ms(60_000);
        /// Longest frame after both sides are ready, in bytes; the peer receives this limit. Breach: `frame_too_large`.
        frame: usize = 64 * KIB, 4 * KIB, MIB;
        /// Largest number of items in all arrays of one message together. Also the largest number of items in one array of
        /// a frame: the array of its messages, or the array of a message's receivers. Breach: `malformed`.
        items: usize = 1_024, 64, 16_384;
        /// Longest text, in bytes. Breach: `malformed`.
        text: usize = 256, 256, 4 * KIB;
        /// Largest number of inbound connections in all. If one more arrives, a connection that is not ready is closed; if
        /// all are ready, the newest is refused: `too_many_connections`.
        inbound: usize = 256, 1, 65_536;
        /// Largest number of inbound connections that are not ready yet and come from addresses of no peer. If one more
        /// arrives, the oldest is closed, silent connections first: `too_many_connections`. The default is chosen: it
        /// only bounds what strangers hold. With a limit of one or two, a stranger keeps out a peer that comes from a
        /// new address.
        unready: usize = 32, 1, 65_536;
        /// Largest number of connections from one address that are not ready yet. If several peers are configured at
        /// the address, this number counts for each of them. If one more connection arrives, the oldest connection that
        /// is not ready is closed.
        unready_per_address: usize = 8, 1, 65_536;
        /// Number of bytes per second that a peer may send in the long run. Breach: `rate`. The peer receives this limit.
        /// It sends an eighth less, because two clocks may differ, and at most half of [`burst`](Self::burst) at once.
        rate: usize = 16 * MIB, 64 * KIB, 1_024 * MIB;
        /// Number of bytes that a peer may send at once on top of the rate. Breach: `rate`.
        burst: usize = 32 * MIB, 128 * KIB, 1_024 * MIB;
        /// Largest number of bytes that wait to be sent to a peer. If [`rate`](Self::rate) allows fewer bytes within
        /// [`ping_after`](Self::ping_after), the smaller number is used, but one frame always fits. If the queue is full,
        /// the newest messages are lost and counted. Repeated messages may use a quarter more, so that a leader does not
        /// seem silent. If the peer has not taken the written bytes for 1/32 of `write_time`, a full
        /// queue is a breach: `slow_peer`.
        queue: usize = MIB, 64 * KIB, 64 * MIB;
        /// Largest number of bytes of messages, of all peers together, that wait in the mailbox of one agent of this
        /// process. Without this limit, half a million messages to an agent that does not read took 169 MiB. If the mailbox
        /// is full, the newest message is dropped: `mailbox_full`. Messages of applications take at most half of the room,
        /// and count until their own actor has them. Messages of agents of the same process are neither counted nor
        /// dropped.
        mailbox: usize = MIB, 16 * KIB, 64 * MIB;
        /// Length of a silence after which this side sends a ping. The default is the heartbeat of
        /// [`Timings::default`](crate::protocol::Timings::default). On a link over which agents exchange messages it is a
        /// quarter longer, because the next heartbeat is probably on its way. If nothing depends on a link, for example
        /// between followers of a quorum that hear their leader, the link waits 16 times as long for each peer of this
        /// node, but at most 2 minutes. When that leader falls silent, all links are pinged at once.
        ping_after: Duration = ms(180), ms(5), ms(60_000);
        /// Length of a silence after which a peer is considered gone, on a link that is pinged after
        /// [`ping_after`](Self::ping_after). The default is the detection time of
        /// [`Timings::default`](crate::protocol::Timings::default). On other links the peer is considered gone if it has
        /// not answered a ping within the difference of the two times. Breach: `silent`.
        silence: Duration = ms(900), ms(20), ms(300_000);
        /// Shortest pause between two attempts to dial.
        dial_min: Duration = ms(100), ms(1), ms(60_000);
        /// Longest pause between two attempts to dial.
        dial_max: Duration = ms(10_000), ms(10), ms(600_000);
        /// Time without a link to a peer after which its last incarnation is forgotten. Then an incarnation with a
        /// lower number is accepted, for example of a node that was once started with a clock far ahead. Within this
        /// time a lower number means an earlier process. The ends that an earlier process reports must not be mixed
        /// with the ends that the last process reports. The time is never shorter than a promise of a voter, even if a
        /// shorter time is set here. A recorded greeting is useless to an attacker even then: a link needs an answer to
        /// this side's own nonce.
        forget: Duration = ms(600_000), ms(1_000), ms(86_400_000);
        /// Largest number of groups that a peer may announce. Each costs memory. The default exceeds the 1,000 groups of
        /// the benchmarks. Breach: `too_many_agents`.
        groups: usize = 1_024, 1, 65_536;
        /// Largest number of agents that a peer may announce, in all groups. Each costs memory. The default exceeds the
        /// 10,000 agents of the benchmarks. Breach: `too_many_agents`.
        agents: usize = 16_384, 1, 1_048_576;
    }
    {
        /// Longest time from an accepted connection until its other end has sent a first byte; a byte of the TLS
        /// handshake counts. A silent connection must not hold a slot for the whole handshake. If
        /// [`handshake`](Self::handshake) is shorter, it is used instead. Breach: `handshake_timeout`.
        first_byte: Duration = ms(600), ms(20), ms(60_000);
        /// Longest time from the first byte of a frame to its last byte: a peer must not hold a connection by sending
        /// single bytes slowly. Breach: `frame_timeout`.
        frame_time: Duration = ms(5_000), ms(100), ms(60_000);
        /// Deepest nesting of arrays and options in a message. The message with a new list of voters needs at least 10.
        /// Breach: `malformed`.
        depth: u8 = 12, 4, 16;
        /// Longest time for one write, and for the kernel's attempts to deliver its bytes. Without this limit, writes
        /// over a cut cable would succeed for minutes. Breach: `slow_peer`.
        write_time: Duration = ms(2_000), ms(100), ms(60_000);
        /// Number of messages to unknown agents or groups that are tolerated within 10 s, because two sides that start
        /// may not know each other's agents yet. Breach: `unknown_targets`. The peer may also begin this number of
        /// groups anew within that time. Breach: `openings`.
        unknown: usize = 100, 1, 100_000;
    }
}

impl Limits {
    for_tests! {
        /// Number of bytes that a reader may read beyond the frame that it needs.
        const READ_AHEAD: usize = 8 * KIB;
    }

    for_tests! {
        /// Longest frame before both sides are ready, in bytes. Breach: `frame_too_large`.
        const EARLY_FRAME: usize = KIB;
    }

    /// Returns a builder with the defaults.
    pub fn builder() -> LimitsBuilder {
        LimitsBuilder(Self::default().0)
    }

    for_tests! {
        /// Returns the bounds of a message.
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
    /// Checks every range, and the relations between the limits.
    ///
    /// # Errors
    /// [`LimitsError`] contains the first limit that is wrong.
    pub fn build(self) -> Result<Limits, LimitsError> {
        self.in_range()?;
        let table = self.0;
        let relations = [
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
            // After a ping, a silent peer needs enough time to answer before it is considered gone.
            (
                "silence",
                "ping_after",
                table.silence >= table.ping_after.saturating_mul(2),
            ),
            ("dial_min", "dial_max", table.dial_min <= table.dial_max),
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

/// Returns the relation of a limit to the other limit of [`LimitsError::Relation`].
fn relation(limit: &str) -> &'static str {
    match limit {
        "burst" | "silence" => "at least twice",
        "queue" => "at least",
        _ => "at most",
    }
}

/// The reason why limits were refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// A limit lies outside of its range.
    #[error("the limit `{limit}` is {value}: choose from {min} to {max}")]
    Range {
        /// The limit.
        limit: &'static str,
        /// Value of the limit.
        value: Box<str>,
        /// The smallest allowed value.
        min: Box<str>,
        /// The largest allowed value.
        max: Box<str>,
    },
    /// Two limits contradict each other.
    #[error(
        "the limits `{limit}` and `{other}` contradict each other: make `{limit}` {} `{other}`",
        relation(limit)
    )]
    Relation {
        /// The first limit.
        limit: &'static str,
        /// The other limit.
        other: &'static str,
    },
}

debug_is_text!(LimitsError);
