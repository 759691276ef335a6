//! Streams over zenoh itself, between two sessions of this process.

use std::{
    future::Future,
    io,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Duration,
};

use actix::{System, clock::timeout};
use actix_bully::remote::{
    ClusterId, NodeId,
    transport::{Listener, StartingBridge, Stream, Transport},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{ZenohOptions, ZenohTransport, flow::WINDOW};

/// Sockets know no virtual time.
const DEADLINE: Duration = Duration::from_secs(30);

struct Host {
    network: ZenohTransport,
    listener: Box<dyn Listener>,
}

impl Host {
    fn start(name: &str, options: ZenohOptions) -> Self {
        let (host, cluster) = (NodeId::new(name).unwrap(), ClusterId::new("c").unwrap());
        let network = ZenohTransport::new(options);
        let opened = network.open(&StartingBridge::new(&host, &cluster));
        let listener = opened.unwrap().expect("it listens by itself");
        Self { network, listener }
    }
}

/// Returns an address of its own: a port that is free just now may be taken before zenoh listens there.
pub(super) fn endpoint() -> String {
    static SERIAL: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let serial = SERIAL.fetch_add(1, Relaxed);
    format!("tcp/127.{serial}.{high}.{low}:7447")
}

/// Two hosts, and the endpoint where the first listens.
fn two() -> (Host, Host, String) {
    let endpoint = endpoint();
    let a = Host::start("a", ZenohOptions::peer().listen(&endpoint));
    let b = Host::start("b", ZenohOptions::peer().connect(&endpoint));
    (a, b, endpoint)
}

/// A stream, seen from the host that dials and from the one that is dialled.
async fn meet(from: &Host, to: &mut Host, name: &str) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let (dialled, arrival) = tokio::join!(from.network.dial(name), to.listener.accept());
    (dialled.unwrap(), arrival.unwrap().stream)
}

fn play(scene: impl Future<Output = ()>) {
    System::new().block_on(async { timeout(DEADLINE, scene).await.unwrap() });
}

#[test]
fn more_than_the_window_crosses_in_both_directions_at_once() {
    play(async {
        let (a, mut b, _) = two();
        let (here, there) = meet(&a, &mut b, "b").await;
        let bytes = |seed| {
            let mut rng = fastrand::Rng::with_seed(seed);
            (0..4_000_000).map(|_| rng.u8(..)).collect::<Vec<_>>()
        };
        let (mine, yours) = (bytes(1), bytes(2));
        let end = |stream: Box<dyn Stream>, say: Vec<u8>| async move {
            let (mut from, mut to) = tokio::io::split(stream);
            let mut heard = Vec::new();
            let saying = async {
                for piece in say.chunks(50_001) {
                    to.write_all(piece).await?;
                }
                to.shutdown().await
            };
            let (said, read) = tokio::join!(saying, from.read_to_end(&mut heard));
            said.unwrap();
            read.unwrap();
            heard
        };
        let (heard, answered) = tokio::join!(end(here, mine.clone()), end(there, yours.clone()));
        assert!(heard == yours && answered == mine);
        let mut refused = a.network.refused();
        refused.retain(|(name, _)| *name != "packet_stray"); // the last packets come late
        assert_eq!(refused.len(), 3);
        assert!(refused.iter().all(|(_, n)| *n == 0), "{refused:?}");
    });
}

#[test]
fn a_sender_waits_for_a_reader_that_does_not_read() {
    play(async {
        let (a, mut b, _) = two();
        let (mut here, mut there) = meet(&a, &mut b, "b").await;
        let window = usize::try_from(WINDOW).unwrap();
        here.write_all(&vec![7; window]).await.unwrap();
        let more = here.write(&[8]);
        let waits = futures::poll!(Box::pin(more));
        assert!(waits.is_pending(), "the window is full");
        let mut read = vec![0; window];
        there.read_exact(&mut read).await.unwrap();
        here.write_all(&[8]).await.unwrap();
        assert_eq!(there.read_u8().await.unwrap(), 8);
    });
}

