//! Hosts in network namespaces: one Linux bridge with a cable to each host, and rules that drop packets.
//!
//! ```text
//!   host a ── eth0 ═══ v1 ┐
//!   host b ── eth0 ═══ v2 ├ bridge, in a namespace of its own, with an nft chain
//!   host c ── eth0 ═══ v3 ┘
//! ```
//!
//! The machine's own network is not changed. Dropping a `Net` removes all of it.

use std::{
    path::Path,
    process::{self, Command},
};

use crate::{
    Wrong,
    cluster::{Cluster, Place},
};

/// Returns the address of a host; the numbers of hosts begin at 0.
fn address(host: usize) -> String {
    format!("10.77.0.{}", host + 1)
}

impl Place for Net {
    fn program(&self, host: usize, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(host)]);
        command.arg(program);
        command
    }

    fn address(&self, host: usize) -> String {
        format!("{}:7400", address(host))
    }
}

/// A node on each host.
pub(crate) type Hosts = Cluster<Net>;

impl Hosts {
    /// Drops all packets between two groups of hosts, in both directions.
    pub(crate) fn split(&self, some: &[usize], others: &[usize]) -> Result<(), Wrong> {
        for (one, other) in some
            .iter()
            .flat_map(|a| others.iter().map(move |b| (*a, *b)))
        {
            self.net.cut_one_way(one, other)?;
            self.net.cut_one_way(other, one)?;
        }
        Ok(())
    }

    /// Cuts a host off from all others.
    pub(crate) fn isolate(&self, host: usize) -> Result<(), Wrong> {
        self.split(&[host], &self.others(host))
    }
}

/// Some hosts, and the network between them.
#[derive(Debug)]
pub(crate) struct Net {
    prefix: String,
    hosts: usize,
}

impl Net {
    /// Makes hosts that all reach each other.
    pub(crate) fn up(hosts: usize) -> Result<Self, Wrong> {
        let net = Self {
            prefix: format!("ab{}", process::id()),
            hosts,
        };
        let switch = net.switch();
        run(&format!(
            "ip netns add {switch}
             ip -n {switch} link set lo up
             ip -n {switch} link add br0 type bridge forward_delay 0 stp_state 0
             ip -n {switch} link set br0 up"
        ))?;
        for host in 0..hosts {
            let (name, port, address) = (net.namespace(host), port(host), address(host));
            run(&format!(
                "ip netns add {name}
                 ip link add {port} netns {switch} type veth peer name eth0 netns {name}
                 ip -n {switch} link set {port} master br0 up
                 ip -n {name} addr add {address}/24 dev eth0
                 ip -n {name} link set eth0 up
                 ip -n {name} link set lo up"
            ))?;
        }
        net.nft("add table bridge f")?;
        net.nft("add chain bridge f pass { type filter hook forward priority 0; policy accept; }")?;
        Ok(net)
    }

    /// Returns the namespace of a host.
    fn namespace(&self, host: usize) -> String {
        format!("{}-h{host}", self.prefix)
    }

    /// Drops the packets from one host to another.
    pub(crate) fn cut_one_way(&self, from: usize, to: usize) -> Result<(), Wrong> {
        self.discard(from, to, "")
    }

    /// Drops a share of the packets from one host to another, in percent.
    pub(crate) fn lose(&self, from: usize, to: usize, percent: u32) -> Result<(), Wrong> {
        self.discard(from, to, &format!("numgen random mod 100 < {percent}"))
    }

    fn discard(&self, from: usize, to: usize, which: &str) -> Result<(), Wrong> {
        let way = format!("iifname {} oifname {}", port(from), port(to));
        let rule = format!("add rule bridge f pass {way} {which} counter drop");
        self.nft(&rule).map(drop)
    }

    /// Removes all rules, resets and limits, and plugs in every cable.
    pub(crate) fn heal(&self) -> Result<(), Wrong> {
        self.nft("flush chain bridge f pass")?;
        for host in 0..self.hosts {
            // Most hosts have no table and no limit, so a failure is ignored.
            let name = self.namespace(host);
            drop(run(&format!(
                "ip netns exec {name} nft delete table inet f"
            )));
            drop(run(&format!("tc -n {name} qdisc del dev eth0 root")));
            self.plug(host, true)?;
        }
        Ok(())
    }

    /// Returns the number of packets that the rules have dropped.
    pub(crate) fn dropped(&self) -> Result<u64, Wrong> {
        let listed = self.nft("list chain bridge f pass")?;
        let counts = listed.split("packets ").skip(1);
        let counts = counts.filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok());
        Ok(counts.sum())
    }

    /// Lets the kernel of a host answer the packets of host `to` with a reset of the connection.
    pub(crate) fn reset(&self, host: usize, to: usize) -> Result<(), Wrong> {
        let (name, to) = (self.namespace(host), address(to));
        let rules = format!(
            "add table inet f; \
             add chain inet f out {{ type filter hook output priority 0; }}; \
             add rule inet f out ip daddr {to} meta l4proto tcp counter reject with tcp reset"
        );
        run(&format!("ip netns exec {name} nft '{rules}'")).map(drop)
    }

    /// Limits the rate at which a host sends, in kbit/s.
    pub(crate) fn limit(&self, host: usize, kbit: u32) -> Result<(), Wrong> {
        let name = self.namespace(host);
        let limit = format!("tbf rate {kbit}kbit burst 3000 latency 400ms");
        run(&format!("tc -n {name} qdisc replace dev eth0 root {limit}")).map(drop)
    }

    /// Plugs in the cable of a host, or pulls it.
    pub(crate) fn plug(&self, host: usize, into: bool) -> Result<(), Wrong> {
        let (name, state) = (self.namespace(host), if into { "up" } else { "down" });
        run(&format!("ip -n {name} link set eth0 {state}")).map(drop)
    }

    fn switch(&self) -> String {
        format!("{}-sw", self.prefix)
    }

    fn nft(&self, rules: &str) -> Result<String, Wrong> {
        run(&format!("ip netns exec {} nft '{rules}'", self.switch()))
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        let hosts = (0..self.hosts).map(|host| self.namespace(host));
        for name in hosts.chain([self.switch()]) {
            drop(run(&format!("ip netns del {name}")));
        }
    }
}

/// Returns the reason why such hosts are impossible on this machine, if there is one.
pub(crate) fn missing() -> Option<String> {
    let tried = run("nft --version; tc -V").and_then(|_| Net::up(1));
    tried.err().map(|wrong| wrong.to_string())
}

fn port(host: usize) -> String {
    format!("v{host}")
}

/// Runs the commands of a script, up to the first that fails. Returns their output.
fn run(script: &str) -> Result<String, Wrong> {
    let done = Command::new("sh").args(["-ec", script]).output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(Wrong(format!("{script}: {}", said.trim())))
}
