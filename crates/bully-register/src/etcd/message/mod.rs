//! The questions to the gateway and its answers, as JSON.
//!
//! Decided here: each operation is one request to the gateway, a transaction or a range (the read of several keys); the
//! size of an answer is limited; numbers and bytes are read only in the form that etcd writes (a number in quotes,
//! bytes in Base64); and an answer about another key is not accepted.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::{Change, Entry, MOST_LISTED, RegisterKey, Version};

/// Prefix of all keys.
const PREFIX: &str = "actix-bully/";
/// The end of the range of all keys with the prefix `actix-bully/`: the first text after them, because `0` is the
/// character after `/`.
const BEHIND: &str = "actix-bully0";

/// A path of the gateway, and the body of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdQuestion {
    pub(super) path: &'static str,
    pub(super) body: String,
    pub(super) writes: bool,
    /// Longest allowed answer, in bytes.
    pub(super) most: usize,
}

impl EtcdQuestion {
    fn of(path: &'static str, body: &Value, writes: bool) -> Self {
        Self {
            path,
            body: body.to_string(),
            writes,
            most: MOST_BODY,
        }
    }

    pub(super) fn login(user: &str, password: &str) -> Self {
        let body = json!({ "name": user, "password": password });
        Self::of("/v3/auth/authenticate", &body, false)
    }

    /// Makes a question that shows whether a member works: the member answers it only if it reaches a majority of the
    /// cluster.
    pub(super) fn probe() -> Self {
        let body = json!({ "key": bytes(PREFIX), "keys_only": true, "limit": "1" });
        Self::of("/v3/kv/range", &body, false)
    }

    pub(super) fn read(key: &RegisterKey) -> Self {
        let body = json!({ "key": name(key) });
        Self::of("/v3/kv/range", &body, false)
    }

    /// Makes a question that reads all the keys at one instant.
    pub(super) fn read_all(keys: &[RegisterKey]) -> Self {
        let range = |key| json!({ "request_range": { "key": name(key) } });
        let ranges: Vec<_> = keys.iter().map(range).collect();
        let asked = Self::of("/v3/kv/txn", &json!({ "success": ranges }), false);
        let most = MOST_BODY.saturating_mul(keys.len());
        Self { most, ..asked }
    }

    /// Makes a swap. The swap compares the value as well as the revision, because after a restored backup the same
    /// revisions come again.
    pub(super) fn swap(key: &RegisterKey, expected: Option<&Entry>, value: &[u8]) -> Self {
        let key = name(key);
        let compare = match expected {
            None => json!([
                { "key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0" },
            ]),
            Some(entry) => is_still(&key, entry),
        };
        let put = json!([{ "request_put": { "key": key, "value": bytes(value) } }]);
        Self::of(
            "/v3/kv/txn",
            &json!({ "compare": compare, "success": put }),
            true,
        )
    }

    pub(super) fn remove(key: &RegisterKey, expected: &Entry) -> Self {
        let key = name(key);
        let compare = is_still(&key, expected);
        let delete = json!([{ "request_delete_range": { "key": key } }]);
        let body = json!({ "compare": compare, "success": delete });
        Self::of("/v3/kv/txn", &body, true)
    }

    /// Makes a question for the keys below `prefix`, in their order. The question asks for one key more than the
    /// maximum, so that the answer shows whether too many keys exist.
    pub(super) fn list(prefix: &RegisterKey) -> Self {
        let most = MOST_LISTED.saturating_add(1);
        let body = json!({
            "key": bytes(format!("{PREFIX}{prefix}/")),
            // The character after `/`.
            "range_end": bytes(format!("{PREFIX}{prefix}0")),
            "limit": most.to_string(),
        });
        let asked = Self::of("/v3/kv/range", &body, false);
        let most = MOST_BODY.saturating_mul(most);
        Self { most, ..asked }
    }

    /// Makes a question that watches all keys, so that any number of elections share one stream.
    pub(super) fn watch() -> Self {
        let all = json!({ "key": bytes(PREFIX), "range_end": bytes(BEHIND), "prev_kv": true });
        Self::of("/v3/watch", &json!({ "create_request": all }), false)
    }
}

/// Returns the condition that a key still has this revision and this value.
fn is_still(key: &str, entry: &Entry) -> Value {
    json!([
        { "key": key, "target": "MOD", "result": "EQUAL", "mod_revision": entry.version.as_str() },
        { "key": key, "target": "VALUE", "result": "EQUAL", "value": bytes(&entry.value) },
    ])
}