#[test]
fn the_end_of_one_end_is_the_end_of_the_other() {
    play(async {
        let (a, mut b, _) = two();
        let (mut here, mut there) = meet(&a, &mut b, "b").await;
        here.write_all(b"bye").await.unwrap();
        drop(here);
        let mut heard = Vec::new();
        there.read_to_end(&mut heard).await.unwrap();
        assert_eq!(heard, b"bye");
        assert!(there.write_all(b"x").await.is_err());
    });
}

#[test]
fn a_host_that_ends_is_refused_once_and_its_streams_end() {
    play(async {
        let (a, mut b, endpoint) = two();
        let (mut here, mut there) = meet(&a, &mut b, "b").await;
        drop(b); // its session is closed with its listener
        let mut heard = Vec::new();
        here.read_to_end(&mut heard).await.unwrap();
        there.read_to_end(&mut heard).await.unwrap();
        assert_eq!(heard, b"");
        // Until its token is gone as well a dial may still find it, and is broken off.
        loop {
            let dialled = timeout(Duration::from_millis(100), a.network.dial("b")).await;
            let reason = dialled.map(|dialled| dialled.err().map(|reason| reason.kind()));
            match reason {
                Ok(Some(io::ErrorKind::ConnectionRefused)) => break,
                Ok(Some(io::ErrorKind::ConnectionReset)) | Err(_) => {}
                Ok(other) => panic!("{other:?}"),
            }
        }
        let mut back = Host::start("b", ZenohOptions::peer().connect(&endpoint));
        meet(&a, &mut back, "b").await;
    });
}

/// Who is in the network can read along and break a connection: it ends, and no byte arrives at a wrong place.
#[test]
fn a_repeated_packet_of_a_stranger_breaks_a_stream_and_is_not_read() {
    use zenoh::Wait;

    play(async {
        let (mut a, b, endpoint) = two();
        let (mut here, mut there) = meet(&b, &mut a, "a").await;
        let (say, said) = std::sync::mpsc::channel();
        let stranger = std::thread::spawn(move || {
            let settings = format!(
                r#"{{ mode: "client", connect: {{ endpoints: ["{endpoint}"] }}, scouting: {{ multicast: {{ enabled: false }} }} }}"#
            );
            let config = zenoh::Config::from_json5(&settings).unwrap();
            let session = zenoh::open(config).wait().unwrap();
            let (heard, hear) = std::sync::mpsc::channel();
            let listening = session
                .declare_subscriber("bully/c/inbox/a/*")
                .callback(move |sample| {
                    let key = sample.key_expr().to_string();
                    heard
                        .send((key, sample.payload().to_bytes().into_owned()))
                        .ok();
                })
                .wait()
                .unwrap();
            say.send(()).unwrap();
            let (key, packet) = hear.recv_timeout(DEADLINE).unwrap();
            session.put(key, packet).wait().unwrap();
            listening.undeclare().wait().unwrap();
            session.close().wait().unwrap();
        });
        while said.try_recv().is_err() {
            actix::clock::sleep(Duration::from_millis(1)).await;
        }
        let mut heard = Vec::new();
        let broken = loop {
            // A stranger that has just come may not be heard of yet.
            here.write_all(b"abc").await.ok();
            let mut piece = [0; 3];
            match timeout(Duration::from_millis(10), there.read_exact(&mut piece)).await {
                Ok(Ok(_)) => heard.extend_from_slice(&piece),
                Ok(Err(reason)) => break reason,
                Err(_) => {}
            }
        };
        assert_eq!(broken.kind(), io::ErrorKind::ConnectionReset);
        assert!(broken.to_string().contains("lost or repeated"), "{broken}");
        assert!(heard.chunks(3).all(|piece| piece == b"abc"));
        stranger.join().unwrap();
    });
}
