//! The election that the calls of a [`BullyBuilder`](super::BullyBuilder) choose, in any order.
//!
//! Decided here: how the mode and its settings are combined, once, at the start; and which calls contradict each other.
//! Not here: the settings that each mode has (the table in `bully.rs`). The setters and the keys of a configuration
//! (`src/config/`) only record the calls.

use std::{sync::Arc, time::Duration};

use crate::{
    agent::any::{AnyBully, AnyConfig},
    elections::{
        lease::LeaseConfig,
        quorum::{Diskless, QuorumConfig},
    },
    protocol::{AgentId, Election, IdError, Preemption, Score, Timings},
    register::Register,
};

use super::{StartError, bully::settings, lease::Attachment, offers::ElectionMode};

/// Declares a field for each setting of the table, and puts the field's value into the configurations with this
/// setting.
macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $setting:ident($($given:ident: $from:ty)?) -> $type:ty { $value:expr }
        $available:ident $astra:ident $quorum:ident $lease:ident $(, $($key:ident).+)?;
    )*) => {
        /// The calls so far.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Choices {
            /// The calls that choose a mode; of several calls for the same mode only the last. The start refuses two
            /// modes.
            pub(crate) modes: Vec<Mode>,
            $(pub(crate) $setting: Option<$type>,)*
        }

        impl Choices {
            /// Returns the names of the settings that were made.
            fn settings(&self) -> impl Iterator<Item = &'static str> {
                let made = [$(self.$setting.is_some().then_some(stringify!($setting))),*];
                made.into_iter().flatten()
            }

            /// Puts the settings into a configuration. A configuration that several agents share is copied, so that the
            /// settings of the other agents stay the same.
            ///
            /// # Errors
            /// The name of the first setting that the mode of the configuration does not have.
            pub(crate) fn put_into(&self, mut config: AnyConfig) -> Result<AnyConfig, &'static str> {
                match &mut config {
                    AnyConfig::Available(config) => { $($available!(config.$setting, self.$setting);)* }
                    AnyConfig::Astra(config) => { $($astra!(config.$setting, self.$setting);)* }
                    AnyConfig::Quorum(config) => { $($quorum!(config.$setting, self.$setting);)* }
                    AnyConfig::Lease(config) => { $($lease!(config.$setting, self.$setting);)* }
                }
                Ok(config)
            }
        }
    };
}

/// The mode has the setting: a value that was chosen replaces the default.
macro_rules! yes {
    ($config:ident.$setting:ident, $made:expr) => {
        if let Some(made) = &$made {
            Arc::make_mut($config).$setting = made.clone().into();
        }
    };
}

/// The mode does not have the setting.
macro_rules! no {
    ($config:ident.$setting:ident, $made:expr) => {
        if $made.is_some() {
            return Err(stringify!($setting));
        }
    };
}

settings!(choices);

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
pub(super) type ResolveFn<E> =
    fn((&<E as Election>::Config, Basis), &Choices) -> Result<Resolved<E>, StartError>;

/// The result of a builder's calls.
pub(super) struct Resolved<E: Election> {
    pub(super) config: E::Config,
    pub(super) attachment: Option<Attachment<E>>,
    /// `None` if this crate has no mode for the election.
    pub(super) mode: Option<ElectionMode>,
}

/// The [`ResolveFn`] function for elections whose configuration has all their settings.
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
        let (config, is_whole) = match mode {
            None => (config.clone(), basis == Basis::Given),
            Some(Mode::Astra) => (AnyConfig::Astra(Arc::default()), false),
            Some(Mode::Quorum(voters)) => (
                AnyConfig::Quorum(Arc::new(QuorumConfig::new(voters.clone()?))),
                false,
            ),
            // The second name is a placeholder: `name_after` replaces it by the group's name once the group is known.
            Some(Mode::Lease(_)) => (
                AnyConfig::Lease(Arc::new(LeaseConfig::new(CLUSTER, CLUSTER)?)),
                false,
            ),
            Some(Mode::QuorumConfig(config)) => (AnyConfig::Quorum(Arc::clone(config)), true),
            Some(Mode::LeaseWith(config, _)) => (AnyConfig::Lease(Arc::clone(config)), true),
        };
        let put = match self.settings().next() {
            // Beside a call that makes all settings at once, no other setting is allowed.
            Some(setting) if is_whole => Err(setting),
            Some(_) | None => self.put_into(config),
        };
        let config = put.map_err(|call| match mode {
            None if basis == Basis::Defaults => StartError::NeedsMode { call },
            Some(_) | None => StartError::Contradiction {
                first: mode.map_or(GIVEN, Mode::call),
                second: call,
            },
        })?;
        config.check()?;
        Ok(config)
    }

    fn mode(&self, basis: Basis) -> Result<Option<&Mode>, StartError> {
        // The calls are sorted by name, so that the text does not depend on their order.
        let mut calls: Vec<_> = self.modes.iter().map(Mode::call).collect();
        calls.sort_unstable();
        if basis == Basis::Given {
            calls.insert(0, GIVEN);
        }
        if let [first, second, ..] = *calls {
            return Err(StartError::Contradiction { first, second });
        }
        Ok(self.modes.first())
    }
}

/// The call that gives a whole configuration to a builder.
const GIVEN: &str = "with_config";
/// Name of the cluster if the application gives none.
const CLUSTER: &str = "default";
