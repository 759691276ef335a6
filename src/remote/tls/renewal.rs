//! Renewal of certificates: a handshake uses the files that are on the disk when it begins.
//!
//! Decided here: when files are read again, and that a bridge without new links notices new files too. If the files do
//! not fit together, nothing is changed, and this is reported once. A certificate and its key are two files, so a
//! handshake may find a new certificate beside an old key, or an old certificate beside a new key.

use std::sync::{PoisonError, TryLockError};

use bully_register::pem::{FileStamp, PemSource};
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::supervisor::contain;

use super::{TlsConfig, identity::Sources};

/// The sources of the TLS parts, and the stamps of their files at the last read. A stamp changes when its file changes.
pub(super) struct ReadSources {
    pub(super) sources: Sources,
    stamps: [Option<FileStamp>; 3],
}

impl ReadSources {
    /// Takes the stamps of the files. It is called before the files are read, so that a change during the read is
    /// noticed at the next check.
    pub(super) fn new(sources: Sources) -> Self {
        let stamps = stamps(&sources);
        Self { sources, stamps }
    }

    /// Returns whether the files have changed since the last look. Stores their new stamps.
    fn look(&mut self) -> bool {
        let before = std::mem::replace(&mut self.stamps, stamps(&self.sources));
        before != self.stamps
    }
}

fn stamps(sources: &Sources) -> [Option<FileStamp>; 3] {
    let Sources {
        authorities,
        certificate,
        key,
    } = sources;
    [authorities, certificate, key].map(PemSource::stamp)
}

impl TlsConfig {
    /// Uses the present files if they have changed. Called before each handshake and each hour. The files are read on a
    /// blocking thread, because a disk may be slow.
    pub(super) async fn renew(&self) {
        let config = self.clone();
        // `spawn_blocking` panics if the system has no thread left: the present configuration stays in use.
        let look = contain(|| spawn_blocking(move || config.renew_now()));
        let looked = match look {
            Ok(look) => look.await.map_err(|reason| reason.to_string()),
            Err(reason) => Err(reason),
        };
        if let Err(reason) = looked {
            warn!(node = %self.node(), %reason, "certificates cannot be checked for renewal: the ones in use stay");
        }
    }

    fn renew_now(&self) {
        let mut read = match self.shared.sources.try_lock() {
            Ok(read) => read,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            // Another task looks at the files, or the application reloads them.
            Err(TryLockError::WouldBlock) => return,
        };
        if !read.look() {
            return;
        }
        let node = self.node();
        match self.adopt(&read.sources) {
            Ok(()) => info!(%node, "certificates renewed"),
            Err(reason) => {
                warn!(%node, %reason, "renewed certificates are not used: the ones in use stay");
            }
        }
    }
}
