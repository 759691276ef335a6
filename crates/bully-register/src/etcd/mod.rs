//! A register in etcd, for hosts that have an etcd cluster.
//!
//! ```text
//!   EtcdRegister ── jobs ──▶ server.rs: one endpoint at a time ── session.rs ──▶ message.rs: what is asked and answered
//!                                │ logs in, watches                  │
//!                                └──────────── http.rs ◀─────────────┘ an exchange of bytes
//! ```
//!
//! Decided here: how a cluster is specified, and that the register speaks to its JSON gateway, which every etcd serves
//! on the port of its clients. Not here: the choice of an endpoint (`server.rs`), the operations (`session.rs`), the
//! questions and answers (`message.rs`), the meaning of a failure (`failure.rs`), the bytes (`http.rs`, `endpoint.rs`,
//! `lines.rs`), and the common part of all stores that are reached over a connection (`connection/`).

mod endpoint;
mod failure;
mod http;
mod lines;
mod message;
mod server;
mod session;

use std::{path::PathBuf, sync::Arc};

#[cfg(feature = "tls")]
use super::RegisterTls;
use super::{
    RegisterError, RegisterRefusal,
    calls::{Contradiction, OneOf},
    connection::{self, Listeners, Meaning, StoreSecurity, register_by_thread},
    jobs::Jobs,
};
use endpoint::EtcdEndpoint;
use server::{EtcdCredentials, EtcdServer};

/// Keeps leases in etcd. etcd reports each change, which wakes the agents that wait for a lease.
///
/// The keys begin with `actix-bully/`; the register's user needs the rights to read and write this prefix. A write is a
/// transaction that compares the revision and the value. A read is linearizable, so a member of the cluster without a
/// majority does not answer it. The register uses one endpoint at a time, with a few connections for any number of
/// elections, and moves to the next endpoint when the present endpoint fails. Meanwhile every operation fails at once.
/// An endpoint that does not answer within two seconds counts as failed.
///
/// The register speaks to etcd's JSON gateway; an etcd that was started with `--enable-grpc-gateway=false` is refused
/// as [`RegisterRefusal::Gateway`]. After a change of users or roles the register logs in again by itself, with simple
/// tokens and with JSON web tokens. An etcd that is out of space answers reads and refuses writes as
/// [`RegisterRefusal::Full`]: compact and defragment etcd, then disarm its alarm.
///
/// ```no_run
/// # use bully_register::EtcdRegister;
/// let register = EtcdRegister::builder(["http://etcd-1:2379", "http://etcd-2:2379", "http://etcd-3:2379"])
///     .credentials("jobs", "secret")
///     .open()?;
/// # Ok::<(), bully_register::RegisterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EtcdRegister {
    name: Arc<str>,
    jobs: Jobs,
    told: Listeners,
}

/// Settings of an [`EtcdRegister`].
#[must_use = "a builder does nothing until `open` is called"]
#[derive(Clone, Debug)]
pub struct EtcdBuilder {
    endpoints: Vec<String>,
    credentials: OneOf<EtcdCredentials>,
    security: StoreSecurity,
}

impl EtcdRegister {
    /// Makes the settings of a register with the given members of an etcd cluster: `http://host:port`, or
    /// `https://host:port` with [TLS](EtcdBuilder::tls).
    pub fn builder<I>(endpoints: I) -> EtcdBuilder
    where
        I: IntoIterator<Item: Into<String>>,
    {
        EtcdBuilder {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            credentials: OneOf::none(),
            security: StoreSecurity::Plain,
        }
    }
}

impl EtcdBuilder {
    /// Logs in as that user. Without TLS, everyone who reads the network sees the password.
    pub fn credentials(mut self, user: &str, password: &str) -> Self {
        self.credentials
            .make("credentials", EtcdCredentials::new(user, password));
        self
    }

