//! Each record has exactly one text, and every other text is refused.

use super::*;

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn name() -> LeaseName {
    LeaseName {
        cluster: id("shop"),
        group: id("cron"),
    }
}

fn nonce(attempt: u64) -> Nonce {
    Nonce {
        id: id("api-1"),
        incarnation: Incarnation(7),
        attempt,
    }
}

fn held() -> LeaseRecord {
    LeaseRecord {
        name: name(),
        term: Term(42),
        holder: Some(Holder {
            id: id("api-1"),
            incarnation: Incarnation(7),
            score: Score::from((3, -2)),
            about: None,
        }),
        lease: Micros(900_000),
        nonce: nonce(17),
        next: None,
    }
}

fn released() -> LeaseRecord {
    LeaseRecord {
        holder: None,
        next: Some(Successor {
            id: id("api-2"),
            wait: Micros(40_000),
        }),
        ..held()
    }
}

fn claim() -> ClaimRecord {
    ClaimRecord {
        name: name(),
        score: Some(Score::from(9)),
        seen: Term(41),
        nonce: nonce(2),
    }
}

const HELD: &str = "actix-bully lease 1\ncluster shop\ngroup cron\nterm 42\nholder api-1 7 3 -2 0 0\n\
                    lease 900000\nnonce api-1 7 17\nnext -\n";

#[test]
fn a_record_is_read_as_it_was_written() {
    assert_eq!(held().encode(), HELD);
    for record in [held(), released()] {
        let read = LeaseRecord::decode(record.encode().as_bytes());
        assert_eq!(read, Ok(record));
    }
    let word = ClaimRecord {
        score: None,
        ..claim()
    };
    for record in [claim(), word] {
        let read = ClaimRecord::decode(record.encode().as_bytes());
        assert_eq!(read, Ok(record));
    }
}

#[test]
fn the_longest_record_has_room() {
    let long = id(&"x".repeat(AgentId::MAX_LEN));
    let most = u64::MAX;
    let record = LeaseRecord {
        name: LeaseName {
            cluster: long.clone(),
            group: long.clone(),
        },
        term: Term(LAST_TERM),
        holder: Some(Holder {
            id: long.clone(),
            incarnation: Incarnation(most),
            score: Score::from((i64::MIN, i64::MIN, i64::MIN, i64::MIN)),
            about: About::new(&"x".repeat(About::MAX_LEN)).ok(),
        }),
        lease: Micros(most),
        nonce: Nonce {
            id: long.clone(),
            incarnation: Incarnation(most),
            attempt: most,
        },
        next: Some(Successor {
            id: long,
            wait: Micros(most),
        }),
    };
    let text = record.encode();
    assert!(text.len() <= MAX_RECORD, "{}", text.len());
    assert_eq!(LeaseRecord::decode(text.as_bytes()), Ok(record));
}

#[test]
fn the_text_about_the_holder_is_the_last_line_and_may_be_missing() {
    for text in ["http://10.0.0.3:8080/a?b=c", "-", " two words ", "über"] {
        let about = About::new(text).ok();
        let holder = held().holder.map(|holder| Holder { about, ..holder });
        let record = LeaseRecord { holder, ..held() };
        let written = record.encode();
        assert_eq!(written, format!("{HELD}about {text}\n"));
        assert_eq!(LeaseRecord::decode(written.as_bytes()), Ok(record));
    }
    // The format of records before this line existed.
    assert_eq!(LeaseRecord::decode(HELD.as_bytes()), Ok(held()));
}

/// Changes of the text above: the replaced part, its replacement, and the first word of the line that the error names.
const WRONG: &[(&str, &str, &str)] = &[
    ("term 42\n", "", "term"),
    ("term 42", "term 042", "actix-bully"),
    ("term 42", "term +42", "actix-bully"),
    ("term 42", "term 42 ", "actix-bully"),
    ("term 42", "term 18446744073709551615", "term"),
    ("term 42", "term -1", "term"),
    ("cluster shop", "cluster a/b", "cluster"),
    (
        "cluster shop\ngroup cron",
        "group cron\ncluster shop",
        "cluster",
    ),
    ("holder api-1 7 3 -2 0 0", "holder api-1 7 3 -2 0", "holder"),
    ("holder api-1 7 3 -2 0 0", "holder - -", "holder"),
    ("lease 900000", "lease 18446744073709551616", "lease"),
    ("next -\n", "next -", "actix-bully"),
    ("next -\n", "next -\r\n", "actix-bully"),
    ("next -\n", "next -\nnext -\n", "actix-bully"),
    ("next -", "next api-2", "next"),
    ("next -\n", "next -\nabout \n", "about"),
    ("next -\n", "next -\nabout a\u{1b}[2J\n", "about"),
    ("next -\n", "next -\nabout a\u{202e}b\n", "about"),
    ("next -\n", "next -\nabout\n", "actix-bully"),
    ("next -\n", "next -\nabout a\r\n", "actix-bully"),
    ("next -\n", "next -\nabout a\nabout b\n", "actix-bully"),
    ("next -\n", "next -\nabout a", "actix-bully"),
    // A released lease has no holder, so it has no text about the holder.
    (
        "holder api-1 7 3 -2 0 0\nlease 900000\nnonce api-1 7 17\nnext -\n",
        "holder -\nlease 900000\nnonce api-1 7 17\nnext -\nabout a\n",
        "actix-bully",
    ),
];

#[test]
fn every_other_text_is_refused() {
    for (right, wrong, blamed) in WRONG {
        let text = HELD.replacen(right, wrong, 1);
        assert_ne!(text, HELD);
        let read = LeaseRecord::decode(text.as_bytes());
        assert_eq!(read, Err(RecordError::Line { line: blamed }), "{text}");
    }
    let longer = format!("{HELD}about {}\n", "x".repeat(About::MAX_LEN + 1));
    let read = LeaseRecord::decode(longer.as_bytes());
    assert_eq!(read, Err(RecordError::Line { line: "about" }));
    for end in 0..HELD.len() {
        let read = LeaseRecord::decode(&HELD.as_bytes()[..end]);
        assert!(read.is_err(), "{end}");
    }
}

#[test]
fn a_text_of_something_else_says_what_it_is() {
    let of = |text: &str| LeaseRecord::decode(text.as_bytes());
    for other in [
        "",
        "{}",
        "actix-bully",
        "actix-bully lease",
        "actix-bully lease x\n",
    ] {
        assert_eq!(of(other), Err(RecordError::Kind), "{other}");
    }
    assert_eq!(of(&claim().encode()), Err(RecordError::Kind));
    assert_eq!(LeaseRecord::decode(b"\xff"), Err(RecordError::Kind));
    let later = HELD.replacen(" 1\n", " 2\n", 1);
    assert_eq!(of(&later), Err(RecordError::Format { found: 2 }));
    let len = MAX_RECORD + 1;
    assert_eq!(of(&"x".repeat(len)), Err(RecordError::TooLong { len }));
}
