//! TLS around the streams of a bridge.
//!
//! Decided here: renewed files are used before each handshake, and when the bridge warns of the end of a certificate.

use std::{
    io,
    pin::Pin,
    time::{Duration, SystemTime},
};

use crate::remote::{
    Closed, NodeId,
    transport::{Securing, Security, Stream},
};

use super::{TlsConfig, closed_by, handshake};

/// Time before a certificate's end at which the bridge begins to warn. Chosen: a week contains working days, and is a
/// quarter of the 30 days of the certificates on the page of this folder. With a longer time, such certificates would
/// cause warnings for too long.
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Security for TlsConfig {
    fn outbound<'a>(&'a self, stream: Box<dyn Stream>, node: &'a NodeId) -> Securing<'a> {
        Box::pin(async move {
            self.renew().await;
            handshake::connect(self, stream, node).await
        })
    }

    fn inbound<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        is_peer: &'a dyn Fn(&NodeId) -> bool,
    ) -> Securing<'a> {
        Box::pin(async move {
            self.renew().await;
            handshake::accept(self, stream, is_peer).await
        })
    }

    fn vouches_for(&self) -> &NodeId {
        self.node()
    }

    fn fault(&self, error: &io::Error) -> Option<Closed> {
        closed_by(error)
    }

    fn expires_soon(&self) -> Pin<Box<dyn Future<Output = Option<SystemTime>> + '_>> {
        Box::pin(async move {
            self.renew().await;
            self.expires_within(SOON).then(|| self.expires_at())
        })
    }
}
