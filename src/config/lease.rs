//! The section `lease`: a lease in a store, instead of voters.
//!
//! Decided here: the keys of the section, which of them select a store, which keys contradict each other, and how the
//! store is opened. With a lease, links to other nodes are optional: they carry messages of applications, and report the
//! end of a process.

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    elections::lease::LeaseConfig,
    register::{FileRegister, Register, RegisterError},
    store::{OpenStore, StoreIdentity},
};

#[cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres")))]
use crate::register::RegisterTls;
#[cfg(feature = "etcd")]
use crate::register::{EtcdBuilder, EtcdRegister};
#[cfg(feature = "kubernetes")]
use crate::register::{KubernetesBuilder, KubernetesRegister};
#[cfg(feature = "postgres")]
use crate::register::{PostgresBuilder, PostgresRegister};

use super::{
    Config, ConfigError, RunError,
    check::contradiction,
    quorum::VOTERS,
    value::{leaf, unset},
};

/// A lease in a store that every node reaches; see [`lease`](crate::agent::AgentBuilder::lease). Set the keys of one
/// store, the same at every node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LeaseSettings {
    /// A folder, for the processes of one host. A missing folder is created.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub folder: Option<PathBuf>,
    /// File with the URL of a PostgreSQL database (feature `postgres`). It is read again at each login. If the URL
    /// contains a password, only the owner of the file may have the right to read it.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub postgres_url_file: Option<PathBuf>,
    /// Schema of the `postgres` database that has the table. Default: `public`.
    #[serde(skip_serializing_if = "unset")]
    pub postgres_schema: Option<String>,
    /// Whether a missing table is created in the `postgres` database. Default: false.
    pub create_table: bool,
    /// Members of an etcd cluster, each as `http://host:port` or `https://host:port` (feature `etcd`).
    #[serde(skip_serializing_if = "unset")]
    pub etcd_endpoints: Vec<String>,
    /// File with a user of etcd and the password: `user:password`. Only the owner of the file may have the right to
    /// read it. It is read again at each login. Default: none, for an etcd that needs no login.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub etcd_login_file: Option<PathBuf>,
    /// Whether the lease is in Kubernetes (feature `kubernetes`): a Lease in the namespace of this pod, accessed with
    /// the account of this pod. Then the key `node` may be missing if the configuration is read from a file or from the
    /// environment; the node gets the name of the pod. Default: false.
    pub kubernetes: bool,
    /// Namespace to use instead of the namespace of the pod, or of the kubeconfig.
    #[serde(skip_serializing_if = "unset")]
    pub kubernetes_namespace: Option<String>,
    /// Kubeconfig to use instead of the account of a pod. Default outside of a pod: the user's kubeconfig.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub kubeconfig_file: Option<PathBuf>,
    /// PEM: the certificates of the authorities whose servers are trusted (feature `tls`). Default: none; then
    /// connections to the store do not use TLS. Required for `https`. This file and the next two are read again at each
    /// connect.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub authorities_file: Option<PathBuf>,
    /// PEM: the certificate by which this node proves its identity to the store, with the certificates between it and
    /// an authority. Default: none, for a store that needs no certificate.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub certificate_file: Option<PathBuf>,
    /// PEM: the private key of the certificate in `certificate_file`.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub key_file: Option<PathBuf>,
}

impl Config {
    /// Returns whether the configuration selects a store for a lease.
    pub(super) fn has_lease(&self) -> bool {
        self.lease_stores().next().is_some()
    }

    /// Returns the names of the lease, with the key of its store, if the configuration selects one.
    pub(super) fn lease(
        &self,
        identity: &StoreIdentity,
    ) -> Result<Option<(&'static str, LeaseConfig)>, ConfigError> {
        let Some(store) = self.check_lease()? else {
            return Ok(None);
        };
        let key = String::from("group");
        let config = LeaseConfig::new(identity.cluster.as_str(), identity.group.as_str())
            .map_err(|reason| ConfigError::Name { key, reason })?;
        Ok(Some((store, config)))
    }

