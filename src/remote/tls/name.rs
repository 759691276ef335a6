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

/// Returns the node that a certificate names.
///
/// # Errors
/// The reason why the certificate names no node, in words.
pub(super) fn node_of(certificate: &CertificateDer<'_>) -> Result<NodeId, String> {
    let facts = CertificateFacts::read(certificate)
        .map_err(|_| "the certificate, or its list of subject alternative names, is malformed")?;
    let fault = match facts.names.as_slice() {
        [] => "the certificate has no subject alternative name, and its common name does not count",
        [SubjectName::Dns(name)] => match NodeId::new(name) {
            Ok(node) => return Ok(node),
            Err(_) => {
                "the subject alternative name of the certificate cannot be the name of a node"
            }
        },
        [SubjectName::Wildcard(_)] => {
            "the subject alternative name of the certificate is a wildcard"
        }
        [SubjectName::Other] => "the subject alternative name of the certificate is not a DNS name",
        several => {
            let count = several.len();
            return Err(format!(
                "the certificate has {count} subject alternative names"
            ));
        }
    };
    Err(fault.to_owned())
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
