//! The sources of certificates and keys; how their bytes are read, and wiped from memory.
//!
//! Decided here: the largest size of a file or text; no error quotes a damaged key; this crate's copies of a key are
//! wiped; and which users of the host may read the file of a key without a warning. Not here: the checks of the certificates and keys, which the bridge and the stores make.

#[cfg(test)]
mod tests;

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use zeroize::Zeroizing;

use crate::calls::Contradiction;

/// Length of the longest file or text, in bytes: some hundred certificates.
const MAX_LEN: usize = 1024 * 1024;

/// The certificates of the authorities that are trusted, as an error names them.
pub const AUTHORITIES: &str = "certificate authorities";
/// The own certificate, with the certificates between it and an authority, as an error names it.
pub const CERTIFICATE: &str = "own certificate";
/// The key of the own certificate, as an error names it.
pub const KEY: &str = "private key";
/// The warning for a file that is [open to all](PemSource::is_open_to_all).
pub const OPEN_KEY: &str =
    "other users can read or change the private key: call `chmod 600`, then use a new key";

/// The reason why no certificate, or no key, was found.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PemError {
    /// A file cannot be read.
    #[error(
        "the {part} cannot be read from {path:?}: is the file there, and may this user read it? ({source})"
    )]
    Unreadable {
        /// The part of TLS that the file should hold.
        part: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// A file or text exceeds the limit.
    #[error("the {part} is longer than the limit of {max} bytes: is it the right file?")]
    TooLong {
        /// The part of TLS that the text should hold.
        part: &'static str,
        /// The limit in bytes.
        max: usize,
    },
    /// The text is not PEM. The error does not repeat it, because it may hold a key.
    #[error("the {part} is damaged PEM: it needs its BEGIN and END lines, and base64 between them")]
    Damaged {
        /// The part of TLS that the text should hold.
        part: &'static str,
    },
    /// The text does not contain this part.
    #[error(
        "the PEM has no {part}: give another file or text; a key protected by a password has to be decrypted first"
    )]
    Empty {
        /// The part of TLS that the text should hold.
        part: &'static str,
    },
    /// There is more than one key, so it is not clear which one to use.
    #[error("the PEM has {count} private keys: keep only the key of the certificate")]
    SeveralKeys {
        /// Number of keys.
        count: usize,
    },
    /// Two calls set the same part, one of them by a file and the other by bytes.
    #[error(
        "the calls `{first}(..)` and `{second}(..)` contradict each other: remove one of the two"
    )]
    Contradiction {
        /// The name of one call.
        first: &'static str,
        /// The name of the other call.
        second: &'static str,
    },
}

debug_is_text!(PemError);

impl From<Contradiction> for PemError {
    fn from(Contradiction { first, second }: Contradiction) -> Self {
        Self::Contradiction { first, second }
    }
}

/// The source of a part of TLS: a file that is read at each use, or bytes in memory.
#[derive(Clone)]
pub enum PemSource {
    /// The file of this path.
    File(PathBuf),
    /// The contained bytes.
    Bytes(Zeroizing<Vec<u8>>),
}

impl PemSource {
    /// Makes a source from a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::File(path.into())
    }

    /// Makes a source from bytes. The bytes are wiped when the source is dropped.
    pub fn bytes(pem: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(Zeroizing::new(pem.into()))
    }

    /// Returns all certificates of the source, in their order: at least one. An error names them as this `part`.
    ///
    /// # Errors
    /// [`PemError`], which never quotes the text.
    pub fn certificates(
        &self,
        part: &'static str,
    ) -> Result<Vec<CertificateDer<'static>>, PemError> {
        let text = self.read(part)?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        // The cause is dropped: it may quote a line, and the private key may be in the same file.
        let found = found.map_err(|_| PemError::Damaged { part })?;
        if found.is_empty() {
            return Err(PemError::Empty { part });
        }
        Ok(found)
    }

    /// Returns the only key of the source.
    ///
    /// # Errors
    /// [`PemError`], which never quotes the text.
    pub fn key(&self) -> Result<SecretKey, PemError> {
        let part = KEY;
        let text = self.read(part)?;
        let mut keys = Vec::new();
        for key in PrivateKeyDer::pem_slice_iter(&text) {
            // Each key is wrapped at once in a type that wipes it: if the next key is wrong, the keys before it are
            // dropped, and so wiped.
            let key = key.map_err(|_| PemError::Damaged { part })?;
            keys.push(SecretKey(Zeroizing::new(key)));
        }
        let count = keys.len();
        match keys.pop() {
            Some(key) if count == 1 => Ok(key),
            Some(_) => Err(PemError::SeveralKeys { count }),
            None => Err(PemError::Empty { part }),
        }
    }

    /// Returns a stamp that changes when the file is replaced or changed; `None` for bytes, or if the file is missing.
    pub fn stamp(&self) -> Option<FileStamp> {
        let Self::File(path) = self else {
            return None;
        };
        let file = path.metadata().ok()?;
        Some(FileStamp {
            modified: file.modified().ok(),
            len: file.len(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(&file),
        })
    }

    /// Returns whether every user of the host may read the key in this file, or users other than the owner may change
    /// the file. Such a file is a reason for a warning ([`OPEN_KEY`]), but not an error: a volume of Kubernetes, for
    /// instance, has files that everyone in the container may read.
    #[must_use]
    pub fn is_open_to_all(&self) -> bool {
        matches!(self, Self::File(path) if is_open_to_all(path))
    }

    fn read(&self, part: &'static str) -> Result<Zeroizing<Vec<u8>>, PemError> {
        let text = match self {
            Self::File(path) => read_file(path).map_err(|source| PemError::Unreadable {
                part,
                path: path.clone(),
                source,
            })?,
            Self::Bytes(bytes) => bytes.clone(),
        };
        if text.len() > MAX_LEN {
            return Err(PemError::TooLong { part, max: MAX_LEN });
        }
        Ok(text)
    }
}

/// Returns whether users that belong neither to the owner nor to the group of a file may read or change it, or whether the
/// group may change it. A group that may read a key is the usual way to give the key to a service.
#[cfg(unix)]
fn is_open_to_all(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().map(|file| file.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o026 != 0)
}

/// Returns `false`, because this system has no such permissions.
#[cfg(not(unix))]
fn is_open_to_all(_: &Path) -> bool {
    false
}

/// See [`PemSource::stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    modified: Option<SystemTime>,
    len: u64,
    /// Compared as well, because a file that is renamed into place may have the same age and length as the file before.
    #[cfg(unix)]
    inode: u64,
}

/// Reads one byte more than the limit, to detect a file that exceeds it. The buffer has its full size from the start: a
/// growing buffer would leave copies of a key in memory.
fn read_file(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(vec![0; MAX_LEN.saturating_add(1)]);
    let mut file = File::open(path)?;
    let mut len = 0;
    while let Some(rest @ [_, ..]) = text.get_mut(len..) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => len = len.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    text.truncate(len);
    Ok(text)
}

/// A private key that is wiped when it is dropped.
pub struct SecretKey(Zeroizing<PrivateKeyDer<'static>>);

impl SecretKey {
    /// Returns the key in DER.
    pub fn der(&self) -> &PrivateKeyDer<'static> {
        &self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Shows a path, which is not a secret, but not the bytes, which may contain a key.
impl fmt::Debug for PemSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => fmt::Debug::fmt(path, f),
            Self::Bytes(_) => f.write_str("bytes"),
        }
    }
}
