//! Ports for servers that cannot choose a port themselves.
//!
//! If the kernel chooses a port and the test frees it, the kernel may give it to the next connection before the server
//! listens. The ports here are below the range of Linux's own choice, so only another server with a fixed port can use
//! one.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// Returns a port of loopback that is free for TCP and UDP. This process returns each port once.
#[allow(clippy::expect_used, reason = "no test goes on without a port")]
pub(crate) fn free_port() -> u16 {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    // Parallel processes begin at different ports.
    let first = process::id().wrapping_mul(97);
    let all = (0..PORTS).map(|_| first.wrapping_add(SERIAL.fetch_add(1, Relaxed)) % PORTS);
    let mut ports = all.filter_map(|at| u16::try_from(FIRST + at).ok());
    ports.find(|port| is_free(*port)).expect("a port is free")
}

/// Returns a free port's address for each item.
#[allow(dead_code, reason = "not every test that has this file needs it")]
pub(crate) fn free_addresses<T, const N: usize>(of: [T; N]) -> [SocketAddr; N] {
    of.map(|_| (Ipv4Addr::LOCALHOST, free_port()).into())
}

fn is_free(port: u16) -> bool {
    let at = (Ipv4Addr::LOCALHOST, port);
    TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok()
}

const FIRST: u32 = 10_000;
const PORTS: u32 = 20_000;
