//! Requests and responses of etcd 3.4 and later.

use broken::mutations;

use super::*;
use crate::RegisterKey;

/// Returns each prefix of an answer, and copies in which one byte is changed.
mod broken {
    pub(super) fn mutations(of: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        let cut = (0..of.len()).map(|len| of.iter().copied().take(len).collect());
        let changed = (0..of.len()).flat_map(move |at| {
            [b'"', b'0', b'{', b'-', 0xff].map(|byte| {
                let mut changed = of.to_vec();
                if let Some(place) = changed.get_mut(at) {
                    *place = byte;
                }
                changed
            })
        });
        cut.chain(changed)
    }
}

fn key() -> RegisterKey {
    "shop/cron/lease".parse().unwrap()
}

fn read(answer: &str) -> Result<Option<(u64, Vec<u8>)>, Misread> {
    entry(&key(), answer.as_bytes())
}

/// Base64 of `actix-bully/shop/cron/lease`.
const KEY: &str = "YWN0aXgtYnVsbHkvc2hvcC9jcm9uL2xlYXNl";
/// Base64 of `actix-bully/shop/cron/claim`.
const CLAIM: &str = "YWN0aXgtYnVsbHkvc2hvcC9jcm9uL2NsYWlt";

#[test]
fn a_swap_and_a_removal_compare_revision_and_value() {
    let known = Entry::new(&key(), Version::from(7), b"old".to_vec()).unwrap();
    let removes = json!({ "request_delete_range": { "key": KEY } });
    let puts = json!({ "request_put": { "key": KEY, "value": "bmV3" } });
    for (asked, success) in [
        (EtcdQuestion::remove(&key(), &known), removes),
        (EtcdQuestion::swap(&key(), Some(&known), b"new"), puts),
    ] {
        assert!(asked.writes);
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let expected = json!({
            "compare": [
                { "key": KEY, "target": "MOD", "result": "EQUAL", "mod_revision": "7" },
                { "key": KEY, "target": "VALUE", "result": "EQUAL", "value": "b2xk" },
            ],
            "success": [success],
        });
        assert_eq!(body, expected);
    }
    let first = EtcdQuestion::swap(&key(), None, b"").body;
    let first: Value = serde_json::from_str(&first).unwrap();
    let absent =
        json!([{ "key": KEY, "target": "CREATE", "result": "EQUAL", "create_revision": "0" }]);
    assert_eq!(first.get("compare"), Some(&absent));
}

#[test]
fn several_records_are_read_in_one_transaction_and_each_answer_is_held_against_its_key() {
    let keys = [key(), "shop/cron/claim".parse().unwrap()];
    let asked = EtcdQuestion::read_all(&keys);
    assert!(!asked.writes && asked.path == "/v3/kv/txn" && asked.most == 2 * MOST_BODY);
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    let expected = json!({ "success": [
        { "request_range": { "key": KEY } },
        { "request_range": { "key": CLAIM } },
    ] });
    assert_eq!(body, expected);
    let header = json!({ "cluster_id": "1", "member_id": "2", "revision": "9", "raft_term": "2" });
    let range = |key: &str| {
        json!({ "response_range": {
            "header": { "revision": "9" },
            "kvs": [{ "key": key, "create_revision": "3", "mod_revision": "7", "version": "5", "value": "b2xk" }],
            "count": "1",
        } })
    };
    let none = json!({ "response_range": { "header": { "revision": "9" } } });
    let read = |responses: &[&Value]| {
        let answer = json!({ "header": header, "succeeded": true, "responses": responses });
        entries(&keys, answer.to_string().as_bytes())
    };
    let old = Some((7, b"old".to_vec()));
    let (lease, claim) = (range(KEY), range(CLAIM));
    assert_eq!(read(&[&lease, &none]), Ok(vec![old.clone(), None]));
    assert_eq!(read(&[&lease, &claim]), Ok(vec![old.clone(), old]));
    let put = json!({ "response_put": { "header": { "revision": "9" } } });
    for wrong in [
        &[&lease][..],
        &[&claim, &lease],
        &[&lease, &none, &none],
        &[&lease, &put],
    ] {
        assert_eq!(read(wrong), Err(Misread), "{wrong:?}");
    }
    let answer = json!({ "header": header, "responses": [lease, claim] }).to_string();
    for broken in mutations(answer.as_bytes()) {
        if let Ok(found) = entries(&keys, &broken) {
            assert_eq!(found.len(), 2);
        }
    }
}

