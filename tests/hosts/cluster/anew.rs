//! Hosts that are lost for good, and begun anew.

use super::{Cluster, Place};
use crate::Wrong;

impl<P: Place> Cluster<P> {
    /// Starts a node of another name with an empty store, in the place of one that was killed.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn begin_anew(&mut self, host: usize) -> Result<(), Wrong> {
        self.nodes[host].lives += 1;
        self.launch(host, true)
    }

    /// Which incarnation of its process a host runs.
    pub(crate) fn incarnation(&self, host: usize) -> u32 {
        self.nodes[host].incarnation
    }
}
