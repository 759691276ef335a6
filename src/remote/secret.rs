//! A secret that all nodes of a cluster share: it proves without TLS which node connects.
//!
//! On loopback unencrypted messages are allowed, and any local user may connect to a loopback port. Without a secret
//! such a stranger can use the name of any node of the table, and report that this node's leader has ended. With a
//! secret, both ends of every connection prove that they know the secret before anything else is read. The secret
//! itself is never sent.
//!
//! ```
//! use actix_bully::remote::{RemoteBridge, secret::Secret};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("cluster.secret");
//! # std::fs::write(&file, "l4Ub0e6cyVCH1dN2fOBPYJKWqa8RXMgk\n")?;
//! # #[cfg(unix)]
//! # std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
//! let secret = Secret::read_file(&file)?; // as `openssl rand -base64 32 > FILE` makes it
//! let bridge = RemoteBridge::builder("host-a").secret(secret);
//! # Ok(())
//! # }
//! ```
//!
//! # The proof
//! Both sides generate 32 random bytes for each connection, and send them after HELLO, which contains the names of the
//! nodes. A proof is HMAC-SHA-256, with the secret as the key, over everything that was sent before the proof:
//! versions, cluster, both names, both incarnations, both nonces and so the link, both challenges, the limits; and over
//! the role of the side that proves (it dialled, or it accepted). The side that dialled proves first. So no recorded
//! bytes can be used again, a proof cannot be sent back to its sender or be used for another node, and a stranger that
//! can only dial learns nothing that helps to find the secret. A peer without a secret, or with another secret, is
//! refused and counted as `secret`, and [`BridgeEvent::Refused`](super::BridgeEvent::Refused) reports it. A peer that
//! leaves the proof out is refused as well.
//!
//! # Limits of the proof
//! Nothing is encrypted, and nothing after the handshake contains a proof. The secret proves which node is at the other
//! end, but not that no third node is between the two. This proof is enough if others can connect but cannot change the
//! bytes: on loopback a local user without privileges can neither read nor change another user's connections. The proof
//! is not enough
//!
//! - on a network: an attacker that can change packets can change the bytes after the handshake. Use TLS (feature
//!   `tls`), and call [`dangerous_plaintext`](super::BridgeBuilder::dangerous_plaintext) only where no other
//!   process is;
//! - where a stranger can listen at an address that a node dials, while the right node can be reached elsewhere. An
//!   example is `localhost` with two addresses, of which the node listens at one: the stranger can forward the
//!   handshake, and send its own bytes afterwards. Dial the exact address at which the other node listens.
//!
//! All nodes have the same secret. It proves that a process belongs to the cluster, but not which node the process is:
//! a node that has the secret can use any name of the table.
//!
//! # How to change it
//! During a change each node accepts two secrets, and proves both. Start every node with `new.also_accept(old)`, one
//! after the other. When all nodes run with both secrets, start every node with the new secret alone. Until then a
//! process that knows the old secret is accepted as a node.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use bully_register::password::is_open_to_others;

use super::{Challenge, Credential, Proof};

/// A secret that all nodes of a cluster share. It is wiped from memory when it is dropped, and is never displayed.
#[derive(Clone)]
pub struct Secret {
    key: Key,
    former: Option<Key>,
}

/// The secret in the form that HMAC needs: padded with zeros, or hashed if it is longer.
#[derive(Clone)]
struct Key(Zeroizing<[u8; BLOCK]>);

const BLOCK: usize = 64;

impl Secret {
    /// Shortest secret, in bytes. 128 random bits cannot be found by trying. A phrase can be guessed even if it is
    /// long.
    const MIN_LEN: usize = 16;
    /// Longest secret, in bytes.
    const MAX_LEN: usize = 4 * 1024;

