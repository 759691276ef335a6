//! What an agent answers by its offers.

use super::Offers;
use crate::agent::shared::SharedState;

impl SharedState {
    /// What the agent's mode offers to the features that are built on it.
    pub(in crate::agent) fn offers(&self) -> Offers {
        let has_links = !self.membership().members().is_closed();
        self.settings.mode().offers(has_links)
    }
}
