//! Sockets.
//!
//! Decided here: no delay for small writes, how many may wait to be accepted, and that the operating
//! system gives up on bytes that nobody acknowledges (`TCP_USER_TIMEOUT`, on Linux): a write into a
//! cut cable fails after 2 s where it would succeed for minutes.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener as StdListener},
    time::Duration,
};

use tokio::net::{TcpListener, TcpStream, lookup_host};

use super::{Arrival, Listener, Pending, Stream, Transport};

/// How many connections may wait to be accepted (Linux; less if the host allows less). Of those
/// that the queue has no room for, some believe that they are connected, and hear nothing.
#[cfg(target_os = "linux")]
const BACKLOG: i32 = 1_024;

/// TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// How long sent bytes may stay unacknowledged. Default: 2 s. Linux only.
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
        Box::pin(async move {
            let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            for address in lookup_host(address).await? {
                match TcpStream::connect(address).await {
                    Ok(stream) => return self.tune(stream),
                    Err(reason) => failed = reason,
                }
            }
            Err(failed)
        })
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        let listener = StdListener::bind(address)?;
        #[cfg(target_os = "linux")]
        rustix::net::listen(&listener, BACKLOG)?; // it listens already: this makes the queue longer
        listener.set_nonblocking(true)?;
        Ok(Box::new(Socket {
            listener: TcpListener::from_std(listener)?,
            tcp: *self,
        }))
    }

    fn is_loopback(&self, address: &str) -> bool {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl Tcp {
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

struct Socket {
    listener: TcpListener,
    tcp: Tcp,
}

impl Listener for Socket {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    fn accept(&mut self) -> Pending<'_, Arrival> {
        Box::pin(async {
            let (stream, from) = self.listener.accept().await?;
            Ok(Arrival {
                stream: self.tcp.tune(stream)?,
                from: from.ip().to_canonical().to_string(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_loopback_is() {
        let tcp = Tcp::default();
        for address in ["127.0.0.1:0", "127.8.8.8:7400", "[::1]:7400", "localhost:1"] {
            assert!(tcp.is_loopback(address), "{address}");
        }
        for address in ["0.0.0.0:0", "[::]:0", "10.0.0.1:7400", "host-b:7400", ""] {
            assert!(!tcp.is_loopback(address), "{address}");
        }
    }
}
