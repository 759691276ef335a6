//! The proof that two nodes give each other in the handshake if no certificate proves the node.
//!
//! Decided here: the content of a proof. Not here: how it is computed (`Secret`, with the feature `secret`), and when
//! it is required ([`Handshake`](crate::remote::Handshake)).
//!
//! A proof covers everything that both sides have sent before it: two HELLOs (versions, cluster, names, incarnations,
//! nonces, and so the link) and two CONDITIONS (a fresh challenge of each side). A proof also contains the role of the
//! side that proves:
//! - a recorded handshake has other challenges, so no part of it can be used again;
//! - the two roles have different proofs, so a node's own proof cannot be sent back to it;
//! - of two nodes one has dialled the other: if a third node dials both and forwards their frames, both nodes prove the
//!   same role, and both refuse the proof.

use std::{fmt, io};

/// Random bytes that a side generates for one connection. The proof of the other side has to cover them. They must be
/// unpredictable and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Challenge(pub [u8; 32]);

/// A proof that a side knows a secret. Compare proofs by [`Credential::accepts`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proof(pub [u8; 32]);

impl Proof {
    /// Largest number of proofs in one READY: one for each secret during a change of secrets.
    pub const MOST: usize = 2;
}

/// The digest of 32 bytes that only one incarnation of a node knows, and that are revealed after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndDigest(pub [u8; 32]);

/// A secret by which a node proves and checks that both ends of a connection know the same secret.
///
/// `Debug` must not show the secret.
pub trait Credential: fmt::Debug + Send + Sync {
    /// Generates a challenge for one connection.
    ///
    /// # Errors
    /// An error if the system has no randomness. Then the connection is given up.
    fn challenge(&self) -> io::Result<Challenge>;

    /// Returns this side's proofs of a statement, at most [`Proof::MOST`]. The other side has to accept one of
    /// them.
    fn prove(&self, statement: &[u8]) -> Vec<Proof>;

    /// Returns whether one of these proofs proves the statement. The time must not depend on how much of a proof is
    /// right.
    fn accepts(&self, statement: &[u8], proofs: &[Proof]) -> bool;
}

/// All bytes that both sides of a connection have sent before they prove anything: whole frames, in their order.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) here: Vec<u8>,
    pub(crate) there: Vec<u8>,
}

impl Transcript {
    /// Appends the body of a frame of the other side.
    pub(crate) fn hear(&mut self, body: &[u8]) {
        // The length comes first, as in the frame that the other side sent and appended to its own transcript.
        let len = u32::try_from(body.len()).unwrap_or(u32::MAX);
        self.there.extend_from_slice(&len.to_be_bytes());
        self.there.extend_from_slice(body);
    }

    /// Returns the statement that this side proves; `has_dialled` shows whether this side has dialled.
    pub(crate) fn ours(&self, has_dialled: bool) -> Vec<u8> {
        self.statement(has_dialled, has_dialled)
    }

    /// Returns the statement that the other side proves; `has_dialled` shows whether this side has dialled.
    pub(crate) fn theirs(&self, has_dialled: bool) -> Vec<u8> {
        self.statement(has_dialled, !has_dialled)
    }

    fn statement(&self, has_dialled: bool, of_dialler: bool) -> Vec<u8> {
        // Both sides put the dialler's frames first, because each side computes the other side's proof to compare it.
        let (dialler, acceptor) = if has_dialled {
            (&self.here, &self.there)
        } else {
            (&self.there, &self.here)
        };
        let part: &[u8] = if of_dialler { b"d" } else { b"a" };
        // Frames begin with their length, so the boundary between two frames is unambiguous.
        [LABEL, part, dialler, acceptor].concat()
    }
}

/// Ensures that a proof means nothing in another protocol, or in another version of this protocol.
const LABEL: &[u8] = b"actix-bully/2 proof ";
