//! The election that the calls of a [`BullyBuilder`](super::BullyBuilder) choose, in whatever order they come.
//!
//! Decided here: how the mode and its settings are combined, once, at the start; which calls contradict each other; and
//! which settings a mode has. The setters (`bully.rs`) and the keys of a configuration (`src/config/`) only record them.

use std::{sync::Arc, time::Duration};

use crate::{
    agent::any::{AnyBully, AnyConfig},
    elections::{
        lease::LeaseConfig,
        quorum::{Diskless, QuorumConfig, QuorumError},
    },
    protocol::{AgentId, Election, IdError, Preemption, Score, Timings},
    register::Register,
};
use bully_core::elections::{astra::AstraConfig, bully::BullyConfig};

use super::{StartError, lease::Attachment, offers::ElectionMode};

/// The calls so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// The calls that choose a mode; of several calls for the same mode only the last. The start refuses two modes.
    pub(crate) modes: Vec<Mode>,
    pub(crate) timings: Option<Timings>,
    pub(crate) preemption: Option<Preemption>,
    pub(crate) margin: Option<Score>,
    pub(crate) drain: Option<Duration>,
    pub(crate) cooldown: Option<Duration>,
    pub(crate) epoch: Option<u64>,
    pub(crate) is_learner: bool,
    pub(crate) is_diskless: bool,
}

/// A call that chooses a mode.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    Astra,
    Quorum(Result<Vec<AgentId>, IdError>),
    QuorumConfig(Arc<QuorumConfig>),
    Lease(Arc<dyn Register>),
    LeaseWith(Arc<LeaseConfig>, Arc<dyn Register>),
}

impl Mode {
    const fn call(&self) -> &'static str {
        match self {
            Self::Astra => "astra",
            Self::Quorum(_) => "quorum",
            Self::QuorumConfig(_) => "quorum_config",
            Self::Lease(_) => "lease",
            Self::LeaseWith(..) => "lease_with",
        }
    }
}

/// The settings with which a builder begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The defaults: any mode may be chosen.
    Defaults,
    /// All settings at once, by [`with_config`](super::Agent::with_config).
    Given,
}

/// Makes the configuration of an election from its builder's calls.
pub(super) type Resolve<E> =
    fn((&<E as Election>::Config, Basis), &Choices) -> Result<Resolved<E>, StartError>;

/// The result of a builder's calls.
pub(super) struct Resolved<E: Election> {
    pub(super) config: E::Config,
    pub(super) attachment: Option<Attachment<E>>,
    /// `None` if this crate has no mode for the election.
    pub(super) mode: Option<ElectionMode>,
}

/// The [`Resolve`] function for elections whose configuration has all their settings.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a builder calls it where another election's calls may contradict each other"
)]
pub(super) fn as_configured<E: Election>(
    (config, _): (&E::Config, Basis),
    _: &Choices,
) -> Result<Resolved<E>, StartError> {
    Ok(Resolved {
        config: config.clone(),
        attachment: None,
        mode: None,
    })
}

/// Combines the calls of a builder. No other function combines them.
pub(super) fn resolve(
    base: (&AnyConfig, Basis),
    choices: &Choices,
) -> Result<Resolved<AnyBully>, StartError> {
    let config = choices.config(base)?;
    let register = choices.modes.first().and_then(|mode| match mode {
        Mode::Lease(register) | Mode::LeaseWith(_, register) => Some(register),
        Mode::Astra | Mode::Quorum(_) | Mode::QuorumConfig(_) => None,
    });
    Ok(Resolved {
        mode: Some(mode_of(&config, register)),
        config,
        attachment: register.map(|register| Attachment::of(Arc::clone(register))),
    })
}

fn mode_of(config: &AnyConfig, register: Option<&Arc<dyn Register>>) -> ElectionMode {
    match config {
        AnyConfig::Available(_) => ElectionMode::Available,
        AnyConfig::Astra(_) => ElectionMode::Astra,
        AnyConfig::Quorum(config) if config.diskless.is_some() => ElectionMode::Diskless,
        AnyConfig::Quorum(_) => ElectionMode::Quorum,
        AnyConfig::Lease(_) if register.is_some_and(|register| !register.is_shared()) => {
            ElectionMode::LeaseInMemory
        }
        AnyConfig::Lease(_) => ElectionMode::LeaseInStore,
    }
}

impl Choices {
    pub(crate) fn choose(&mut self, mode: Mode) {
        self.modes.retain(|known| known.call() != mode.call()); // if a call is made twice, the last one counts
        self.modes.push(mode);
    }

    /// Returns the configuration that the calls choose.
    pub(crate) fn config(
        &self,
        (config, basis): (&AnyConfig, Basis),
    ) -> Result<AnyConfig, StartError> {
        let mode = self.mode(basis)?;
        let config = match (mode, basis) {
            (None, Basis::Given) => {
                self.refuse_beside("with_config")?;
                config.clone()
            }
            (None, Basis::Defaults) => self.available(config),
            (Some(Mode::Astra), _) => self.astra()?,
            (Some(Mode::Quorum(voters)), _) => {
                AnyConfig::Quorum(Arc::new(self.quorum_config(voters.clone()?)))
            }
            (Some(Mode::QuorumConfig(config)), _) => {
                self.refuse_beside("quorum_config")?;
                AnyConfig::Quorum(Arc::clone(config))
            }
            (Some(Mode::Lease(_)), _) => self.lease()?,
            (Some(Mode::LeaseWith(config, _)), _) => {
                self.refuse_beside("lease_with")?;
                AnyConfig::Lease(Arc::clone(config))
            }
        };
        match &config {
            AnyConfig::Available(config) => config.check()?,
            AnyConfig::Astra(_) => {}
            AnyConfig::Quorum(config) => config.check()?,
            AnyConfig::Lease(config) => config.check()?,
        }
        if !matches!(config, AnyConfig::Quorum(_)) {
            self.refuse_without_voters()?;
        }
        Ok(config)
    }

