//! The offers of an agent, by its mode and its links.

use super::Offers;
use crate::agent::shared::SharedState;

impl SharedState {
    pub(in crate::agent) fn offers(&self) -> Offers {
        self.settings.mode().offers(self.is_open())
    }

    /// Returns whether agents of other hosts may take part, because a bridge carries the group.
    pub(in crate::agent) fn is_open(&self) -> bool {
        !self.membership().members().is_closed()
    }
}
