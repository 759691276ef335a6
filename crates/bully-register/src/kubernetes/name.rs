//! The name of a key's object in Kubernetes.
//!
//! Decided here: the name of the object, and the labels by which the entries below a key are listed. A name has a
//! readable part, for people who call `kubectl get lease`, and a hash of the whole key, since an object's name may
//! contain neither capitals nor accents. The key itself is in an annotation, which is compared.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::RegisterKey;

/// Returns the name of the object: at most 61 characters of a DNS label.
pub(super) fn object_name(key: &RegisterKey) -> String {
    let mut name = String::new();
    for character in key.as_str().chars() {
        let known = character.to_ascii_lowercase();
        if name.len() >= MOST_READABLE {
            break;
        }
        if known.is_ascii_alphanumeric() {
            name.push(known);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    if name.is_empty() {
        // The name of an object must begin with a letter or a digit.
        name.push('k');
    }
    if !name.ends_with('-') {
        name.push('-');
    }
    name + &hash(key.as_str())
}

/// Returns the label selector for the entries below a key.
pub(super) fn selector(prefix: &RegisterKey) -> String {
    let depth = prefix.as_str().split('/').count();
    format!("{}={}", label(depth), hash(prefix.as_str()))
}

/// Returns the labels of an entry: one for each key above it.
pub(super) fn labels(key: &RegisterKey) -> BTreeMap<String, String> {
    let ends = key.as_str().match_indices('/').map(|(end, _)| end);
    let above = ends.filter_map(|end| key.as_str().get(..end));
    let mut labels: BTreeMap<_, _> = above
        .enumerate()
        .map(|(index, prefix)| (label(index.saturating_add(1)), hash(prefix)))
        .collect();
    labels.insert(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned());
    labels
}

/// Returns the label of keys that have `depth` names above them.
fn label(depth: usize) -> String {
    format!("actix-bully/below-{depth}")
}

/// Returns 80 bits of the hash of a text. Two keys practically never have the same hash; if they did, the second key
/// would be refused as foreign.
fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let first = digest.iter().take(10);
    first.fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"))
}

/// Longest readable part of a name, in characters. With `-` and the hash it fits into the 63 characters of a DNS label.
const MOST_READABLE: usize = 40;
/// The label that Kubernetes recommends for the program that manages an object.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "actix-bully");

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> RegisterKey {
        key.parse().expect("a key")
    }

    #[test]
    fn every_name_is_a_dns_label_and_no_two_keys_share_one() {
        let keys = [
            "a",
            "A",
            "a.b",
            "a/b",
            "shop/orders/holder",
            "é",
            "é/..",
            "_/-/a",
        ]
        .map(key);
        let long = key(&["x".repeat(200).as_str(); 4].join("/"));
        let mut names = std::collections::BTreeSet::new();
        for key in keys.iter().chain([&long]) {
            let name = object_name(key);
            let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.len() <= 63 && name.chars().all(allowed), "{name}");
            assert!(
                name.starts_with(|c: char| c.is_ascii_alphanumeric()),
                "{name}"
            );
            assert!(names.insert(name.clone()), "{name}");
        }
        let name = object_name(&key("shop/orders/holder"));
        assert!(name.starts_with("shop-orders-holder-"), "{name}");
    }

    #[test]
    fn an_entry_is_selected_by_each_key_above_it_and_by_no_other() {
        let labels = labels(&key("shop/orders/present/api-1"));
        let has = |prefix: &str| {
            let selector = selector(&key(prefix));
            let (label, value) = selector.split_once('=').expect("a selector");
            labels.get(label).is_some_and(|found| found == value)
        };
        assert!(has("shop") && has("shop/orders") && has("shop/orders/present"));
        assert!(!has("shop/orders/present/api-1") && !has("shop/order") && !has("orders"));
    }
}
