//! A message that exceeds the announced limits of a peer is not sent to the peer.

use super::*;

/// A message of any size and depth.
type Words = Said<(Vec<String>, Deep)>;

type Deep = Option<Option<Option<Option<Option<u8>>>>>;

fn words(count: usize, len: usize) -> Words {
    Said((vec!["x".repeat(len); count], None))
}

/// Returns the number of these messages that wait for a peer with these limits, and the number that the peer would
/// refuse.
fn sent(limits: &Limits, said: &[Words]) -> (usize, u64) {
    let sink = sink();
    sink.outbox
        .keep_to(&Limits::default(), Allowance::of(limits));
    for message in said {
        let envelope = Envelope {
            from: id("a"),
            incarnation: Incarnation(1),
            message: message.clone(),
        };
        sink.carry(&[id("x")], envelope);
    }
    let refused = sink.outbox.take_refused();
    assert_eq!(sink.outbox.take_refused(), 0, "they are counted once");
    assert_eq!(sink.outbox.lost(), refused, "nothing else was lost");
    (taken(&sink).len(), refused)
}

#[test]
fn a_message_of_more_items_or_longer_texts_than_the_peer_takes_is_refused_here() {
    play(async {
        let usual = Limits::default();
        let low = Limits::builder().items(64).build().unwrap();
        // The two fields of the message count as items as well.
        let said = [words(62, 9), words(63, 9), words(1_000, 1)];
        assert_eq!(sent(&usual, &said), (3, 0));
        assert_eq!(sent(&low, &said), (1, 2));
        let said = [words(1, 256), words(1, 257)];
        assert_eq!(sent(&usual, &said), (1, 1));
        let high = Limits::builder().text(512).build().unwrap();
        assert_eq!(sent(&high, &said), (2, 0));
    });
}

#[test]
fn a_message_that_nests_deeper_than_the_peer_takes_is_refused_here() {
    play(async {
        let deep = Said((Vec::new(), Some(Some(Some(Some(Some(7)))))));
        for (depth, refused) in [(5, 1), (6, 1), (7, 0), (9, 0)] {
            let limits = Limits::builder().depth(depth).build().unwrap();
            let said = [deep.clone(), words(1, 1)];
            let sent = sent(&limits, &said);
            assert_eq!(
                sent.1, refused,
                "a message, an array and five options, of {depth}"
            );
            assert_eq!(sent.0, if refused == 0 { 2 } else { 1 });
        }
    });
}
