//! The interface through which a bridge encrypts its streams, on every network.
//!
//! Nothing is decided here. Read next [`tls`](crate::remote::tls), which implements it.

use std::{
    fmt::{self, Debug},
    io,
    pin::Pin,
    time::SystemTime,
};

use super::Stream;
use crate::remote::{Closed, Farewell, NodeId};

/// Wraps each stream: encrypts it, and proves the node at the other end.
pub(crate) trait Security: Debug + Send + Sync {
    /// Secures a connection that this bridge has dialled, to the node `node`.
    fn outbound<'a>(&'a self, stream: Box<dyn Stream>, node: &'a NodeId) -> Securing<'a>;

    /// Secures an accepted connection; `is_peer` returns which nodes may connect.
    fn inbound<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        is_peer: &'a dyn Fn(&NodeId) -> bool,
    ) -> Securing<'a>;

    /// Returns the node whose name this side can prove. It must be the node of the bridge.
    fn vouches_for(&self) -> &NodeId;

    /// Returns the reason why a read from a secured stream failed, if its security is the reason.
    fn fault(&self, error: &io::Error) -> Option<Closed>;

    /// Uses the proof that is on the disk now, and returns the time at which it expires if that is soon. Called at the
    /// start, and each hour.
    fn expires_soon(&self) -> Pin<Box<dyn Future<Output = Option<SystemTime>> + '_>>;
}

/// A stream that is being secured, or the reason why it is refused.
pub(crate) type Securing<'a> = Pin<Box<dyn Future<Output = Result<Secured, Unsecured>> + 'a>>;

/// The secured stream, and the proved node at its other end.
pub(crate) type Secured = (Box<dyn Stream>, NodeId);

/// A stream that is refused.
pub struct Unsecured {
    /// The reason under which it is counted.
    pub why: Closed,
    /// The first DNS names of the other end's certificate, at most four, if an authority that this side trusts has
    /// issued the certificate.
    pub names: Vec<String>,
    /// The stream on which the other end still listens, and its farewell. With `None` as the farewell, the stream ends
    /// without a farewell.
    pub parting: Option<(Box<dyn Stream>, Option<Farewell>)>,
}

impl From<Closed> for Unsecured {
    fn from(why: Closed) -> Self {
        Self {
            why,
            names: Vec::new(),
            parting: None,
        }
    }
}

impl Debug for Unsecured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsecured")
            .field("why", &self.why)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}
