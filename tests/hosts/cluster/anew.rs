//! Hosts that are lost for good, and replaced.

use super::{Cluster, Place};
use crate::Wrong;

impl<P: Place> Cluster<P> {
    /// Starts a node with another name and an empty store, in the place of a killed node.
    pub(crate) fn begin_anew(&mut self, host: usize) -> Result<(), Wrong> {
        self.nodes[host].lives += 1;
        self.launch(host, true)
    }

    /// Returns the incarnation of the process on a host.
    pub(crate) fn incarnation(&self, host: usize) -> u32 {
        self.nodes[host].incarnation
    }
}
