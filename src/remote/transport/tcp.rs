//! TCP sockets.
//!
//! Decided here: how a name with several addresses is dialled ([`race`]), no delay for small writes, the length of the
//! queue of new connections, and that the operating system gives up bytes that are not acknowledged
//! (`TCP_USER_TIMEOUT`, on Linux): a write into a cut cable fails after 2 s, and would otherwise succeed for minutes.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener as StdListener, UdpSocket as StdUdpSocket},
    time::Duration,
};

use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::{
    Datagrams, IncomingStream, Listener, Pending, Stream, Transport,
    race::race,
    resolve::{Ask, ask_the_system, resolve},
};

/// Longest queue of connections that wait to be accepted (Linux; shorter if the host allows less). The standard
/// library's 128 is too short for a thousand callers at once: if the queue is full, some callers believe that they are
/// connected, and receive nothing.
#[cfg(target_os = "linux")]
const BACKLOG: i32 = 1_024;

/// TCP, the default network of a bridge.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// Longest time for which sent bytes may remain unacknowledged, in whole milliseconds; 0: the system decides.
    /// Default: 2 s. Linux only.
    pub user_timeout: Duration,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            user_timeout: Duration::from_secs(2),
        }
    }
}

impl Transport for Tcp {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(self.dial_by(address, ask_the_system))
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        let listener = StdListener::bind(&*ask_the_system(address)?)?;
        #[cfg(target_os = "linux")]
        rustix::net::listen(&listener, BACKLOG)?; // it listens already: this makes the queue longer
        listener.set_nonblocking(true)?;
        Ok(Box::new(Socket {
            listener: TcpListener::from_std(listener)?,
            tcp: *self,
        }))
    }

    fn hosts<'a>(&'a self, address: &'a str) -> Pending<'a, Vec<String>> {
        Box::pin(async move {
            let addresses = resolve(address, ask_the_system).await?;
            Ok(addresses.iter().map(|at| host(at.ip())).collect())
        })
    }

    fn addresses<'a>(&'a self, address: &'a str) -> Pending<'a, Vec<SocketAddr>> {
        Box::pin(resolve(address, ask_the_system))
    }

    fn hear(&self, at: SocketAddr) -> io::Result<Option<Box<dyn Datagrams>>> {
        let socket = StdUdpSocket::bind(at)?;
        socket.set_nonblocking(true)?;
        Ok(Some(Box::new(UdpSocket::from_std(socket)?)))
    }

    fn is_loopback(&self, address: &str) -> bool {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        // Other names are not resolved here: a later dial may resolve them to other addresses.
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl Tcp {
    async fn dial_by(&self, address: &str, ask: Ask) -> io::Result<Box<dyn Stream>> {
        let addresses = resolve(address, ask).await?;
        self.tune(race(addresses, TcpStream::connect).await?)
    }

    fn tune(&self, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
        stream.set_nodelay(true)?;
        #[cfg(target_os = "linux")]
        {
            let millis = u32::try_from(self.user_timeout.as_millis()).unwrap_or(u32::MAX);
            rustix::net::sockopt::set_tcp_user_timeout(&stream, millis)?;
        }
        Ok(Box::new(stream))
    }
}

/// Returns the name of a host in logs and limits.
fn host(ip: IpAddr) -> String {
    // The host ::ffff:10.0.0.1 is the host 10.0.0.1: it must not have slots twice, nor be a stranger if that
    // address belongs to a peer.
    ip.to_canonical().to_string()
}

struct Socket {
    listener: TcpListener,
    tcp: Tcp,
}

impl Listener for Socket {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        Box::pin(async {
            let (stream, from) = self.listener.accept().await?;
            Ok(IncomingStream {
                stream: self.tcp.tune(stream)?,
                from: host(from.ip()),
            })
        })
    }
}

impl Datagrams for UdpSocket {
    fn receive<'a>(&'a mut self, into: &'a mut [u8]) -> Pending<'a, usize> {
        Box::pin(async { self.recv(into).await })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream as StdStream;

    use actix::{System, clock::timeout};

    use super::*;

    #[test]
    fn an_address_of_ipv4_in_ipv6_is_the_same_host() {
        assert_eq!(host([10, 0, 0, 1].into()), "10.0.0.1");
        assert_eq!(host("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1");
    }

    /// A port of two addresses of this host: the first accepts no more connections, so that bytes sent there get no
    /// answer; the second listens.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_peer_is_reached_by_its_second_address_when_the_first_swallows_everything() {
        let dead = StdListener::bind("127.0.0.2:0").unwrap();
        rustix::net::listen(&dead, 0).unwrap();
        let at = dead.local_addr().unwrap();
        let mut held = Vec::new();
        while let Ok(stream) = StdStream::connect_timeout(&at, Duration::from_millis(100)) {
            held.push(stream);
        }
        let alive = StdListener::bind(("127.0.0.3", at.port())).unwrap();
        let ask: Ask = |address| {
            let port = address
                .rsplit_once(':')
                .and_then(|(_, port)| port.parse().ok());
            let port = port.ok_or(io::ErrorKind::InvalidInput)?;
            Ok([[127, 0, 0, 2], [127, 0, 0, 3]]
                .map(|ip| (ip, port).into())
                .into())
        };
        System::new().block_on(async {
            let address = format!("two.test:{}", at.port());
            let tcp = Tcp::default();
            let dialling = timeout(Duration::from_secs(3), tcp.dial_by(&address, ask));
            let dialled = dialling.await;
            assert!(dialled.unwrap().is_ok());
        });
        drop((held, alive));
    }

    #[test]
    fn only_a_literal_loopback_address_is_loopback() {
        let tcp = Tcp::default();
        for address in ["127.0.0.1:0", "127.8.8.8:7400", "[::1]:7400", "localhost:1"] {
            assert!(tcp.is_loopback(address), "{address}");
        }
        for address in ["0.0.0.0:0", "[::]:0", "10.0.0.1:7400", "host-b:7400", ""] {
            assert!(!tcp.is_loopback(address), "{address}");
        }
    }
}
