//! The section `quorum`: voters, which elect by a majority.
//!
//! Decided here: the keys of the section, which voters and which stores fit this node, and which other keys contradict
//! the section. Not here: the relations between voters, quorums and durations, which
//! [`quorum`](bully_core::elections::quorum) checks.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{elections::quorum::QuorumConfig, protocol::AgentId, remote::MayBe, store::OpenStore};

use super::{
    Config, ConfigError,
    check::{contradiction, name},
    read::cut,
    value::{leaf, unset},
};

/// The quorum mode: a majority of the voters elects, and two agents never lead at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct QuorumSettings {
    /// Names of all voters; the list must be the same at every node. Default: none; then the quorum mode is off.
    #[serde(skip_serializing_if = "unset")]
    pub voters: Vec<String>,
    /// Epoch: the number of the list of voters. Default: 0. Raise it by one with every change of `voters`,
    /// `vote_quorum` or `lease_quorum`.
    pub epoch: u64,
    /// Whether the voters have no disk, as in containers without a volume; the same at every node. Default: false. Such
    /// a voter waits after each start, and the token of a leader is safe as a fence only under a condition: see
    /// [`diskless`](crate::elections::quorum::diskless).
    pub diskless: bool,
    /// Whether this node may have a store without being in `voters`. Then it follows as a *learner* until an operator
    /// adds it to the voters of the running group. Default: false; then such a node is refused. The key may stay set
    /// after the node has become a voter.
    pub learner: bool,
    /// File of this node's votes. Required, unless the node observes or the voters have no disk.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub store_file: Option<PathBuf>,
    /// File of the progress of [schedules](crate::leader::schedule), beside the file of the votes. With it,
    /// `agent.every(..)` needs no further setting. Default: none; then a schedule does not start in this mode if the
    /// group reaches other hosts.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub marks_file: Option<PathBuf>,
    /// Whether these files are opened or created. Default: [`OpenStore::Open`]. To create the file of the votes means
    /// to state that this node has never voted. [`OpenStore::OpenOrCreate`] is for the first start and all later
    /// starts; with one voter it is refused, and a missing file of marks is made.
    #[serde(with = "leaf")]
    pub store: OpenStore,
    /// Number of votes that elect a leader. Default: a majority.
    #[serde(skip_serializing_if = "unset")]
    pub vote_quorum: Option<usize>,
    /// Number of acknowledgements by which a leader keeps its lease. Default: a majority.
    #[serde(skip_serializing_if = "unset")]
    pub lease_quorum: Option<usize>,
}

/// The key that turns the mode on.
pub(super) const VOTERS: &str = "quorum.voters";

impl Config {
    /// Returns the voters and quorums, if the configuration has voters. The settings that other modes have too are not
    /// in it.
    pub(super) fn quorum(&self, node: &AgentId) -> Result<Option<QuorumConfig>, ConfigError> {
        let quorum = &self.quorum;
        if quorum.voters.is_empty() {
            if *quorum == QuorumSettings::default() {
                return Ok(None);
            }
            let advice =
                "the section `quorum` needs the names of all voters, the same at every node";
            let key = String::from(VOTERS);
            return Err(ConfigError::Missing { key, advice });
        }
        self.check_store()?;
        Ok(Some(QuorumConfig {
            vote_quorum: quorum.vote_quorum,
            lease_quorum: quorum.lease_quorum,
            ..QuorumConfig::new(self.voters(node)?)
        }))
    }

    /// Checks that the keys of the store fit the voters. For instance, voters without a disk must not have a store.
    fn check_store(&self) -> Result<(), ConfigError> {
        let quorum = &self.quorum;
        if quorum.learner && self.role == MayBe::Observer {
            let advice =
                "an observer never becomes a voter: remove `learner`, or set the role \"voter\"";
            return Err(contradiction("quorum.learner", "role", advice));
        }
        if quorum.store == OpenStore::OpenOrCreate && quorum.voters.len() == 1 && !quorum.learner {
            let advice = "no other voter could refuse a new store after the old one was lost: write \"create\" for the first start and \"open\" for all later ones";
            return Err(contradiction("quorum.store", VOTERS, advice));
        }
        let kept = [
            ("quorum.store_file", quorum.store_file.is_some()),
            ("quorum.marks_file", quorum.marks_file.is_some()),
            ("quorum.store", quorum.store != OpenStore::Open),
        ];
        match kept.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) if quorum.diskless => {
                let advice = "voters without a disk keep no vote: remove the store, or remove `diskless` where there is a disk that stays";
                Err(contradiction(key, "quorum.diskless", advice))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks and returns the voters. Each voter is a peer or this node. This node must be a voter, unless it is an
    /// observer or a learner.
    fn voters(&self, node: &AgentId) -> Result<Vec<AgentId>, ConfigError> {
        let mut voters = Vec::new();
        for (at, voter) in self.quorum.voters.iter().enumerate() {
            let key = format!("quorum.voters[{at}]");
            let is_known =
                *voter == self.node || self.others().any(|(_, peer)| peer.node == *voter);
            voters.push(name(&key, voter, "leave the empty name out")?);
            if !is_known {
                return Err(ConfigError::Value {
                    key,
                    value: cut(voter),
                    wanted: "this node or one of `peers`: no other voter can be asked".into(),
                });
            }
        }
        match (voters.contains(node), self.role) {
            (false, MayBe::Leader | MayBe::Voter) if !self.quorum.learner => {
                let advice = "add this node to the voters, or set `role = \"observer\"`, or `learner = true` to add it while the group runs";
                return Err(contradiction(VOTERS, "node", advice));
            }
            (true, MayBe::Observer) => {
                let advice = "an observer does not vote: remove this node from the voters, or set the role \"voter\"";
                return Err(contradiction("role", VOTERS, advice));
            }
            (_, MayBe::Leader | MayBe::Voter)
                if self.quorum.store_file.is_none() && !self.quorum.diskless =>
            {
                let advice = "a voter keeps its vote through crashes: name a file on a local disk, or set `diskless = true` at every node without a disk";
                let key = String::from("quorum.store_file");
                return Err(ConfigError::Missing { key, advice });
            }
            _ => {}
        }
        Ok(voters)
    }
}