#[test]
fn a_listing_has_all_keys_below_one_in_their_order_and_no_other() {
    let cron: RegisterKey = "shop/cron".parse().unwrap();
    let asked = EtcdQuestion::list(&cron);
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    // Base64 of the range from `actix-bully/shop/cron/` to `actix-bully/shop/cron0`.
    let expected = json!({
        "key": "YWN0aXgtYnVsbHkvc2hvcC9jcm9uLw==",
        "range_end": "YWN0aXgtYnVsbHkvc2hvcC9jcm9uMA==",
        "limit": "1001",
    });
    assert!(body == expected && !asked.writes, "{body}");
    let one = |key: &str| json!({ "key": bytes(key), "mod_revision": "7", "value": "b2xk" });
    let read = |kvs: &[Value]| {
        let answer = json!({ "header": { "revision": "9" }, "kvs": kvs, "count": "2" });
        below(&cron, answer.to_string().as_bytes())
    };
    let [claim, lease] = ["actix-bully/shop/cron/claim", "actix-bully/shop/cron/lease"].map(one);
    let names = |listed: Result<Vec<Listed>, Misread>| -> Vec<String> {
        let listed = listed.unwrap();
        listed
            .into_iter()
            .map(|(key, ..)| key.to_string())
            .collect()
    };
    let both = read(&[
        claim.clone(),
        one("actix-bully/shop/cron/a b"),
        lease.clone(),
    ]);
    assert_eq!(names(both), ["shop/cron/claim", "shop/cron/lease"]);
    assert_eq!(read(&[]), Ok(Vec::new()));
    for wrong in [
        vec![lease.clone(), claim.clone()],
        vec![lease.clone(), lease],
        vec![claim, one("actix-bully/shop/other/lease")],
        vec![one("actix-bully/shop/cron")],
    ] {
        assert_eq!(read(&wrong), Err(Misread), "{wrong:?}");
    }
}

#[test]
fn all_keys_are_between_the_prefix_and_what_is_behind() {
    assert!(format!("{PREFIX}\u{10ffff}").as_str() < BEHIND);
    assert!(BEHIND > PREFIX);
}

