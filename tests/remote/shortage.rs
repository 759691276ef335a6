//! A host that is short of descriptors for a while: its bridge reports the shortage, and links by itself afterwards.

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

const MINUTE: u64 = 60_000;

/// A host of a network in memory, and whether it is short of descriptors.
#[derive(Clone, Debug)]
struct ShortHost(PipeHost, Arc<Shortage>);

#[derive(Debug, Default)]
struct Shortage {
    is_over: AtomicBool,
    accepts: AtomicU32,
    dials: AtomicU32,
}

impl Shortage {
    /// Fails and counts if the host is short of descriptors.
    fn check(&self, tries: &AtomicU32) -> io::Result<()> {
        const EMFILE: i32 = 24;
        if self.is_over.load(Relaxed) {
            return Ok(());
        }
        tries.fetch_add(1, Relaxed);
        Err(io::Error::from_raw_os_error(EMFILE))
    }
}

impl Transport for ShortHost {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        let is_possible = self.1.check(&self.1.dials);
        Box::pin(async move {
            is_possible?;
            self.0.dial(address).await
        })
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        let listener = self.0.listen(address)?;
        Ok(Box::new(ShortListener(listener, Arc::clone(&self.1))))
    }

    fn is_loopback(&self, address: &str) -> bool {
        self.0.is_loopback(address)
    }
}

struct ShortListener(Box<dyn Listener>, Arc<Shortage>);

impl Listener for ShortListener {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.0.local_addr()
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        let is_possible = self.1.check(&self.1.accepts);
        Box::pin(async move {
            is_possible?;
            self.0.accept().await
        })
    }
}

#[test]
fn a_host_without_descriptors_says_so_tries_ever_less_and_links_when_it_has_some() {
    let shortage = Arc::<Shortage>::default();
    let kept = Arc::clone(&shortage);
    let said = warnings("connections are not accepted", async move {
        let pipes = Pipes::new();
        let short = ShortHost(pipes.host("a"), Arc::clone(&shortage));
        let bridge = builder(&pipes, "a", &["b"]).transport(short);
        let mut a = Host::with(|group| bridge.carry(group));
        a.agent("a1", 1);
        let b = Host::start(&pipes, "b", &["a"]);
        sleep(MS(MINUTE)).await;
        let is_named = |finding: &Finding| matches!(finding, Finding::PeerUnlinked { advice: Some(advice), .. } if advice.contains("ulimit -n"));
        a.assert_finds(is_named);
        let told = a.agents[0].diagnosis().to_string();
        assert!(!told.contains("correct the address"), "{told}");
        shortage.is_over.store(true, Relaxed);
        are_linked(&a, &b).await;
        a.assert_finds_no(is_named);
    });
    assert_eq!(said.len(), 1, "once: {said:#?}");
    assert!(said[0].contains("ulimit -n"), "{said:#?}");
    for tries in [&kept.accepts, &kept.dials] {
        let tries = tries.load(Relaxed);
        assert!((2..60).contains(&tries), "{tries} in a minute");
    }
}
