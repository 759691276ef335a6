//! Where certificates and keys come from, and how their bytes are read and forgotten.
//!
//! Decided here: how much is read at most, that a damaged key is never quoted, and that our copies
//! of a key are wiped. Not here: whether what was read is any good.

use std::{fmt, fs::File, io::Read, path::PathBuf};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use zeroize::{Zeroize, Zeroizing};

use super::{TlsError, TlsPart};

/// The longest file or text, in bytes: some hundred certificates.
const MAX_LEN: usize = 1024 * 1024;

/// A file that is read again at each reload, or bytes that stay.
#[derive(Clone)]
pub(super) enum Source {
    File(PathBuf),
    Bytes(Zeroizing<Vec<u8>>),
}

impl Source {
    /// All certificates in it, in their order: at least one.
    pub(super) fn certificates(
        &self,
        part: TlsPart,
    ) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let text = self.read(part)?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        // The cause may quote a line, and the key may be in the same file.
        let found = found.map_err(|_| TlsError::Pem { part })?;
        if found.is_empty() {
            return Err(TlsError::Empty { part });
        }
        Ok(found)
    }

    /// The one key in it.
    pub(super) fn key(&self) -> Result<SecretKey, TlsError> {
        let part = TlsPart::Key;
        let text = self.read(part)?;
        let mut keys = Vec::new();
        for key in PrivateKeyDer::pem_slice_iter(&text) {
            // Wrapped at once: an error in the next one drops, and so wipes, those before it.
            keys.push(SecretKey(key.map_err(|_| TlsError::Pem { part })?));
        }
        let count = keys.len();
        match keys.pop() {
            Some(key) if count == 1 => Ok(key),
            Some(_) => Err(TlsError::SeveralKeys { count }),
            None => Err(TlsError::Empty { part }),
        }
    }

    fn read(&self, part: TlsPart) -> Result<Zeroizing<Vec<u8>>, TlsError> {
        let text = match self {
            Self::File(path) => read_file(path).map_err(|source| TlsError::Unreadable {
                part,
                path: path.clone(),
                source,
            })?,
            Self::Bytes(bytes) => bytes.clone(),
        };
        if text.len() > MAX_LEN {
            return Err(TlsError::TooLong { part, max: MAX_LEN });
        }
        Ok(text)
    }
}

/// One byte more than the limit, so that it shows. The buffer has its full size at once: one that
/// grew would leave copies behind.
fn read_file(path: &PathBuf) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(vec![0; MAX_LEN.saturating_add(1)]);
    let mut file = File::open(path)?;
    let mut len = 0;
    while let Some(rest @ [_, ..]) = text.get_mut(len..) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => len = len.saturating_add(read),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    text.truncate(len);
    Ok(text)
}

/// A private key that is wiped when it is dropped.
pub(super) struct SecretKey(PrivateKeyDer<'static>);

impl SecretKey {
    pub(super) const fn der(&self) -> &PrivateKeyDer<'static> {
        &self.0
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// A path is no secret; bytes may be.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => fmt::Debug::fmt(path, f),
            Self::Bytes(_) => f.write_str("bytes"),
        }
    }
}