    /// Checks that a key with details of a store (such as a login) is set only with the key that selects this store.
    pub(super) fn check_ways(&self) -> Result<(), ConfigError> {
        let lease = &self.lease;
        let (url, etcd) = (&lease.postgres_url_file, &lease.etcd_endpoints);
        let (namespace, kubeconfig) = (&lease.kubernetes_namespace, &lease.kubeconfig_file);
        let ways: [(_, _, &[_]); 4] = [
            (
                POSTGRES,
                url.is_some(),
                &[
                    ("lease.postgres_schema", lease.postgres_schema.is_some()),
                    ("lease.create_table", lease.create_table),
                ],
            ),
            (
                ETCD,
                !etcd.is_empty(),
                &[("lease.etcd_login_file", lease.etcd_login_file.is_some())],
            ),
            (
                KUBERNETES,
                lease.kubernetes,
                &[
                    ("lease.kubernetes_namespace", namespace.is_some()),
                    ("lease.kubeconfig_file", kubeconfig.is_some()),
                ],
            ),
            (
                OF_TLS,
                self.has_lease(),
                &[
                    (AUTHORITIES, lease.authorities_file.is_some()),
                    (CERTIFICATE, lease.certificate_file.is_some()),
                    (KEY, lease.key_file.is_some()),
                ],
            ),
        ];
        for (store, is_named, keys) in ways {
            if let Some((key, _)) = keys.iter().find(|(_, is_set)| *is_set && !is_named) {
                let advice =
                    "this key is a setting of that store: name the store, or remove the key";
                return Err(contradiction(*key, store, advice));
            }
        }
        Ok(())
    }

    /// Returns the keys of the configuration that select a store. A key has the name of a feature beside it if it needs
    /// a feature that this build lacks.
    fn lease_stores(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        let lease = &self.lease;
        let all = [
            (lease.folder.is_some(), (FOLDER, None)),
            (
                lease.postgres_url_file.is_some(),
                (
                    POSTGRES,
                    (!cfg!(feature = "postgres")).then_some("postgres"),
                ),
            ),
            (
                !lease.etcd_endpoints.is_empty(),
                (ETCD, (!cfg!(feature = "etcd")).then_some("etcd")),
            ),
            (
                lease.kubernetes,
                (
                    KUBERNETES,
                    (!cfg!(feature = "kubernetes")).then_some("kubernetes"),
                ),
            ),
        ];
        all.into_iter()
            .filter_map(|(is_set, store)| is_set.then_some(store))
    }

    /// Returns whether the node takes its name from its Kubernetes pod: its lease is in Kubernetes, and it has no name.
    pub(super) const fn is_called_as_its_pod(&self) -> bool {
        self.lease.kubernetes && self.node.is_empty()
    }

