//! The valid forms of a file. Every other content is refused.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    elections::quorum,
    protocol::{AgentId, Contact, Decree, Incarnation, NewVoter, StoreId, Term},
    store::{
        Generation, StoreError, StoreIdentity,
        format::{FileState, MAX_LEN, decode},
    },
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Vote {
    term: Term,
    voted_for: Option<AgentId>,
}

const GOLDEN: &str = r#"actix-bully store 1
{"cluster":"production","group":"jobs","node":"api-1","store":5,"generation":3,"incarnation":17,"record":{"term":7,"voted_for":"api-2"}}
"#;

fn encode<D>(identity: &StoreIdentity, record: Option<&D>) -> Result<Vec<u8>, StoreError>
where
    D: Clone + PartialEq + Serialize + serde::de::DeserializeOwned,
{
    let kept = FileState {
        store: StoreId::new(5),
        generation: Generation::new(3),
        incarnation: Incarnation(17),
        record: record.cloned(),
    };
    crate::store::format::encode(identity, &kept)
}

fn identity(cluster: &str, group: &str, node: &str) -> StoreIdentity {
    StoreIdentity {
        cluster: cluster.parse().expect("a name"),
        group: group.parse().expect("a name"),
        node: node.parse().expect("a name"),
    }
}

fn mine() -> StoreIdentity {
    identity("production", "jobs", "api-1")
}

fn vote() -> Vote {
    Vote {
        term: Term(7),
        voted_for: "api-2".parse().ok(),
    }
}

fn text() -> Vec<u8> {
    encode(&mine(), Some(&vote())).expect("the vote is small")
}

fn read(text: &[u8]) -> Result<Option<Vote>, StoreError> {
    decode(Path::new("jobs.store"), text, &mine()).map(|kept| kept.record)
}

#[test]
fn a_file_says_two_lines_of_text() {
    let text = String::from_utf8(text()).expect("it is text");
    assert_eq!(text, GOLDEN);
    assert_eq!(read(text.as_bytes()).expect("it is whole"), Some(vote()));
}

