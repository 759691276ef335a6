//! The list of all keys. The reader of files, the reader of variables and the writer of a configuration all use this
//! list.
//!
//! Decided here: the name of each key, and the field that it sets. The field (`settings.rs`) and the page
//! `every_key.toml` explain its meaning.

use super::{Config, GrantSettings, PeerSettings, value::Setting};

/// A reader or writer that goes through all keys.
pub(super) trait Visitor {
    type Error;

    /// Visits one key and its field. The part of the name before a dot is the section.
    fn visit<T: Setting>(&mut self, key: &'static str, field: &mut T) -> Result<(), Self::Error>;
}

/// A type whose fields have keys.
pub(super) trait Keys {
    /// Visits all keys, in order.
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error>;
}

impl Keys for Config {
    fn visit<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        v.visit("node", &mut self.node)?;
        v.visit("cluster", &mut self.cluster)?;
        v.visit("group", &mut self.group)?;
        v.visit("role", &mut self.role)?;
        v.visit("score", &mut self.score)?;
        v.visit("about", &mut self.about)?;
        v.visit("listen", &mut self.listen)?;
        v.visit("peers", &mut self.peers)?;
        v.visit("peers_name_all", &mut self.peers_name_all)?;
        v.visit("secret_file", &mut self.secret_file)?;
        v.visit("former_secret_file", &mut self.former_secret_file)?;
        v.visit("dangerous_plaintext", &mut self.dangerous_plaintext)?;
        v.visit("memory_file", &mut self.memory_file)?;
        v.visit("records_folder", &mut self.records_folder)?;
        v.visit("preemption", &mut self.preemption)?;
        v.visit("margin", &mut self.margin)?;
        v.visit("drain", &mut self.drain)?;
        v.visit("cooldown", &mut self.cooldown)?;
        v.visit("zenoh.listen", &mut self.zenoh.listen)?;
        v.visit("zenoh.connect", &mut self.zenoh.connect)?;
        v.visit("zenoh.routers", &mut self.zenoh.routers)?;
        self.visit_sections(v)
    }
}

impl Config {
    fn visit_sections<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        let tls = &mut self.tls;
        v.visit("tls.authorities_file", &mut tls.authorities_file)?;
        v.visit("tls.certificate_file", &mut tls.certificate_file)?;
        v.visit("tls.key_file", &mut tls.key_file)?;
        let timings = &mut self.timings;
        v.visit("timings.preset", &mut timings.preset)?;
        v.visit("timings.delay_bound", &mut timings.delay_bound)?;
        v.visit("timings.deadline", &mut timings.deadline)?;
        v.visit("timings.heartbeat", &mut timings.heartbeat)?;
        v.visit("timings.detection", &mut timings.detection)?;
        v.visit("timings.step", &mut timings.step)?;
        v.visit("timings.jitter", &mut timings.jitter)?;
        v.visit("timings.round", &mut timings.round)?;
        v.visit("timings.lease", &mut timings.lease)?;
        v.visit("timings.promise", &mut timings.promise)?;
        let quorum = &mut self.quorum;
        v.visit("quorum.voters", &mut quorum.voters)?;
        v.visit("quorum.epoch", &mut quorum.epoch)?;
        v.visit("quorum.diskless", &mut quorum.diskless)?;
        v.visit("quorum.learner", &mut quorum.learner)?;
        v.visit("quorum.store_file", &mut quorum.store_file)?;
        v.visit("quorum.store", &mut quorum.store)?;
        v.visit("quorum.vote_quorum", &mut quorum.vote_quorum)?;
        v.visit("quorum.lease_quorum", &mut quorum.lease_quorum)?;
        let lease = &mut self.lease;
        v.visit("lease.folder", &mut lease.folder)?;
        v.visit("lease.postgres_url_file", &mut lease.postgres_url_file)?;
        v.visit("lease.postgres_schema", &mut lease.postgres_schema)?;
        v.visit("lease.create_table", &mut lease.create_table)?;
        v.visit("lease.etcd_endpoints", &mut lease.etcd_endpoints)?;
        v.visit("lease.etcd_login_file", &mut lease.etcd_login_file)?;
        v.visit("lease.kubernetes", &mut lease.kubernetes)?;
        v.visit(
            "lease.kubernetes_namespace",
            &mut lease.kubernetes_namespace,
        )?;
        v.visit("lease.kubeconfig_file", &mut lease.kubeconfig_file)?;
        v.visit("lease.authorities_file", &mut lease.authorities_file)?;
        v.visit("lease.certificate_file", &mut lease.certificate_file)?;
        v.visit("lease.key_file", &mut lease.key_file)?;
        let limits = &mut self.limits;
        v.visit("limits.handshake", &mut limits.handshake)?;
        v.visit("limits.frame", &mut limits.frame)?;
        v.visit("limits.inbound", &mut limits.inbound)?;
        v.visit("limits.rate", &mut limits.rate)?;
        v.visit("limits.burst", &mut limits.burst)?;
        v.visit("limits.queue", &mut limits.queue)?;
        v.visit("limits.ping_after", &mut limits.ping_after)?;
        v.visit("limits.silence", &mut limits.silence)?;
        v.visit("limits.dial_min", &mut limits.dial_min)?;
        v.visit("limits.dial_max", &mut limits.dial_max)?;
        v.visit("limits.forget", &mut limits.forget)
    }
}

impl Keys for PeerSettings {
    fn visit<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        v.visit("node", &mut self.node)?;
        v.visit("address", &mut self.address)?;
        v.visit("rights", &mut self.rights)
    }
}

impl Keys for GrantSettings {
    fn visit<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        v.visit("groups", &mut self.groups)?;
        v.visit("agents", &mut self.agents)?;
        v.visit("may_be", &mut self.may_be)
    }
}
