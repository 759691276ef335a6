//! TLS around the streams of a bridge.
//!
//! Decided here: the reason that the bridge gets for a refusal, and the goodbye that the other end may get.

use std::{
    io,
    pin::Pin,
    time::{Duration, SystemTime},
};

use crate::remote::{
    Closed, NodeId,
    transport::{Secured, Securing, Security, Stream, Unsecured},
};

use super::{TlsConfig, TlsReason, TlsRefusal, TlsStream, refusal::Left};

/// Time before a certificate's end at which the bridge begins to warn. Chosen: a week contains working days, and is a
/// quarter of the 30 days of the certificates on the page of this folder. With a longer time, such certificates would
/// cause warnings for too long.
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);

type TlsOutcome = Result<TlsStream<Box<dyn Stream>>, TlsRefusal<Box<dyn Stream>>>;

impl Security for TlsConfig {
    fn outbound<'a>(&'a self, stream: Box<dyn Stream>, node: &'a NodeId) -> Securing<'a> {
        Box::pin(async move {
            self.renew().await;
            outcome(self.connect(stream, node).await)
        })
    }

    fn inbound<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        is_peer: &'a dyn Fn(&NodeId) -> bool,
    ) -> Securing<'a> {
        Box::pin(async move {
            self.renew().await;
            outcome(self.accept(stream, is_peer).await)
        })
    }

    fn vouches_for(&self) -> &NodeId {
        self.node()
    }

    fn fault(&self, error: &io::Error) -> Option<Closed> {
        TlsReason::of(error).map(TlsReason::closed)
    }

    fn expires_soon(&self) -> Pin<Box<dyn Future<Output = Option<SystemTime>> + '_>> {
        Box::pin(async move {
            self.renew().await;
            self.expires_within(SOON).then(|| self.expires_at())
        })
    }
}

fn outcome(handshake: TlsOutcome) -> Result<Secured, Unsecured> {
    match handshake {
        Ok(stream) => {
            let node = stream.peer().clone();
            Ok((Box::new(stream), node))
        }
        Err(refusal) => Err(unsecured(refusal)),
    }
}

/// Returns how a refused connection ends. A node whose certificate is in order, but that is not configured here, gets a
/// goodbye. Any other peer has got a TLS alert. The rest of its stream is read, so that the alert arrives, unless the
/// peer does not speak TLS.
fn unsecured(refusal: TlsRefusal<Box<dyn Stream>>) -> Unsecured {
    let (reason, names, left) = refusal.into_parts();
    let parting: Option<(Box<dyn Stream>, _)> = match left {
        Left::Encrypted(stream) => Some((stream, Closed::Auth.farewell())),
        Left::Bare(stream) if reason.is_about_identity() => Some((stream, None)),
        Left::Bare(_) | Left::Nothing => None,
    };
    Unsecured {
        why: reason.closed(),
        detail: TlsReason::as_str(reason),
        names,
        parting,
    }
}
