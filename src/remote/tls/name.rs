//! The node whose name a certificate contains.
//!
//! Decided here: a certificate names a node if it has exactly one subject alternative name, and this name is a DNS name
//! and the valid name of a node. Not here: whether the certificate can be trusted, which the handshake has decided
//! before, and which nodes may connect.

use rustls::pki_types::CertificateDer;

use crate::remote::NodeId;

use super::certificate::{CertificateFacts, SubjectName};

/// Largest number of names of a refused certificate that the security log gets.
const TOLD: usize = 4;

/// The reason why a certificate does not name a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// The certificate cannot be read, or its list of names cannot.
    #[error("the certificate, or its list of subject alternative names, is malformed")]
    Malformed,
    /// The certificate has no subject alternative name. The common name does not count.
    #[error("the certificate has no subject alternative name, and its common name does not count")]
    Missing,
    /// The certificate has more than one subject alternative name.
    #[error("the certificate has {count} subject alternative names")]
    Several {
        /// The number of names.
        count: usize,
    },
    /// Its one name is not a DNS name.
    #[error("the subject alternative name of the certificate is not a DNS name")]
    NotDns,
    /// Its one name is a wildcard.
    #[error("the subject alternative name of the certificate is a wildcard")]
    Wildcard,
    /// Its one name breaks the rules for the name of a node.
    #[error("the subject alternative name of the certificate cannot be the name of a node")]
    NotANode,
}

/// Returns the node that a certificate names.
pub(super) fn node_of(certificate: &CertificateDer<'_>) -> Result<NodeId, NameFault> {
    let facts = CertificateFacts::read(certificate).map_err(|_| NameFault::Malformed)?;
    match facts.names.as_slice() {
        [] => Err(NameFault::Missing),
        [SubjectName::Dns(name)] => NodeId::new(name).map_err(|_| NameFault::NotANode),
        [SubjectName::Wildcard(_)] => Err(NameFault::Wildcard),
        [SubjectName::Other] => Err(NameFault::NotDns),
        several => Err(NameFault::Several {
            count: several.len(),
        }),
    }
}

/// Returns the first DNS names of a certificate, wildcards included, for a security log.
pub(super) fn names_of(certificate: &CertificateDer<'_>) -> Vec<String> {
    let names =
        CertificateFacts::read(certificate).map_or_else(|_| Vec::new(), |facts| facts.names);
    let dns_names = names.into_iter().filter_map(|name| match name {
        SubjectName::Dns(name) | SubjectName::Wildcard(name) => Some(name),
        SubjectName::Other => None,
    });
    dns_names.take(TOLD).collect()
}
