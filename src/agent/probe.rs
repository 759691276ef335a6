//! Measures a voter's disk while the voter writes nothing.
//!
//! Decided here: once a minute the agent measures the duration of a write, if its election machine [asks for
//! it](crate::protocol::Prospects::probes), and reports the duration to the machine. The machine handles other inputs
//! during the measurement. Not here: the consequences of a slow disk (`elections/quorum/slow.rs`), and the probe itself
//! (`store/probe.rs`).

use std::sync::Arc;

use actix::{ActorFutureExt, AsyncContext, Context, WrapFuture};
use tokio::runtime::Handle;

use crate::{protocol::Election, supervisor::contain};

use super::Agent;

impl<E: Election> Agent<E> {
    /// Measures the disk if a measurement is due. The agent calls this after each step.
    pub(super) fn probe_disk(&self, ctx: &mut Context<Self>) {
        let Some(store) = self
            .store
            .as_ref()
            .filter(|_| self.machine.prospects().probes)
        else {
            return;
        };
        if !self.shared.vitals().is_probe_due(self.shared.now()) {
            return;
        }
        let store = Arc::clone(store);
        let Ok(runtime) = Handle::try_current() else {
            return; // cannot happen: an agent runs in a runtime
        };
        // The call panics if the system has no thread left. The disk is then measured a minute later.
        let Ok(probe) = contain(|| runtime.spawn_blocking(move || store.probe())) else {
            return;
        };
        let noted = probe.into_actor(self).map(|took, agent, _| {
            // An error is not noted here: the write of a vote reports it.
            if let Ok(Some(took)) = took {
                agent.shared.vitals().note_probe(took);
                agent.machine.note_write(took);
            }
        });
        ctx.spawn(noted);
    }
}