#[test]
fn a_new_file_has_no_record() {
    let text = encode::<Vote>(&mine(), None).expect("it is small");
    assert!(String::from_utf8_lossy(&text).contains(r#""record":null}"#));
    assert_eq!(read(&text).expect("it is whole"), None);
}

#[test]
fn every_cut_and_every_addition_is_noticed() {
    let whole = text();
    for len in 0..whole.len() {
        assert!(read(&whole[..len]).is_err(), "cut to {len} bytes");
    }
    for byte in 0..=255 {
        let longer = [whole.as_slice(), &[byte]].concat();
        assert!(read(&longer).is_err());
    }
    assert!(read(&whole.repeat(2)).is_err());
}

#[test]
fn an_accepted_file_equals_the_file_that_would_be_written() {
    let whole = text();
    let mut accepted = 0;
    for at in 0..whole.len() {
        for change in 1..=255 {
            let mut text = whole.clone();
            text[at] ^= change;
            if let Ok(kept) = decode::<Vote>(Path::new(""), &text, &mine()) {
                let again = crate::store::format::encode(&mine(), &kept);
                assert_eq!(again.expect("as read"), text);
                accepted += 1;
            }
        }
    }
    assert!(accepted > 0, "another term is a record as well");
}

#[test]
fn another_spelling_of_the_same_record_is_refused() {
    let lines = String::from_utf8(text()).expect("it is text");
    for (from, to) in [
        (r#""term":7"#, r#""term": 7"#),
        (r#""term":7"#, r#""term":7,"sealed":true"#),
        (r#","voted_for":"api-2""#, ""),
        (r#""api-2"}"#, r#""api\u002d2"}"#),
        (r#"{"term":7,"voted_for":"api-2"}"#, r#"[7,"api-2"]"#),
        ("store 1", "store 01"),
        ("store 1", "store +1"),
        ("}}\n", "}}\n\n"),
    ] {
        let other = lines.replace(from, to);
        assert_ne!(other, lines, "{from}");
        let read = read(other.as_bytes());
        assert!(
            matches!(read, Err(StoreError::Record { .. })),
            "{to}: {read:?}"
        );
    }
}

#[test]
fn a_form_that_no_release_writes_is_refused() {
    for lines in [
        "actix-bully store \n",
        "actix-bully store one\n",
        "actix-bully store 256\n",
        "actix-bully store 1\nnull\n",
        "actix-bully store 1\n{}\n",
        "actix-bully store 1\n{\"cluster\":\"production\",\"group\":\"jobs\",\"node\":\"api-1\"}\n",
    ] {
        let read = read(lines.as_bytes());
        assert!(
            matches!(&read, Err(StoreError::Damaged { damage, .. }) if damage.contains("not that of a store")),
            "{lines}: {read:?}"
        );
    }
}

#[test]
fn another_version_is_not_taken_for_damage() {
    for version in [0, 2, 255] {
        let lines = format!("actix-bully store {version}\nwhatever it is\n");
        let refused = read(lines.as_bytes()).expect_err("another version");
        assert!(
            matches!(refused, StoreError::Version { found, supported: 1, .. } if found == version),
            "{refused:?}"
        );
    }
}

#[test]
fn the_file_of_another_node_is_foreign_whatever_its_record() {
    for found in [
        identity("staging", "jobs", "api-1"),
        identity("production", "mail", "api-1"),
        identity("production", "jobs", "api-2"),
    ] {
        let theirs = encode(&found, Some(&vec![1, 2, 3])).expect("it is small");
        let refused = read(&theirs).expect_err("another node's");
        assert_eq!(
            refused.to_string(),
            format!(
                "jobs.store belongs to {found}, not to {}: check path, node, group and cluster",
                mine()
            )
        );
    }
}

#[test]
fn the_record_of_another_election_is_refused() {
    let theirs = encode(&mine(), Some(&7_u64)).expect("it is small");
    assert!(matches!(read(&theirs), Err(StoreError::Record { .. })));
}

#[test]
fn a_record_that_would_change_is_not_written() {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Forgetful {
        #[serde(skip)]
        voted_for: u64,
    }
    let encoded = encode(&mine(), Some(&Forgetful { voted_for: 3 }));
    assert!(matches!(encoded, Err(StoreError::Altered)), "{encoded:?}");
    let encoded = encode(&mine(), Some(&()));
    assert!(matches!(encoded, Err(StoreError::Altered)), "{encoded:?}");
}

#[test]
fn a_record_that_is_no_json_is_not_written() {
    let map = std::collections::BTreeMap::from([(vec![1], 1)]);
    let encoded = encode(&mine(), Some(&map));
    assert!(matches!(encoded, Err(StoreError::Encode(_))), "{encoded:?}");
}

#[test]
fn the_limit_is_exact() {
    let bare = encode(&mine(), Some(&String::new()))
        .expect("it is small")
        .len();
    let most = "x".repeat(MAX_LEN - bare);
    let text = encode(&mine(), Some(&most)).expect("it fits");
    assert_eq!(text.len(), MAX_LEN);
    let encoded = encode(&mine(), Some(&(most + "x")));
    assert!(
        matches!(
            encoded,
            Err(StoreError::TooLarge {
                len: 524_245,
                max: 524_244
            })
        ),
        "{encoded:?}"
    );
}

/// Two lists with the largest number of voters, and with the longest names and addresses.
#[test]
fn the_largest_vote_of_a_quorum_fits() {
    let long = |at: usize| format!("{at:\\>256}");
    let list = Decree {
        epoch: u64::MAX,
        voters: (0..100)
            .map(|at| NewVoter {
                id: long(at).parse().expect("a name"),
                contact: Some(Contact {
                    node: long(at),
                    address: long(at),
                }),
            })
            .collect(),
        vote_quorum: Some(51),
        lease_quorum: Some(51),
    };
    let voters = quorum::VotersRecord {
        installed: Some(list.clone()),
        seal: Some(quorum::SealRecord {
            term: Term(u64::MAX),
            next: list,
        }),
        tells: true,
    };
    let vote = quorum::Vote {
        term: Term(u64::MAX),
        voters: Some(Box::new(voters)),
        ..quorum::Vote::default()
    };
    let text = encode(&mine(), Some(&vote)).expect("it fits");
    assert!(text.len() > 300_000, "{}", text.len());
    assert!(
        text.len() < MAX_LEN - 100 * 600,
        "the file has room for each memory"
    );
}
