//! The section `lease`: a lease in a store, instead of voters.
//!
//! Decided here: which store is named, what contradicts it, and how it is opened.

use std::sync::Arc;

use crate::{
    elections::lease::LeaseConfig,
    protocol::{AgentId, Timings},
    register::Register,
    store::StoreIdentity,
};

use super::{Config, ConfigError, RunError, check::contradiction};

impl Config {
    /// Whether a store for a lease is named.
    pub(super) fn has_lease(&self) -> bool {
        self.lease.sqlite_file.is_some() || self.lease.postgres_url_file.is_some()
    }

    /// What the election needs to know.
    pub(super) fn lease(
        &self,
        identity: &StoreIdentity,
        timings: Timings,
    ) -> Result<LeaseConfig, ConfigError> {
        self.check_lease()?;
        let key = || String::from("group");
        let name = |name: &AgentId| name.as_str().to_owned();
        let usual = LeaseConfig::new(&name(&identity.cluster), &name(&identity.group));
        let usual = usual.map_err(|reason| ConfigError::Name { key: key(), reason })?;
        let config = LeaseConfig {
            timings,
            preemption: self.preemption.unwrap_or(usual.preemption),
            margin: self.margin,
            drain: self.drain,
            cooldown: self.cooldown.unwrap_or(usual.cooldown),
            ..usual
        };
        config.check().map_err(|reason| ConfigError::Lease {
            key: "timings",
            reason,
        })?;
        Ok(config)
    }

    fn check_lease(&self) -> Result<(), ConfigError> {
        let lease = &self.lease;
        let (file, url) = ("lease.sqlite_file", "lease.postgres_url_file");
        let key = if lease.sqlite_file.is_some() {
            file
        } else {
            url
        };
        if lease.sqlite_file.is_some() && lease.postgres_url_file.is_some() {
            let advice = "a lease is in one store: leave one of both out";
            return Err(contradiction(key.to_owned(), url, advice));
        }
        if !self.quorum.voters.is_empty() {
            let advice = "voters elect, or a store gives a lease: leave one of both out";
            return Err(contradiction(key.to_owned(), "quorum.voters", advice));
        }
        if self.has_bridge() {
            let other = if self.listen.is_some() {
                "listen"
            } else {
                "peers"
            };
            let advice = "nodes that have a store in common need no links: leave them out";
            return Err(contradiction(key.to_owned(), other, advice));
        }
        if lease.sqlite_file.is_some() && !cfg!(feature = "sqlite") {
            let feature = "sqlite";
            return Err(ConfigError::NoFeature { key: file, feature });
        }
        if lease.postgres_url_file.is_some() && !cfg!(feature = "postgres") {
            let feature = "postgres";
            return Err(ConfigError::NoFeature { key: url, feature });
        }
        Ok(())
    }

    /// Opens the store that is named, if one is.
    pub(super) fn register(&self) -> Result<Option<Arc<dyn Register>>, RunError> {
        #[cfg(feature = "sqlite")]
        if let Some(path) = &self.lease.sqlite_file {
            let opened = crate::register::SqliteRegister::open(path);
            return match opened {
                Ok(register) => Ok(Some(Arc::new(register))),
                Err(reason) => Err(RunError::Register {
                    key: "lease.sqlite_file",
                    reason,
                }),
            };
        }
        #[cfg(feature = "postgres")]
        if let Some(path) = &self.lease.postgres_url_file {
            let key = "lease.postgres_url_file";
            let url = std::fs::read_to_string(path)
                .map_err(crate::register::RegisterError::unreachable)
                .map_err(|reason| RunError::Register { key, reason })?;
            let mut builder = crate::register::PostgresRegister::builder(url.trim());
            if self.lease.create_table {
                builder = builder.create_table();
            }
            let opened = builder.open();
            let register = opened.map_err(|reason| RunError::Register { key, reason })?;
            return Ok(Some(Arc::new(register)));
        }
        Ok(None)
    }
}
