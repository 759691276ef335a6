//! The messages that a queue keeps, replaces, and gives up.

mod batch;
mod kinds;
mod refused;

use std::{fmt, sync::Arc};

use actix::clock::sleep;
use bytes::BytesMut;
use futures::FutureExt;
use serde::{Deserialize, Serialize};

use super::*;
use crate::{
    elections::AnyMessage,
    group::RemoteLink,
    protocol::{AgentId, Incarnation, MinimumRole, PeerMessage, Score, Term},
    remote::{LinkId, wire::encode_payload},
};
use bully_core::elections::bully::{Heartbeat, Resign};

/// A message with any content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Said<T>(T);

impl<T> fmt::Display for Said<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("said")
    }
}

impl<T: Clone + fmt::Debug + PartialEq + Send + Unpin + 'static> PeerMessage for Said<T> {
    fn kind(&self) -> &'static str {
        "said"
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Observer
    }
}

const LINK: LinkId = LinkId([1; 16]);
const OTHER: LinkId = LinkId([2; 16]);

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn message(from: &str, message: AnyMessage) -> Envelope<AnyMessage> {
    let (from, incarnation) = (id(from), Incarnation(1));
    Envelope {
        from,
        incarnation,
        message,
    }
}

fn heartbeat(term: u64) -> AnyMessage {
    let (term, score, sent_at) = (Term(term), Score::from(1), None);
    Heartbeat {
        term,
        score,
        sent_at,
    }
    .into()
}

fn resign(term: u64) -> AnyMessage {
    let (term, successor) = (Term(term), None);
    Resign {
        term,
        successor,
        ..Resign::default()
    }
    .into()
}

fn sink() -> GroupSink {
    let outbox = Outbox::new(&Limits::default());
    outbox.link(LINK);
    GroupSink::new(0, Arc::new(outbox), Box::new(|_, _| {}))
}

fn play(test: impl Future<Output = ()>) {
    crate::testkit::virtual_system().block_on(test);
}

fn take(sink: &GroupSink, by: LinkId) -> Result<Batch, Outdated> {
    sink.outbox.take(by, Batch::default())
}

/// Takes out the payloads that wait.
fn taken(sink: &GroupSink) -> Vec<Vec<u8>> {
    let messages = take(sink, LINK).unwrap();
    messages
        .iter()
        .map(|(_, payload)| payload.to_vec())
        .collect()
}

fn bytes(message: &AnyMessage) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode_payload(message, &mut out).unwrap();
    out.to_vec()
}

#[test]
fn messages_come_out_as_they_were_said_and_a_repeated_one_counts_once() {
    play(async {
        let sink = sink();
        let to = [id("x")];
        sink.carry(&to, message("a", heartbeat(1)));
        sink.carry(&to, message("a", resign(1)));
        sink.carry(&to, message("a", resign(1)));
        sink.carry(&to, message("b", heartbeat(1)));
        sink.carry(&[id("y")], message("a", heartbeat(2)));
        sink.carry(&to, message("a", heartbeat(3)));
        let expected = [
            resign(1),
            resign(1),
            heartbeat(1),
            heartbeat(2),
            heartbeat(3),
        ];
        assert_eq!(taken(&sink), expected.each_ref().map(bytes));
        assert_eq!(taken(&sink), Vec::<Vec<u8>>::new());
        assert_eq!(sink.outbox.lost(), 0, "a newer one stands for it");
        sink.carry(&to, message("a", heartbeat(3)));
        assert_eq!(taken(&sink).len(), 1, "what was sent is not replaced");
    });
}

/// Adds messages until the queue is over its limit. Returns their number.
fn flood(sink: &GroupSink) -> u64 {
    let lost = sink.outbox.lost();
    for said in 1..=20_000 {
        sink.carry(&[id("x")], message("a", resign(said)));
        if sink.outbox.lost() > lost {
            assert!(said >= 5_000, "{said} messages in 1 MiB");
            return said;
        }
    }
    panic!("20,000 messages are more than 1 MiB");
}

#[test]
fn over_its_limit_a_queue_of_a_slow_peer_is_given_up_and_the_loss_is_counted() {
    play(async {
        let sink = sink();
        let _stall = sink.outbox.stall();
        sleep(Duration::from_millis(63)).await; // 1/32 of 2 s
        let said = flood(&sink);
        assert_eq!(
            sink.outbox.lost(),
            said,
            "all that waited, and the last one"
        );
        assert_eq!(sink.outbox.check(), Err(Outdated));
        sink.outbox.overrun().await;
        sink.carry(&[id("x")], message("a", resign(said)));
        assert_eq!(sink.outbox.lost(), said + 1, "until there is another link");
        sink.outbox.unlink(LINK);
        sink.outbox.link(OTHER);
        sink.carry(&[id("x")], message("a", resign(7)));
        assert_eq!(take(&sink, OTHER).unwrap().iter().count(), 1);
        sink.outbox.unlink(OTHER);
        let said = flood(&sink);
        assert!(
            sink.outbox.lost() >= 2 * said,
            "without a link all are lost"
        );
    });
}

