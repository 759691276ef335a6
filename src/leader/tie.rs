//! An agent that is tied to an actor of its application: where that actor is gone, the agent is not
//! eligible.
//!
//! Decided here: what notices that an actor is gone. actix tells of that by no event, and any message
//! would have to be one that the actor handles; so its address is looked at, every [`LOOK`]. Not here:
//! which score counts meanwhile (`agent/eligibility.rs`).

use std::time::Duration;

use actix::{Actor, Addr, WeakAddr, clock::sleep};

use crate::{
    agent::{CommandError, ElectionHandle},
    protocol::Election,
};

/// How often an address is looked at: at 1 µs each, an agent costs 20 µs of a second.
const LOOK: Duration = Duration::from_millis(50);

impl<E: Election> ElectionHandle<E> {
    /// Ties this agent to an actor: once that actor is gone (it stopped, or panicked), the agent has no
    /// score that counts. It hands over if it leads, and is not elected until it is tied to another actor,
    /// which gives it back the score that it had, or the one that was set meanwhile.
    ///
    /// That is noticed within 50 ms, on the agent's arbiter, logged at `warn` and shown by
    /// [`Status::tie_broken`](crate::agent::Status::tie_broken). The tie outlasts crashes of the agent, and
    /// keeps the actor alive no more than a weak address does. An agent is tied to one actor at most,
    /// the last one. An actor that hangs is not gone: a probe asks for that
    /// ([`progress_within`](crate::agent::LeaderGuard::progress_within)).
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    ///
    /// # Examples
    /// ```
    /// use actix::prelude::*;
    /// use actix_bully::{Group, agent::BullyAgent};
    ///
    /// struct Database;
    /// impl Actor for Database { type Context = Context<Self>; }
    ///
    /// System::new().block_on(async {
    ///     let group = Group::new("demo")?;
    ///     let agent = BullyAgent::builder("db-1").score(30).join(&group).start()?;
    ///     let database = Database.start();
    ///     agent.tie_to(&database)?;
    ///     // If `database` ends, db-1 is not eligible until:
    ///     agent.tie_to(&Database.start())?;
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub fn tie_to<A: Actor>(&self, addr: &Addr<A>) -> Result<(), CommandError> {
        // Weak: a tie must not keep an actor alive that ends with its last address.
        let gone = addr.connected().then(|| until_gone(addr.downgrade()));
        self.withdraw_after(gone)
    }
}

/// Ends when the actor is gone.
async fn until_gone<A: Actor>(addr: WeakAddr<A>) {
    while addr.upgrade().is_some() {
        sleep(LOOK).await;
    }
}
