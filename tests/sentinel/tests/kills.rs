//! The leader of three nodes is killed under load, again and again. No two nodes lead at one time, and the resource to
//! which all write accepts no older token after a newer one. In real time.
//!
//! `KILLS=500` sets the number of kills.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    collections::BTreeMap,
    net::UdpSocket,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use common::{SOON, Three, ports};

/// For each term, its leader and the first and last time at which it found that it leads.
type Spans = BTreeMap<u64, (String, u64, u64)>;

/// The rows that the resource got, behind a fence.
#[derive(Default)]
struct Written {
    spans: Spans,
    token: u64,
    taken: u64,
    /// Number of rows with an older token.
    refused: u64,
}

impl Written {
    fn write(&mut self, row: &str) {
        let mut words = row.split(' ');
        let mut next = || words.next().expect("three words");
        let (name, token, at) = (next(), next(), next());
        let (token, at): (u64, u64) = (token.parse().unwrap(), at.parse().unwrap());
        let span = self.spans.entry(token);
        let span = span.or_insert_with(|| (name.to_owned(), at, at));
        assert_eq!(span.0, name, "two leaders of the term {token}");
        (span.1, span.2) = (span.1.min(at), span.2.max(at));
        if token < self.token {
            self.refused += 1;
            return;
        }
        (self.token, self.taken) = (token, self.taken + 1);
    }

    /// Checks that no two nodes led at one time: each leadership's last time is before the first time of the next one.
    fn one_leader(&self) {
        let spans: Vec<_> = self.spans.iter().collect();
        for pair in spans.windows(2) {
            let [(_, former), (_, later)] = pair else {
                continue;
            };
            assert!(former.2 < later.1, "two lead: {former:?}, {later:?}");
        }
    }
}

/// Runs the resource until a message stops it.
fn serve() -> (String, JoinHandle<Written>) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let serves = thread::spawn(move || {
        let (mut written, mut bytes) = (Written::default(), [0; 128]);
        loop {
            let len = socket.recv(&mut bytes).unwrap();
            match std::str::from_utf8(&bytes[..len]).unwrap() {
                "stop" => return written,
                row => written.write(row),
            }
        }
    });
    (address, serves)
}

#[test]
fn killed_leaders_under_load_leave_one_leader_and_no_older_token_passes() {
    let kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok());
    let kills: usize = kills.unwrap_or(5);
    let (address, serves) = serve();
    let mut three = Three::with(ports(), &[("RESOURCE", address.clone())]);
    let (mut took, mut told) = (Vec::new(), 0);
    let mut leader = three.agree(SOON);
    for _ in 0..kills {
        for node in &mut three.nodes {
            node.linked(2);
        }
        // The voter that came back abstains for a promise of `lan`. Without it there would be no quorum.
        thread::sleep(Duration::from_millis(350));
        let since = Instant::now();
        three.nodes[leader].child.kill().unwrap();
        let former = leader;
        leader = three.fails_over(former, SOON).0;
        took.push(since.elapsed());
        told += usize::from(three.nodes[leader].count("notice_believed") > 0);
        three.nodes[former] = three.spawn(former);
    }
    let stop = UdpSocket::bind("127.0.0.1:0").unwrap();
    drop(three);
    stop.send_to(b"stop", &address).unwrap();
    let written = serves.join().unwrap();
    took.sort();
    println!(
        "{kills} kills, p50 {:?}, p90 {:?}, most {:?}; a notice was believed in {told}; {} leaderships, {} rows taken, {} of \
         older tokens refused",
        took[kills / 2],
        took[kills * 9 / 10],
        took[kills - 1],
        written.spans.len(),
        written.taken,
        written.refused
    );
    assert!(
        written.spans.len() > kills,
        "each kill ends a leadership that wrote"
    );
    written.one_leader();
}