#[test]
fn an_agent_that_says_too_much_loses_the_newest_messages_and_repeated_ones_last() {
    play(async {
        let sink = sink();
        drop(sink.outbox.stall());
        sleep(Duration::from_millis(100)).await;
        let said = flood(&sink);
        assert_eq!(sink.outbox.lost(), 1, "the newest");
        assert_eq!(sink.outbox.check(), Ok(()), "the peer is not to blame");
        sink.carry(&[id("x")], message("a", resign(said)));
        assert_eq!(sink.outbox.lost(), 2);
        for term in 0..100_000 {
            sink.carry(&[id("x")], message("a", heartbeat(term)));
        }
        assert_eq!(sink.outbox.lost(), 2, "there is room for a repeated one");
        let mut many = 0u64;
        while sink.outbox.lost() == 2 {
            many += 1;
            sink.carry(&[id("x")], message(&format!("b{many}"), heartbeat(many)));
        }
        assert!(
            (1_000..said).contains(&many),
            "{many} in a quarter of 1 MiB"
        );
        sink.carry(&[id("x")], message("a", heartbeat(7)));
        assert_eq!(
            sink.outbox.lost(),
            3,
            "one that stands for a former one fits"
        );
        let taken = taken(&sink);
        assert_eq!(u64::try_from(taken.len()).unwrap(), said - 1 + many);
        let expected = (1..said).map(|said| bytes(&resign(said)));
        assert!(
            taken
                .iter()
                .take(taken.len() - usize::try_from(many).unwrap())
                .cloned()
                .eq(expected)
        );
        assert_eq!(taken.last(), Some(&bytes(&heartbeat(7))));
    });
}

#[test]
fn no_more_waits_than_goes_out_in_time() {
    let slow = Limits::builder().rate(64 << 10).burst(128 << 10);
    // The peer takes 56 KiB a second for 180 ms. A frame always fits, and the limit is never exceeded.
    let expected = [
        (slow.frame(4 << 10), 10_321),
        (slow.frame(16 << 10), 17 << 10),
        (Limits::builder(), 1 << 20),
        (Limits::builder().queue(64 << 10), 64 << 10),
    ];
    for (limits, most) in expected {
        play(async {
            let outbox = Outbox::new(&limits.build().unwrap());
            outbox.link(LINK);
            let sink = GroupSink::new(0, Arc::new(outbox), Box::new(|_, _| {}));
            while sink.outbox.lost() == 0 {
                sink.carry(&[id("x")], message("a", resign(1)));
            }
            let bytes = sink.outbox.lock().bytes;
            assert!((most - 200..=most).contains(&bytes), "{bytes} of {most}");
        });
    }
    // If the peer takes less, the bound holds as soon as the peer has announced its limits.
    play(async {
        let sink = sink();
        let (limits, slow) = (Limits::default(), slow.build().unwrap());
        sink.outbox.keep_to(&limits, Allowance::of(&slow));
        while sink.outbox.lost() == 0 {
            sink.carry(&[id("x")], message("a", resign(1)));
        }
        let (bytes, most) = (sink.outbox.lock().bytes, 65 << 10);
        assert!((most - 200..=most).contains(&bytes), "{bytes} of {most}");
    });
}

#[test]
fn a_message_that_waits_too_long_ends_a_link_and_is_forgotten_without_one() {
    play(async {
        let sink = sink();
        sink.carry(&[id("x")], message("a", resign(1)));
        sleep(Duration::from_millis(2_001)).await;
        assert_eq!(take(&sink, LINK).unwrap_err(), Outdated);
        sink.outbox.unlink(LINK);
        sink.carry(&[id("x")], message("a", resign(2)));
        assert_eq!(sink.outbox.lost(), 1);
        sleep(Duration::from_millis(500)).await;
        sink.outbox.link(LINK);
        assert_eq!(taken(&sink), [bytes(&resign(2))], "that one is in time");
    });
}

