//! Allocations for a frame, whatever length it announces: never more at one time than twice the longest frame, and for
//! a message only the memory that the message owns.

use actix_bully::{
    elections::AnyMessage,
    protocol::Time,
    record::{Recording, RecordingError},
    remote::{
        Limits,
        internals::wire::{Bounds, Frame, Frames, decode_payload},
    },
};
use actix_bully_fuzz::{frames, hello, messages, records};
use allocation_counter::measure;
use bully_core::elections::lease::MAX_RECORD;

/// Returns the largest number of bytes that were in use during `run`, beyond those before it.
fn peak(run: impl FnOnce()) -> u64 {
    measure(run).bytes_max
}

fn most() -> u64 {
    u64::try_from(2 * Limits::default().frame()).expect("a number")
}

/// Returns a body after its length.
fn frame(body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len())
        .expect("a short body")
        .to_be_bytes();
    [&len, body].concat()
}

/// Beginnings of values that announce a large length.
const HUGE: [&[u8]; 7] = [
    b"\xdb\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xda\xff\xff",
    b"\xc5\xff\xff",
    b"\xdc\x04\x00",
];

#[test]
fn an_announced_length_costs_no_memory() {
    for head in HUGE {
        assert!(peak(|| messages::check(&[b"\x00", head].concat())) < 256);
        let list = || decode_payload::<Vec<u64>>(head, Bounds::default());
        assert_eq!(peak(|| assert!(list().is_err())), 0);
        let text = || decode_payload::<String>(head, Bounds::default());
        assert_eq!(peak(|| assert!(text().is_err())), 0);
        for before in [
            &b"\x97\x02\x01\x00"[..],
            b"\x97\x02\x01\x00\xc0\x90",
            b"\x93\x03\x01",
        ] {
            let body = [before, head].concat();
            let read = || match Frame::decode(&body, Bounds::default()) {
                Ok(Frame::Messages(mut messages)) => messages.any(|message| message.is_err()),
                read => read.is_err(),
            };
            assert_eq!(peak(|| assert!(read())), 0, "{body:02x?}");
        }
    }
    let mut frames = Frames::new(&Limits::default());
    frames.raise(&Limits::default());
    let announced = frame(&vec![0; 65_536]);
    let cost = peak(|| {
        frames.feed(&announced[..5]);
        assert_eq!(frames.next(Time::ZERO), Ok(None));
    });
    assert_eq!(cost, u64::try_from(Limits::READ_AHEAD).expect("a number"));
    let mut frames = Frames::new(&Limits::default());
    let cost = peak(|| {
        frames.feed(&announced[..5]);
        let refused = frames.next(Time::ZERO);
        assert!(refused.is_err_and(|why| why.name() == "frame_too_large"));
    });
    assert_eq!(cost, u64::try_from(Limits::READ_AHEAD).expect("a number"));
}

/// The frame that grows most: as many items as fit, each as short as possible.
#[test]
fn nothing_grows_to_more_than_twice_the_longest_frame() {
    let items = 1_024_u16.to_be_bytes();
    let member = b"\x99\xcd\xff\xff\xa1a\x00\x94\x00\x00\x00\x00\x01\x00\x91\x00\xc0\xc0";
    let members = |count: u16| {
        let announced = count.to_be_bytes();
        let head = [b"\x97\x02\x01\x00\xc0\x90\xdc", &announced[..]].concat();
        [&head[..], &member.repeat(count.into()), b"\xc0"].concat()
    };
    let one_more = members(257);
    assert!(Frame::decode(&one_more, Bounds::default()).is_err());
    let left = [
        b"\x97\x02\x01\x00\xc0\xdc",
        &items[..],
        &[0; 1_024],
        b"\x90\xc0",
    ];
    for body in [members(256), left.concat()] {
        assert!(body.len() < Limits::default().frame());
        let mut is_read = false;
        let cost = peak(|| {
            let frame = Frame::decode(&body, Bounds::default());
            is_read = matches!(frame, Ok(Frame::Roster(_)));
        });
        assert!(is_read);
        assert!(cost <= most(), "{cost} of {}", most());
    }
    let texts = [b"\xdc", &items[..], &[0xa0; 1_024]].concat();
    let cost = peak(|| {
        let texts = decode_payload::<Vec<String>>(&texts, Bounds::default());
        assert_eq!(texts.map(|texts| texts.len()), Ok(1_024));
    });
    assert!(cost <= most(), "{cost}");
    let endless = vec![0xa0; 60_000];
    let more = [b"\xdc\xea\x60", &endless[..]].concat();
    let refused = || decode_payload::<Vec<String>>(&more, Bounds::default()).is_err();
    assert_eq!(peak(|| assert!(refused())), 0);
}

/// Plays the whole corpus: each file is a connection with all its state.
#[test]
fn no_stream_of_the_corpus_costs_more_than_twice_the_longest_frame() {
    for (corpus, check) in [
        ("frames", frames::check as fn(&[u8])),
        ("hello", hello::check),
        ("messages", messages::check),
    ] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(corpus);
        for file in std::fs::read_dir(folder).expect("the corpus is there") {
            let path = file.expect("a file").path();
            let bytes = std::fs::read(&path).expect("a file of the corpus");
            let cost = peak(|| check(&bytes));
            assert!(cost <= most(), "{}: {cost}", path.display());
        }
    }
}

/// Others may write anything into the store.
#[test]
fn a_record_costs_at_most_eight_times_the_longest_record() {
    let most = u64::try_from(8 * MAX_RECORD).expect("a number");
    for bytes in corpus("records").into_iter().chain([vec![b'a'; 1 << 20]]) {
        let cost = peak(|| records::check(&bytes));
        assert!(cost <= most, "{cost}: {}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_recording_costs_memory_by_its_length_and_an_endless_line_a_bounded_amount() {
    for bytes in corpus("recording") {
        let len = u64::try_from(bytes.len()).expect("a number");
        let cost = peak(|| drop(Recording::read(&bytes[..])));
        assert!(cost <= 64 * len + 4_096, "{cost} for {len}");
    }
    let endless = vec![b' '; 8 << 20];
    let cost = peak(|| {
        let refused = Recording::read(&endless[..]);
        assert!(matches!(
            refused,
            Err(RecordingError::LineTooLong { line: 1, .. })
        ));
    });
    assert!(cost <= 4 << 20, "{cost}");
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let read = |path: std::path::PathBuf| std::fs::read(path).expect("a file of the corpus");
    files
        .map(|file| read(file.expect("a file").path()))
        .collect()
}

#[test]
fn a_message_is_read_without_an_allocation() {
    let body = b"\x93\x03\x01\x91\x95\x00\x03\x09\x05\xc4\x13\
        \x81\xa9heartbeat\x93\x07\x94\x1e\x00\x00\x00\xc0";
    let counted = measure(|| {
        let Ok(Frame::Messages(mut messages)) = Frame::decode(body, Bounds::default()) else {
            panic!("messages");
        };
        let message = messages
            .next()
            .expect("a message")
            .expect("a complete message");
        let message: Result<AnyMessage, _> = decode_payload(message.payload, Bounds::default());
        assert!(message.is_ok());
    });
    assert_eq!(counted.count_total, 0);
}
