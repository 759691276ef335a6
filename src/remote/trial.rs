//! Measures the distance to a peer, before any bridge runs.
//!
//! Decided here: a connection is made and closed again. To make it takes one round trip. No byte is sent, so no peer
//! mistakes this process for a node. Not here: the longest acceptable time (`config/preflight/`).

use std::{io, time::Duration};

use actix::clock::{Instant, sleep, timeout};

use super::{
    advice::advice_to_dial,
    transport::{Tcp, Transport},
};

/// A peer that could not be reached: the reason in words, and the advice.
#[derive(Debug, thiserror::Error)]
#[error("{reason}: {advice}")]
pub(crate) struct Unreached {
    reason: io::Error,
    advice: &'static str,
}

impl From<io::Error> for Unreached {
    fn from(reason: io::Error) -> Self {
        let advice = advice_to_dial(&reason);
        Self { reason, advice }
    }
}

/// Connects to the address again and again for the time `within`, at least three times. Returns the time that each
/// attempt took.
///
/// # Errors
/// [`Unreached`] if no connection could be made.
pub(crate) async fn time_connections(
    address: &str,
    within: Duration,
) -> Result<Vec<Duration>, Unreached> {
    let tcp = Tcp::default();
    let began = Instant::now();
    // The name is resolved once, outside of the measured times: a bridge with a link does not resolve the name either.
    let found = within_limit(tcp.addresses(address)).await?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in found {
        let address = address.to_string();
        match within_limit(tcp.dial(&address)).await {
            Ok(stream) => drop(stream),
            Err(reason) => {
                last = reason;
                continue;
            }
        }
        let mut took = Vec::new();
        while took.len() < FEWEST || began.elapsed() < within {
            sleep(PAUSE).await;
            let begins = Instant::now();
            drop(within_limit(tcp.dial(&address)).await?);
            took.push(begins.elapsed());
        }
        return Ok(took);
    }
    Err(last.into())
}

async fn within_limit<T>(done: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let limited = timeout(LIMIT, done).await;
    limited.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

const FEWEST: usize = 3;

/// Pause between two connections: a bridge limits the connections of one host.
const PAUSE: Duration = Duration::from_millis(200);

const LIMIT: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use actix::System;

    use super::*;

    #[test]
    fn connections_are_timed_and_one_that_is_refused_is_told_with_its_advice() {
        System::new().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let took = time_connections(&address, Duration::ZERO).await.unwrap();
            assert_eq!(took.len(), FEWEST);
            drop(listener);
            let refused = time_connections(&address, Duration::ZERO).await;
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("no process listens there"), "{refused}");
        });
    }
}
