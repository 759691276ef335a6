//! A frame carries a message without names, by the codec of the bridge, and no actor receives it. No application could
//! use that. It shows the cost of frames, sockets and the codec alone.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use actix_bully::{
    elections::AnyMessage,
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

fn decode(frame: &[u8]) -> AnyMessage {
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

fn encode(message: &AnyMessage, arena: &mut BytesMut) -> Bytes {
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

    /// Sends a number of messages; returns when all have arrived.
    pub(crate) async fn send(&mut self, window: usize, messages: usize) {
        let (stream, arena) = (&mut self.stream, &mut self.arena);
        let send = async |counters| {
            for counter in counters {
                let frame = encode(&message(counter), arena);
                stream.feed(frame).await.expect("it listens");
            }
            let flushed = SinkExt::<Bytes>::flush(stream).await;
            flushed.expect("it listens");
        };
        self.tally.backlog(window, messages, send).await;
    }

    /// Sends one message after the other; returns the time until each was answered.
    pub(crate) async fn echo(&mut self, rounds: usize) -> Vec<Duration> {
        let (stream, arena) = (&mut self.stream, &mut self.arena);
        let ask = async || {
            let frame = encode(&message(1), arena);
            stream.send(frame).await.expect("it listens");
            let answer = stream.next().await.expect("an answer");
            decode(&answer.expect("an answer"));
        };
        self.tally.round_trips(rounds, ask).await
    }
}
