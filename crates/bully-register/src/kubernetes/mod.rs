//! A register in Kubernetes: each entry is a Lease.
//!
//! ```text
//!   KubernetesRegister ── jobs ──▶ server.rs: a client for each connect ── session.rs ──▶ lease.rs: an entry as a Lease
//!                                      │ account.rs: which server, as whom      │
//!                                      └── watch.rs: changes                    └──▶ failure.rs: the meaning of errors
//!   service.rs: a Service that leads to the leader
//! ```
//!
//! Decided here: the register's settings. Not here: the parts in the picture, and the names of objects (`name.rs`).

mod account;
mod busy;
mod failure;
mod lease;
mod name;
mod server;
mod service;
mod session;
mod watch;

use std::{path::PathBuf, sync::Arc};

use super::{
    RegisterError,
    connection::{self, Listeners, register_by_thread},
    jobs::Jobs,
};
use account::KubeAccount;
use server::KubeServer;
pub use service::KubernetesService;

/// Keeps leases in Kubernetes, as objects of the kind `Lease`.
///
/// In a pod nothing has to be set: server, credentials and namespace come from the pod's account. Outside of a pod they
/// come from the kubeconfig, with its plugins for credentials. All of it is read again at each connect.
///
/// # Which version of the API
/// The program depends on `k8s-openapi` and chooses the version of the API by a feature, as every program with `kube` does:
///
/// ```toml
/// k8s-openapi = { version = "0.29", default-features = false, features = ["latest"] }
/// ```
///
/// # Objects
/// There is one Lease for each key. Its name begins with the readable part of the key; the key and the value are
/// annotations. Holder, duration, renewal and transitions are filled in for `kubectl get lease`, and the register never
/// reads these times back: no wall clock of another host is compared. A write replaces the whole Lease, including
/// labels and annotations of other programs. A Lease that another client wrote under such a name is
/// [`Foreign`](RegisterError::Foreign), and is never overwritten.
///
/// # Rights
/// The account needs the verbs `get`, `create`, `update` and `delete` on `leases` of the group `coordination.k8s.io` in
/// its namespace, `list` to know the contenders, and `watch` to learn of changes at once. A Role cannot limit `create`
/// and `list` by name: an account that may write one election's record may write the records of all elections in the
/// namespace. Give elections that do not trust each other a namespace each.
///
/// # Costs
/// A holder writes once per renewal: once a second with [`Timings::wan`](bully_core::protocol::Timings::wan), which is
/// the preset for Kubernetes. Each process that waits has one watch, on a connection of its own, and receives each
/// renewal. A hundred elections with `wan` are a hundred writes a second. etcd writes each of them to its disks, and
/// the server sends it to every process that waits for it. Large clusters limit the requests of an account (429); the
/// register waits for the time that the server states.
///
/// ```no_run
/// # use bully_register::KubernetesRegister;
/// let register = KubernetesRegister::builder().open()?;
/// # Ok::<(), bully_register::RegisterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KubernetesRegister {
    name: Arc<str>,
    jobs: Jobs,
    told: Listeners,
}

/// Settings of a [`KubernetesRegister`].
#[must_use = "a builder does nothing until `open` is called"]
#[derive(Clone, Debug)]
pub struct KubernetesBuilder {
    account: KubeAccount,
}

impl KubernetesRegister {
    /// Makes the settings with the account of this pod; outside of a pod, with the kubeconfig of the user: the file in
    /// `KUBECONFIG`, or `~/.kube/config`.
    pub fn builder() -> KubernetesBuilder {
        KubernetesBuilder {
            account: KubeAccount::default(),
        }
    }
}

impl KubernetesBuilder {
    /// Uses that kubeconfig, even in a pod.
    pub fn kubeconfig_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.account.kubeconfig = Some(path.into());
        self
    }

    /// Uses that context of the kubeconfig. Default: the current context.
    pub fn context(mut self, context: &str) -> Self {
        self.account.context = Some(context.to_owned());
        self
    }

    /// Keeps the leases in the namespace `namespace`. Default: the namespace of the pod, or of the context.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.account.namespace = Some(namespace.to_owned());
        self
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// [`RegisterError::Refused`] when no account and no kubeconfig is found, or it cannot be read. A server that
    /// cannot be reached, or a missing right, shows only later, as an error of operations.
    pub fn open(self) -> Result<KubernetesRegister, RegisterError> {
        let config = self.account.read()?;
        let host = config.cluster_url.authority().map_or("", |at| at.as_str());
        let path = config.cluster_url.path().trim_end_matches('/');
        let name = format!("kubernetes {host}{path}/{}", config.default_namespace).into();
        let (jobs, told) = connection::start("bully-kubernetes", KubeServer::new(self.account))?;
        Ok(KubernetesRegister { name, jobs, told })
    }

    /// Returns the Service of this name in the same namespace. The leader can then make it lead to itself.
    pub fn service(self, name: &str) -> KubernetesService {
        KubernetesService::new(self.account, name)
    }
}

register_by_thread!(KubernetesRegister);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Register as _;

    fn kubeconfig(folder: &std::path::Path, text: &str) -> PathBuf {
        let path = folder.join("config");
        std::fs::write(&path, text).expect("a file");
        path
    }

    const GOOD: &str = "
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: it, user: me, namespace: jobs}}]
clusters: [{name: it, cluster: {server: 'http://a.example:1/prefix'}}]
users: [{name: me, user: {token: sesame}}]
";

    #[test]
    fn a_name_has_the_server_and_the_namespace_and_no_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = kubeconfig(folder.path(), GOOD);
        let open = |builder: KubernetesBuilder| builder.kubeconfig_file(&path).open();
        let register = open(KubernetesRegister::builder()).expect("it is whole");
        assert_eq!(register.name(), "kubernetes a.example:1/prefix/jobs");
        let other = open(KubernetesRegister::builder().namespace("other")).expect("it is whole");
        assert_eq!(other.name(), "kubernetes a.example:1/prefix/other");
        assert!(!format!("{register:?}").contains("sesame"));
        let missing = open(KubernetesRegister::builder().context("nowhere"));
        assert!(
            matches!(missing, Err(RegisterError::Refused { .. })),
            "{missing:?}"
        );
    }

    #[test]
    fn a_kubeconfig_that_cannot_be_used_is_refused_before_a_thread_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in ["", "{", "current-context: here", "\u{0}"] {
            let path = kubeconfig(folder.path(), text);
            let refused = KubernetesRegister::builder().kubeconfig_file(&path).open();
            assert!(
                matches!(refused, Err(RegisterError::Refused { .. })),
                "{text}: {refused:?}"
            );
        }
        let missing = KubernetesRegister::builder()
            .kubeconfig_file("no/such/file")
            .open();
        let words = missing.expect_err("there is no file").to_string();
        assert!(
            words.contains("no/such/file") && words.contains("kubeconfig_file"),
            "{words}"
        );
    }
}
