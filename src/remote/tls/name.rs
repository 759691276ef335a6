//! Which node a certificate names.
//!
//! Decided here: a certificate names a node if its subject alternative names are one DNS name, that
//! name is a node's, and nothing else stands beside it. Not here: whether the certificate can be
//! trusted, which the handshake has decided before, and which nodes may connect.

use std::net::Ipv6Addr;

use rustls::pki_types::{CertificateDer, DnsName, IpAddr, ServerName};
use webpki::EndEntityCert;

use crate::remote::NodeId;

/// How many names of a refused certificate are told to whoever keeps the security log.
const TOLD: usize = 4;

/// Why a certificate names no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// It cannot be read, or its list of names cannot.
    #[error("it, or its list of subject alternative names, is malformed")]
    Malformed,
    /// It has no subject alternative name. The common name does not count.
    #[error("it has no subject alternative name; the common name does not count")]
    Missing,
    /// It has more than one.
    #[error("it has {count} subject alternative names")]
    Several {
        /// How many.
        count: usize,
    },
    /// Its one name is not a DNS name.
    #[error("its subject alternative name is not a DNS name")]
    NotDns,
    /// Its one name stands for many.
    #[error("its subject alternative name is a wildcard")]
    Wildcard,
    /// Its one name breaks the rules for the name of a node.
    #[error("its subject alternative name cannot be the name of a node")]
    NotANode,
}

/// The node that a certificate names.
pub(super) fn node_of(certificate: &CertificateDer<'_>) -> Result<NodeId, NameFault> {
    let parsed = EndEntityCert::try_from(certificate).map_err(|_| NameFault::Malformed)?;
    only_one(&parsed)?;
    let name = parsed.valid_dns_names().next().ok_or(NameFault::NotDns)?;
    let Ok(reference) = DnsName::try_from(name) else {
        return Err(NameFault::Wildcard);
    };
    let node = NodeId::new(name).map_err(|_| NameFault::NotANode)?;
    // What the list says is read once more by the rules of TLS.
    parsed
        .verify_is_valid_for_subject_name(&ServerName::DnsName(reference))
        .map_err(|_| NameFault::Malformed)?;
    Ok(node)
}

/// Asks for an address that no certificate of ours has: the refusal lists all names there are, of
/// whatever kind.
fn only_one(certificate: &EndEntityCert<'_>) -> Result<(), NameFault> {
    let nowhere = ServerName::IpAddress(IpAddr::from(std::net::IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
    match certificate.verify_is_valid_for_subject_name(&nowhere) {
        Err(webpki::Error::CertNotValidForName(found)) => match found.presented.len() {
            0 => Err(NameFault::Missing),
            1 => Ok(()),
            count => Err(NameFault::Several { count }),
        },
        Ok(()) => Err(NameFault::NotDns),
        Err(_) => Err(NameFault::Malformed),
    }
}

/// The first DNS names of a certificate, wildcards among them, for a security log.
pub(super) fn names_of(certificate: &CertificateDer<'_>) -> Vec<String> {
    EndEntityCert::try_from(certificate).map_or_else(
        |_| Vec::new(),
        |parsed| {
            let names = parsed.valid_dns_names().take(TOLD);
            names.map(str::to_owned).collect()
        },
    )
}
