//! The sentinel's own process: one thread, no runtime, and hardly any memory.
//!
//! Its standard input is the pidfd of the node, and its standard output is the end of the pipe from which it reads:
//! only these two file descriptors can be named without `unsafe`. The process inherits no other file descriptors.

use std::{
    env,
    fs::read_link,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{Arc, atomic::AtomicBool},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read},
    stdio::{stdin, stdout},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use super::{Orders, Watched};

/// Pauses before each repetition of the notice, in milliseconds: a datagram may be lost.
const AGAIN: [i64; 3] = [5, 50, 500];

/// Runs the sentinel to its end. Returns the exit code of the process.
pub(super) fn live() -> i32 {
    if !is_pidfd() {
        return 2;
    }
    // The sentinel must not keep a file system busy that the node no longer needs.
    if env::set_current_dir("/").is_err() {
        return 3;
    }
    // Each handler only sets a flag that is never read, so the signal has no effect. The node's supervisor signals all
    // processes of a service, and a node that is asked to end may still crash. A terminal that closes signals all
    // processes of its session.
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        if flag::register(signal, Arc::new(AtomicBool::new(false))).is_err() {
            return 3;
        }
    }
    match wait() {
        Some(watched) => {
            tell(&watched);
            0
        }
        None => 1,
    }
}

/// Returns whether a node started this process as its sentinel. If not, a user has set the environment variable that
/// marks a sentinel.
fn is_pidfd() -> bool {
    read_link("/proc/self/fd/0").is_ok_and(|link| link.to_string_lossy().contains("pidfd"))
}

/// Waits for the node's end, and returns the order for its notice; `None` if the sentinel must end without a notice.
fn wait() -> Option<Watched> {
    let (mut orders, mut is_open) = (Orders::default(), true);
    loop {
        let (has_ended, has_bytes) = ready(is_open)?;
        // The orders that the node sent before its end come first.
        if has_bytes {
            let mut bytes = [0; 4096];
            match read(stdout(), &mut bytes) {
                // The node may have closed its end of the pipe: only the pidfd shows that it has ended.
                Ok(0) => is_open = false,
                Ok(len) => orders.take(bytes.get(..len).unwrap_or_default())?,
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return None,
            }
        } else if has_ended {
            return orders.newest();
        }
    }
}

/// Waits for the node's end or for bytes in the pipe. Returns for each whether it has happened; `None` after an error.
fn ready(is_open: bool) -> Option<(bool, bool)> {
    let (node, pipe) = (stdin(), stdout());
    let mut both = [
        PollFd::new(&node, PollFlags::IN),
        PollFd::new(&pipe, PollFlags::IN),
    ];
    let watched = if is_open {
        &mut both[..]
    } else {
        both.get_mut(..1)?
    };
    match poll(watched, None) {
        Ok(_) => {}
        Err(Errno::INTR) => return Some((false, false)),
        Err(_) => return None,
    }
    let found = |fd: &PollFd<'_>| fd.revents();
    let node = both.first().map(found)?;
    let pipe = both.get(1).map(found)?;
    let has_bytes = is_open && pipe.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
    Some((node.contains(PollFlags::IN), has_bytes))
}

/// Sends the notice to every peer, several times.
fn tell(watched: &Watched) {
    let datagram = watched.notice.encode();
    let four = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let six = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0));
    let say = || {
        for peer in &watched.peers {
            let socket = match peer {
                SocketAddr::V4(_) => &four,
                SocketAddr::V6(_) => &six,
            };
            if let Ok(socket) = socket {
                // A peer that cannot be reached waits until the lease ends.
                drop(socket.send_to(&datagram, peer));
            }
        }
    };
    say();
    for pause in AGAIN {
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: pause.saturating_mul(1_000_000),
        };
        match poll(&mut [], Some(&pause)) {
            // If a signal interrupts the pause, the pause is only shorter.
            Ok(_) | Err(_) => say(),
        }
    }
}