/// The error for a text that does not answer the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program that answers at the endpoint is not etcd: check the address of the endpoint")]
pub(super) struct Misread;

/// Returns the token of a login from its answer.
pub(super) fn token(answer: &[u8]) -> Result<String, Misread> {
    #[derive(Deserialize)]
    struct Login {
        token: String,
    }
    let login: Login = serde_json::from_slice(answer).map_err(|_| Misread)?;
    // The token becomes the value of an HTTP header, so characters that a header cannot have are refused.
    let is_plain = login.token.bytes().all(|byte| byte.is_ascii_graphic());
    if login.token.is_empty() || login.token.len() > MOST_TOKEN || !is_plain {
        return Err(Misread);
    }
    Ok(login.token)
}

/// The revision and the value of a key; `None` if the key has no entry.
pub(super) type Found = Option<(u64, Vec<u8>)>;

/// Returns revision and value of a key; `None` if the key has no entry.
pub(super) fn entry(key: &RegisterKey, answer: &[u8]) -> Result<Found, Misread> {
    #[derive(Deserialize)]
    struct Answer {
        // Required: an answer without this header comes from another program.
        #[serde(rename = "header")]
        _header: EtcdHeader,
        #[serde(flatten)]
        range: Range,
    }
    let answer: Answer = serde_json::from_slice(answer).map_err(|_| Misread)?;
    answer.range.of(key)
}

/// Like [`entry`], for each of these keys, in their order.
pub(super) fn entries(keys: &[RegisterKey], answer: &[u8]) -> Result<Vec<Found>, Misread> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "header")]
        _header: EtcdHeader,
        responses: Vec<Response>,
    }
    #[derive(Deserialize)]
    struct Response {
        response_range: Range,
    }
    let answer: Answer = serde_json::from_slice(answer).map_err(|_| Misread)?;
    if answer.responses.len() != keys.len() {
        return Err(Misread);
    }
    let each = keys.iter().zip(answer.responses);
    each.map(|(key, found)| found.response_range.of(key))
        .collect()
}

/// Returns all keys below a key, with their revisions and values. A key that does not belong to a register is left out.
pub(super) fn below(prefix: &RegisterKey, answer: &[u8]) -> Result<Vec<Listed>, Misread> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "header")]
        _header: EtcdHeader,
        #[serde(default)]
        kvs: Vec<KeyValue>,
    }
    let answer: Answer = serde_json::from_slice(answer).map_err(|_| Misread)?;
    let mut all = Vec::new();
    for found in answer.kvs {
        let name = String::from_utf8(found.key.0).ok();
        let key = name.as_deref().and_then(|name| name.strip_prefix(PREFIX));
        let key: Option<RegisterKey> = key.and_then(|key| key.parse().ok());
        let Some(key) = key else { continue };
        let is_next = all
            .last()
            .is_none_or(|(last, ..): &Listed| last.as_str() < key.as_str());
        if !key.is_below(prefix) || !is_next {
            return Err(Misread);
        }
        all.push((key, found.mod_revision.0, found.value.0));
    }
    Ok(all)
}

/// A key with its revision and value.
pub(super) type Listed = (RegisterKey, u64, Vec<u8>);

/// The answer about one key.
#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    kvs: Vec<KeyValue>,
    /// Number of entries; an answer without entries lacks it.
    count: Option<Number>,
}

impl Range {
    fn of(mut self, key: &RegisterKey) -> Result<Found, Misread> {
        // Both fields must agree. Otherwise a record could be missed by mistake, and an agent would write a new record
        // in its place.
        let found = match (self.kvs.pop(), self.count) {
            (None, None) => return Ok(None),
            (Some(found), Some(Number(1))) => found,
            (Some(_), _) | (None, Some(_)) => return Err(Misread),
        };
        let is_it = found.key.0 == format!("{PREFIX}{key}").into_bytes();
        if !is_it || !self.kvs.is_empty() {
            return Err(Misread);
        }
        Ok(Some((found.mod_revision.0, found.value.0)))
    }
}

/// Returns the revision of a write; `None` if the entry was not the expected one.
pub(super) fn swapped(answer: &[u8]) -> Result<Option<u64>, Misread> {
    #[derive(Deserialize)]
    struct Transaction {
        header: EtcdHeader,
        #[serde(default)]
        succeeded: bool,
    }
    let done: Transaction = serde_json::from_slice(answer).map_err(|_| Misread)?;
    Ok(done.succeeded.then_some(done.header.revision.0))
}

