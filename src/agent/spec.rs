//! The data from which all incarnations of an agent are made, and which its handles read.
//!
//! Decided here: an agent's name, its group and its configuration are kept once, and values that follow from them are
//! not kept. Not here: the store, which is given back when the agent ends, while handles outlast it.

use std::{any::Any, sync::Arc, time::Duration};

use crate::{
    group::Group,
    metrics::AgentSeries,
    protocol::{AgentId, Election, Leaders, MemberKind, Timings},
};

use super::{any::AnyConfig, lease::StoreOf, membership::GroupMembership, offers::ElectionMode};

pub(super) struct Spec<E: Election> {
    pub(super) id: AgentId,
    pub(super) kind: MemberKind,
    /// The number of agents that may lead at once. The number decides how far a token of this agent can be trusted.
    pub(super) leaders: Leaders,
    pub(super) mode: ElectionMode,
    pub(super) config: E::Config,
    pub(super) group: Group<E::Message>,
    pub(super) seed: u64,
    /// The store that the agent's election asks, if it has one.
    pub(super) asked: Option<StoreOf<E>>,
}

/// The settings of one agent, for code that does not know the type of the election.
pub(super) trait AgentSettings: Send + Sync {
    fn id(&self) -> &AgentId;
    fn kind(&self) -> MemberKind;
    fn leaders(&self) -> Leaders;
    fn mode(&self) -> ElectionMode;
    fn group(&self) -> &dyn GroupMembership;
    fn timings(&self) -> Option<&Timings>;
    /// Returns the longest time of an election; `None` if the timings alone decide it.
    fn worst_case(&self) -> Option<Duration>;
    /// Returns the name of the election, for people.
    fn election(&self) -> &'static str;
    /// Returns the voters in the configuration, if it has voters.
    fn voters(&self) -> Option<Arc<[AgentId]>>;
}

impl<E: Election> AgentSettings for Spec<E> {
    fn id(&self) -> &AgentId {
        &self.id
    }
    fn kind(&self) -> MemberKind {
        self.kind
    }
    fn leaders(&self) -> Leaders {
        self.leaders
    }
    fn mode(&self) -> ElectionMode {
        self.mode
    }
    fn group(&self) -> &dyn GroupMembership {
        &self.group
    }
    fn timings(&self) -> Option<&Timings> {
        E::timings(&self.config)
    }
    fn worst_case(&self) -> Option<Duration> {
        any_config(&self.config)?.worst_case()
    }
    fn election(&self) -> &'static str {
        match any_config(&self.config) {
            Some(AnyConfig::Available(_)) => "bully",
            Some(AnyConfig::Astra(_)) => "astra",
            Some(AnyConfig::Quorum(_)) => "quorum",
            Some(AnyConfig::Lease(_)) => "lease",
            None => type_name::<E>(),
        }
    }
    fn voters(&self) -> Option<Arc<[AgentId]>> {
        let requirements = E::requirements(&self.config, &self.id, self.kind).ok()?;
        requirements.names
    }
}

/// Returns the configuration, if it is of a bully election.
fn any_config(config: &dyn Any) -> Option<&AnyConfig> {
    config.downcast_ref()
}

/// Returns the last part of a type's path.
fn type_name<E>() -> &'static str {
    let path = std::any::type_name::<E>();
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}

/// Returns the series of metrics for changes of the agent's leadership.
pub(super) fn series(settings: &dyn AgentSettings) -> AgentSeries<'_> {
    AgentSeries {
        group: settings.group().name(),
        node: settings.id().as_str(),
    }
}
