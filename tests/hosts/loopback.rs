//! Nodes side by side on one machine, each at a port of its own.

use std::{net::TcpListener, path::Path, process::Command};

use super::{Wrong, cluster::Place};

/// Ports of the loopback address that were free a moment ago.
#[derive(Debug)]
pub(crate) struct Loopback(Vec<u16>);

impl Loopback {
    /// So many free ports.
    ///
    /// # Errors
    /// If there are not so many.
    pub(crate) fn new(nodes: usize) -> Result<Self, Wrong> {
        // All at once, so that they differ.
        let bound: Result<Vec<_>, _> = (0..nodes)
            .map(|_| TcpListener::bind("127.0.0.1:0"))
            .collect();
        let port = |listener: &TcpListener| listener.local_addr().map(|at| at.port());
        let ports: Result<Vec<_>, _> = bound?.iter().map(port).collect();
        Ok(Self(ports?))
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
