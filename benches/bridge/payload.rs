//! Less than any application could use: a frame carries a message and no names, by the codec of the bridge, and
//! no actor gets it. It shows what frames, sockets and the codec take by themselves.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_bully::{
    elections::bully::BullyMessage,
    remote::{
        Limits,
        internals::wire::{decode_payload, encode_payload},
    },
};
use bytes::{Bytes, BytesMut};
use futures::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use crate::{message::message, tally::Tally};

/// The sending end.
pub(crate) struct Payload {
    stream: Framed<TcpStream, LengthDelimitedCodec>,
    arena: BytesMut,
    tally: Arc<Tally>,
}

fn framed(stream: TcpStream) -> Framed<TcpStream, LengthDelimitedCodec> {
    stream.set_nodelay(true).expect("a socket");
    Framed::new(stream, LengthDelimitedCodec::new())
}

fn decode(frame: &[u8]) -> BullyMessage {
    decode_payload(frame, Limits::default().bounds()).expect("an honest peer")
}

/// The receiving end: one connection, on the current thread.
pub(crate) async fn serve(tally: Arc<Tally>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("it listens");
    actix_rt::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection comes");
        let mut stream = framed(stream);
        let mut arena = BytesMut::new();
        while let Some(Ok(frame)) = stream.next().await {
            let message = decode(&frame);
            if tally.note() {
                let sent = stream.send(encode(&message, &mut arena)).await;
                sent.expect("it listens");
            }
        }
    });
    at
}

fn encode(message: &BullyMessage, arena: &mut BytesMut) -> Bytes {
    encode_payload(message, arena).expect("it can be encoded");
    arena.split().freeze()
}

impl Payload {
    pub(crate) async fn dial(at: &SocketAddr, tally: Arc<Tally>) -> Self {
        let stream = TcpStream::connect(at).await.expect("it listens");
        Self {
            stream: framed(stream),
            arena: BytesMut::new(),
            tally,
        }
    }

    /// Sends that many messages; returns when all have arrived.
    pub(crate) async fn send(&mut self, window: usize, messages: usize) {
        let step = self.tally.open(window);
        for turn in 0..messages / step {
            self.tally.wait(step).await;
            for counter in 0..step {
                let counter = u64::try_from(turn * step + counter).expect("a count");
                let frame = encode(&message(counter), &mut self.arena);
                self.stream.feed(frame).await.expect("it listens");
            }
            SinkExt::<Bytes>::flush(&mut self.stream)
                .await
                .expect("it listens");
        }
        self.tally.close(step).await;
    }

    /// Sends one message after the other; how long until each was answered.
    pub(crate) async fn echo(&mut self, rounds: usize) -> Vec<Duration> {
        self.tally.answer();
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let began = Instant::now();
            let frame = encode(&message(1), &mut self.arena);
            self.stream.send(frame).await.expect("it listens");
            let answer = self.stream.next().await.expect("an answer");
            decode(&answer.expect("an answer"));
            times.push(began.elapsed());
        }
        times
    }
}
