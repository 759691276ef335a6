//! A node in a separate process. A test can stop it, as a machine that is paused.

use std::{net::SocketAddr, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// The program `node` of this package. It ends with the test.
#[derive(Debug)]
pub struct NodeProcess {
    child: Child,
    /// Address of the node's page.
    pub address: SocketAddr,
}

impl NodeProcess {
    /// Starts the program at the path `program`, and reads the address of its page.
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

    /// Sends the process a signal with this name.
    pub async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().await;
        assert!(sent.expect("kill").success(), "SIG{name}");
    }
}
