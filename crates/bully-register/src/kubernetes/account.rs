//! The API server to use, and the account with which to log in.
//!
//! Decided here: a kubeconfig from the settings comes first, then the account of the pod, then the kubeconfig of the
//! user; all of them are read again at each connect; and `kube` repeats no request by itself, since a write that is
//! sent twice has two outcomes. Each answer has a limit in bytes.

use std::path::PathBuf;

use futures::FutureExt;
use http_body_util::Limited;
use hyper_util::rt::TokioExecutor;
use kube::{
    Client, Config,
    client::{ClientBuilder, ConfigExt},
    config::{KubeConfigOptions, Kubeconfig},
};
use rustls::crypto::{CryptoProvider, ring};
use tower::{BoxError, ServiceBuilder, ServiceExt};

use super::failure;
use crate::{
    RegisterError, RegisterRefusal,
    connection::{ANSWER, Meaning},
};

#[derive(Clone, Debug, Default)]
pub(super) struct KubeAccount {
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) context: Option<String>,
    pub(super) namespace: Option<String>,
}

impl KubeAccount {
    /// Reads the present server, credentials and namespace.
    ///
    /// # Errors
    /// [`RegisterError::Refused`] if no server is configured, or a file cannot be used.
    pub(super) fn read(&self) -> Result<Config, RegisterError> {
        let mut config = self.found()?;
        if let Some(namespace) = &self.namespace {
            config.default_namespace.clone_from(namespace);
        }
        config.default_retry = false;
        config.connect_timeout = Some(ANSWER);
        Ok(config)
    }

    /// Makes a client from the present account. The call reads files and may run a credentials plugin, so it may take
    /// long.
    pub(super) fn client(&self) -> Result<Client, RegisterError> {
        let made = client(&self.read()?);
        made.map_err(|error| failure::of_error(&error, false).error(false))
    }

    fn found(&self) -> Result<Config, RegisterError> {
        if self.kubeconfig.is_none() && self.context.is_none() {
            match Config::incluster() {
                Ok(config) => return Ok(config),
                Err(reason) if is_in_pod() => {
                    return Err(refused(format!(
                        "the account of this pod cannot be used (automountServiceAccountToken mounts it): {reason}"
                    )));
                }
                Err(_) => {}
            }
        }
        let unfit = |reason: kube::config::KubeconfigError| {
            let mut words = format!(
                "no account of a pod was found, and no kubeconfig can be used: name one with kubeconfig_file(..): {reason}"
            );
            if let Some(source) = std::error::Error::source(&reason) {
                words = format!("{words}: {source}");
            }
            refused(words)
        };
        let kubeconfig = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(kubeconfig.map_err(unfit)?, &options);
        // This future only reads files, so one poll completes it.
        let config = config.now_or_never();
        config
            .ok_or_else(|| refused("the kubeconfig needs more than files".to_owned()))?
            .map_err(unfit)
    }
}

/// Makes a client with its own connections, which end when it is dropped.
fn client(config: &Config) -> Result<Client, kube::Error> {
    // `kube` panics if a program contains two crypto providers and chose neither.
    if CryptoProvider::get_default().is_none() {
        ring::default_provider().install_default().ok();
    }
    let connector = config.rustls_https_connector()?;
    let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector);
    let stack = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http)
        .map_response(|answer| answer.map(|body| Limited::new(body, MOST_ANSWER)));
    Ok(ClientBuilder::new(stack, config.default_namespace.clone()).build())
}

fn is_in_pod() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

fn refused(words: String) -> RegisterError {
    Meaning::Refused(RegisterRefusal::Credentials).error(words)
}

/// Largest answer, in bytes: enough for a page of a list with the largest values, and for some minutes of a watch.
/// After more bytes the watch ends, and a new watch begins.
const MOST_ANSWER: usize = 8 << 20;
