//! The authorities that TLS trusts, and the register's own certificate.
//!
//! Decided here: a server has to prove its name by a certificate of the given authorities only; no protocol older than
//! TLS 1.3 is used; the files are read again for each new connection.

use std::{io, path::PathBuf, sync::Arc};

use rustls::{ClientConfig, RootCertStore, crypto::ring, version::TLS13};
use tracing::warn;

use super::Meaning;
use crate::{
    RegisterError, RegisterRefusal,
    calls::OneOf,
    pem::{AUTHORITIES, CERTIFICATE, OPEN_KEY, PemError, PemSource},
};

/// TLS between a register and its store: the authorities that the register trusts, and the register's own certificate,
/// if the store asks for one.
///
/// Only TLS 1.3 is spoken, and only to a server whose certificate comes from these authorities and contains the host's
/// name. Files are read again each time the register connects to a server, so that certificates may be renewed while
/// the process runs.
///
/// ```
/// # use bully_register::RegisterTls;
/// let tls = RegisterTls::authorities_file("/etc/jobs/store-ca.pem")
///     .identity_files("/etc/jobs/jobs.pem", "/etc/jobs/jobs.key");
/// ```
#[derive(Clone, Debug)]
#[must_use = "it does nothing until a register is given it"]
pub struct RegisterTls {
    authorities: PemSource,
    identity: OneOf<ClientPair>,
}

#[derive(Clone, Debug)]
struct ClientPair {
    certificate: PemSource,
    key: PemSource,
}

impl RegisterTls {
    /// Trusts servers with a certificate from one of the given authorities, in PEM.
    pub fn authorities_pem(pem: impl Into<Vec<u8>>) -> Self {
        Self::trusting(PemSource::bytes(pem))
    }

    /// Like [`authorities_pem`](Self::authorities_pem), from a file.
    pub fn authorities_file(path: impl Into<PathBuf>) -> Self {
        Self::trusting(PemSource::file(path))
    }

    /// Sets the register's own certificate, with the certificates between it and an authority of the server, and its
    /// key, in PEM. Default: none.
    pub fn identity_pem(self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.proving(
            "identity_pem",
            PemSource::bytes(certificate),
            PemSource::bytes(key),
        )
    }

    /// Like [`identity_pem`](Self::identity_pem), from files. Together with `identity_pem` it is refused when the
    /// register opens.
    pub fn identity_files(self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.proving(
            "identity_files",
            PemSource::file(certificate),
            PemSource::file(key),
        )
    }

    const fn trusting(authorities: PemSource) -> Self {
        Self {
            authorities,
            identity: OneOf::none(),
        }
    }

    fn proving(mut self, call: &'static str, certificate: PemSource, key: PemSource) -> Self {
        let pair = ClientPair { certificate, key };
        self.identity.make(call, pair);
        self
    }

    /// Makes a client from the present content of the files.
    pub(crate) fn client(&self) -> Result<ClientConfig, RegisterError> {
        // This check comes first, because contradicting calls are refused even if the files are good.
        let identity = self.identity.get().map_err(|calls| missing(calls.into()))?;
        let roots = self.roots()?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(unfit)?
            .with_root_certificates(roots);
        let Some(ClientPair { certificate, key }) = identity else {
            return Ok(config.with_no_client_auth());
        };
        let chain = certificate.certificates(CERTIFICATE);
        let (chain, key) = (chain.map_err(missing)?, key.key().map_err(missing)?);
        let proves = config.with_client_auth_cert(chain, key.der().clone_key());
        proves.map_err(|reason| refused(format!("this client's certificate is refused: {reason}")))
    }

    /// Checks the present content of the files, when the register opens.
    pub(crate) fn check(&self) -> Result<(), RegisterError> {
        self.client()?;
        if let Ok(Some(pair)) = self.identity.get()
            && pair.key.is_open_to_all()
        {
            warn!(file = ?pair.key, "{OPEN_KEY}");
        }
        Ok(())
    }

    fn roots(&self) -> Result<RootCertStore, RegisterError> {
        let mut roots = RootCertStore::empty();
        let authorities = self.authorities.certificates(AUTHORITIES);
        for certificate in authorities.map_err(missing)? {
            roots
                .add(certificate)
                .map_err(|reason| refused(format!("an authority is refused: {reason}")))?;
        }
        Ok(roots)
    }
}

fn refused(words: impl Into<String>) -> RegisterError {
    Meaning::Refused(RegisterRefusal::Credentials).error(words)
}

fn missing(reason: PemError) -> RegisterError {
    RegisterError::refused(RegisterRefusal::Credentials, io::Error::other(reason))
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` calls")]
fn unfit(reason: rustls::Error) -> RegisterError {
    refused(reason.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::calls::pairs::{Outcome, idle_setters, setters_of, wrong_pairs};

    #[test]
    fn a_file_without_an_authority_is_refused_in_words() {
        for (pem, words) in [
            (&b""[..], "no certificate authorities"),
            (
                b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "an authority",
            ),
            (
                b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
                "damaged PEM",
            ),
        ] {
            let refused = RegisterTls::authorities_pem(pem).client().unwrap_err();
            let refused = refused.to_string();
            assert!(refused.contains(words), "{refused}");
        }
        let missing = RegisterTls::authorities_file("no/such/file").client();
        let missing = missing.unwrap_err().to_string();
        assert!(missing.contains("no/such/file"), "{missing}");
    }

    type Call = Box<dyn Fn(RegisterTls) -> RegisterTls>;

    fn setters() -> BTreeMap<&'static str, Call> {
        let mut all = BTreeMap::<&str, Call>::new();
        let pem: Call = Box::new(|it| it.identity_pem("1", "2"));
        let files: Call = Box::new(|it| it.identity_files("3", "4"));
        all.extend([("identity_pem", pem), ("identity_files", files)]);
        all
    }

    fn outcome(calls: &[&dyn Fn(RegisterTls) -> RegisterTls]) -> Outcome {
        let start = RegisterTls::authorities_file("no/such/file");
        let built = calls.iter().fold(start, |it, call| call(it));
        match built.client().map_err(|refused| refused.to_string()) {
            Err(refused) if !refused.contains("no/such/file") => Err(refused),
            _ => Ok(format!("{built:?}")),
        }
    }

    #[test]
    fn each_pair_of_calls_means_the_same_in_both_orders_or_is_refused_by_both_names() {
        let listed: Vec<_> = setters().keys().map(|name| (*name).to_owned()).collect();
        assert!(
            setters_of(env!("CARGO_MANIFEST_DIR"), "RegisterTls")
                .into_iter()
                .eq(listed)
        );
        assert_eq!(idle_setters(&setters(), outcome), [""; 0]);
        assert_eq!(wrong_pairs(&setters(), outcome), [""; 0]);
    }

    #[test]
    fn a_key_is_not_shown() {
        let tls = RegisterTls::authorities_pem("ca").identity_pem("certificate", "sesame");
        let shown = format!("{tls:?}");
        assert!(
            !shown.contains("sesame") && !shown.contains("115"),
            "{shown}"
        );
    }
}
