//! Three nodes with sentinels in real processes: voters, or agents with a lease. The tests check the failover after the
//! end of the leader's process. In real time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    net::UdpSocket,
    thread,
    time::{Duration, Instant},
};

use common::{NEVER, SOON, Three, ports};
use rustix::process::{Signal, kill_process};

/// The lease of `lan` is 240 ms and a promise 300 ms. Without a notice no agent could be elected before their end.
#[test]
fn voters_wait_for_no_lease_of_a_leader_that_was_killed() {
    let mut took = Vec::new();
    for _ in 0..5 {
        let mut three = Three::with(ports(), &[]);
        let leader = three.agree();
        let since = Instant::now();
        three.nodes[leader].child.kill().unwrap();
        took.push(three.fails_over(leader).duration_since(since));
        let next = (leader + 1) % 3;
        assert_eq!(three.nodes[next].count("notice_believed"), 1);
    }
    took.sort();
    println!("kill -9 until both others follow the next: {took:?}");
    assert!(took[2] < Duration::from_millis(120), "{took:?}");
}

/// The kernel reports the end of the holder. That frees the lease, however long the lease is.
#[test]
fn the_killed_holder_of_a_lease_is_followed_long_before_the_lease_runs_out() {
    const LEASE: Duration = Duration::from_secs(3);
    let seconds = LEASE.as_secs().to_string();
    let mut three = Three::with(ports(), &[("LEASE", seconds)]);
    // Before an empty register is used, the agents wait as long as for a lease whose record was deleted.
    let leader = three.agree();
    let since = Instant::now();
    three.nodes[leader].child.kill().unwrap();
    let took = three.fails_over(leader).duration_since(since);
    println!(
        "kill -9 of the holder of a lease of {LEASE:?} until both others follow the next: {took:?}"
    );
    assert!(took < LEASE / 2, "{took:?}");
}

#[test]
fn without_a_notice_the_lease_decides_and_a_late_notice_changes_nothing() {
    let ports = ports();
    // A firewall that closes the ports for UDP: other sockets have the ports, so that no node receives a notice.
    let closed = ports.map(|port| UdpSocket::bind(("127.0.0.1", port)).unwrap());
    let mut three = Three::with(ports, &[]);
    let leader = three.agree();
    let other = (leader + 1) % 3;
    let since = Instant::now();
    three.nodes[leader].child.kill().unwrap();
    let took = three.fails_over(leader).duration_since(since);
    assert!(took > Duration::from_millis(150), "{took:?}");
    assert_eq!(three.nodes[other].count("notice_believed"), 0);

    let mut notice = [0; 512];
    closed[other].set_read_timeout(Some(SOON)).unwrap();
    let len = closed[other].recv(&mut notice).unwrap();
    drop(closed);
    three.nodes[leader].child.wait().unwrap();
    three.nodes[leader] = three.spawn(leader);
    three.nodes[leader].leader_after("");
    three.nodes[other].linked(2);
    // The bridge tries once a second whether its UDP port is free.
    let (socket, began) = (UdpSocket::bind("127.0.0.1:0").unwrap(), Instant::now());
    while three.nodes[other].count("notice_other_incarnation") == 0 {
        assert!(began.elapsed() < SOON);
        let to = ("127.0.0.1", three.ports[other]);
        socket.send_to(&notice[..len], to).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(three.nodes[other].count("notice_believed"), 0);
    assert_eq!(three.nodes[other].next(NEVER), None, "nothing has changed");
}

#[test]
fn peers_believe_a_sentinel_that_replaced_another_one() {
    let mut three = Three::with(ports(), &[]);
    let leader = three.agree();
    kill_process(three.nodes[leader].sentinel, Signal::KILL).unwrap();
    // The node notices after a second that its sentinel is gone. Then the links are made anew.
    thread::sleep(Duration::from_secs(4));
    three.nodes[leader].child.kill().unwrap();
    three.fails_over(leader);
    for other in (0..3).filter(|other| *other != leader) {
        assert_eq!(three.nodes[other].count("notice_believed"), 1);
    }
}
