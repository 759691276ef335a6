//! The offers of an agent, by its mode and its links.

use super::Offers;
use crate::agent::shared::SharedState;

impl SharedState {
    /// Returns the offers of the agent's mode.
    pub(in crate::agent) fn offers(&self) -> Offers {
        let has_links = !self.membership().members().is_closed();
        self.settings.mode().offers(has_links)
    }
}
