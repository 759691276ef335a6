//! A host that is short of descriptors for a while: what its bridge says, and that it links by itself afterwards.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
};

use actix::clock::sleep;
use actix_bully::{
    agent::Finding,
    remote::transport::{IncomingStream, Listener, Pending, PipeHost, Pipes, Stream, Transport},
};

use super::{
    kit::{Host, MS, are_linked, builder},
    warnings::warnings,
};

/// EMFILE
const NO_DESCRIPTOR: i32 = 24;

/// What the system refuses, and how often it was asked.
#[derive(Clone, Debug, Default)]
struct Short {
    is_refused: Arc<AtomicBool>,
    accepts: Arc<AtomicU32>,
    dials: Arc<AtomicU32>,
}

impl Short {
    fn check(&self, asked: &AtomicU32) -> io::Result<()> {
        if self.is_refused.load(Relaxed) {
            asked.fetch_add(1, Relaxed);
            return Err(io::Error::from_raw_os_error(NO_DESCRIPTOR));
        }
        Ok(())
    }
}

#[derive(Debug)]
struct ShortHost(PipeHost, Short);

impl Transport for ShortHost {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(async move {
            self.1.check(&self.1.dials)?;
            self.0.dial(address).await
        })
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        Ok(Box::new(ShortListener(
            self.0.listen(address)?,
            self.1.clone(),
        )))
    }

    fn is_loopback(&self, address: &str) -> bool {
        self.0.is_loopback(address)
    }
}

struct ShortListener(Box<dyn Listener>, Short);

impl Listener for ShortListener {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.0.local_addr()
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        Box::pin(async move {
            self.1.check(&self.1.accepts)?;
            self.0.accept().await
        })
    }
}

const MINUTE: u64 = 60_000;

#[test]
fn a_host_without_descriptors_says_so_tries_ever_less_and_links_when_it_has_some() {
    let short = Short::default();
    short.is_refused.store(true, Relaxed);
    let kept = short.clone();
    let said = warnings("connections are not accepted", async move {
        let pipes = Pipes::new();
        let bridge = builder(&pipes, "a", &["b"]);
        let mut a = Host::with(|group| {
            let host = ShortHost(pipes.host("a"), short.clone());
            bridge.transport(host).carry(group)
        });
        a.agent("a1", 1);
        let b = Host::start(&pipes, "b", &["a"]);
        sleep(MS(MINUTE)).await;
        let is_named = |finding: &Finding| matches!(finding, Finding::PeerUnlinked { advice: Some(advice), .. } if advice.contains("ulimit -n"));
        a.assert_finds(is_named);
        let told = a.agents[0].diagnosis().to_string();
        assert!(!told.contains("correct the address"), "{told}");
        short.is_refused.store(false, Relaxed);
        are_linked(&a, &b).await;
        a.assert_finds_no(is_named);
    });
    assert_eq!(said.len(), 1, "once: {said:#?}");
    assert!(said[0].contains("ulimit -n"), "{said:#?}");
    let (accepts, dials) = (kept.accepts.load(Relaxed), kept.dials.load(Relaxed));
    assert!((2..60).contains(&accepts), "{accepts} in a minute");
    assert!((2..60).contains(&dials), "{dials} in a minute");
}
