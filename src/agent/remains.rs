//! The parts of an agent that outlast its end.
//!
//! Decided here: when everything is free that it held, and that this is told once. Its actor holds the lock of its store;
//! its work, which may run on another thread, keeps its name. Not here: who says that these have ended (`leadership.rs`).

/// See the [module](self).
#[derive(Default)]
pub(super) struct AgentRemains {
    /// The actor is dropped, or given up because it hangs.
    pub(super) is_dropped: bool,
    /// No work of it runs either, and the group has its name back.
    pub(super) is_gone: bool,
    /// Called then.
    farewell: Option<Box<AfterEnd>>,
}

/// A box in a box: most agents have none, and it takes one word of each.
struct AfterEnd(Box<dyn FnOnce() + Send>);

impl AgentRemains {
    /// Calls that once everything is free; gives it back if that is so already.
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

    /// Everything is free; returns the farewell.
    pub(super) fn gone(&mut self) -> Option<Box<dyn FnOnce() + Send>> {
        self.is_gone = true;
        self.farewell.take().map(|farewell| farewell.0)
    }
}
