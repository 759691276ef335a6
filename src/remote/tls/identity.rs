//! The identity that a node shows to others, and the settings by which it checks others. Both are checked once, when
//! they are loaded, and do not change after that.
//!
//! Decided here: whether and until when the own certificate is fit for use, and every setting of the TLS library.
//! Not here: the sources of the parts, and when they are read again.

use std::{sync::Arc, time::Duration};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    client::{Resumption, WebPkiServerVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, UnixTime},
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    sign::{CertifiedKey, SingleCertAndKey},
    version::TLS13,
};
use tracing::warn;
use webpki::{EndEntityCert, KeyUsage};

use crate::remote::NodeId;
use bully_register::pem::{AUTHORITIES, CERTIFICATE, OPEN_KEY, PemError, PemSource, SecretKey};

use super::{ALPN, TlsError, certificate::CertificateFacts, name::node_of};

/// Everything that a handshake needs.
pub(super) struct LoadedIdentity {
    pub(super) node: NodeId,
    /// The earliest expiry in the own chain.
    pub(super) expires: UnixTime,
    pub(super) server: Arc<ServerConfig>,
    pub(super) client: Arc<ClientConfig>,
}

/// The sources of the parts of an identity.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub(super) authorities: PemSource,
    pub(super) certificate: PemSource,
    pub(super) key: PemSource,
}

impl LoadedIdentity {
    /// Reads and checks all parts.
    pub(super) fn load(sources: &Sources) -> Result<Self, TlsError> {
        let authorities = trusted(&sources.authorities.certificates(AUTHORITIES)?)?;
        let chain = sources.certificate.certificates(CERTIFICATE)?;
        let key = sources.key.key()?;
        let provider = Arc::new(ring::default_provider());
        let node = judge(&chain, &authorities, &provider)?;
        let expires = expiry(&chain)?;
        let own = Arc::new(SingleCertAndKey::from(pair(chain, &key)?));
        if sources.key.is_open_to_all() {
            warn!(%node, file = ?sources.key, "{OPEN_KEY}");
        }
        Ok(Self {
            node,
            expires,
            server: server(&provider, &authorities, &own)?,
            client: client(&provider, &authorities, &own)?,
        })
    }
}

