//! Ends of connections that break the rules. They are made by hand, because the public API cannot make them.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme,
    SupportedProtocolVersion,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::ResolvesServerCertUsingSni,
    sign::{CertifiedKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};

use crate::Leaf;

/// The name of the bridge's protocol, as an attacker knows it.
pub const ALPN: &[u8] = b"actix-bully/1";

/// A dialler that trusts every node and shows any certificate.
#[derive(Clone)]
pub struct Dialler {
    pub shows: Option<Leaf>,
    pub protocols: Vec<Vec<u8>>,
    pub version: &'static SupportedProtocolVersion,
}

impl Dialler {
    pub fn showing(leaf: &Leaf) -> Self {
        Self {
            shows: Some(leaf.clone()),
            ..Self::anonymous()
        }
    }

    pub fn anonymous() -> Self {
        Self {
            shows: None,
            protocols: vec![ALPN.to_vec()],
            version: &TLS13,
        }
    }

    pub fn old(leaf: &Leaf) -> Self {
        Self {
            version: &TLS12,
            ..Self::showing(leaf)
        }
    }

    pub fn config(&self) -> ClientConfig {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(TrustsEverybody(Arc::clone(&provider)));
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[self.version])
            .expect("the version is compiled in")
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.shows {
            Some(leaf) => {
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(parse(leaf))))
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = self.protocols.clone();
        config.enable_early_data = true;
        config
    }
}

/// Returns a listener that asks for no certificate and shows any certificate.
pub fn listener(shows: &Leaf, protocols: Vec<Vec<u8>>) -> Arc<ServerConfig> {
    let mut config =
        server_builder().with_cert_resolver(Arc::new(SingleCertAndKey::from(parse(shows))));
    config.alpn_protocols = protocols;
    Arc::new(config)
}

/// Returns a listener that has no certificate to show.
pub fn bare_listener() -> Arc<ServerConfig> {
    Arc::new(server_builder().with_cert_resolver(Arc::new(ResolvesServerCertUsingSni::new())))
}

fn server_builder() -> rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert> {
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .expect("the version is compiled in")
        .with_no_client_auth()
}

/// Parses a certificate and its key. They are not compared, so they may belong to different pairs.
fn parse(leaf: &Leaf) -> CertifiedKey {
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(leaf.certificate.as_bytes()).collect();
    let key = PrivateKeyDer::from_pem_slice(leaf.key.as_bytes()).expect("the key is PEM");
    CertifiedKey::new(
        chain.expect("the certificates are PEM"),
        ring::sign::any_supported_type(&key).expect("the key is supported"),
    )
}

#[derive(Debug)]
struct TrustsEverybody(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustsEverybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
