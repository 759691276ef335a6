//! What two nodes prove to each other at the handshake, where no certificate says which node is there.
//!
//! Decided here: what a proof is about. Not here: how it is made (`Secret`, with the feature
//! `secret`), and when it is asked for ([`Handshake`](crate::remote::Handshake)).
//!
//! A proof is about all that both sides have said before it: two HELLOs (versions, cluster, names,
//! incarnations, nonces, and so the link) and two CONDITIONS (a fresh challenge of each side). It
//! names its prover's part in it:
//! - a conversation that was overheard has other challenges, so nothing of it can be used again;
//! - one's own proof is that of the other part, so it cannot be sent back;
//! - of two nodes one has dialled the other: a third that dials both and passes on what they say finds that
//!   both prove the same part, and neither believes it.

use std::{fmt, io};

/// What a side draws for one connection, to be bound into the proof that it asks for. It must be
/// unpredictable and never drawn twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Challenge(pub [u8; 32]);

/// That a side knows a secret. Compare proofs by [`Credential::accepts`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proof(pub [u8; 32]);

impl Proof {
    /// So many at most are in one READY: one for each secret while it is changed.
    pub const MOST: usize = 2;
}

/// The digest of 32 bytes that only one incarnation of a node knows, and gives away at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndDigest(pub [u8; 32]);

/// What a node can prove and check: that both ends of a connection know the same secret.
///
/// `Debug` must not show the secret.
pub trait Credential: fmt::Debug + Send + Sync {
    /// Draws a challenge for one connection.
    ///
    /// # Errors
    /// When the system has no randomness. The connection is given up.
    fn challenge(&self) -> io::Result<Challenge>;

    /// This side's proofs of a statement, of which the other side has to accept one: at most
    /// [`Proof::MOST`].
    fn prove(&self, statement: &[u8]) -> Vec<Proof>;

    /// Whether one of these proves the statement. Must take as long however much of a proof is
    /// right.
    fn accepts(&self, statement: &[u8], proofs: &[Proof]) -> bool;
}

/// Which end of a connection a side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    Dialler,
    Acceptor,
}

impl ConnectionEnd {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Dialler => Self::Acceptor,
            Self::Acceptor => Self::Dialler,
        }
    }
}

/// What both sides of a connection have said before they prove anything: whole frames, in their
/// order.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) here: Vec<u8>,
    pub(crate) there: Vec<u8>,
}

impl Transcript {
    /// Notes the body of a frame of the other side.
    pub(crate) fn hear(&mut self, body: &[u8]) {
        // The other side notes its own frames as it sent them, length first: both have to match.
        let len = u32::try_from(body.len()).unwrap_or(u32::MAX);
        self.there.extend_from_slice(&len.to_be_bytes());
        self.there.extend_from_slice(body);
    }

    /// What `prover` proves, as seen by the side `me`.
    pub(crate) fn statement(&self, me: ConnectionEnd, prover: ConnectionEnd) -> Vec<u8> {
        // A proof is compared with one made here: both sides put the dialler's frames first.
        let (dialler, acceptor) = match me {
            ConnectionEnd::Dialler => (&self.here, &self.there),
            ConnectionEnd::Acceptor => (&self.there, &self.here),
        };
        let part: &[u8] = match prover {
            ConnectionEnd::Dialler => b"d",
            ConnectionEnd::Acceptor => b"a",
        };
        // Frames begin with their length: where one ends and the next begins is no question.
        [LABEL, part, dialler, acceptor].concat()
    }
}

/// So that no proof means anything in another protocol, or in another version of this one.
const LABEL: &[u8] = b"actix-bully/2 proof ";
