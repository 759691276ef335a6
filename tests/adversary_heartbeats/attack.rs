//! The attacker, on a thread of its own: connections that are held half open, silent or at a byte
//! a second, and beside them storms of those that connect and go, and of those that announce the
//! longest frame.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use actix::clock::{sleep, timeout};
use tokio::sync::oneshot;

use super::{
    kit::{MS, framed, hello, play},
    restart::dial_from,
};

/// So many are half open at once.
pub(crate) const HALF_OPEN: usize = 1_000;
/// So many try to be: at any time some are on their way back in.
const TRYING: usize = 1_100;
/// Every tenth of them says a byte a second.
const TRICKLING: usize = 10;
/// There is room for all of them, and a little for the storms.
pub(crate) const ROOM: usize = TRYING + 32;

pub(crate) struct Attack {
    held: Arc<AtomicUsize>,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Attack {
    pub(crate) fn start(at: SocketAddr) -> Self {
        let held = Arc::new(AtomicUsize::new(0));
        let (end, ended) = oneshot::channel();
        let count = Arc::clone(&held);
        let thread = thread::spawn(move || {
            play(async move {
                actix::spawn(connect_and_go(at));
                actix::spawn(announce_the_longest_frame(at));
                for number in 0..TRYING {
                    let count = Arc::clone(&count);
                    actix::spawn(half_open(at, number, count));
                    sleep(MS(1)).await;
                }
                ended.await.unwrap();
            });
        });
        Self { held, end, thread }
    }

    /// How many are half open: greeted, and not ready.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    pub(crate) fn end(self) {
        self.end.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

/// Another address for each number; every one of 127.0.0.0/8 is this host's.
fn address(net: u8, number: usize) -> IpAddr {
    let [.., high, low] = number.to_be_bytes();
    Ipv4Addr::new(127, net, high, low | 1).into()
}

/// Is half open, for as long as it may be, again and again.
async fn half_open(at: SocketAddr, number: usize, held: Arc<AtomicUsize>) {
    let greeting = framed(|out| hello("b").encode(out));
    loop {
        sleep(MS(50)).await;
        let Ok(mut raw) = dial_from(address(1, number), at).await else {
            continue;
        };
        // The system may have dropped the last packet of its own greeting, in so large a crowd.
        if !matches!(timeout(MS(1_000), raw.hear()).await, Ok(Some(_))) {
            continue;
        }
        held.fetch_add(1, Relaxed);
        let mut bytes = greeting.iter().filter(|_| number.is_multiple_of(TRICKLING));
        // Nothing more is said to it: what it waits for is the end.
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