#[test]
fn a_range_shows_revision_and_value_and_leaves_out_what_is_empty() {
    let with = |more: &str| {
        format!(
            r#"{{"header":{{"revision":"9"}},"kvs":[{{"key":"{KEY}","mod_revision":"7"{more}}}],"count":"1"}}"#
        )
    };
    assert_eq!(
        read(&with(r#","value":"b2xk""#)),
        Ok(Some((7, b"old".to_vec())))
    );
    assert_eq!(read(&with("")), Ok(Some((7, Vec::new()))));
    assert_eq!(read(r#"{"header":{"revision":"9"}}"#), Ok(None));
}

#[test]
fn a_text_that_etcd_never_sends_is_refused() {
    let kv = |text: &str| format!(r#"{{"header":{{"revision":"9"}},"kvs":[{text}],"count":"1"}}"#);
    for answer in [
        String::new(),
        "[]".into(),
        "{}".into(),
        "{\"kvs\":[]}".into(),
        r#"{"header":{"revision":"9"},"count":"1"}"#.into(),
        kv(&format!(r#"{{"key":"{KEY}","mod_revision":"7"}}"#)).replace(r#","count":"1""#, ""),
        kv(r#"{"key":"b3RoZXI=","mod_revision":"7"}"#),
        kv(&format!(r#"{{"key":"{KEY}","mod_revision":7}}"#)),
        kv(&format!(r#"{{"key":"{KEY}","mod_revision":"0"}}"#)),
        kv(&format!(r#"{{"key":"{KEY}","mod_revision":"-7"}}"#)),
        kv(&format!(r#"{{"key":"{KEY}","mod_revision":"+7"}}"#)),
        kv(&format!(
            r#"{{"key":"{KEY}","mod_revision":"9223372036854775808"}}"#
        )),
        kv(&format!(
            r#"{{"key":"{KEY}","mod_revision":"7","value":"b2x"}}"#
        )),
        kv(&format!(
            r#"{{"key":"{KEY}","mod_revision":"7","value":"b2xk\n"}}"#
        )),
        kv(&format!(
            r#"{{"key":"{KEY}","mod_revision":"7","mod_revision":"8"}}"#
        )),
        kv(&format!(
            r#"{{"key":"{KEY}","mod_revision":"7"}},{{"key":"{KEY}","mod_revision":"8"}}"#
        )),
    ] {
        assert_eq!(read(&answer), Err(Misread), "{answer}");
    }
}

#[test]
fn a_transaction_tells_its_revision_if_it_was_done() {
    let done = r#"{"header":{"revision":"12"},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"12"}}}]}"#;
    assert_eq!(swapped(done.as_bytes()), Ok(Some(12)));
    assert_eq!(swapped(br#"{"header":{"revision":"12"}}"#), Ok(None));
    for answer in [
        &b"{}"[..],
        br#"{"succeeded":true}"#,
        br#"{"header":{},"succeeded":true}"#,
    ] {
        assert_eq!(swapped(answer), Err(Misread));
    }
}

#[test]
fn a_token_is_what_a_header_can_hold() {
    assert_eq!(
        token(br#"{"header":{},"token":"abc.7"}"#).as_deref(),
        Ok("abc.7")
    );
    for answer in [
        r#"{"token":""}"#,
        r#"{"token":"a\r\nb: c"}"#,
        r#"{"token":"a b"}"#,
        "{}",
    ] {
        assert_eq!(token(answer.as_bytes()), Err(Misread), "{answer}");
    }
    let long = format!(r#"{{"token":"{}"}}"#, "x".repeat(MOST_TOKEN + 1));
    assert_eq!(token(long.as_bytes()), Err(Misread));
}

#[test]
fn a_stream_tells_keys_its_begin_and_its_end() {
    let of = |line: &str| watched(line.as_bytes());
    assert_eq!(
        of(r#"{"result":{"header":{"revision":"5"},"created":true}}"#),
        Ok(WatchAnswer::Begun)
    );
    let changed = format!(
        r#"{{"result":{{"events":[{{"kv":{{"key":"{KEY}","mod_revision":"6","value":"YQ=="}},"prev_kv":{{"key":"{KEY}","mod_revision":"4"}}}},{{"type":"DELETE","kv":{{"key":"{KEY}","mod_revision":"7"}}}},{{"kv":{{"key":"b3RoZXI=","mod_revision":"8"}}}}]}}}}"#
    );
    let key = || "shop/cron/lease".to_owned();
    let written = Change::Written {
        entry: Entry {
            version: Version::from(6),
            value: b"a".to_vec(),
        },
        replaced: Some(Version::from(4)),
    };
    assert_eq!(
        of(&changed),
        Ok(WatchAnswer::Keys(vec![
            (key(), written),
            (key(), Change::Unknown)
        ]))
    );
    assert_eq!(
        of(r#"{"result":{"created":true,"canceled":true,"cancel_reason":"permission denied"}}"#),
        Ok(WatchAnswer::Ended("permission denied".into()))
    );
    assert_eq!(
        of(r#"{"error":{"grpc_code":14,"http_code":503,"message":"stopped","http_status":"x"}}"#),
        Ok(WatchAnswer::Ended("stopped".into()))
    );
    assert_eq!(of("{}"), Err(Misread));
    assert_eq!(of(""), Err(Misread));
}

#[test]
fn a_complaint_is_read_in_any_form_and_cut() {
    let said = Complaint::read(br#"{"error":"e","message":"e\n","code":14}"#);
    assert_eq!((said.code, &*said.message), (Some(14), "e"));
    let page = format!("<html>{}", "x".repeat(10_000));
    let page = Complaint::read(page.as_bytes());
    assert_eq!(page.code, None);
    assert_eq!(page.message.len(), MOST_WORDS);
    assert_eq!(Complaint::read(b"\xff\x1b[31m").message, "\u{fffd}[31m");
}

/// An answer that is cut or changed at any place is refused, or read as an entry of this key.
#[test]
fn nothing_that_is_answered_is_taken_for_another_entry() {
    let answer = format!(
        r#"{{"header":{{"revision":"9"}},"kvs":[{{"key":"{KEY}","mod_revision":"7","value":"b2xk"}}],"count":"1"}}"#
    );
    let mut refused = 0;
    for changed in mutations(answer.as_bytes()) {
        match entry(&key(), &changed) {
            Ok(Some((revision, value))) => assert!(revision > 0 && value.len() <= 3),
            Ok(None) => panic!("{}", String::from_utf8_lossy(&changed)),
            Err(Misread) => refused += 1,
        }
        drop((swapped(&changed), watched(&changed), token(&changed)));
    }
    assert!(refused > 300, "{refused}");
}