    fn mode(&self, basis: Basis) -> Result<Option<&Mode>, StartError> {
        // Sorted by name, so that the text does not depend on the order of the calls.
        let mut calls: Vec<_> = self.modes.iter().map(Mode::call).collect();
        calls.sort_unstable();
        if basis == Basis::Given {
            calls.insert(0, "with_config");
        }
        if let [first, second, ..] = *calls {
            return Err(StartError::Contradiction { first, second });
        }
        Ok(self.modes.first())
    }

    /// Returns the names of the calls that made a setting.
    fn settings(&self) -> impl Iterator<Item = &'static str> {
        // Every field is listed, so that the compiler reports a new field.
        let Self {
            modes: _,
            timings,
            preemption,
            margin,
            drain,
            cooldown,
            epoch,
            is_learner,
            is_diskless,
        } = self;
        let made = [
            ("timings", timings.is_some()),
            ("preemption", preemption.is_some()),
            ("margin", margin.is_some()),
            ("drain", drain.is_some()),
            ("cooldown", cooldown.is_some()),
            ("epoch", epoch.is_some()),
            ("learner", *is_learner),
            ("diskless", *is_diskless),
        ];
        made.into_iter()
            .filter_map(|(call, is_made)| is_made.then_some(call))
    }

    /// Refuses any other setting together with a call that makes all settings at once.
    fn refuse_beside(&self, all: &'static str) -> Result<(), StartError> {
        self.refuse(all, |_| true)
    }

    fn refuse(&self, first: &'static str, is_foreign: fn(&str) -> bool) -> Result<(), StartError> {
        match self.settings().find(|call| is_foreign(call)) {
            Some(second) => Err(StartError::Contradiction { first, second }),
            None => Ok(()),
        }
    }

    fn refuse_without_voters(&self) -> Result<(), StartError> {
        if self.is_diskless {
            return Err(StartError::DisklessWithoutVoters);
        }
        if self.epoch.is_some() || self.is_learner {
            return Err(QuorumError::NoVoters.into());
        }
        Ok(())
    }

    fn available(&self, config: &AnyConfig) -> AnyConfig {
        let AnyConfig::Available(config) = config else {
            return config.clone();
        };
        let mut config = Arc::clone(config);
        if self.settings().next().is_some() {
            // Copied if agents share it, so that the other agents keep their settings.
            self.set_bully(Arc::make_mut(&mut config));
        }
        AnyConfig::Available(config)
    }

    fn astra(&self) -> Result<AnyConfig, StartError> {
        // The ASTRA rules have neither a preemption nor a margin.
        self.refuse("astra", |call| matches!(call, "preemption" | "margin"))?;
        let mut config = AstraConfig::default();
        set(&mut config.timings, self.timings.as_ref());
        set(&mut config.drain, self.drain.as_ref());
        set(&mut config.cooldown, self.cooldown.as_ref());
        Ok(AnyConfig::Astra(Arc::new(config)))
    }

    fn lease(&self) -> Result<AnyConfig, StartError> {
        // The second name is a placeholder: `name_after` replaces it by the group's name once the group is known.
        let config = self.lease_config(CLUSTER, CLUSTER)?;
        Ok(AnyConfig::Lease(Arc::new(config)))
    }

    /// Sets what was chosen for the available mode.
    pub(crate) fn set_bully(&self, config: &mut BullyConfig) {
        set(&mut config.timings, self.timings.as_ref());
        set(&mut config.preemption, self.preemption.as_ref());
        set(&mut config.drain, self.drain.as_ref());
        set(&mut config.cooldown, self.cooldown.as_ref());
        config.margin = self.margin;
    }

    /// Returns the configuration of a quorum of these voters.
    pub(crate) fn quorum_config(&self, voters: Vec<AgentId>) -> QuorumConfig {
        let mut config = QuorumConfig::new(voters);
        set(&mut config.timings, self.timings.as_ref());
        set(&mut config.preemption, self.preemption.as_ref());
        set(&mut config.cooldown, self.cooldown.as_ref());
        set(&mut config.epoch, self.epoch.as_ref());
        (config.margin, config.drain) = (self.margin, self.drain);
        config.learner = self.is_learner;
        config.diskless = self.is_diskless.then(Diskless::default);
        config
    }

    /// Returns the configuration of a lease whose records have the names of this cluster and this group.
    pub(crate) fn lease_config(&self, cluster: &str, group: &str) -> Result<LeaseConfig, IdError> {
        let mut config = LeaseConfig::new(cluster, group)?;
        set(&mut config.timings, self.timings.as_ref());
        set(&mut config.preemption, self.preemption.as_ref());
        set(&mut config.cooldown, self.cooldown.as_ref());
        (config.margin, config.drain) = (self.margin, self.drain);
        Ok(config)
    }
}

fn set<T: Clone>(setting: &mut T, made: Option<&T>) {
    if let Some(made) = made {
        made.clone_into(setting);
    }
}

/// Name of the cluster if the application gives none.
const CLUSTER: &str = "default";
