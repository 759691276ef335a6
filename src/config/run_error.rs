//! The reasons why a configuration does not start: the wrong key, and the error of the part that refused it.

use std::fmt;

use crate::{
    agent::StartError, leader::schedule::ScheduleError, protocol::MembershipError,
    register::RegisterError, remote::BridgeError, store::StoreError,
};

use super::ConfigError;

/// The reason why a node does not start from its configuration. Each variant is for one part that did not start.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The configuration does not fit together.
    #[error("the configuration is refused: {0}")]
    Config(#[from] ConfigError),
    /// The secret cannot be used.
    #[cfg(feature = "secret")]
    #[cfg_attr(docsrs, doc(cfg(feature = "secret")))]
    #[error("the secret in `{key}` cannot be used: {reason}")]
    Secret {
        /// The key.
        key: &'static str,
        /// The reason.
        #[source]
        reason: crate::remote::secret::SecretError,
    },
    /// The certificates cannot be used.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[error("the files of the section `tls` cannot be used: {reason}")]
    Tls {
        /// The reason.
        #[source]
        reason: crate::remote::tls::TlsError,
    },
    /// The store cannot be used.
    #[error("the store in `quorum.store_file` cannot be used: {reason}")]
    Store {
        /// The reason.
        #[source]
        reason: StoreError,
    },
    /// The store of the schedules' progress (marks) cannot be used, or the agent has ended.
    #[error("the store in `quorum.marks_file` cannot be used: {reason}", reason = Marks(reason))]
    Schedules {
        /// The reason.
        #[source]
        reason: ScheduleError,
    },
    /// The store of the lease cannot be used.
    #[error("the store in `{key}` cannot be used: {reason}")]
    Register {
        /// The key.
        key: &'static str,
        /// The reason.
        #[source]
        reason: RegisterError,
    },
    /// Records cannot be saved.
    #[error(
        "the folder in `records_folder` cannot be used: may this user make it and write to it? ({reason})"
    )]
    Records {
        /// The reason.
        #[source]
        reason: std::io::Error,
    },
    /// The bridge does not start.
    #[error("the bridge does not start{}: {reason}", Because(*key))]
    Bridge {
        /// The wrong key.
        key: Option<&'static str>,
        /// The reason.
        #[source]
        reason: BridgeError,
    },
    /// The agent does not start.
    #[error("the agent does not start{}: {reason}", Because(*key))]
    Agent {
        /// The wrong key.
        key: Option<&'static str>,
        /// The reason.
        #[source]
        reason: StartError,
    },
}

debug_is_text!(RunError);

/// The fault of a file of marks. The text of the store about a missing file is for votes.
struct Marks<'a>(&'a ScheduleError);

impl fmt::Display for Marks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ScheduleError::Store(StoreError::Missing { path }) = self.0 {
            write!(
                f,
                "{} does not exist: if this node never had it, start the node once with `store = \"open-or-create\"`",
                path.display()
            )
        } else {
            self.0.fmt(f)
        }
    }
}

/// The key that has caused an error, for the error's text; empty if no key is known.
struct Because(Option<&'static str>);

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) => write!(f, ", because of `{key}`"),
            None => Ok(()),
        }
    }
}

/// Converts an error of the bridge's start. `network` is the section of the network (such as `zenoh`), if there is one.
/// `memory` is the key of the file with the node's last incarnation.
pub(super) fn bridge_error(
    reason: BridgeError,
    network: Option<&'static str>,
    memory: &'static str,
) -> RunError {
    let key = match &reason {
        BridgeError::Node { .. } => Some("node"),
        BridgeError::Cluster(_) => Some("cluster"),
        BridgeError::PeerTaken { .. } | BridgeError::PeerIsSelf { .. } => Some("peers"),
        BridgeError::OtherNode { .. } => Some("tls.certificate_file"),
        BridgeError::Plaintext { .. } => Some("dangerous_plaintext"),
        BridgeError::Listen { .. } => Some("listen"),
        BridgeError::Memory { .. } => Some(memory),
        BridgeError::MemoryStore { .. } => Some("quorum.store_file"),
        BridgeError::Contradiction { .. }
        | BridgeError::NoGroup
        | BridgeError::TwoGroups { .. }
        | BridgeError::Open { .. }
        | BridgeError::NoRuntime => None,
        BridgeError::Transport(_) => network,
        #[cfg(feature = "sentinel")]
        BridgeError::SentinelUnproven | BridgeError::Sentinel(_) => None,
    };
    RunError::Bridge { key, reason }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are not due to a key"
)]
pub(super) fn agent_error(reason: StartError) -> RunError {
    let key = match &reason {
        StartError::Membership(MembershipError::LaterEpoch { .. }) => Some("quorum.epoch"),
        StartError::StoreRefused => Some("quorum.diskless"),
        StartError::Store(_) | StartError::ForeignStore { .. } => Some("quorum.store_file"),
        _ => None,
    };
    RunError::Agent { key, reason }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::{protocol::AgentId, remote::NodeId};

    #[test]
    fn a_bridge_that_is_refused_names_the_key_that_refused_it() {
        let node = || NodeId::new("a").unwrap();
        let found = node();
        let address = || "10.0.0.1:1".to_owned();
        let reason = || io::Error::other("no");
        let path = || std::path::PathBuf::from("a");
        let store = StoreError::Failed { path: path() };
        for (refused, expected) in [
            (BridgeError::PeerTaken { node: node() }, Some("peers")),
            (BridgeError::PeerIsSelf { node: node() }, Some("peers")),
            (
                BridgeError::OtherNode {
                    found,
                    node: node(),
                },
                Some("tls.certificate_file"),
            ),
            (
                BridgeError::Plaintext { address: address() },
                Some("dangerous_plaintext"),
            ),
            (
                BridgeError::Listen {
                    address: address(),
                    reason: reason(),
                },
                Some("listen"),
            ),
            (
                BridgeError::Memory {
                    path: path(),
                    reason: reason(),
                },
                Some("lease.folder"),
            ),
            (
                BridgeError::MemoryStore { reason: store },
                Some("quorum.store_file"),
            ),
            (BridgeError::Transport(reason()), Some("zenoh")),
            (BridgeError::NoRuntime, None),
        ] {
            let said = refused.to_string();
            let refused = bridge_error(refused, Some("zenoh"), "lease.folder");
            let RunError::Bridge { key, .. } = refused else {
                panic!("another error");
            };
            assert_eq!(key, expected, "{said}");
        }
    }

    #[test]
    fn an_agent_that_is_refused_names_the_key_that_refused_it() {
        let name = |name| AgentId::new(name).unwrap();
        let (found, epoch) = (2, 1);
        let id = name("a");
        let owner = crate::store::StoreIdentity {
            cluster: name("c"),
            group: name("g"),
            node: name("b"),
        };
        let owner = Box::new(owner);
        for (reason, expected) in [
            (
                MembershipError::LaterEpoch { id, found, epoch }.into(),
                Some("quorum.epoch"),
            ),
            (StartError::StoreRefused, Some("quorum.diskless")),
            (
                StartError::ForeignStore { owner },
                Some("quorum.store_file"),
            ),
            (StartError::NotJoined, None),
        ] {
            let RunError::Agent { key, .. } = agent_error(reason) else {
                panic!("another error");
            };
            assert_eq!(key, expected);
        }
    }
}