    /// Like [`credentials`](Self::credentials), from a file with `user:password`, which is read again at each login:
    /// the password may be changed while the process runs. Only the file's owner may be able to read it (`chmod 600`).
    /// Together with `credentials` it is refused when the register opens.
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        let file = EtcdCredentials::File(path.into());
        self.credentials.make("credentials_file", file);
        self
    }

    /// Speaks to the endpoints by TLS. If the cluster requires certificates of its clients (`--client-cert-auth`), the
    /// register needs a certificate; etcd's gateway does not accept it as a login.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: RegisterTls) -> Self {
        self.security = StoreSecurity::Tls(tls);
        self
    }

    /// Returns a register, which begins to connect.
    ///
    /// # Errors
    /// [`RegisterError::Refused`] when an endpoint is wrong, when no endpoint is given, when a file of credentials
    /// cannot be used, or when the settings of TLS are incomplete. An endpoint that cannot be reached causes errors
    /// only later, in operations.
    pub fn open(self) -> Result<EtcdRegister, RegisterError> {
        let refused = |words: String| Meaning::Refused(RegisterRefusal::Other).error(words);
        let endpoints: Result<Vec<EtcdEndpoint>, _> =
            self.endpoints.iter().map(|text| text.parse()).collect();
        let endpoints =
            endpoints.map_err(|wrong: endpoint::EndpointError| refused(wrong.to_string()))?;
        self.check_security(&endpoints)?;
        let hosts: Vec<_> = endpoints.iter().map(EtcdEndpoint::authority).collect();
        let name = format!("etcd {}", hosts.join(",")).into();
        // The file is read here, so that an unusable file is reported now and not by the first operation.
        let credentials = self.check_login()?.cloned();
        let server = EtcdServer::new(endpoints, self.security, credentials);
        let server = server.ok_or_else(|| {
            refused("name an endpoint at least, such as http://127.0.0.1:2379".into())
        })?;
        let (jobs, told) = connection::start("bully-etcd", server)?;
        Ok(EtcdRegister { name, jobs, told })
    }

    /// Reads the file of the credentials once, to check it. Without such a file, there is nothing to check.
    ///
    /// # Errors
    /// Like the errors of [`open`](Self::open).
    #[doc(hidden)]
    pub fn check_credentials(&self) -> Result<(), RegisterError> {
        self.check_login().map(drop)
    }

    fn check_login(&self) -> Result<Option<&EtcdCredentials>, RegisterError> {
        let credentials = self.credentials.get();
        let credentials = credentials.map_err(|Contradiction { first, second }| {
            let words = format!(
                "the calls `{first}(..)` and `{second}(..)` contradict each other: remove one of the two"
            );
            Meaning::Refused(RegisterRefusal::Other).error(words)
        })?;
        credentials.map(EtcdCredentials::login).transpose()?;
        Ok(credentials)
    }

    /// Checks that all endpoints use TLS, or that no endpoint uses TLS.
    fn check_security(&self, endpoints: &[EtcdEndpoint]) -> Result<(), RegisterError> {
        let refused =
            |words: &str| Err(Meaning::Refused(RegisterRefusal::Credentials).error(words));
        match &self.security {
            #[cfg(feature = "tls")]
            StoreSecurity::Tls(tls) => {
                tls.check()?;
                if endpoints.iter().all(EtcdEndpoint::is_secure) {
                    return Ok(());
                }
                refused("with tls(..) every endpoint has to begin with https://")
            }
            StoreSecurity::Plain if endpoints.iter().any(EtcdEndpoint::is_secure) => {
                refused("https:// needs tls(..), of the feature `tls`")
            }
            StoreSecurity::Plain => Ok(()),
        }
    }
}

register_by_thread!(EtcdRegister);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Register as _;

    #[test]
    fn an_invalid_or_half_secured_endpoint_is_refused_before_a_thread_starts() {
        for endpoints in [&[][..], &["https://a:1"], &["http://a:1", "nonsense"]] {
            let refused = EtcdRegister::builder(endpoints.iter().copied()).open();
            assert!(
                matches!(refused, Err(RegisterError::Refused { .. })),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn two_kinds_of_credentials_are_refused_by_both_names() {
        let builder = EtcdRegister::builder(["http://a:1"]).credentials_file("/login");
        let builder = builder.credentials("jobs", "open sesame");
        assert!(builder.check_credentials().is_err());
        let refused = builder.open();
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("`credentials(..)` and `credentials_file(..)`"),
            "{refused}"
        );
    }

    #[test]
    fn a_name_has_the_endpoints_and_no_secret() {
        let builder = EtcdRegister::builder(["http://a.example:1", "http://[::1]"]);
        let builder = builder.credentials("jobs", "open sesame");
        assert!(!format!("{builder:?}").contains("sesame"));
        let register = builder.open().unwrap();
        assert_eq!(register.name(), "etcd a.example:1,[::1]:2379");
    }
}