/// Returns the trusted authorities: only these certificates, never those of the operating system.
fn trusted(certificates: &[CertificateDer<'static>]) -> Result<Arc<RootCertStore>, TlsError> {
    let mut store = RootCertStore::empty();
    for (index, certificate) in certificates.iter().enumerate() {
        let position = index.saturating_add(1);
        // If the certificate of a node were accepted as the certificate of an authority, this node could issue
        // certificates for any other node.
        if !facts(certificate, AUTHORITIES)?.is_authority {
            return Err(TlsError::NotAnAuthority { position });
        }
        store
            .add(certificate.clone())
            .map_err(|error| unfit(AUTHORITIES, &error))?;
    }
    Ok(Arc::new(store))
}

/// Checks the node's own certificate as every peer will check it, as the certificate of a server and of a client.
/// Returns the node whose name the certificate contains.
fn judge(
    chain: &[CertificateDer<'static>],
    authorities: &RootCertStore,
    provider: &CryptoProvider,
) -> Result<NodeId, TlsError> {
    let (own, intermediates) = chain
        .split_first()
        .ok_or(PemError::Empty { part: CERTIFICATE })?;
    let parsed = EndEntityCert::try_from(own).map_err(|error| unfit(CERTIFICATE, &error))?;
    let algorithms = provider.signature_verification_algorithms.all;
    let now = UnixTime::now();
    for (usage, key_usage) in [
        ("serverAuth", KeyUsage::server_auth()),
        ("clientAuth", KeyUsage::client_auth()),
    ] {
        parsed
            .verify_for_usage(
                algorithms,
                &authorities.roots,
                intermediates,
                now,
                key_usage,
                None,
                None,
            )
            .map_err(|error| refused(&error, usage, now))?;
    }
    node_of(own).map_err(TlsError::Name)
}

fn refused(error: &webpki::Error, usage: &'static str, now: UnixTime) -> TlsError {
    let between = |early: UnixTime, late: UnixTime| {
        Duration::from_secs(late.as_secs().saturating_sub(early.as_secs()))
    };
    if let webpki::Error::CertExpired { not_after, .. } = *error {
        let ago = between(not_after, now);
        return TlsError::Expired { ago };
    }
    if let webpki::Error::CertNotValidYet { not_before, .. } = *error {
        let after = between(now, not_before);
        return TlsError::NotYetValid { after };
    }
    if matches!(
        error,
        webpki::Error::RequiredEkuNotFoundContext(_) | webpki::Error::EmptyEkuExtension
    ) {
        return TlsError::Usage { usage };
    }
    // An authority that has the name of a trusted authority, but another key, is not the trusted authority.
    if matches!(
        error,
        webpki::Error::UnknownIssuer | webpki::Error::InvalidSignatureForPublicKey
    ) {
        return TlsError::UnknownIssuer;
    }
    unfit(CERTIFICATE, error)
}

fn unfit(part: &'static str, error: &impl ToString) -> TlsError {
    let detail = error.to_string();
    TlsError::Certificate { part, detail }
}

/// Returns the earliest expiry in the own chain. The expiry of an authority itself is not checked, here or in a
/// handshake: an authority is trusted for as long as it is listed.
fn expiry(chain: &[CertificateDer<'static>]) -> Result<UnixTime, TlsError> {
    let mut first = UnixTime::since_unix_epoch(Duration::MAX);
    for certificate in chain {
        first = first.min(facts(certificate, CERTIFICATE)?.last_moment);
    }
    Ok(first)
}

fn facts(
    certificate: &CertificateDer<'_>,
    part: &'static str,
) -> Result<CertificateFacts, TlsError> {
    CertificateFacts::read(certificate).map_err(|_| unfit(part, &webpki::Error::BadDer))
}

/// Checks that certificate and key fit. The library's own copy of the key lasts as long as the identity.
fn pair(chain: Vec<CertificateDer<'static>>, key: &SecretKey) -> Result<CertifiedKey, TlsError> {
    let key = ring::sign::any_supported_type(key.der()).map_err(|_| TlsError::Key)?;
    let pair = CertifiedKey::new(chain, key);
    pair.keys_match().map_err(|_| TlsError::KeyMismatch)?;
    Ok(pair)
}

/// The settings below hold even if other crates of the application enable more features of the library.
fn server(
    provider: &Arc<CryptoProvider>,
    authorities: &Arc<RootCertStore>,
    own: &Arc<SingleCertAndKey>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::clone(authorities), Arc::clone(provider))
            .clear_root_hint_subjects() // a stranger learns no name of an authority
            .build()
            .map_err(|_| PemError::Empty { part: AUTHORITIES })?;
    let mut config = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| unusable(&error))?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::<SingleCertAndKey>::clone(own));
    config.alpn_protocols = vec![ALPN.to_vec()];
    // No session is resumed: a ticket would outlive the certificate for which it was given.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    // Early data can be recorded and sent again.
    config.max_early_data_size = 0;
    // Half-RTT data would be sent before the other end has shown its certificate.
    config.send_half_rtt_data = false;
    // Any process that connects could feed a decompressor, before anything is known about it.
    config.cert_compressors = Vec::new();
    config.cert_decompressors = Vec::new();
    Ok(Arc::new(config))
}

fn client(
    provider: &Arc<CryptoProvider>,
    authorities: &Arc<RootCertStore>,
    own: &Arc<SingleCertAndKey>,
) -> Result<Arc<ClientConfig>, TlsError> {
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::clone(authorities), Arc::clone(provider))
            .build()
            .map_err(|_| PemError::Empty { part: AUTHORITIES })?;
    let mut config = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| unusable(&error))?
        .with_webpki_verifier(verifier)
        .with_client_cert_resolver(Arc::<SingleCertAndKey>::clone(own));
    config.alpn_protocols = vec![ALPN.to_vec()];
    // For the reasons that `server` gives: nothing is resumed, sent early or decompressed.
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    config.enable_sni = false; // it would show the node's name to the whole network on the way
    config.cert_compressors = Vec::new();
    config.cert_decompressors = Vec::new();
    Ok(Arc::new(config))
}

fn unusable(error: &rustls::Error) -> TlsError {
    TlsError::Unusable(error.to_string())
}