/// Only the time on this link shows that a peer is slow. Otherwise no link would last in a group that sends messages
/// at all times.
#[test]
fn a_message_that_waited_for_a_link_expires_on_it_and_does_not_end_it() {
    play(async {
        let sink = sink();
        sink.outbox.unlink(LINK);
        for term in 1..=250 {
            sink.carry(&[id("x")], message("a", resign(term)));
            sleep(Duration::from_millis(10)).await;
        }
        sink.outbox.link(LINK);
        sleep(Duration::from_millis(500)).await; // until the peer has told which agents run there
        assert_eq!(sink.outbox.check(), Ok(()));
        let (sent, lost) = (taken(&sink).len(), sink.outbox.lost());
        assert_eq!((sent, lost), (150, 100), "1,500 ms are left of 2,500");
        sink.carry(&[id("x")], message("a", resign(0)));
        sleep(Duration::from_millis(2_001)).await;
        assert_eq!(sink.outbox.check(), Err(Outdated), "it waited on the link");
    });
}

#[test]
fn each_message_waits_from_when_it_was_said_whatever_waits_before_it() {
    play(async {
        let to = [id("x")];
        let step = || sleep(Duration::from_millis(1_500));
        // With a link: the oldest message is replaced, and the next message is not that old.
        let with_link = sink();
        with_link.carry(&to, message("a", heartbeat(1)));
        step().await;
        with_link.carry(&to, message("b", heartbeat(1)));
        with_link.carry(&to, message("a", heartbeat(2)));
        step().await;
        assert_eq!(taken(&with_link).len(), 2, "after 1,500 ms");
        // Without a link: only messages that are too old are lost.
        let without = sink();
        without.outbox.unlink(LINK);
        without.carry(&to, message("a", resign(1)));
        without.carry(&to, message("b", heartbeat(1)));
        step().await;
        without.carry(&to, message("a", resign(2)));
        step().await;
        without.outbox.link(LINK);
        // Otherwise the next heartbeat would get room in a full queue, as if it replaced the lost heartbeat.
        assert!(without.outbox.lock().repeated.is_empty());
        assert_eq!(taken(&without), [bytes(&resign(2))]);
        without.carry(&to, message("b", heartbeat(2)));
        without.outbox.clear();
        assert!(without.outbox.lock().repeated.is_empty());
        // At most 32 messages of a burst share one time of sending.
        let burst = sink();
        (0..32).for_each(|term| burst.carry(&to, message("a", resign(term))));
        step().await;
        burst.carry(&to, message("a", resign(32)));
        burst.outbox.unlink(LINK);
        step().await;
        burst.outbox.link(LINK);
        assert_eq!(taken(&burst), [bytes(&resign(32))]);
    });
}

#[test]
fn a_task_that_waits_for_a_queue_is_not_woken_without_a_reason() {
    play(async {
        let sink = sink();
        assert!(
            sink.outbox.woken().now_or_never().is_none(),
            "nothing waits"
        );
        sink.carry(&[id("x")], message("a", resign(1)));
        assert!(sink.outbox.woken().now_or_never().is_some());
        assert!(sink.outbox.woken().now_or_never().is_none(), "once");
        assert!(sink.outbox.overrun().now_or_never().is_none());
    });
}

#[test]
fn only_the_newest_link_takes_messages_out() {
    play(async {
        let sink = sink();
        sink.outbox.link(OTHER);
        sink.carry(&[id("x")], message("a", resign(1)));
        assert_eq!(taken(&sink).len(), 0);
        sink.outbox.unlink(LINK); // its end means nothing any more
        sleep(Duration::from_millis(2_001)).await;
        assert_eq!(
            sink.outbox.check(),
            Err(Outdated),
            "a link is expected to take it"
        );
        sink.outbox.close();
        sink.carry(&[id("x")], message("a", resign(1)));
        assert_eq!(sink.outbox.lost(), 2);
    });
}

#[test]
fn a_message_to_all_of_a_node_names_no_agent() {
    play(async {
        let sink = sink();
        sink.carry_to_all(&["x", "y", "z"].map(id), message("a", resign(1)));
        sink.carry_to_all(&[id("x")], message("a", resign(1)));
        sink.carry(&["x", "y"].map(id), message("a", resign(1)));
        sink.carry(&[id("x")], message("a", resign(1)));
        sink.carry_to_all(&[], message("a", resign(1)));
        let messages = take(&sink, LINK).unwrap();
        let to: Vec<_> = messages
            .iter()
            .map(|(message, _)| message.to.clone())
            .collect();
        let one = || Receivers::One(id("x"));
        let two = Receivers::Several(["x", "y"].map(id).into());
        assert_eq!(to, [Receivers::All, one(), two, one()]);
    });
}
