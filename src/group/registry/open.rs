//! What a bridge asks of the books: that the group may be opened, and news of changes.

use std::sync::Arc;

use crate::{
    group::{OpenError, bell::Bell},
    protocol::{AgentId, Incarnation, PeerMessage, Requirements},
};

use super::{Holder, Registry, Seat};

impl<M: PeerMessage> Registry<M> {
    /// Notes that the holder of a name forgets its votes with this process; says whether that
    /// may be, which it may not where other hosts rely on them.
    pub(in crate::group) fn note_volatile(&mut self, id: &AgentId) -> bool {
        if self.members.is_closed() {
            self.volatile.insert(id.clone());
        }
        self.members.is_closed()
    }

    /// Lets other hosts in; every life from now on is later than `floor`.
    pub(in crate::group) fn open(&mut self, floor: Incarnation) -> Result<(), OpenError> {
        if let Some(id) = self.volatile.first() {
            return Err(OpenError::Volatile { id: id.clone() });
        }
        let there = |seat: &Seat| seat.holder != Holder::Gone;
        let early = self.names.iter().find(|(_, seat)| there(seat));
        if let Some((id, _)) = early.filter(|_| !self.was_opened) {
            return Err(OpenError::TooLate { id: id.clone() });
        }
        self.was_opened = true;
        self.raise_floor(floor);
        self.set_closed(false);
        Ok(())
    }

    /// What the members share; `None` while no agent of this process has a place.
    pub(in crate::group) fn requirements(&self) -> Option<Requirements> {
        self.requirements.clone().filter(|_| !self.names.is_empty())
    }

    /// Rings the bell at the next change, and again after each look.
    pub(in crate::group) fn watch(&mut self, bell: &Arc<Bell>) {
        self.bells.retain(|known| known.strong_count() > 0);
        self.bells.push(Arc::downgrade(bell));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elections::bully::BullyMessage;

    #[test]
    fn a_bell_that_nobody_holds_any_more_takes_no_room() {
        let mut registry = Registry::<BullyMessage>::new(Box::new(|| true));
        let bell = || Arc::new(Bell::new(Box::new(|| ())));
        let held = bell();
        registry.watch(&held);
        for _ in 0..3 {
            registry.watch(&bell());
        }
        assert_eq!(
            registry.bells.len(),
            2,
            "the one that is held, and the last"
        );
    }
}
