//! A secret that all nodes of a cluster share: which node connects, where there is no TLS.
//!
//! On loopback plain text is allowed, and any local user may connect to a loopback port: without a
//! secret such a stranger can say that it is any node of the table, and that this node's leader has
//! ended. With one, both ends of every connection prove that they know the secret before anything
//! else is read, and it is never sent.
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
//! # What is proved
//! Both sides draw 32 random bytes for each connection, and send them once HELLO has said which nodes they
//! are. A proof is HMAC-SHA-256, keyed by the secret, of all that was said until then: versions,
//! cluster, both names, both incarnations, both nonces and so the link, both challenges, the limits;
//! and of its prover's part in it, whether it dialled or accepted. The side that dialled proves first. So
//! nothing that was overheard can be used again, a proof cannot be sent back to its maker or be used
//! for another node, and a stranger that can only dial learns nothing to find the secret by. A peer without a
//! secret, or with another one, is refused, counted as `secret`, and told by
//! [`BridgeEvent::Unproven`](super::BridgeEvent::Unproven); leaving the proof out is no way around it.
//!
//! # What is not
//! Nothing is encrypted, and nothing after the handshake carries a proof: a secret says which node is
//! there, not that no third node is between. That is enough where others can connect but cannot alter
//! what crosses: on loopback a local user without privileges can neither read nor change another
//! user's connections. It is not enough
//! - on a network: an attacker that can change packets can change what follows the handshake. Use
//!   TLS (feature `tls`), and call
//!   [`dangerous_plaintext`](super::BridgeBuilder::dangerous_plaintext) only where no other process is;
//! - where a stranger can listen at an address that a node dials while the node that belongs there
//!   can be reached elsewhere, such as `localhost` of which a node listens at one of two addresses:
//!   it can pass the handshake on, and speak itself afterwards. Dial the very address at which the
//!   other node listens.
//!
//! Every node has the same secret, so it says that a node is one of the cluster, not which. A node
//! that has it can use any name of the table.
//!
//! # How to change it
//! Each node accepts two secrets while they are changed, and proves both. Start every node with
//! `new.also_accept(old)`, one after the other; when all have it, start every node with the new one
//! alone. Whatever knows the old secret is a node until then.

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

/// A secret that all nodes of a cluster share. It is wiped when it is dropped, and shown nowhere.
#[derive(Clone)]
pub struct Secret {
    key: Key,
    former: Option<Key>,
}

/// The secret as HMAC takes it: filled up with zeros, or hashed if it is longer.
#[derive(Clone)]
struct Key(Zeroizing<[u8; BLOCK]>);

const BLOCK: usize = 64;

impl Secret {
    /// The shortest secret, in bytes.
    pub const MIN_LEN: usize = 16;
    /// The longest one, in bytes.
    pub const MAX_LEN: usize = 4 * 1024;

    /// A secret of these bytes. Draw them: a process that listens where this node dials can try secrets out on
    /// leisure, and a phrase is guessed.
    ///
    /// # Errors
    /// [`SecretError::TooShort`] or [`SecretError::TooLong`].
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

    /// The secret in a file: all of it but line ends at its end.
    ///
    /// Only its owner may be able to read the file (`chmod 600`); on systems without such
    /// permissions that is not looked at. It is read once, when this is called: a small blocking
    /// read.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, SecretError> {
        let unreadable = |reason| SecretError::Unreadable {
            path: path.as_ref().to_owned(),
            reason,
        };
        let file = File::open(path.as_ref()).map_err(unreadable)?;
        // Asked of the file that is open: its path could lead to another one by now.
        if is_open_to_others(&file).map_err(unreadable)? {
            return Err(SecretError::OpenToOthers {
                path: path.as_ref().to_owned(),
            });
        }
        // All room at once: a buffer that grows leaves copies behind.
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

    /// Accepts, and proves, this other secret as well, while one takes the place of the other. A
    /// secret that `old` itself accepted is not taken over, and a second call replaces the first: two are accepted at most.
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
        // Not from the bridge's own generator, which can be foreseen: a challenge that is known
        // before can be answered by a proof that was recorded.
        getrandom::fill(&mut challenge.0).map_err(io::Error::other)?;
        Ok(challenge)
    }

    fn prove(&self, statement: &[u8]) -> Vec<Proof> {
        let proof = |key: &Key| Proof(key.mac(statement).finalize().into_bytes().into());
        self.keys().map(proof).collect()
    }

    fn accepts(&self, statement: &[u8], proofs: &[Proof]) -> bool {
        // All are looked at, whichever is right; each comparison takes as long as any other.
        self.keys().fold(false, |accepted, key| {
            proofs.iter().fold(accepted, |accepted, proof| {
                key.mac(statement).verify_slice(&proof.0).is_ok() | accepted
            })
        })
    }
}

/// That there is one, and nothing of it.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").finish_non_exhaustive()
    }
}

/// Why a secret is none. Nothing of it is shown.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// It could be guessed.
    #[error(
        "a secret of {len} bytes is too short: {min} are needed; draw one, as `openssl rand -base64 32` does"
    )]
    TooShort {
        /// Its length in bytes.
        len: usize,
        /// The shortest, in bytes.
        min: usize,
    },
    /// It is no secret but some other file.
    #[error("a secret is no longer than {max} bytes: is this the right file?")]
    TooLong {
        /// The longest, in bytes.
        max: usize,
    },
    /// The file cannot be read.
    #[error("cannot read the secret in {path:?}: {reason}")]
    Unreadable {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        reason: io::Error,
    },
    /// Other users may read or change the file.
    #[error(
        "other users can read or change {path:?}: draw another secret, and call `chmod 600` for its file before it is written"
    )]
    OpenToOthers {
        /// The file.
        path: std::path::PathBuf,
    },
}

debug_is_text!(SecretError);

/// The longest secret, line ends, and one byte by which a longer file is known.
const ROOM: usize = Secret::MAX_LEN + 3;
