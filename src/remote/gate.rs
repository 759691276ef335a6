//! Who may come in: how many connections that others made, in all, unknown yet, and of those from
//! one address.
//!
//! Decided here: that the newest is refused, before anything is read or encrypted for it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use super::{Limits, shared::lock};

/// Counts the connections that others made.
#[derive(Debug)]
pub(crate) struct Gate {
    most: usize,
    most_unready: usize,
    most_per_address: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    inside: usize,
    unready: usize,
    per_address: BTreeMap<String, usize>,
}

impl Gate {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.inbound(),
            most_unready: limits.unready(),
            most_per_address: limits.unready_per_address(),
            counts: Mutex::default(),
        }
    }

    /// Lets a connection in, if there is room for it.
    pub(crate) fn enter(self: &Arc<Self>, from: &str) -> Option<Pass> {
        let mut counts = lock(&self.counts);
        let same = counts.per_address.get(from).copied().unwrap_or_default();
        let is_full = counts.inside >= self.most
            || counts.unready >= self.most_unready
            || same >= self.most_per_address;
        if is_full {
            return None;
        }
        counts.inside = counts.inside.saturating_add(1);
        counts.unready = counts.unready.saturating_add(1);
        counts
            .per_address
            .insert(from.to_owned(), same.saturating_add(1));
        Some(Pass {
            gate: Arc::clone(self),
            from: Some(from.to_owned()),
        })
    }
}

/// One connection's place; dropped with it.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
    /// Until it is ready.
    from: Option<String>,
}

impl Pass {
    /// The other end is known.
    pub(crate) fn ready(&mut self) {
        let Some(from) = self.from.take() else {
            return;
        };
        let mut counts = lock(&self.gate.counts);
        counts.unready = counts.unready.saturating_sub(1);
        if let Some(same) = counts.per_address.get_mut(&from) {
            *same = same.saturating_sub(1);
            if *same == 0 {
                counts.per_address.remove(&from);
            }
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.ready();
        let mut counts = lock(&self.gate.counts);
        counts.inside = counts.inside.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_refused_until_somebody_goes_or_is_known() {
        let limits = Limits::builder()
            .inbound(4)
            .unready(3)
            .unready_per_address(2);
        let gate = Arc::new(Gate::new(&limits.build().unwrap()));
        let mut first = gate.enter("a").unwrap();
        let second = gate.enter("a").unwrap();
        assert!(gate.enter("a").is_none(), "two of one address");
        let other = gate.enter("c").unwrap();
        assert!(gate.enter("d").is_none(), "three that are not ready");
        first.ready();
        let third = gate.enter("a").unwrap();
        drop(other);
        assert!(gate.enter("a").is_none());
        let last = gate.enter("e").unwrap();
        assert!(gate.enter("f").is_none());
        drop((first, second, third, last));
        let counts = lock(&gate.counts);
        assert_eq!((counts.inside, counts.unready), (0, 0));
        assert!(counts.per_address.is_empty());
    }
}
