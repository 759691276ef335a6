//! The parts of an agent that outlast its end.
//!
//! Decided here: when all resources of the agent are free, and that this is reported once. The agent's actor holds the
//! lock of its store. The agent's work, which may run on another thread, keeps the agent's name in use. Not here: which
//! calls report that the actor and the work have ended (`leadership.rs`).

/// See the [module](self).
#[derive(Default)]
pub(super) struct AgentRemains {
    /// The actor is dropped, or given up because it hangs.
    pub(super) is_dropped: bool,
    /// The actor is dropped, none of the agent's work runs, and its name is free in the group.
    pub(super) is_gone: bool,
    /// A function that is called once when the agent is gone.
    farewell: Option<Box<AfterEnd>>,
}

/// The farewell function. It is in a second box, so that an agent without a farewell, as most agents are, spends only
/// one word of memory.
struct AfterEnd(Box<dyn FnOnce() + Send>);

impl AgentRemains {
    /// Keeps `farewell` until [`gone`](Self::gone) returns it. If all resources are free already, returns it at once.
    pub(super) fn when_gone<F>(&mut self, farewell: F) -> Option<F>
    where
        F: FnOnce() + Send + 'static,
    {
        if self.is_gone {
            return Some(farewell);
        }
        self.farewell = Some(Box::new(AfterEnd(Box::new(farewell))));
        None
    }

    /// Notes that all resources are free; returns the farewell.
    pub(super) fn gone(&mut self) -> Option<Box<dyn FnOnce() + Send>> {
        self.is_gone = true;
        self.farewell.take().map(|farewell| farewell.0)
    }
}
