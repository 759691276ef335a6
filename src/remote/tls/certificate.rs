//! The fields of a certificate: its names, its last moment, and whether it belongs to an authority.
//!
//! Decided here: which of its fields count. A parser of certificates reads the fields. Not here: whether the
//! certificate can be trusted; the TLS library decides this.

use rustls::pki_types::{CertificateDer, DnsName, UnixTime};
use x509_cert::{
    Certificate,
    der::Decode,
    ext::pkix::{BasicConstraints, SubjectAltName, name::GeneralName},
};

/// The fields of a certificate that count for a bridge.
#[derive(Debug)]
pub(super) struct CertificateFacts {
    /// Whether the certificate may issue other certificates.
    pub(super) is_authority: bool,
    /// The last moment at which the certificate is valid.
    pub(super) last_moment: UnixTime,
    /// Its subject alternative names of every kind.
    pub(super) names: Vec<SubjectName>,
}

/// A subject alternative name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SubjectName {
    /// A DNS name; no wildcard.
    Dns(String),
    /// A wildcard that stands for DNS names.
    Wildcard(String),
    /// A name of another kind, or a supposed DNS name that is not valid.
    Other,
}

/// A certificate that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

impl CertificateFacts {
    pub(super) fn read(certificate: &CertificateDer<'_>) -> Result<Self, Unreadable> {
        let certificate = Certificate::from_der(certificate).map_err(|_| Unreadable)?;
        let signed = certificate.tbs_certificate();
        let constraints = signed.get_extension::<BasicConstraints>();
        let constraints = constraints.map_err(|_| Unreadable)?;
        let names = signed.get_extension::<SubjectAltName>();
        let names = names.map_err(|_| Unreadable)?;
        let names = names.map(|(_, SubjectAltName(names))| names);
        let last = signed.validity().not_after.to_unix_duration();
        Ok(Self {
            is_authority: constraints.is_some_and(|(_, constraints)| constraints.ca),
            last_moment: UnixTime::since_unix_epoch(last),
            names: names.iter().flatten().map(SubjectName::from).collect(),
        })
    }
}

impl From<&GeneralName> for SubjectName {
    fn from(name: &GeneralName) -> Self {
        let GeneralName::DnsName(name) = name else {
            return Self::Other;
        };
        let (is_wildcard, rest) = match name.as_str().strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, name.as_str()),
        };
        match DnsName::try_from(rest) {
            Ok(_) if is_wildcard => Self::Wildcard(name.to_string()),
            Ok(_) => Self::Dns(name.to_string()),
            Err(_) => Self::Other,
        }
    }
}
