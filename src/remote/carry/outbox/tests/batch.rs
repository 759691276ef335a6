//! The memory of a queue: gaps, holes, and the remains of a failure.

use super::*;

#[test]
fn gaps_of_replaced_messages_are_closed_and_the_order_stays() {
    play(async {
        let sink = sink();
        // This message stays at the front, so that gaps cannot fall off there.
        sink.carry(&[id("x")], message("a", resign(1)));
        for term in 0..10_000 {
            sink.carry(&[id("x")], message("a", heartbeat(term)));
            sink.carry(&[id("x")], message("b", heartbeat(term)));
            let (entries, bytes) = sink.outbox.lock().messages.room();
            assert!(entries <= 2 * 3 + 17, "{entries} entries for 3 messages");
            assert!(bytes <= 5 * 1024, "{bytes} bytes for 3 messages");
        }
        sink.carry(&[id("x")], message("a", resign(2)));
        sink.carry(&[id("x")], message("b", heartbeat(7)));
        let expected = [resign(1), heartbeat(9_999), resign(2), heartbeat(7)];
        assert_eq!(taken(&sink), expected.each_ref().map(bytes));
        assert_eq!(sink.outbox.lock().bytes, 0);
        assert_eq!(sink.outbox.lost(), 0);
    });
}

#[test]
fn holes_are_closed_while_messages_wait_and_every_message_still_says_its_own() {
    play(async {
        let sink = sink();
        let senders: Vec<_> = (0..200).map(|k| format!("a{k}")).collect();
        for term in 0..50 {
            for (at, from) in (0..).zip(&senders) {
                sink.carry(&[id("x")], message(from, heartbeat(term * 1_000 + at)));
            }
        }
        let expected: Vec<_> = (49_000..49_200).map(|n| bytes(&heartbeat(n))).collect();
        let whole: usize = expected.iter().map(Vec::len).sum();
        let (_, room) = sink.outbox.lock().messages.room();
        assert!(room <= 2 * whole + 5 * 1024, "{room} bytes for {whole}");
        assert_eq!(taken(&sink), expected);
    });
}

/// A message whose encoding panics half-way, or fails.
#[derive(Clone, Debug, PartialEq, Hash, serde::Deserialize)]
enum Sick {
    Panics,
    Fails,
    IsWell,
}

impl Serialize for Sick {
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

#[test]
fn bytes_left_by_a_panic_or_a_failure_are_never_sent() {
    let message = |sick| Envelope {
        from: id("a"),
        incarnation: Incarnation(1),
        message: Said(sick),
    };
    play(async {
        let sink = sink();
        let to = [id("x")];
        sink.carry(&to, message(Sick::IsWell));
        for _ in 0..1_000 {
            let said = std::panic::AssertUnwindSafe(|| sink.carry(&to, message(Sick::Panics)));
            assert!(std::panic::catch_unwind(said).is_err());
            sink.carry(&to, message(Sick::Fails));
        }
        assert!(sink.outbox.lock().messages.room().1 < 10, "no leftovers");
        sink.carry(&to, message(Sick::IsWell));
        assert_eq!(taken(&sink), [[0x92, 1, 2], [0x92, 1, 2]]);
        assert_eq!(sink.outbox.lost(), 1_000, "those that failed");
    });
}
