//! Nodes side by side on one machine, each at a port of its own.

use std::{path::Path, process::Command};

use super::{cluster::Place, ports::free_port};

/// Ports of the loopback address.
#[derive(Debug)]
pub(crate) struct Loopback(Vec<u16>);

impl Loopback {
    /// Takes free ports for `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self((0..nodes).map(|_| free_port()).collect())
    }
}

impl Place for Loopback {
    fn program(&self, _host: usize, program: &Path) -> Command {
        Command::new(program)
    }

    fn address(&self, host: usize) -> String {
        format!("127.0.0.1:{}", self.0[host])
    }
}
