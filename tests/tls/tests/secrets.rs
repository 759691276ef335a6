//! No key and nothing that was sent is ever in a log or in a `Debug`.
//!
//! The log has everything in it, down to what the TLS library says of itself.

use std::{
    io,
    sync::{Arc, Mutex},
};

use actix_bully::remote::tls::{TlsConfig, accept};
use actix_bully_tls_tests::{
    Authority, Leaf,
    attacker::Dialler,
    ends::{End, meet, pair, pipe},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tracing_subscriber::fmt::MakeWriter;

const PAYLOAD: &[u8] = b"what-only-the-peer-may-read";

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one writer").extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("one writer").clone()).expect("a log is text")
    }
}

#[tokio::test]
async fn no_secret_and_no_payload_is_logged() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .init();
    let trust = Authority::new("ours");
    let (a_leaf, b_leaf) = (trust.node("a"), trust.node("b"));
    let builder = trust.builder(&a_leaf);
    let mut said = format!("{builder:?}");
    let a = builder.build().expect("good");
    let b = trust.builder(&b_leaf).build().expect("good");
    let (mut at_a, mut at_b) = pair(&a, &b).await;
    send(&mut at_a, &mut at_b).await;
    send(&mut at_b, &mut at_a).await;
    said += &format!("{a:?}");
    said += &refusals(&trust, &a, &a_leaf).await;
    tracing::info!("the end"); // or a log that is never written would do
    let everything = log.text() + &said;
    for witness in ["rustls", "the end", "TlsConfig"] {
        assert!(
            everything.contains(witness),
            "{witness} is not in {everything}"
        );
    }
    for secret in secrets(&[&a_leaf, &b_leaf]) {
        assert!(
            !everything.contains(&secret),
            "{secret:?} is in {everything}"
        );
    }
}

async fn send(from: &mut End, to: &mut End) {
    from.write_all(PAYLOAD).await.expect("open");
    from.flush().await.expect("open");
    let mut heard = vec![0; PAYLOAD.len()];
    to.read_exact(&mut heard).await.expect("open");
    assert_eq!(heard, PAYLOAD);
}

/// What is said where things go wrong is where secrets slip out.
async fn refusals(trust: &Authority, a: &TlsConfig, leaf: &Leaf) -> String {
    let other = Authority::new("theirs").config("b");
    let (accepted, connected) = meet(a, &other).await;
    let mut said = format!("{:?} {:?}", accepted.err(), connected.err());
    let (here, there) = pipe();
    let connector = TlsConnector::from(Arc::new(Dialler::anonymous().config()));
    let name = rustls::pki_types::ServerName::try_from("a").expect("a name");
    let (accepted, _) = tokio::join!(
        accept(a, Box::new(here), |_| true),
        connector.connect(name, there)
    );
    said += &format!("{:?}", accepted.err());
    for key in [
        leaf.key.replace('\n', " "),
        leaf.key.replace("-----END", ""),
        leaf.key.clone() + &leaf.key,
        trust.node("a").key,
    ] {
        let error = trust.builder(leaf).key_pem(key).build().expect_err("bad");
        said += &format!("{error} {error:?}");
    }
    said
}

/// Pieces of the keys, and what was sent, in the forms in which logs show bytes.
fn secrets(leaves: &[&Leaf]) -> Vec<String> {
    let mut secrets = Vec::new();
    for leaf in leaves {
        let base64: Vec<_> = leaf
            .key
            .lines()
            .filter(|line| !line.starts_with('-'))
            .collect();
        secrets.extend(base64.iter().map(|line| line[..16].to_owned()));
        let key = rcgen::KeyPair::from_pem(&leaf.key).expect("a key");
        // Past the parts that every such key has; the secret itself is 32 bytes from byte 36.
        secrets.extend(forms(&key.serialized_der()[36..52]));
        secrets.extend(forms(&key.serialized_der()[52..68]));
    }
    secrets.extend(forms(PAYLOAD));
    secrets.push(String::from_utf8(PAYLOAD.to_vec()).expect("text"));
    secrets
}

fn forms(bytes: &[u8]) -> Vec<String> {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let list = format!("{bytes:?}");
    let list = list.trim_matches(['[', ']']).to_owned();
    vec![
        hex.to_uppercase(),
        hex,
        list,
        format!("{:?}", bytes.escape_ascii().to_string()),
    ]
}
