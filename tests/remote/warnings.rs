//! What a bridge says about itself in the log when it starts.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use actix_bully::remote::{BridgeBuilder, Challenge, Credential, Proof, transport::Pipes};

use super::kit::{Host, builder, play};

/// Some kind of proof.
#[derive(Debug)]
struct Password;

impl Credential for Password {
    fn challenge(&self) -> io::Result<Challenge> {
        Ok(Challenge([1; 32]))
    }

    fn prove(&self, _: &[u8]) -> Vec<Proof> {
        vec![Proof([2; 32])]
    }

    fn accepts(&self, _: &[u8], proofs: &[Proof]) -> bool {
        proofs == [Proof([2; 32])]
    }
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The warnings about strangers at the start of a bridge.
fn warnings(set: impl FnOnce(BridgeBuilder) -> BridgeBuilder) -> Vec<String> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        play(async {
            let pipes = Pipes::new();
            drop(Host::with(|group| {
                set(builder(&pipes, "a", &["b"])).carry(group)
            }));
        });
    });
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines = logged.lines().filter(|line| line.contains("prove nothing"));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_bridge_whose_peers_prove_nothing_says_so_in_one_line() {
    let said = warnings(|builder| builder);
    assert_eq!(said.len(), 1, "{said:?}");
    for word in ["WARN", "node=a", ".secret(", ".tls("] {
        assert!(said[0].contains(word), "{said:?}");
    }
    assert!(warnings(|builder| builder.credential(Password)).is_empty());
}
