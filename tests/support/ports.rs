//! Ports for servers that can only be told a number.
//!
//! A port that the kernel chose and that was let go again may be given to the next connection before the server listens
//! there. These are below the ports that Linux chooses from, so that only a server of a fixed port can be in the way.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// A port of loopback that nobody has, for TCP or UDP, and that this process gives once.
#[allow(clippy::expect_used, reason = "no test goes on without a port")]
pub(crate) fn free_port() -> u16 {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    // Processes side by side begin at different places.
    let first = process::id().wrapping_mul(97);
    let all = (0..PORTS).map(|_| first.wrapping_add(SERIAL.fetch_add(1, Relaxed)) % PORTS);
    let mut ports = all.filter_map(|at| u16::try_from(FIRST + at).ok());
    ports.find(|port| is_free(*port)).expect("a port is free")
}

/// The same as an address, for each of these.
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