/// The content of a line of a stream of changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WatchAnswer {
    /// The keys that have changed, each with its change.
    Keys(Vec<(String, Change)>),
    /// The member confirms that the stream has begun.
    Begun,
    /// The stream has ended, or could not begin, for this reason.
    Ended(String),
}

/// Reads a line of a stream.
pub(super) fn watched(line: &[u8]) -> Result<WatchAnswer, Misread> {
    #[derive(Deserialize)]
    struct Streamed {
        result: Option<Watch>,
        error: Option<Complaint>,
    }
    #[derive(Deserialize)]
    struct Watch {
        #[serde(default)]
        created: bool,
        #[serde(default)]
        canceled: bool,
        #[serde(default)]
        cancel_reason: String,
        #[serde(default)]
        events: Vec<Event>,
    }
    #[derive(Deserialize)]
    struct Event {
        /// Kind of the change; absent for a write.
        #[serde(rename = "type")]
        kind: Option<String>,
        kv: KeyValue,
        prev_kv: Option<KeyValue>,
    }
    let streamed: Streamed = serde_json::from_slice(line).map_err(|_| Misread)?;
    let watch = match streamed {
        Streamed {
            error: Some(said), ..
        } => return Ok(WatchAnswer::Ended(said.message)),
        Streamed {
            result: Some(watch),
            ..
        } => watch,
        Streamed { .. } => return Err(Misread),
    };
    if watch.canceled {
        return Ok(WatchAnswer::Ended(watch.cancel_reason));
    }
    if watch.created {
        return Ok(WatchAnswer::Begun);
    }
    // A key that is not UTF-8, or not the key of a register, belongs to another application: it has no listener.
    let change = |event: Event| {
        let key = String::from_utf8(event.kv.key.0).ok()?;
        let key = key.strip_prefix(PREFIX)?.to_owned();
        let version = Version::from(event.kv.mod_revision.0);
        let entry = key.parse().ok().filter(|_| event.kind.is_none());
        let entry = entry.and_then(|key| Entry::new(&key, version, event.kv.value.0).ok());
        let replaced = event.prev_kv.map(|kv| Version::from(kv.mod_revision.0));
        let change = match entry {
            Some(entry) => Change::Written { entry, replaced },
            None => Change::Unknown,
        };
        Some((key, change))
    };
    Ok(WatchAnswer::Keys(
        watch.events.into_iter().filter_map(change).collect(),
    ))
}

/// An error in place of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The code of gRPC, if etcd sends it.
    pub(super) code: Option<u32>,
    pub(super) message: String,
}

impl Complaint {
    /// Reads an answer as an error. If the answer is not JSON of the gateway, its first characters become the message.
    pub(super) fn read(answer: &[u8]) -> Self {
        serde_json::from_slice(answer).unwrap_or_else(|_| Self {
            code: None,
            message: limited(&String::from_utf8_lossy(answer)),
        })
    }
}

impl<'de> Deserialize<'de> for Complaint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Newer releases write the words in `message` only, older releases also in `error`; a stream has `grpc_code`
        /// in place of `code`.
        #[derive(Deserialize)]
        struct Said {
            #[serde(alias = "grpc_code")]
            code: Option<u32>,
            message: String,
        }
        let Said { code, message } = Said::deserialize(deserializer)?;
        let message = limited(&message);
        Ok(Self { code, message })
    }
}

fn limited(words: &str) -> String {
    let words = words.trim().chars().filter(|letter| !letter.is_control());
    words.take(MOST_WORDS).collect()
}

#[derive(Deserialize)]
struct EtcdHeader {
    revision: Number,
}

#[derive(Deserialize)]
struct KeyValue {
    key: Bytes,
    mod_revision: Number,
    // etcd leaves out empty fields.
    #[serde(default)]
    value: Bytes,
}

/// A positive number in quotes.
struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number: Option<i64> = text.parse().ok();
        let number = number.filter(|number| *number > 0 && !text.starts_with('+'));
        let number = number.ok_or_else(|| D::Error::custom("no revision"))?;
        Ok(Self(number.unsigned_abs()))
    }
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        Ok(Self(bytes))
    }
}

fn bytes(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

fn name(key: &RegisterKey) -> String {
    bytes(format!("{PREFIX}{key}"))
}

/// Largest size of the body of an answer about one key, in bytes. The largest record takes a third of it.
const MOST_BODY: usize = 16_384;
/// Longest token that is accepted, in bytes. Even a signed token with a long name stays below this limit.
const MOST_TOKEN: usize = 4_096;
/// Longest part of an error's text that is shown, in characters.
const MOST_WORDS: usize = 300;

#[cfg(test)]
mod tests;
