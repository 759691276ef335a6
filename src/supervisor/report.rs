//! Reports events: first to the hook, then to the parent. There is always a last event.
//!
//! Decided here: a panic in the hook changes nothing; the last event is sent exactly once, if necessary by `Drop`; the
//! log lines. Not here: when an incarnation has ended (`guardian.rs`).

use std::fmt::Debug;
use std::time::Duration;

use tracing::{debug, info, warn};

use super::contain::contain;
use super::event::{Exit, Supervision};

/// A function that is called with the cause for each incarnation that ended. It returns whether another incarnation may
/// follow.
pub(super) type Hook = Box<dyn FnMut(&Exit) -> bool + Send>;

/// A function that is called with every event of a child.
pub(super) type TellParent<K> = Box<dyn FnMut(Supervision<K>) + Send>;

/// Sends the events of one child: has the child's key, its parent and its hook.
pub(super) struct Reporter<K: Clone + Debug + Send + 'static> {
    child: K,
    parent: Option<TellParent<K>>,
    hook: Option<Hook>,
    last_word: LastWord,
}

/// Whether `Finished` or `GaveUp` was sent.
enum LastWord {
    Owed,
    Said,
}

impl<K: Clone + Debug + Send + 'static> Reporter<K> {
    pub(super) fn new(child: K, parent: Option<TellParent<K>>, hook: Option<Hook>) -> Self {
        Self {
            child,
            parent,
            hook,
            last_word: LastWord::Owed,
        }
    }

    /// Reports the end of an incarnation to the hook, before everything else. Returns whether another incarnation may
    /// follow.
    pub(super) fn revoke(&mut self, exit: &Exit) -> bool {
        let Some(hook) = &mut self.hook else {
            return true;
        };
        contain(|| hook(exit)).unwrap_or_else(|reason| {
            warn!(node = ?self.child, reason, "exit hook panicked");
            true
        })
    }

    /// Reports an end before a restart. `left` is the number of further restarts that the budget allows after that
    /// restart.
    pub(super) fn down(&mut self, exit: Exit, restart_in: Duration, left: usize) {
        info!(node = ?self.child, reason = ?exit, after_ms = restart_in.as_millis(), "child is down");
        if left == 0 {
            warn!(node = ?self.child, "restart budget nearly spent");
        }
        self.tell(Supervision::Down {
            child: self.child.clone(),
            exit,
            restart_in,
        });
    }

    pub(super) fn up(&mut self, restarts: u64) {
        info!(node = ?self.child, restarts, "child is up");
        self.tell(Supervision::Up {
            child: self.child.clone(),
            restarts,
        });
    }

    pub(super) fn finished(&mut self) {
        self.last_word = LastWord::Said;
        self.drop_hook();
        debug!(node = ?self.child, "child finished");
        self.tell(Supervision::Finished {
            child: self.child.clone(),
        });
    }

    pub(super) fn gave_up(&mut self, exit: Exit) {
        self.last_word = LastWord::Said;
        self.drop_hook();
        match exit {
            Exit::Abandoned => debug!(node = ?self.child, "child abandoned"),
            Exit::Stopped | Exit::Panicked(_) => {
                warn!(node = ?self.child, reason = ?exit, "restart budget spent");
            }
        }
        self.tell(Supervision::GaveUp {
            child: self.child.clone(),
            exit,
        });
    }

    /// Drops the hook, because no incarnation follows. The parent gets its event afterwards: a hook that is dropped may
    /// free the child's name, for example, and a parent on another thread may at once take this name for the next
    /// child.
    fn drop_hook(&mut self) {
        let hook = self.hook.take();
        if let Err(reason) = contain(|| drop(hook)) {
            warn!(node = ?self.child, reason, "exit hook panicked when dropped");
        }
    }

    pub(super) fn child(&self) -> &K {
        &self.child
    }

    fn tell(&mut self, event: Supervision<K>) {
        if let Some(parent) = &mut self.parent {
            parent(event);
        }
    }
}

impl<K: Clone + Debug + Send + 'static> Drop for Reporter<K> {
    fn drop(&mut self) {
        match self.last_word {
            LastWord::Owed => self.gave_up(Exit::Abandoned),
            LastWord::Said => {}
        }
    }
}
