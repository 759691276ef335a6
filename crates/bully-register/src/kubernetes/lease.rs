//! Writes an entry as a Lease of Kubernetes, and reads it back.
//!
//! | part of the Lease | content | read by |
//! |---|---|---|
//! | annotation `actix-bully/key` | the key | the register: a Lease with another key, or without a key, is foreign |
//! | annotation `actix-bully/value` | the value, in base64 | the register |
//! | annotation `actix-bully/write` | a number for each write | not read: without this number, an update that changes nothing gets no new version |
//! | labels | see `name.rs` | the register, to list |
//! | `holderIdentity`, `leaseDurationSeconds`, `renewTime`, `acquireTime`, `leaseTransitions` | the same facts as the record | users of `kubectl` |
//!
//! Decided here: this table, and that a version is the uid together with the resource version. A Lease that is deleted
//! and created again has another uid, so no version comes twice.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
    jiff::Timestamp,
};

use super::name;
use crate::{Entry, MOST_BYTES, RegisterError, RegisterKey, Version};

/// A version in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeaseVersion {
    pub(super) uid: String,
    pub(super) resource: String,
}

impl LeaseVersion {
    /// Reads a version; `None` for a text that is not the version of a Lease.
    pub(super) fn read(version: &Version) -> Option<Self> {
        let (uid, resource) = version.as_str().split_once('/')?;
        let (uid, resource) = (uid.to_owned(), resource.to_owned());
        Some(Self { uid, resource })
    }
}

/// Returns the version of a Lease; `None` if it has no version that a register can keep.
pub(super) fn version(lease: &Lease) -> Option<Version> {
    let metadata = &lease.metadata;
    let (uid, resource) = (metadata.uid.as_ref()?, metadata.resource_version.as_ref()?);
    Version::new(&format!("{uid}/{resource}"))
}

pub(super) fn key(lease: &Lease) -> Option<RegisterKey> {
    annotation(lease, KEY)?.parse().ok()
}

/// Returns the entry that a Lease holds.
///
/// # Errors
/// [`RegisterError::Foreign`] if no register wrote the Lease for the key `wanted`.
pub(super) fn entry(wanted: &RegisterKey, lease: &Lease) -> Result<Entry, RegisterError> {
    let foreign = || RegisterError::Foreign {
        key: wanted.clone(),
    };
    // The name is compared as well, because a copy of a Lease under another name has the same annotations.
    let is_named = lease.metadata.name == Some(name::object_name(wanted));
    if !is_named || annotation(lease, KEY) != Some(wanted.as_str()) {
        return Err(foreign());
    }
    let text = annotation(lease, VALUE).ok_or_else(foreign)?;
    if text.len() > MOST_TEXT {
        return Err(foreign());
    }
    let value = STANDARD.decode(text).map_err(|_| foreign())?;
    Entry::new(wanted, version(lease).ok_or_else(foreign)?, value)
}

/// Returns the Lease to write for a key, in place of `replaced` or as a new Lease. `spec` is the `spec` of the replaced
/// Lease.
pub(super) fn lease(
    key: &RegisterKey,
    value: &[u8],
    replaced: Option<&LeaseVersion>,
    spec: Option<&LeaseSpec>,
) -> Lease {
    let write = format!("{:016x}", fastrand::u64(..));
    let annotations = [
        (KEY, key.as_str().to_owned()),
        (VALUE, STANDARD.encode(value)),
        (WRITE, write),
    ];
    Lease {
        metadata: ObjectMeta {
            name: Some(name::object_name(key)),
            annotations: Some(
                annotations
                    .map(|(name, text)| (name.to_owned(), text))
                    .into(),
            ),
            labels: Some(name::labels(key)),
            uid: replaced.map(|version| version.uid.clone()),
            resource_version: replaced.map(|version| version.resource.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(shown(value, spec, Timestamp::now())),
    }
}

/// Returns the fields that `kubectl` shows for the record of a lease. For a value of another form the fields are empty.
fn shown(value: &[u8], before: Option<&LeaseSpec>, now: Timestamp) -> LeaseSpec {
    let text = str::from_utf8(value).unwrap_or_default();
    let now = Some(MicroTime(now));
    let by = |word| {
        said(text, word)
            .filter(|said| *said != "-")
            .map(str::to_owned)
    };
    let kind = said(text, "actix-bully");
    if kind != Some("lease") {
        let word = if kind == Some("present") {
            "agent"
        } else {
            "nonce"
        };
        return LeaseSpec {
            holder_identity: by(word),
            renew_time: now,
            ..LeaseSpec::default()
        };
    }
    let holder = by("holder");
    let micros = said(text, "lease").and_then(|micros| micros.parse().ok());
    let known = before.cloned().unwrap_or_default();
    let is_same = known.holder_identity == holder;
    let transitions = known.lease_transitions.unwrap_or_default();
    let is_taken = !is_same && holder.is_some() && before.is_some();
    LeaseSpec {
        acquire_time: if is_same {
            known.acquire_time
        } else {
            now.clone()
        },
        holder_identity: holder,
        lease_duration_seconds: micros.map(whole_seconds),
        lease_transitions: Some(transitions.saturating_add(i32::from(is_taken))),
        renew_time: now,
        ..LeaseSpec::default()
    }
}

/// Returns the next word of the first line of the record that begins with `word`. The result is only shown to people.
fn said<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))?;
    line.split(' ').next()
}

