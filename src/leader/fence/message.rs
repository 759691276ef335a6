//! A message with the fence of the leader that sends it.
//!
//! Decided here: the form of such a message. Not here: whether the message is admitted (`gate.rs`).

use actix::Message;
use serde::{Deserialize, Serialize};

use super::{FenceNumber, Stale};

/// A message of a leader, with its fence.
///
/// The sender gets the answer to the inner message, or [`Stale`] if a later leader was admitted before. An actor that
/// handles a fenced message asks its [`FencingGate`](super::FencingGate) first:
///
/// ```
/// use actix::prelude::*;
/// use actix_bully::leader::fence::{Fenced, FencingGate, Stale};
///
/// #[derive(Message)]
/// #[rtype(result = "usize")]
/// struct Append(String);
///
/// #[derive(Default)]
/// struct Ledger { gate: FencingGate, rows: Vec<String> }
///
/// impl Actor for Ledger {
///     type Context = Context<Self>;
/// }
///
/// impl Handler<Fenced<Append>> for Ledger {
///     type Result = Result<usize, Stale>;
///     fn handle(&mut self, fenced: Fenced<Append>, _: &mut Context<Self>) -> Self::Result {
///         self.gate.admit(&fenced)?;
///         self.rows.push(fenced.message.0);
///         Ok(self.rows.len())
///     }
/// }
/// ```
///
/// The leader sends `Fenced { fence: FenceNumber::of(&guard)?, message }`. Between hosts it is encoded by serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fenced<M> {
    /// The fence of the sender.
    pub fence: FenceNumber,
    /// The message itself.
    pub message: M,
}

impl<M: Message> Message for Fenced<M> {
    type Result = Result<M::Result, Stale>;
}

impl<M> From<&Fenced<M>> for FenceNumber {
    fn from(fenced: &Fenced<M>) -> Self {
        fenced.fence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_hosts_it_is_an_integer_and_the_message() {
        let sent = Fenced {
            fence: FenceNumber::try_from(1 << 40).unwrap(),
            message: "rent".to_owned(),
        };
        let bytes = rmp_serde::to_vec(&sent).unwrap();
        let (fence, message): (u64, String) = rmp_serde::from_slice(&bytes).unwrap();
        assert_eq!((fence, message.as_str()), (1 << 40, "rent"));
        assert_eq!(
            rmp_serde::from_slice::<Fenced<String>>(&bytes).unwrap(),
            sent
        );
        let negative = rmp_serde::to_vec(&(-1, "rent")).unwrap();
        let large = rmp_serde::to_vec(&(u64::MAX, "rent")).unwrap();
        for forged in [negative, large] {
            let refused = rmp_serde::from_slice::<Fenced<String>>(&forged);
            assert!(refused.is_err(), "{refused:?}");
        }
    }
}
