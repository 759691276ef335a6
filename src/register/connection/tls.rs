//! Whom TLS trusts.
//!
//! Decided here: that a server has to prove its name by a certificate of the authorities that were given, and of no
//! others; that no older protocol than TLS 1.3 is spoken; and that a server which cannot prove itself is told from one
//! that is away.

use std::{error::Error, io, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
    version::TLS13,
};

use super::Meaning;
use crate::register::{RegisterError, RegisterRefusal};

/// A client that trusts these authorities, in PEM.
pub(in crate::register) fn trusting(authorities: &[u8]) -> Result<ClientConfig, RegisterError> {
    let refused = |words: String| Meaning::Refused(RegisterRefusal::Credentials).error(words);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authorities) {
        let certificate = certificate.map_err(|_| refused("the authorities are not PEM".into()))?;
        roots
            .add(certificate)
            .map_err(|reason| refused(format!("an authority is refused: {reason}")))?;
    }
    if roots.is_empty() {
        return Err(refused(
            "there is no certificate among the authorities".into(),
        ));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|reason| refused(reason.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Whether TLS itself has refused: a certificate, a version.
pub(in crate::register) fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    let inner = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match inner {
        Some(inner) => is_refusal(inner),
        None => error.source().is_some_and(is_refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_authority_is_refused_in_words() {
        for (pem, words) in [
            (&b""[..], "no certificate"),
            (
                b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "an authority",
            ),
            (
                b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
                "not PEM",
            ),
        ] {
            let refused = trusting(pem).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn a_refusal_is_found_inside_of_what_wraps_it() {
        let refused = || rustls::Error::General("no".into());
        let once = io::Error::other(refused());
        assert!(is_refusal(&io::Error::other(once)));
        assert!(is_refusal(&refused()));
        assert!(!is_refusal(&io::Error::other("away")));
    }
}
