//! An agent that is tied to an actor of its application: after the end of that actor, the agent is not eligible.
//!
//! Decided here: how the end of an actor is detected. actix sends no event for it, and a test message would need a
//! handler in the actor. So the actor's address is checked every [`LOOK`]. Not here: the score of an agent whose actor
//! has ended (`agent/eligibility.rs`).

use std::time::Duration;

use actix::{Actor, Addr, WeakAddr, clock::sleep};

use crate::{
    agent::{CommandError, ElectionHandle},
    protocol::Election,
};

/// Time between two checks of an address, as `tie_to` promises. A check takes 1 µs: 20 µs per second for a tied agent.
const LOOK: Duration = Duration::from_millis(50);

impl<E: Election> ElectionHandle<E> {
    /// Ties this agent to an actor: after that actor is gone (it stopped, or panicked), the agent has no valid score.
    /// The agent hands over if it leads, and is not elected until it is tied to another actor. Then it gets back its
    /// former score, or a score that was set in the meantime.
    ///
    /// The end of the actor is detected within 50 ms, on the agent's arbiter. The end is logged at `warn` and shown by
    /// [`Status::tie_broken`](crate::agent::Status::tie_broken). The tie survives crashes of the agent. Like a weak
    /// address, the tie does not keep the actor alive. An agent is tied to at most one actor, the actor of the last
    /// call. An actor that hangs is not gone: a probe detects that
    /// ([`progress_within`](crate::agent::LeaderGuard::progress_within)).
    ///
    /// # Errors
    /// [`CommandError::Ended`] if the agent left or ended for good.
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
        // A weak address: the tie must not keep the actor alive, because an actor ends when it has no address.
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