/// Returns whole seconds, rounded up, so that `kubectl` never shows a shorter lease, and never zero, which is refused.
fn whole_seconds(micros: u64) -> i32 {
    let seconds = micros.div_ceil(1_000_000).max(1);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

fn annotation<'a>(lease: &'a Lease, name: &str) -> Option<&'a str> {
    let all = lease.metadata.annotations.as_ref()?;
    all.get(name).map(String::as_str)
}

pub(super) const KEY: &str = "actix-bully/key";
const VALUE: &str = "actix-bully/value";
const WRITE: &str = "actix-bully/write";
/// Length of the longest value in base64.
const MOST_TEXT: usize = MOST_BYTES.div_ceil(3) * 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(text: &str) -> RegisterKey {
        text.parse().expect("a key")
    }

    /// Returns the lease as the server returns it.
    fn stored(mut lease: Lease, uid: &str, resource: &str) -> Lease {
        lease.metadata.uid = Some(uid.into());
        lease.metadata.resource_version = Some(resource.into());
        lease
    }

    #[test]
    fn a_value_comes_back_with_its_version_whichever_bytes_it_has() {
        let key = key_of("shop/orders/holder");
        for value in [vec![], vec![0, 255, 10], vec![b'x'; MOST_BYTES]] {
            let stored = stored(lease(&key, &value, None, None), "u-1", "7");
            let entry = entry(&key, &stored).expect("it was written by a register");
            assert_eq!((entry.value, entry.version.as_str()), (value, "u-1/7"));
            let parts = LeaseVersion::read(&entry.version).expect("two parts");
            assert_eq!((&*parts.uid, &*parts.resource), ("u-1", "7"));
        }
    }

    #[test]
    fn a_lease_that_no_register_wrote_for_the_key_is_foreign() {
        let key = key_of("shop/orders/holder");
        let ours = stored(lease(&key, b"x", None, None), "u", "1");
        let wrong: [fn(&mut Lease); 7] = [
            |lease| lease.metadata.name = Some("copy".to_owned()),
            |lease| lease.metadata.annotations = None,
            |lease| set(lease, KEY, "shop/orders/claim"),
            |lease| set(lease, VALUE, "no base64"),
            |lease| set(lease, VALUE, &STANDARD.encode([b'x'; MOST_BYTES + 1])),
            |lease| set(lease, VALUE, &"A".repeat(200_000)),
            |lease| lease.metadata.uid = None,
        ];
        for change in wrong {
            let mut lease = ours.clone();
            change(&mut lease);
            let found = entry(&key, &lease);
            assert!(
                matches!(found, Err(RegisterError::Foreign { .. })),
                "{found:?}"
            );
        }
    }

    fn set(lease: &mut Lease, name: &str, text: &str) {
        let all = lease.metadata.annotations.get_or_insert_default();
        all.insert(name.to_owned(), text.to_owned());
    }

    fn record(holder: &str) -> String {
        format!(
            "actix-bully lease 1\ncluster shop\ngroup orders\nterm 4\nholder {holder}\nlease 1200000\nnonce a 1 1\nnext -\n"
        )
    }

    #[test]
    fn a_holder_its_lease_and_its_transitions_are_shown() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let taken = shown(record("a 1 0 0 0 0").as_bytes(), None, at(1));
        assert_eq!(taken.holder_identity.as_deref(), Some("a"));
        assert_eq!(taken.lease_duration_seconds, Some(2));
        assert_eq!(
            (taken.lease_transitions, &taken.acquire_time),
            (Some(0), &taken.renew_time)
        );
        let renewed = shown(record("a 1 0 0 0 0").as_bytes(), Some(&taken), at(2));
        assert_eq!(
            (renewed.lease_transitions, &renewed.acquire_time),
            (Some(0), &taken.acquire_time)
        );
        assert_ne!(renewed.renew_time, taken.renew_time);
        let released = shown(record("-").as_bytes(), Some(&renewed), at(3));
        assert_eq!(
            (
                released.holder_identity.as_deref(),
                released.lease_transitions
            ),
            (None, Some(0))
        );
        let next = shown(record("b 1 0 0 0 0").as_bytes(), Some(&released), at(4));
        assert_eq!(
            (next.holder_identity.as_deref(), next.lease_transitions),
            (Some("b"), Some(1))
        );
        let other = shown(b"a value of another form", Some(&next), at(5));
        assert_eq!(
            (other.holder_identity, other.lease_duration_seconds),
            (None, None)
        );
    }

    #[test]
    fn each_write_differs_from_the_one_before() {
        let key = key_of("a");
        let mut writes = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let lease = lease(&key, b"x", None, None);
            assert!(writes.insert(annotation(&lease, WRITE).map(str::to_owned)));
        }
    }
}