    /// Checks and returns the key of the store.
    fn check_lease(&self) -> Result<Option<&'static str>, ConfigError> {
        let mut stores = self.lease_stores();
        let Some((key, lacking)) = stores.next() else {
            return Ok(None);
        };
        if let Some((other, _)) = stores.next() {
            let advice = "a lease is in one store: remove one of the two";
            return Err(contradiction(key.to_owned(), other, advice));
        }
        if !self.quorum.voters.is_empty() {
            let advice = "either voters elect, or a store gives a lease: remove one of the two";
            return Err(contradiction(key, VOTERS, advice));
        }
        let quorum = &self.quorum;
        let of_voters = [
            (quorum.vote_quorum.is_some(), "quorum.vote_quorum"),
            (quorum.lease_quorum.is_some(), "quorum.lease_quorum"),
            (quorum.store_file.is_some(), "quorum.store_file"),
            (quorum.marks_file.is_some(), "quorum.marks_file"),
            (quorum.store != OpenStore::default(), "quorum.store"),
        ];
        if let Some((_, other)) = of_voters.into_iter().find(|(is_set, _)| *is_set) {
            let advice = "a lease has no voters, which alone keep votes: remove one of the two";
            return Err(contradiction(key, other, advice));
        }
        if let Some(feature) = lacking {
            return Err(ConfigError::NoFeature { key, feature });
        }
        self.check_store_tls(key)?;
        Ok(Some(key))
    }

    /// Checks which files of TLS are set for the store. Allowed are: no file; the authorities only; or the authorities
    /// with a certificate and its key.
    fn check_store_tls(&self, store: &'static str) -> Result<(), ConfigError> {
        let lease = &self.lease;
        let files = [
            (AUTHORITIES, &lease.authorities_file),
            (CERTIFICATE, &lease.certificate_file),
            (KEY, &lease.key_file),
        ];
        let Some((first, _)) = files.iter().find(|(_, file)| file.is_some()) else {
            return Ok(());
        };
        let advice = match store {
            FOLDER => Some("a folder of this host is not reached by TLS: remove one of the two"),
            KUBERNETES => {
                Some("the account of Kubernetes names its authorities: remove one of the two")
            }
            _ => None,
        };
        if let Some(advice) = advice {
            return Err(contradiction((*first).to_owned(), store, advice));
        }
        if cfg!(not(feature = "tls")) {
            let (key, feature) = (*first, "tls");
            return Err(ConfigError::NoFeature { key, feature });
        }
        let has_identity = lease.certificate_file.is_some() || lease.key_file.is_some();
        for (key, file) in files {
            if file.is_none() && (key == AUTHORITIES || has_identity) {
                let advice = "TLS to a store needs the authorities of its servers, and where the store asks for them a certificate and its key: name all their files";
                let key = key.to_owned();
                return Err(ConfigError::Missing { key, advice });
            }
        }
        Ok(())
    }

    /// Returns the file in which the node keeps its last incarnation, if the configuration has such a file: the file of
    /// `memory_file`, or a file beside the records of a lease.
    pub(super) fn memory(&self) -> Option<PathBuf> {
        let beside = || {
            let folder = self.lease.folder.as_ref()?;
            Some(folder.join(format!("{}.node", self.node)))
        };
        self.memory_file.clone().or_else(beside)
    }

    /// Opens the store of the lease, if the configuration names one.
    pub(super) fn register(&self) -> Result<Option<Arc<dyn Register>>, RunError> {
        if let Some(folder) = &self.lease.folder {
            return opened(FOLDER, FileRegister::open(folder));
        }
        #[cfg(feature = "postgres")]
        if let Some(postgres) = self.postgres() {
            return opened(POSTGRES, postgres.open());
        }
        #[cfg(feature = "etcd")]
        if !self.lease.etcd_endpoints.is_empty() {
            return opened(ETCD, self.etcd()?.open());
        }
        #[cfg(feature = "kubernetes")]
        if self.lease.kubernetes {
            return opened(KUBERNETES, self.kubernetes().open());
        }
        Ok(None)
    }

    #[cfg(feature = "postgres")]
    pub(super) fn postgres(&self) -> Option<PostgresBuilder> {
        let url_file = self.lease.postgres_url_file.as_ref()?;
        let mut builder = PostgresRegister::builder_from_file(url_file);
        if let Some(schema) = &self.lease.postgres_schema {
            builder = builder.schema(schema);
        }
        if self.lease.create_table {
            builder = builder.create_table();
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = self.store_tls() {
            builder = builder.tls(tls);
        }
        Some(builder)
    }

    #[cfg(feature = "kubernetes")]
    pub(super) fn kubernetes(&self) -> KubernetesBuilder {
        let mut builder = KubernetesRegister::builder();
        if let Some(path) = &self.lease.kubeconfig_file {
            builder = builder.kubeconfig_file(path);
        }
        if let Some(namespace) = &self.lease.kubernetes_namespace {
            builder = builder.namespace(namespace);
        }
        builder
    }

    #[cfg(feature = "etcd")]
    pub(super) fn etcd(&self) -> Result<EtcdBuilder, RunError> {
        let lease = &self.lease;
        let mut builder = EtcdRegister::builder(&lease.etcd_endpoints);
        if let Some(path) = &lease.etcd_login_file {
            builder = builder.credentials_file(path);
            builder
                .check_credentials()
                .map_err(|reason| RunError::Register {
                    key: ETCD_LOGIN,
                    reason,
                })?;
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = self.store_tls() {
            builder = builder.tls(tls);
        }
        Ok(builder)
    }

    #[cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres")))]
    fn store_tls(&self) -> Option<RegisterTls> {
        let lease = &self.lease;
        let tls = RegisterTls::authorities_file(lease.authorities_file.as_ref()?);
        match (&lease.certificate_file, &lease.key_file) {
            (Some(certificate), Some(key)) => Some(tls.identity_files(certificate, key)),
            _ => Some(tls),
        }
    }
}

fn opened<R: Register + 'static>(
    key: &'static str,
    opened: Result<R, RegisterError>,
) -> Result<Option<Arc<dyn Register>>, RunError> {
    match opened {
        Ok(register) => Ok(Some(Arc::new(register))),
        Err(reason) => Err(RunError::Register { key, reason }),
    }
}

const FOLDER: &str = "lease.folder";
const POSTGRES: &str = "lease.postgres_url_file";
const ETCD: &str = "lease.etcd_endpoints";
const KUBERNETES: &str = "lease.kubernetes";
const OF_TLS: &str = "lease.postgres_url_file, lease.etcd_endpoints";
#[cfg(feature = "etcd")]
const ETCD_LOGIN: &str = "lease.etcd_login_file";
const AUTHORITIES: &str = "lease.authorities_file";
const CERTIFICATE: &str = "lease.certificate_file";
const KEY: &str = "lease.key_file";
