//! The reasons why a configuration of TLS is refused, before anything listens.

use std::time::Duration;

use crate::remote::NodeId;
use bully_register::pem::PemError;

/// The reason why a configuration of TLS is refused. After a failed reload the old configuration is still in use.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A part was not given.
    #[error("no {part} given: name a PEM file, or give PEM bytes")]
    NotGiven {
        /// The part.
        part: &'static str,
    },
    /// A part was given, but cannot be read.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The key is of a kind that is not supported.
    #[error(
        "the private key is not supported: use ECDSA P-256 or P-384, Ed25519, or RSA from 2048 bits"
    )]
    Key,
    /// The key belongs to another certificate.
    #[error(
        "the private key does not fit this node's certificate: give the key of that certificate"
    )]
    KeyMismatch,
    /// A certificate is not X.509 version 3, or uses an extension or an algorithm that is not supported.
    #[error(
        "the {part} cannot be used: issue a certificate of X.509 version 3 without unusual extensions ({detail})"
    )]
    Certificate {
        /// The part that contains the certificate.
        part: &'static str,
        /// The fault of the certificate, for people. The words may change.
        detail: String,
    },
    /// A certificate was given as the certificate of an authority, but may not issue certificates.
    #[error(
        "certificate {position} of the certificate authorities is not the certificate of an authority: give the authority that issued the nodes' certificates"
    )]
    NotAnAuthority {
        /// Position of the certificate in the PEM, from 1.
        position: usize,
    },
    /// The own certificate, or a certificate between it and the authority, has expired.
    #[error(
        "this node's certificate, or its issuer, expired {ago:?} ago: issue a new one, or set the clock"
    )]
    Expired {
        /// Time since the expiry.
        ago: Duration,
    },
    /// The own certificate, or a certificate between it and the authority, is not valid yet.
    #[error(
        "this node's certificate, or its issuer, becomes valid in {after:?}: is the clock right?"
    )]
    NotYetValid {
        /// Time until the certificate is valid.
        after: Duration,
    },
    /// No authority that this side trusts has issued the own certificate.
    #[error(
        "this node's certificate was not issued by any of the certificate authorities: add its authority to the list of authorities, and put all intermediate certificates behind this certificate"
    )]
    UnknownIssuer,
    /// The own certificate does not allow both ends of a connection.
    #[error(
        "this node's certificate does not allow {usage}: issue it with both serverAuth and clientAuth, or without extended key usages"
    )]
    Usage {
        /// The missing extended key usage: `serverAuth` to listen, `clientAuth` to dial.
        usage: &'static str,
    },
    /// The own certificate does not contain the name of exactly one node.
    #[error(
        "this node's certificate does not name a node, because {0}: issue it with the node's name as its one subject alternative name, of the kind DNS"
    )]
    Name(String),
    /// The own certificate contains the name of another node.
    #[error(
        "the certificate is that of node {found}, but this node is {node}: give the certificate of {node}, or rename this node to {found}"
    )]
    OtherNode {
        /// The node whose name the certificate contains.
        found: NodeId,
        /// The node whose name the certificate should contain.
        node: NodeId,
    },
    /// The TLS library refuses the configuration.
    #[error(
        "the TLS library refuses these certificates and this key: issue other certificates ({0})"
    )]
    Unusable(String),
}

debug_is_text!(TlsError);
