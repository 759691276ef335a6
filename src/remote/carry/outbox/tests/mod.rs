//! What a queue keeps, replaces, and gives up.

mod kinds;

use actix::clock::sleep;
use bytes::BytesMut;
use futures::FutureExt;

use super::*;
use crate::{
    elections::bully::{BullyMessage, Heartbeat, Resign},
    protocol::{Score, Term},
    remote::{LinkId, wire::encode_payload},
};

const LINK: LinkId = LinkId([1; 16]);
const OTHER: LinkId = LinkId([2; 16]);

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn letter(from: &str, message: BullyMessage) -> Incoming<BullyMessage> {
    let (from, incarnation) = (id(from), Incarnation(1));
    Incoming {
        from,
        incarnation,
        message,
    }
}

fn heartbeat(term: u64) -> BullyMessage {
    let (term, score, sent_at) = (Term(term), Score::from(1), None);
    Heartbeat {
        term,
        score,
        sent_at,
    }
    .into()
}

fn resign(term: u64) -> BullyMessage {
    let (term, successor) = (Term(term), None);
    Resign { term, successor }.into()
}

fn way() -> Way {
    let outbox = Outbox::new(&Limits::default());
    outbox.link(LINK);
    Way::new(0, Arc::new(outbox))
}

fn play(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(test);
}

fn take(way: &Way, by: LinkId) -> Result<Line, TooOld> {
    way.outbox.take(by, Line::default())
}

/// The payloads that wait, taken out.
fn taken(way: &Way) -> Vec<Vec<u8>> {
    let letters = take(way, LINK).unwrap();
    letters
        .iter()
        .map(|(_, payload)| payload.to_vec())
        .collect()
}

fn bytes(message: &BullyMessage) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode_payload(message, &mut out).unwrap();
    out.to_vec()
}

#[test]
fn letters_come_out_as_they_were_said_and_a_repeated_one_counts_once() {
    play(async {
        let way = way();
        let to = [id("x")];
        way.carry(&to, letter("a", heartbeat(1)));
        way.carry(&to, letter("a", resign(1)));
        way.carry(&to, letter("a", resign(1)));
        way.carry(&to, letter("b", heartbeat(1)));
        way.carry(&[id("y")], letter("a", heartbeat(2)));
        way.carry(&to, letter("a", heartbeat(3)));
        let expected = [
            resign(1),
            resign(1),
            heartbeat(1),
            heartbeat(2),
            heartbeat(3),
        ];
        assert_eq!(taken(&way), expected.each_ref().map(bytes));
        assert_eq!(taken(&way), Vec::<Vec<u8>>::new());
        assert_eq!(way.outbox.lost(), 0, "a newer one stands for it");
        way.carry(&to, letter("a", heartbeat(3)));
        assert_eq!(taken(&way).len(), 1, "what was sent is not replaced");
    });
}

#[test]
fn repeated_letters_never_fill_a_queue() {
    play(async {
        let way = way();
        for term in 0..200_000 {
            way.carry(&[id("x")], letter("a", heartbeat(term)));
        }
        assert_eq!(taken(&way), [bytes(&heartbeat(199_999))]);
    });
}

/// Says more than fits; says how many letters that were.
fn flood(way: &Way) -> u64 {
    let lost = way.outbox.lost();
    for said in 1..=20_000 {
        way.carry(&[id("x")], letter("a", resign(said)));
        if way.outbox.lost() > lost {
            assert!(said >= 5_000, "{said} letters in 1 MiB");
            return said;
        }
    }
    panic!("20,000 letters are more than 1 MiB");
}

#[test]
fn over_its_limit_a_queue_of_a_slow_peer_is_given_up_and_the_loss_is_counted() {
    play(async {
        let way = way();
        way.outbox.stall();
        sleep(Duration::from_millis(63)).await; // 1/32 of 2 s
        let said = flood(&way);
        assert_eq!(way.outbox.lost(), said, "all that waited, and the last one");
        assert_eq!(way.outbox.check(), Err(TooOld));
        way.outbox.overrun().await;
        way.carry(&[id("x")], letter("a", resign(said)));
        assert_eq!(way.outbox.lost(), said + 1, "until there is another link");
        way.outbox.unlink(LINK);
        way.outbox.link(OTHER);
        way.carry(&[id("x")], letter("a", resign(7)));
        assert_eq!(take(&way, OTHER).unwrap().iter().count(), 1);
        way.outbox.unlink(OTHER);
        let said = flood(&way);
        assert!(way.outbox.lost() >= 2 * said, "without a link all are lost");
    });
}

