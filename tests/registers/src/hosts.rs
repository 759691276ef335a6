//! Processes on separate hosts. A cable links each host with the host of the server, and a test can pull the cable.
//!
//! ```text
//!   process 0, host-0 ── eth0 ═══ v0 ┐
//!   process 1, host-1 ── eth0 ═══ v1 ├ br0: the test, and the server that it starts
//!   process 2, host-2 ── eth0 ═══ v2 ┘
//! ```
//!
//! A host is a network namespace, which ends with the test. The network of the machine does not change. The
//! namespaces need root and Debian's package iproute2.

use std::{fs, path::Path, process::Command};

use crate::{disk, namespace::is_elsewhere};

/// Address of the server.
pub const SERVER: &str = "10.77.0.254";
/// Range of the addresses of all hosts.
pub const ALL: &str = "10.77.0.0/24";

/// Some hosts, and the cables between each of them and the server's host.
#[derive(Debug)]
pub struct Hosts {
    number: usize,
}

impl Hosts {
    /// Makes `number` hosts for the test with this name. The test is run again where it may make network namespaces.
    /// Returns `None` in the outer run, and also where no namespaces can be made.
    pub fn of(test: &str, number: usize) -> Option<Self> {
        // A namespace of users would have no other user than root, and PostgreSQL does not run as root.
        let own = ["--net", "--mount"];
        let tried = ["ip", "link", "set", "lo", "up"];
        if is_elsewhere(test, &own, &tried) {
            return None;
        }
        let names = Path::new("/run/netns");
        fs::create_dir_all(names).expect("it can be made");
        disk::mount(names, "1m");
        ip("link set lo up");
        ip("link add br0 type bridge forward_delay 0 stp_state 0");
        ip(&format!("addr add {SERVER}/24 dev br0"));
        ip("link set br0 up");
        for host in 0..number {
            ip(&format!("netns add host-{host}"));
            ip(&format!(
                "link add v{host} type veth peer name eth0 netns host-{host}"
            ));
            ip(&format!("link set v{host} master br0 up"));
            let address = format!("10.77.0.{}/24", host + 1);
            ip(&format!("-n host-{host} addr add {address} dev eth0"));
            ip(&format!("-n host-{host} link set eth0 up"));
            ip(&format!("-n host-{host} link set lo up"));
        }
        Some(Self { number })
    }

    /// Returns the number of hosts.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the command line that runs `words` on a host, without another process in between.
    pub fn on(host: usize, words: Vec<String>) -> Vec<String> {
        let own = ["ip", "netns", "exec", &format!("host-{host}")].map(str::to_owned);
        own.into_iter().chain(words).collect()
    }

    /// Pulls the cable of a host. Bytes to and from the host are lost, and no process gets an error.
    pub fn pull(&self, host: usize) {
        ip(&format!("link set v{host} down"));
    }

    /// Plugs the cable of a host in again.
    pub fn plug(&self, host: usize) {
        ip(&format!("link set v{host} up"));
    }
}

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split(' ')).output();
    let done = done.expect("Debian's package iproute2 is there");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "ip {words}: {said}");
}
