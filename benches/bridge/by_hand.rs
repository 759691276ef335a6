//! A connection for actors' messages, as a programmer would write it by hand: tokio-util's length-delimited frames.
//! Each has a sender, a receiver and a message, encoded and decoded by rmp-serde. The receiver gets a `do_send` into
//! its mailbox.
//!
//! It has no checks, limits or history of peers: it is the least code for the same task.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use actix::{Actor, Addr, Context, Handler, Message};
use actix_bully::elections::AnyMessage;
use bytes::{BufMut, Bytes, BytesMut};
use futures::{SinkExt, StreamExt};
use tokio::{
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Notify, mpsc},
};
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use crate::{message::message, tally::Tally};

const NEAR: &str = "near";
const FAR: &str = "far";

/// A message that an actor receives.
#[derive(Message)]
#[rtype(result = "()")]
struct Received {
    from: String,
    message: AnyMessage,
}

/// Sends frames. The writer has no lock: a lock would cost the connection by hand more.
struct Writer {
    frames: FramedWrite<OwnedWriteHalf, LengthDelimitedCodec>,
    arena: BytesMut,
}

type Reader = FramedRead<OwnedReadHalf, LengthDelimitedCodec>;

fn framed(stream: TcpStream) -> (Reader, Writer) {
    stream.set_nodelay(true).expect("a socket");
    let (reader, writer) = stream.into_split();
    let writer = Writer {
        frames: FramedWrite::new(writer, LengthDelimitedCodec::new()),
        arena: BytesMut::new(),
    };
    (FramedRead::new(reader, LengthDelimitedCodec::new()), writer)
}

impl Writer {
    async fn feed(&mut self, from: &str, to: &str, message: &AnyMessage) {
        let mut out = (&mut self.arena).writer();
        rmp_serde::encode::write(&mut out, &(from, to, message)).expect("it can be encoded");
        let frame = self.arena.split().freeze();
        self.frames.feed(frame).await.expect("it listens");
    }

    async fn flush(&mut self) {
        let flushed = SinkExt::<Bytes>::flush(&mut self.frames).await;
        flushed.expect("it listens");
    }
}

/// Sends every message to the actor that it names.
async fn deliver<A>(mut frames: Reader, actors: BTreeMap<String, Addr<A>>)
where
    A: Actor<Context = Context<A>> + Handler<Received>,
{
    while let Some(Ok(frame)) = frames.next().await {
        let decoded: Result<(String, String, AnyMessage), _> = rmp_serde::from_slice(&frame);
        let (from, to, message) = decoded.expect("an honest peer");
        if let Some(actor) = actors.get(&to) {
            actor.do_send(Received { from, message });
        }
    }
}

/// The receiving end.
struct Sink {
    tally: Arc<Tally>,
    answers: mpsc::UnboundedSender<Received>,
}

impl Actor for Sink {
    type Context = Context<Self>;
}

impl Handler<Received> for Sink {
    type Result = ();
    fn handle(&mut self, message: Received, _: &mut Context<Self>) {
        if self.tally.note() {
            self.answers.send(message).ok(); // fails when the run is over
        }
    }
}

/// Starts the receiving end: one connection, on the current thread.
pub(crate) async fn serve(tally: Arc<Tally>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("it listens");
    actix_rt::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection comes");
        let (reader, mut writer) = framed(stream);
        let (answers, mut said) = mpsc::unbounded_channel::<Received>();
        let sink = Sink { tally, answers }.start();
        actix_rt::spawn(async move {
            while let Some(Received { from, message }) = said.recv().await {
                writer.feed(FAR, &from, &message).await;
                writer.flush().await;
            }
        });
        deliver(reader, BTreeMap::from([(FAR.to_owned(), sink)])).await;
    });
    at
}

/// The actor that receives the answers.
struct Ear(Arc<Notify>);

impl Actor for Ear {
    type Context = Context<Self>;
}

impl Handler<Received> for Ear {
    type Result = ();
    fn handle(&mut self, _: Received, _: &mut Context<Self>) {
        self.0.notify_one();
    }
}

/// The sending end.
pub(crate) struct ByHand {
    writer: Writer,
    heard: Arc<Notify>,
    tally: Arc<Tally>,
}

impl ByHand {
    pub(crate) async fn dial(at: &SocketAddr, tally: Arc<Tally>) -> Self {
        let stream = TcpStream::connect(at).await.expect("it listens");
        let (reader, writer) = framed(stream);
        let heard = Arc::new(Notify::new());
        let ear = Ear(Arc::clone(&heard)).start();
        actix_rt::spawn(deliver(reader, BTreeMap::from([(NEAR.to_owned(), ear)])));
        Self {
            writer,
            heard,
            tally,
        }
    }

    /// Sends a number of messages; returns when all have arrived.
    pub(crate) async fn send(&mut self, window: usize, messages: usize) {
        let writer = &mut self.writer;
        let send = async |counters| {
            for counter in counters {
                writer.feed(NEAR, FAR, &message(counter)).await;
            }
            writer.flush().await;
        };
        self.tally.backlog(window, messages, send).await;
    }

    /// Sends one message after the other; returns the time until each was answered.
    pub(crate) async fn echo(&mut self, rounds: usize) -> Vec<Duration> {
        let ask = async || {
            self.writer.feed(NEAR, FAR, &message(1)).await;
            self.writer.flush().await;
            self.heard.notified().await;
        };
        self.tally.round_trips(rounds, ask).await
    }
}