#[test]
fn who_says_too_much_loses_the_newest_letters_and_repeated_ones_last() {
    play(async {
        let way = way();
        way.outbox.stall();
        way.outbox.go_on();
        sleep(Duration::from_millis(100)).await;
        let said = flood(&way);
        assert_eq!(way.outbox.lost(), 1, "the newest");
        assert_eq!(way.outbox.check(), Ok(()), "the peer is not to blame");
        way.carry(&[id("x")], letter("a", resign(said)));
        assert_eq!(way.outbox.lost(), 2);
        for term in 0..100_000 {
            way.carry(&[id("x")], letter("a", heartbeat(term)));
        }
        assert_eq!(way.outbox.lost(), 2, "there is room for a repeated one");
        let mut many = 0u64;
        while way.outbox.lost() == 2 {
            many += 1;
            way.carry(&[id("x")], letter(&format!("b{many}"), heartbeat(many)));
        }
        assert!(
            (1_000..said).contains(&many),
            "{many} in a quarter of 1 MiB"
        );
        way.carry(&[id("x")], letter("a", heartbeat(7)));
        assert_eq!(
            way.outbox.lost(),
            3,
            "one that stands for a former one fits"
        );
        let taken = taken(&way);
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
    // 56 KiB a second for 180 ms; a frame in any case; and never more than the limit.
    let expected = [
        (slow.frame(4 << 10), 10_321),
        (slow.frame(16 << 10), 17 << 10),
        (Limits::builder(), 1 << 20),
    ];
    for (limits, most) in expected {
        play(async {
            let outbox = Outbox::new(&limits.build().unwrap());
            outbox.link(LINK);
            let way = Way::new(0, Arc::new(outbox));
            while way.outbox.lost() == 0 {
                way.carry(&[id("x")], letter("a", resign(1)));
            }
            let bytes = way.outbox.lock().bytes;
            assert!((most - 200..=most).contains(&bytes), "{bytes} of {most}");
        });
    }
    // Towards a peer that takes less, as soon as it has said so.
    play(async {
        let way = way();
        let (limits, slow) = (Limits::default(), slow.build().unwrap());
        way.outbox.keep_to(&limits, Allowance::of(&slow));
        while way.outbox.lost() == 0 {
            way.carry(&[id("x")], letter("a", resign(1)));
        }
        let (bytes, most) = (way.outbox.lock().bytes, 65 << 10);
        assert!((most - 200..=most).contains(&bytes), "{bytes} of {most}");
    });
}

#[test]
fn a_letter_that_waits_too_long_ends_a_link_and_is_forgotten_without_one() {
    play(async {
        let way = way();
        way.carry(&[id("x")], letter("a", resign(1)));
        sleep(Duration::from_millis(2_001)).await;
        assert_eq!(take(&way, LINK).unwrap_err(), TooOld);
        way.outbox.unlink(LINK);
        way.carry(&[id("x")], letter("a", resign(2)));
        assert_eq!(way.outbox.lost(), 1);
        sleep(Duration::from_millis(500)).await;
        way.outbox.link(LINK);
        assert_eq!(taken(&way), [bytes(&resign(2))], "that one is in time");
    });
}

#[test]
fn each_message_waits_from_when_it_was_said_whatever_waits_before_it() {
    play(async {
        let to = [id("x")];
        let step = || sleep(Duration::from_millis(1_500));
        // With a link: the oldest is replaced, and the next one is not that old.
        let with_link = way();
        with_link.carry(&to, letter("a", heartbeat(1)));
        step().await;
        with_link.carry(&to, letter("b", heartbeat(1)));
        with_link.carry(&to, letter("a", heartbeat(2)));
        step().await;
        assert_eq!(taken(&with_link).len(), 2, "after 1,500 ms");
        // Without one: only what is too old is lost.
        let without = way();
        without.outbox.unlink(LINK);
        without.carry(&to, letter("a", resign(1)));
        step().await;
        without.carry(&to, letter("a", resign(2)));
        step().await;
        without.outbox.link(LINK);
        assert_eq!(taken(&without), [bytes(&resign(2))]);
        // Of a burst, 32 count as said at the same time, and no more.
        let burst = way();
        (0..32).for_each(|term| burst.carry(&to, letter("a", resign(term))));
        step().await;
        burst.carry(&to, letter("a", resign(32)));
        burst.outbox.unlink(LINK);
        step().await;
        burst.outbox.link(LINK);
        assert_eq!(taken(&burst), [bytes(&resign(32))]);
    });
}

#[test]
fn who_waits_for_a_queue_is_not_woken_without_a_reason() {
    play(async {
        let way = way();
        assert!(way.outbox.rung().now_or_never().is_none(), "nothing waits");
        way.carry(&[id("x")], letter("a", resign(1)));
        assert!(way.outbox.rung().now_or_never().is_some());
        assert!(way.outbox.rung().now_or_never().is_none(), "once");
        assert!(way.outbox.overrun().now_or_never().is_none());
    });
}

#[test]
fn only_the_newest_link_takes_letters_out() {
    play(async {
        let way = way();
        way.outbox.link(OTHER);
        way.carry(&[id("x")], letter("a", resign(1)));
        assert_eq!(taken(&way).len(), 0);
        way.outbox.unlink(LINK); // its end means nothing any more
        sleep(Duration::from_millis(2_001)).await;
        assert_eq!(
            way.outbox.check(),
            Err(TooOld),
            "a link is expected to take it"
        );
        way.outbox.close();
        way.carry(&[id("x")], letter("a", resign(1)));
        assert_eq!(way.outbox.lost(), 2);
    });
}

#[test]
fn a_letter_to_all_of_a_node_names_nobody() {
    play(async {
        let way = way();
        way.set_there(3);
        way.carry(&["x", "y", "z"].map(id), letter("a", resign(1)));
        way.carry(&["x", "y"].map(id), letter("a", resign(1)));
        way.carry(&[id("x")], letter("a", resign(1)));
        let letters = take(&way, LINK).unwrap();
        let to: Vec<_> = letters
            .iter()
            .map(|(letter, _)| letter.to.clone())
            .collect();
        let two = Receivers::Several(["x", "y"].map(id).into());
        assert_eq!(to, [Receivers::All, two, Receivers::One(id("x"))]);
    });
}

#[test]
fn gaps_of_replaced_letters_are_closed_and_the_order_stays() {
    play(async {
        let way = way();
        // A letter that stays at the front, so that gaps cannot fall off there.
        way.carry(&[id("x")], letter("a", resign(1)));
        for term in 0..10_000 {
            way.carry(&[id("x")], letter("a", heartbeat(term)));
            way.carry(&[id("x")], letter("b", heartbeat(term)));
            let (places, bytes) = way.outbox.lock().letters.room();
            assert!(places <= 2 * 3 + 17, "{places} places for 3 letters");
            assert!(bytes <= 5 * 1024, "{bytes} bytes for 3 letters");
        }
        way.carry(&[id("x")], letter("a", resign(2)));
        way.carry(&[id("x")], letter("b", heartbeat(7)));
        let expected = [resign(1), heartbeat(9_999), resign(2), heartbeat(7)];
        assert_eq!(taken(&way), expected.each_ref().map(bytes));
        assert_eq!(way.outbox.lock().bytes, 0);
        assert_eq!(way.outbox.lost(), 0);
    });
}

#[test]
fn holes_are_closed_while_letters_wait_and_every_letter_still_says_its_own() {
    play(async {
        let way = way();
        let senders: Vec<_> = (0..200).map(|k| format!("a{k}")).collect();
        for term in 0..50 {
            for (at, from) in (0..).zip(&senders) {
                way.carry(&[id("x")], letter(from, heartbeat(term * 1_000 + at)));
            }
        }
        let expected: Vec<_> = (49_000..49_200).map(|n| bytes(&heartbeat(n))).collect();
        let whole: usize = expected.iter().map(Vec::len).sum();
        let (_, room) = way.outbox.lock().letters.room();
        assert!(room <= 2 * whole + 5 * 1024, "{room} bytes for {whole}");
        assert_eq!(taken(&way), expected);
    });
}

#[test]
fn a_line_that_was_sent_is_filled_again_and_keeps_little() {
    play(async {
        let way = way();
        let mut line = Line::default();
        for burst in [3_000, 2, 1] {
            for term in 0..burst {
                way.carry(&[id("x")], letter("a", resign(term)));
            }
            line.clear();
            line = way.outbox.take(LINK, line).unwrap();
            let said: Vec<_> = line.iter().map(|(_, payload)| payload.to_vec()).collect();
            let expected: Vec<_> = (0..burst).map(|term| bytes(&resign(term))).collect();
            assert_eq!(said, expected);
        }
        way.outbox.clear();
        assert_eq!(way.outbox.lost(), 0, "all were taken");
    });
}

/// A message that panics half-way, or fails.
#[derive(Clone, Debug, PartialEq, Hash, serde::Deserialize)]
enum Sick {
    Panics,
    Fails,
    IsWell,
}

impl serde::Serialize for Sick {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error, SerializeTuple};
        let mut tuple = serializer.serialize_tuple(2)?;
        tuple.serialize_element(&1)?;
        match self {
            Self::Panics => panic!("half-way"),
            Self::Fails => return Err(S::Error::custom("half-way")),
            Self::IsWell => tuple.serialize_element(&2)?,
        }
        tuple.end()
    }
}

impl std::fmt::Display for Sick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sick")
    }
}

impl crate::protocol::PeerMessage for Sick {
    fn kind(&self) -> &'static str {
        "sick"
    }

    fn needs(&self, _: &AgentId) -> crate::protocol::MinimumRole {
        crate::protocol::MinimumRole::Leader
    }
}

#[test]
fn what_a_panic_or_a_failure_leaves_behind_is_said_by_nobody() {
    let letter = |message| Incoming {
        from: id("a"),
        incarnation: Incarnation(1),
        message,
    };
    play(async {
        let way = way();
        let to = [id("x")];
        way.carry(&to, letter(Sick::IsWell));
        for _ in 0..1_000 {
            let said = std::panic::AssertUnwindSafe(|| way.carry(&to, letter(Sick::Panics)));
            assert!(std::panic::catch_unwind(said).is_err());
            way.carry(&to, letter(Sick::Fails));
        }
        assert!(way.outbox.lock().letters.room().1 < 10, "no leftovers");
        way.carry(&to, letter(Sick::IsWell));
        assert_eq!(taken(&way), [[0x92, 1, 2], [0x92, 1, 2]]);
        assert_eq!(way.outbox.lost(), 1_000, "those that failed");
    });
}
