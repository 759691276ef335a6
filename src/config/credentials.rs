//! The credentials of a node, read from the files that the configuration names.
//!
//! Decided here: which key an error names if a file is unusable. Not here: the form of a secret or a certificate
//! ([`remote::secret`](crate::remote), `remote::tls`), and the rule that a node has either a secret or certificates
//! (`check.rs`).

use crate::remote::BridgeBuilder;

use super::{Config, RunError};

/// The credentials by which a node proves its identity, read from files.
pub(super) struct Credentials {
    #[cfg(feature = "secret")]
    pub(super) secret: Option<crate::remote::secret::Secret>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<crate::remote::tls::TlsConfig>,
}

impl Credentials {
    #[cfg_attr(
        not(any(feature = "secret", feature = "tls")),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            reason = "there is nothing to read"
        )
    )]
    pub(super) fn read(config: &Config) -> Result<Self, RunError> {
        Ok(Self {
            #[cfg(feature = "secret")]
            secret: read_secret(config)?,
            #[cfg(feature = "tls")]
            tls: read_tls(config)?,
        })
    }

    #[cfg_attr(
        not(any(feature = "secret", feature = "tls")),
        expect(clippy::unused_self, reason = "there is nothing to give")
    )]
    pub(super) fn give(self, bridge: BridgeBuilder) -> BridgeBuilder {
        #[cfg(feature = "secret")]
        let bridge = match self.secret {
            Some(secret) => bridge.secret(secret),
            None => bridge,
        };
        #[cfg(feature = "tls")]
        let bridge = match self.tls {
            Some(tls) => bridge.tls(tls),
            None => bridge,
        };
        bridge
    }
}

#[cfg(feature = "secret")]
fn read_secret(config: &Config) -> Result<Option<crate::remote::secret::Secret>, RunError> {
    use crate::remote::secret::Secret;
    let read = |key, path: &std::path::PathBuf| {
        Secret::read_file(path).map_err(|reason| RunError::Secret { key, reason })
    };
    let Some(path) = &config.secret_file else {
        return Ok(None);
    };
    let secret = read("secret_file", path)?;
    match &config.former_secret_file {
        Some(path) => Ok(Some(secret.also_accept(read("former_secret_file", path)?))),
        None => Ok(Some(secret)),
    }
}

#[cfg(feature = "tls")]
fn read_tls(config: &Config) -> Result<Option<crate::remote::tls::TlsConfig>, RunError> {
    use crate::remote::tls::TlsConfig;
    let tls = &config.tls;
    let files = (&tls.authorities_file, &tls.certificate_file, &tls.key_file);
    let (Some(authorities), Some(certificate), Some(key)) = files else {
        return Ok(None);
    };
    let built = TlsConfig::builder()
        .authorities_file(authorities)
        .certificate_file(certificate)
        .key_file(key)
        .build();
    built.map(Some).map_err(|reason| RunError::Tls { reason })
}
