//! Authorities and certificates, both right and wrong.

use std::{fs, path::Path};

use actix_bully::remote::tls::{TlsConfig, TlsConfigBuilder, TlsError};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use time::{Duration, OffsetDateTime};

/// An authority that issues certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The certificate of the authority, as PEM.
    pub pem: String,
    /// The certificates between the authority and the root, as PEM.
    between: String,
}

/// A certificate with its key, as PEM.
#[derive(Clone)]
pub struct Leaf {
    /// The certificate, and after it the intermediate certificates, as PEM.
    pub certificate: String,
    /// The private key, as PEM.
    pub key: String,
}

impl Authority {
    /// Creates a root authority.
    pub fn new(name: &str) -> Self {
        let (params, key) = (authority_params(name), new_key());
        let pem = params
            .self_signed(&key)
            .expect("an authority can be made")
            .pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
            between: String::new(),
        }
    }

    /// Creates an authority below this authority.
    pub fn intermediate(&self, name: &str) -> Self {
        self.below(authority_params(name))
    }

    /// Creates a node that abuses its own certificate as the certificate of an authority.
    pub fn from_leaf(&self, node: &str) -> Self {
        self.below(leaf_params(node))
    }

    fn below(&self, params: CertificateParams) -> Self {
        let key = new_key();
        let own = params.signed_by(&key, &self.issuer);
        let pem = own.expect("a certificate can be made").pem();
        Self {
            issuer: Issuer::new(params, key),
            between: pem.clone() + &self.between,
            pem,
        }
    }

    /// Issues a good certificate for a node.
    pub fn node(&self, node: &str) -> Leaf {
        self.issue(leaf_params(node))
    }

    /// Issues a certificate with a change.
    pub fn odd(&self, node: &str, change: impl FnOnce(&mut CertificateParams)) -> Leaf {
        let mut params = leaf_params(node);
        change(&mut params);
        self.issue(params)
    }

    /// Returns the configuration of a node with a good certificate.
    pub fn config(&self, node: &str) -> TlsConfig {
        self.builder(&self.node(node))
            .build()
            .expect("a good configuration is accepted")
    }

    /// Returns a configuration with this certificate, which trusts this authority.
    pub fn builder(&self, leaf: &Leaf) -> TlsConfigBuilder {
        TlsConfig::builder()
            .authorities_pem(self.pem.as_str())
            .certificate_pem(leaf.certificate.as_str())
            .key_pem(leaf.key.as_str())
    }

    /// Writes this authority, a certificate and its key into a folder. Each new file is renamed into its place, as an
    /// agent that renews certificates does.
    pub fn put(&self, folder: &Path, leaf: &Leaf) {
        for (name, pem) in [
            ("ca.pem", &self.pem),
            ("own.pem", &leaf.certificate),
            ("own.key", &leaf.key),
        ] {
            fs::write(folder.join("next"), pem).expect("written");
            fs::rename(folder.join("next"), folder.join(name)).expect("renamed");
        }
    }

    /// Writes the files of a node. Returns the configuration of a node that reads these files.
    pub fn files(&self, folder: &Path, leaf: &Leaf) -> TlsConfig {
        self.put(folder, leaf);
        let config = TlsConfig::builder().authorities_file(folder.join("ca.pem"));
        let config = config.certificate_file(folder.join("own.pem"));
        let config = config.key_file(folder.join("own.key"));
        config.build().expect("good files")
    }

    /// Returns the reason why a configuration with this certificate is refused.
    pub fn refusal(&self, leaf: &Leaf) -> TlsError {
        self.builder(leaf)
            .build()
            .expect_err("a bad configuration is refused")
    }

    fn issue(&self, params: CertificateParams) -> Leaf {
        let key = new_key();
        let own = params
            .signed_by(&key, &self.issuer)
            .expect("a certificate can be made");
        Leaf {
            certificate: own.pem() + &self.between,
            key: key.serialize_pem(),
        }
    }
}

/// Creates a certificate that only its own key has signed.
pub fn self_signed(node: &str) -> Leaf {
    let key = new_key();
    let own = leaf_params(node)
        .self_signed(&key)
        .expect("a certificate can be made");
    Leaf {
        certificate: own.pem(),
        key: key.serialize_pem(),
    }
}

/// Returns a subject alternative name of the type DNS. The name may break the rules of DNS.
pub fn dns(name: &str) -> SanType {
    SanType::DnsName(name.to_owned().try_into().expect("the name is ASCII"))
}

/// Sets the first and the last day of a certificate's validity, in days from now.
pub fn valid(params: &mut CertificateParams, from: i64, until: i64) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now + Duration::days(from);
    params.not_after = now + Duration::days(until);
}

fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = called(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    valid(&mut params, -1, 30);
    params
}

fn leaf_params(node: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = called(node);
    params.subject_alt_names = vec![dns(node)];
    params.is_ca = IsCa::ExplicitNoCa;
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    valid(&mut params, -1, 30);
    params
}

fn called(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("there is randomness")
}
