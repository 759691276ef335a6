//! An agent whose lease is in a store: how it asks its register (the store).
//!
//! Decided here: the agents of a group have one register, and the lease has the name of their group. Not here: the
//! rules ([`lease`](bully_core::elections::lease)), and the requests to a store ([`register`](crate::register)).

use std::{sync::Arc, time::Duration};

use crate::{
    agent::any::{AnyBully, AnyConfig, AnyMessage},
    clock::Clock,
    elections::lease::LeaseConfig,
    group::Group,
    protocol::{AgentId, Election},
    register::{
        Register,
        keeper::{AskedStore, Keeper, KeeperSettings},
    },
};

use super::StartError;

/// The store that the agents of an election ask.
pub(super) type StoreOf<E> = Arc<dyn AskedStore<<E as Election>::Ask, <E as Election>::Told>>;

/// An object that an election needs in its group beside the agents: for instance the keeper of a lease, which asks the
/// store for all agents of this process.
pub(super) struct Attachment<E: Election> {
    /// A function that is called before the start of the agent checks or reserves anything.
    precede: fn(&mut E::Config, &Group<E::Message>),
    attach: Attach<E>,
}

/// A function that is called after the agent's name was reserved. It is the last step of a start, and may fail.
type Attach<E> = Box<
    dyn FnOnce(
            &<E as Election>::Config,
            &Group<<E as Election>::Message>,
            &Arc<dyn Clock>,
        ) -> Result<Option<StoreOf<E>>, StartError>
        + Send,
>;

impl<E: Election> Attachment<E> {
    pub(super) fn precede(&self, config: &mut E::Config, group: &Group<E::Message>) {
        (self.precede)(config, group);
    }

    pub(super) fn attach(
        self,
        config: &E::Config,
        group: &Group<E::Message>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<StoreOf<E>>, StartError> {
        (self.attach)(config, group, clock)
    }
}

impl Attachment<AnyBully> {
    /// Returns the attachment that makes the keeper of a lease in `register`.
    pub(super) fn of(register: Arc<dyn Register>) -> Self {
        Self {
            precede: |config, group| {
                if let AnyConfig::Lease(config) = config {
                    name_after(config, group);
                    Keeper::precede(group);
                }
            },
            attach: Box::new(|config, group, clock| match config {
                AnyConfig::Lease(config) => attach(config, register, group, clock),
                // Never reached: a keeper of a lease is attached only to an election with a lease.
                AnyConfig::Available(_) | AnyConfig::Astra(_) | AnyConfig::Quorum(_) => Ok(None),
            }),
        }
    }
}

fn name_after(config: &mut Arc<LeaseConfig>, group: &Group<AnyMessage>) {
    if config.name.group.as_str() == group.name() {
        return;
    }
    // A group's name follows the same rules as an agent's name.
    if let Ok(name) = AgentId::new(group.name()) {
        Arc::make_mut(config).name.group = name;
    }
}

fn attach(
    config: &LeaseConfig,
    register: Arc<dyn Register>,
    group: &Group<AnyMessage>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<StoreOf<AnyBully>>, StartError> {
    let settings = KeeperSettings {
        register,
        name: config.name.clone(),
        // A request is given up before the lease ends, so that a holder still has time for another try.
        limit: (config.timings.lease() / 2).max(LEAST_LIMIT),
        clock: Arc::clone(clock),
    };
    Ok(Some(Keeper::attach(group, settings)?))
}

/// Shortest time limit of a request, even if half of the lease is shorter: a distant store needs this time.
const LEAST_LIMIT: Duration = Duration::from_millis(250);