    /// Returns a secret with these bytes. Generate them at random: a process that listens at an address that this node
    /// dials can try any number of secrets, and a phrase can be guessed.
    ///
    /// # Errors
    /// [`SecretError::TooShort`] for less than 16 bytes, [`SecretError::TooLong`] for more than 4 KiB.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, SecretError> {
        let bytes = bytes.as_ref();
        let len = bytes.len();
        if len < Self::MIN_LEN {
            return Err(SecretError::TooShort {
                len,
                min: Self::MIN_LEN,
            });
        }
        if len > Self::MAX_LEN {
            return Err(SecretError::TooLong { max: Self::MAX_LEN });
        }
        let key = Key::new(bytes);
        Ok(Self { key, former: None })
    }

    /// Reads the secret from a file: all bytes except line ends at the end of the file.
    ///
    /// Only the owner of the file may have the right to read it (`chmod 600`). On systems without such permissions this
    /// is not checked. The file is read once, during this call: a small blocking read.
    ///
    /// # Errors
    /// [`SecretError`] if the file cannot be read, can be read or changed by other users, or is too short or too long.
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, SecretError> {
        let unreadable = |reason| SecretError::Unreadable {
            path: path.as_ref().to_owned(),
            reason,
        };
        let file = File::open(path.as_ref()).map_err(unreadable)?;
        // The open file is checked, because its path may lead to another file by now.
        if is_open_to_others(&file).map_err(unreadable)? {
            return Err(SecretError::OpenToOthers {
                path: path.as_ref().to_owned(),
            });
        }
        // The buffer has its full size from the start: a buffer that grows leaves copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(ROOM));
        let most = u64::try_from(ROOM).unwrap_or(u64::MAX);
        file.take(most)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        while bytes.last().is_some_and(is_end) {
            bytes.pop();
        }
        Self::new(&bytes)
    }

    /// Accepts and proves the secret `old` as well, during the change from one secret to the other. If `old` itself
    /// accepts a third secret, that secret is not accepted. A second call replaces the first: at most two secrets are
    /// accepted.
    #[must_use]
    pub fn also_accept(self, old: Self) -> Self {
        Self {
            former: Some(old.key),
            ..self
        }
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        [&self.key].into_iter().chain(&self.former)
    }
}

impl Key {
    fn new(secret: &[u8]) -> Self {
        let mut block = Zeroizing::new([0; BLOCK]);
        let mut hashed = Zeroizing::new([0; 32]);
        let short = if secret.len() > BLOCK {
            hashed.copy_from_slice(&Sha256::digest(secret));
            &hashed[..]
        } else {
            secret
        };
        for (to, from) in block.iter_mut().zip(short) {
            *to = *from;
        }
        Self(block)
    }

    fn mac(&self, statement: &[u8]) -> Hmac<Sha256> {
        let mut block = (*self.0).into();
        let mac = Hmac::<Sha256>::new(&block);
        block.zeroize();
        mac.chain_update(statement)
    }
}

impl Credential for Secret {
    fn challenge(&self) -> io::Result<Challenge> {
        let mut challenge = Challenge([0; 32]);
        // The challenge does not come from the bridge's own generator, which can be predicted: a predicted challenge
        // can be answered with a recorded proof.
        getrandom::fill(&mut challenge.0).map_err(io::Error::other)?;
        Ok(challenge)
    }

    fn prove(&self, statement: &[u8]) -> Vec<Proof> {
        let proof = |key: &Key| Proof(key.mac(statement).finalize().into_bytes().into());
        self.keys().map(proof).collect()
    }

    fn accepts(&self, statement: &[u8], proofs: &[Proof]) -> bool {
        // Every key and proof is compared, even after a match; each comparison takes the same time.
        self.keys().fold(false, |accepted, key| {
            proofs.iter().fold(accepted, |accepted, proof| {
                key.mac(statement).verify_slice(&proof.0).is_ok() | accepted
            })
        })
    }
}

/// Shows only that there is a secret.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").finish_non_exhaustive()
    }
}

/// The reason why a secret is refused. Nothing of the secret is shown.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The secret could be guessed.
    #[error(
        "a secret of {len} bytes is too short, because {min} are needed: make one with `openssl rand -base64 32`"
    )]
    TooShort {
        /// Length of the given secret in bytes.
        len: usize,
        /// The shortest allowed length, in bytes.
        min: usize,
    },
    /// The file is too long, so it is probably not a secret.
    #[error("the secret exceeds the limit of {max} bytes: is this the right file?")]
    TooLong {
        /// The longest allowed length, in bytes.
        max: usize,
    },
    /// The file cannot be read.
    #[error(
        "the secret cannot be read from {path:?}: is the file there, and may this user read it? ({reason})"
    )]
    Unreadable {
        /// The file.
        path: std::path::PathBuf,
        /// The reason.
        #[source]
        reason: io::Error,
    },
    /// Other users may read or change the file.
    #[error(
        "other users can read or change {path:?}: call `chmod 600`, then write a new secret into the file"
    )]
    OpenToOthers {
        /// The file.
        path: std::path::PathBuf,
    },
}

debug_is_text!(SecretError);

/// Number of bytes that are read from a file: the longest secret, a line end, and one byte that shows an excess.
const ROOM: usize = Secret::MAX_LEN + 3;
