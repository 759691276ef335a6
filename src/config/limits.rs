//! The section `limits`: the limits of the bridge that differ from the defaults.
//!
//! Decided here: the keys of the section. Not here: their ranges, which [`Limits`] checks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::remote::{Limits, LimitsError};

use super::{
    ConfigError,
    value::{leaf, unset},
};

/// Limits that differ from the default [`Limits`] of the bridge. The method of the same name of
/// [`LimitsBuilder`](crate::remote::LimitsBuilder) explains the meaning, default and range of each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LimitsSettings {
    /// Longest time from a new connection until both sides are ready.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub handshake: Option<Duration>,
    /// Longest frame, in bytes.
    #[serde(skip_serializing_if = "unset")]
    pub frame: Option<usize>,
    /// Largest number of open connections that other nodes have made to this node.
    #[serde(skip_serializing_if = "unset")]
    pub inbound: Option<usize>,
    /// Largest number of bytes per second that a peer may send.
    #[serde(skip_serializing_if = "unset")]
    pub rate: Option<usize>,
    /// Number of bytes that a peer may send at once, in addition to the rate.
    #[serde(skip_serializing_if = "unset")]
    pub burst: Option<usize>,
    /// Largest number of bytes that may wait to be sent to a peer.
    #[serde(skip_serializing_if = "unset")]
    pub queue: Option<usize>,
    /// Length of a silence after which this side sends a ping.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub ping_after: Option<Duration>,
    /// Length of a silence after which a peer is considered gone.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub silence: Option<Duration>,
    /// First pause between two attempts to dial a peer.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub dial_min: Option<Duration>,
    /// Longest pause between two attempts to dial a peer.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub dial_max: Option<Duration>,
    /// Time without a link after which a peer's last incarnation is forgotten.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub forget: Option<Duration>,
}

impl LimitsSettings {
    pub(super) fn limits(&self) -> Result<Limits, ConfigError> {
        let (usual, mut builder) = (Limits::default(), Limits::builder());
        if let Some(inbound) = self.inbound {
            // The limits `unready` and `unready_per_address` have no key, and must not exceed `inbound`. So they are
            // lowered to it.
            builder = builder
                .unready(usual.unready().min(inbound))
                .unready_per_address(usual.unready_per_address().min(inbound));
        }
        set!(builder, self: handshake frame inbound rate burst queue ping_after silence dial_min dial_max forget);
        builder.build().map_err(|reason| {
            let (LimitsError::Range { limit, .. } | LimitsError::Relation { limit, .. }) = &reason;
            ConfigError::refused(format!("limits.{limit}"), reason)
        })
    }
}
