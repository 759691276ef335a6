//! The certificates and the key of a node, and the queries about them.
//!
//! Decided here: every existing configuration can be used, and a failed reload changes nothing. Not here: the checks of
//! the parts ([`identity`](super::identity)), and their use by a connection ([`handshake`](super::handshake)).

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use rustls::pki_types::UnixTime;

use crate::remote::NodeId;
use bully_register::{
    calls::OneOf,
    pem::{AUTHORITIES, CERTIFICATE, KEY, PemError, PemSource},
};

use super::{
    TlsError,
    identity::{LoadedIdentity, Sources},
    renewal::ReadSources,
};

/// Certificates, key and authorities for mutual TLS between bridges.
///
/// Made by [`builder`](Self::builder), which checks all parts. A clone is the same configuration: a
/// [`reload`](Self::reload) of one clone changes all clones, for connections that begin after it.
///
/// The node's name is read from its certificate. It must be the name of the bridge's node.
///
/// ```no_run
/// use actix_bully::remote::tls::TlsConfig;
///
/// let tls = TlsConfig::builder()
///     .authorities_file("certificates/ca.pem")
///     .certificate_file("certificates/node-a.pem")
///     .key_file("certificates/node-a.key")
///     .build()?;
/// assert_eq!(tls.node().as_str(), "node-a");
/// # Ok::<(), actix_bully::remote::tls::TlsError>(())
/// ```
#[derive(Clone)]
pub struct TlsConfig {
    pub(super) shared: Arc<SharedConfig>,
}

pub(super) struct SharedConfig {
    node: NodeId,
    /// Locked during a reload, so that two reloads do not overlap.
    pub(super) sources: Mutex<ReadSources>,
    identity: RwLock<Arc<LoadedIdentity>>,
}

impl TlsConfig {
    /// Returns a builder without any part.
    pub fn builder() -> TlsConfigBuilder {
        TlsConfigBuilder::default()
    }

    /// Returns the node whose name the own certificate contains. It never changes.
    pub fn node(&self) -> &NodeId {
        &self.shared.node
    }

    /// Checks that the own certificate belongs to this node.
    ///
    /// # Errors
    /// [`TlsError::OtherNode`] if it contains the name of another node.
    pub fn check_node(&self, node: &NodeId) -> Result<(), TlsError> {
        if self.node() == node {
            return Ok(());
        }
        Err(TlsError::OtherNode {
            found: self.node().clone(),
            node: node.clone(),
        })
    }

    /// Reads all files again, for connections that begin from now on. Existing connections stay. Parts that were given
    /// as bytes do not change.
    ///
    /// A bridge calls this before each handshake and once an hour, if the files have changed. Call it to know at once whether new files
    /// can be used. It reads up to three small files: on a slow disk call it from a blocking task.
    ///
    /// # Errors
    /// The errors of [`TlsConfigBuilder::build`], and [`TlsError::OtherNode`] if the new certificate contains the name
    /// of another node. Then nothing is changed.
    pub fn reload(&self) -> Result<(), TlsError> {
        let mut read = self.sources();
        *read = ReadSources::new(read.sources.clone());
        self.adopt(&read.sources)
    }

    /// Uses other files or bytes from now on; in all other respects works like [`reload`](Self::reload).
    ///
    /// # Errors
    /// The errors of [`reload`](Self::reload). Then nothing is changed.
    pub fn replace(&self, by: TlsConfigBuilder) -> Result<(), TlsError> {
        let new = ReadSources::new(by.sources()?);
        let mut read = self.sources();
        // The new sources are stored only after the check, because a later reload must not read sources that were
        // refused.
        self.adopt(&new.sources)?;
        *read = new;
        Ok(())
    }

    /// Returns the time at which the node's own certificate or one of its intermediate certificates expires, whichever
    /// is earliest.
    ///
    /// From this time on handshakes fail in both directions. Existing links stay.
    pub fn expires_at(&self) -> SystemTime {
        let end = Duration::from_secs(self.identity().expires.as_secs());
        // A date that is too late for the system's clock becomes the latest representable date.
        let latest = Duration::from_secs(i64::MAX.unsigned_abs() >> 1);
        SystemTime::UNIX_EPOCH
            .checked_add(end)
            .or_else(|| SystemTime::UNIX_EPOCH.checked_add(latest))
            .unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Returns whether the own certificate expires within this time, or has expired. Seven days is a good time for a
    /// warning.
    pub fn expires_within(&self, time: Duration) -> bool {
        let now = UnixTime::now().as_secs();
        self.identity().expires.as_secs() <= now.saturating_add(time.as_secs())
    }

    pub(super) fn identity(&self) -> Arc<LoadedIdentity> {
        let identity = self.shared.identity.read();
        // A handshake keeps the identity with which it began, and holds no lock, so a reload waits for no
        // connection.
        Arc::clone(&identity.unwrap_or_else(PoisonError::into_inner))
    }

    fn sources(&self) -> std::sync::MutexGuard<'_, ReadSources> {
        let sources = self.shared.sources.lock();
        sources.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn adopt(&self, sources: &Sources) -> Result<(), TlsError> {
        let new = LoadedIdentity::load(sources)?;
        // At the start the name of the bridge was compared with the certificate's name, and peers know the bridge by
        // this name.
        if new.node != self.shared.node {
            return Err(TlsError::OtherNode {
                found: new.node,
                node: self.node().clone(),
            });
        }
        let identity = self.shared.identity.write();
        *identity.unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(())
    }
}

/// Shows the node whose name the certificate contains, and nothing of the keys.
impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConfig")
            .field("node", self.node())
            .finish_non_exhaustive()
    }
}

