//! A node in a process of its own, which can be stopped as a paused machine is.

use std::{net::SocketAddr, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// The program `node` of this package. It ends with the test.
#[derive(Debug)]
pub struct NodeProcess {
    child: Child,
    /// Where its page is.
    pub address: SocketAddr,
}

impl NodeProcess {
    /// Starts it; `program` is where it is.
    pub async fn start(program: &str) -> Self {
        let mut child = Command::new(program)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let output = child.stdout.take().expect("its output");
        let line = BufReader::new(output).lines().next_line().await;
        let line = line.expect("text").expect("an address");
        let address = line.parse().expect("an address");
        Self { child, address }
    }

    /// Sends it a signal, by its name.
    pub async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().await;
        assert!(sent.expect("kill").success(), "SIG{name}");
    }
}
