//! The attacker, on a thread of its own. It holds connections half open, which are silent or send a byte a second.
//! Beside them run two storms: connections that come and go, and connections that announce the longest frame.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use actix::clock::{sleep, timeout};

use super::{
    kit::{MS, framed, hello},
    restart::{Aside, dial_from},
};

/// Number of connections that are half open at once.
pub(crate) const HALF_OPEN: usize = 1_000;
/// Number of connections that try to be half open. At any time some of them are connecting again.
const TRYING: usize = 1_100;
/// Every tenth connection sends a byte a second.
const TRICKLING: usize = 10;
/// Number of slots: room for all these connections, and a little room for the storms.
pub(crate) const ROOM: usize = TRYING + 32;

/// Starts the attack. Returns also the number of half-open connections, which were greeted and are not ready.
pub(crate) fn start(at: SocketAddr) -> (Aside, Arc<AtomicUsize>) {
    let held = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&held);
    let aside = Aside::start(async move |ended| {
        actix::spawn(connect_and_go(at));
        actix::spawn(announce_the_longest_frame(at));
        for number in 0..TRYING {
            actix::spawn(half_open(at, number, Arc::clone(&count)));
            sleep(MS(1)).await;
        }
        ended.await.unwrap();
    });
    (aside, held)
}

/// Returns another address for each number. Every address of 127.0.0.0/8 belongs to this host.
fn address(net: u8, number: usize) -> IpAddr {
    let [.., high, low] = number.to_be_bytes();
    Ipv4Addr::new(127, net, high, low | 1).into()
}

/// Connects again and again, and stays half open for as long as the node allows.
async fn half_open(at: SocketAddr, number: usize, held: Arc<AtomicUsize>) {
    let greeting = framed(|out| hello("b").encode(out));
    loop {
        sleep(MS(50)).await;
        let Ok(mut raw) = dial_from(address(1, number), at).await else {
            continue;
        };
        // In so large a crowd, the system may have dropped the last packet of the TCP handshake.
        if !matches!(timeout(MS(1_000), raw.hear()).await, Ok(Some(_))) {
            continue;
        }
        held.fetch_add(1, Relaxed);
        let mut bytes = greeting.iter().filter(|_| number.is_multiple_of(TRICKLING));
        // The node sends nothing more, so the next event is the end of the connection.
        while timeout(MS(1_000), raw.hear()).await.is_err() {
            if let Some(byte) = bytes.next() {
                raw.say(&[*byte]).await;
            }
        }
        held.fetch_sub(1, Relaxed);
    }
}

async fn connect_and_go(at: SocketAddr) {
    for number in 0.. {
        drop(dial_from(address(2, number), at).await);
        sleep(MS(1)).await;
    }
}

async fn announce_the_longest_frame(at: SocketAddr) {
    for number in 0.. {
        if let Ok(mut raw) = dial_from(address(3, number), at).await {
            raw.say(&u32::MAX.to_be_bytes()).await;
            drop(timeout(MS(1_000), raw.ends()).await);
        }
        sleep(MS(1)).await;
    }
}