/// The parts of a [`TlsConfig`]. All three are required, each either as a file or as bytes. A part that is given as a
/// file and as bytes is refused.
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct TlsConfigBuilder {
    authorities: OneOf<PemSource>,
    certificate: OneOf<PemSource>,
    key: OneOf<PemSource>,
}

impl TlsConfigBuilder {
    /// Sets a PEM file with the certificates of your own authorities. Each holder of a certificate from one of them is
    /// a node. The authorities of the operating system are not used.
    pub fn authorities_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.authorities
            .make("authorities_file", PemSource::file(path));
        self
    }

    /// Sets the authorities as PEM bytes.
    pub fn authorities_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities
            .make("authorities_pem", PemSource::bytes(pem));
        self
    }

    /// Sets a PEM file with the node's own certificate first, and then all intermediate certificates, without the
    /// certificate of the authority.
    pub fn certificate_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.certificate
            .make("certificate_file", PemSource::file(path));
        self
    }

    /// Sets the own certificate and the intermediate certificates as PEM bytes.
    pub fn certificate_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificate
            .make("certificate_pem", PemSource::bytes(pem));
        self
    }

    /// Sets a PEM file with the private key of the own certificate, without a password: PKCS #8, SEC 1 or PKCS #1. The
    /// log has a warning if every user of the host may read the file (`chmod 600`).
    pub fn key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.key.make("key_file", PemSource::file(path));
        self
    }

    /// Sets the private key as PEM bytes. They are wiped when the configuration is dropped.
    pub fn key_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.key.make("key_pem", PemSource::bytes(pem));
        self
    }

    /// Reads and checks all parts.
    ///
    /// # Errors
    /// [`TlsError`] contains the part that is missing, unreadable, expired, not valid yet, or does not fit the other
    /// parts, with advice.
    pub fn build(self) -> Result<TlsConfig, TlsError> {
        let read = ReadSources::new(self.sources()?);
        let identity = LoadedIdentity::load(&read.sources)?;
        Ok(TlsConfig {
            shared: Arc::new(SharedConfig {
                node: identity.node.clone(),
                sources: Mutex::new(read),
                identity: RwLock::new(Arc::new(identity)),
            }),
        })
    }

    fn sources(self) -> Result<Sources, TlsError> {
        // Two sources for one part are reported before a missing part.
        let authorities = self.authorities.get().map_err(PemError::from)?;
        let certificate = self.certificate.get().map_err(PemError::from)?;
        let key = self.key.get().map_err(PemError::from)?;
        let given =
            |source: Option<&PemSource>, part| source.cloned().ok_or(TlsError::NotGiven { part });
        Ok(Sources {
            authorities: given(authorities, AUTHORITIES)?,
            certificate: given(certificate, CERTIFICATE)?,
            key: given(key, KEY)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use bully_register::calls::pairs::{Outcome, idle_setters, setters_of, wrong_pairs};

    type Call = Box<dyn Fn(TlsConfigBuilder) -> TlsConfigBuilder>;

    fn setters() -> BTreeMap<&'static str, Call> {
        let mut all = BTreeMap::<&str, Call>::new();
        let mut add = |name, call: fn(TlsConfigBuilder) -> TlsConfigBuilder| {
            all.insert(name, Box::new(call));
        };
        add("authorities_file", |it| it.authorities_file("1"));
        add("authorities_pem", |it| it.authorities_pem("2"));
        add("certificate_file", |it| it.certificate_file("3"));
        add("certificate_pem", |it| it.certificate_pem("4"));
        add("key_file", |it| it.key_file("5"));
        add("key_pem", |it| it.key_pem("6"));
        all
    }

    /// The given source of each part. A missing part is not an error here: a pair of calls gives two of three.
    fn outcome(calls: &[&dyn Fn(TlsConfigBuilder) -> TlsConfigBuilder]) -> Outcome {
        let built = calls.iter().fold(TlsConfig::builder(), |it, call| call(it));
        match built.clone().sources() {
            Err(TlsError::NotGiven { .. }) => Ok(format!("{built:?}")),
            Err(refused) => Err(refused.to_string()),
            Ok(_) => unreachable!("two calls give no three parts"),
        }
    }

    #[test]
    fn each_setter_of_the_source_is_in_the_list() {
        let listed: Vec<_> = setters().keys().map(|name| (*name).to_owned()).collect();
        assert!(
            setters_of(env!("CARGO_MANIFEST_DIR"), "TlsConfigBuilder")
                .into_iter()
                .eq(listed)
        );
        assert_eq!(idle_setters(&setters(), outcome), [""; 0]);
    }

    #[test]
    fn each_pair_of_calls_means_the_same_in_both_orders_or_is_refused_by_both_names() {
        assert_eq!(wrong_pairs(&setters(), outcome), [""; 0]);
        let twice = TlsConfig::builder().key_pem("1").key_file("2").build();
        let (first, second) = ("key_file", "key_pem");
        assert!(
            matches!(&twice, Err(TlsError::Pem(PemError::Contradiction { first: one, second: two })) if (*one, *two) == (first, second)),
            "{twice:?}"
        );
    }
}
