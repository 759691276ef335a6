//! The name and the content of a file.

use super::{THREADS, key};
use crate::{
    MOST_BYTES, RegisterKey,
    file::content::{MOST_RECORD, decode, encode, file_name, hash, may_be_below},
};

#[test]
fn a_name_begins_as_its_key_and_is_a_plain_file_name() {
    let name = file_name(&key("shop/cron/lease"));
    assert!(name.starts_with("shop_cron_lease-"), "{name}");
    let long = "\u{e4}".repeat(128);
    for odd in [
        "..",
        ".hidden",
        "a:b\\c",
        "\u{e4}/\u{1f600}",
        &format!("{long}/{long}/{long}/{long}"),
    ] {
        let name = file_name(&key(odd));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        assert!(name.bytes().all(is_plain) && name.len() < 100, "{name}");
        assert!(!name.starts_with('.'), "{name}");
    }
}

#[test]
fn keys_that_look_alike_have_names_of_their_own() {
    let names = ["a/b", "a_b", "a.b", "A/b", "a/b_"].map(|text| file_name(&key(text)));
    for (index, name) in names.iter().enumerate() {
        let lower = name.to_lowercase();
        let others = names.iter().skip(index + 1);
        assert!(others.clone().all(|other| other.to_lowercase() != lower));
    }
}

#[test]
fn every_key_below_one_is_found_by_the_name_of_its_file() {
    let long = "x".repeat(200);
    for prefix in ["shop", "shop/present", &long] {
        let prefix = key(prefix);
        let below: RegisterKey = format!("{prefix}/api-1").parse().unwrap();
        assert!(may_be_below(&file_name(&below), &prefix), "{below}");
    }
    let shop = key("shop");
    assert!(!may_be_below(&file_name(&key("shops/x")), &shop));
    assert!(!may_be_below("shop_x-0.entry.new", &shop));
    let hidden = format!(".{}.new", file_name(&key("shop/x")));
    assert!(!may_be_below(&hidden, &shop));
}

#[test]
fn the_election_s_keys_are_spread_over_the_threads() {
    let mut numbers: Vec<_> = (0..100_u32)
        .flat_map(|group| ["lease", "claim"].map(|which| key(&format!("shop/g-{group}/{which}"))))
        .map(|key| usize::try_from(hash(key.as_str()) % 4).unwrap())
        .collect();
    numbers.sort_unstable();
    for thread in 0..THREADS {
        let of_it = numbers.iter().filter(|number| **number == thread).count();
        assert!((25..100).contains(&of_it), "{thread}: {of_it} of 200");
    }
}

#[test]
fn a_record_is_read_as_it_was_written_and_nothing_else_is_one() {
    let long = "\u{e4}".repeat(128);
    let longest = key(&format!("{long}/{long}/{long}/{long}"));
    for (key, value) in [
        (key("shop/cron/lease"), &b"holder\nof \xff"[..]),
        (key("a"), b""),
        (longest, &[7; MOST_BYTES]),
    ] {
        let record = encode(&key, u64::MAX, value);
        assert!(record.len() <= MOST_RECORD);
        assert_eq!(decode(&record), Some((key.clone(), value)));
        assert_ne!(record, encode(&key, 0, value), "the number counts");
    }
    let head = "bully entry 0123456789abcdef";
    for wrong in [
        "",
        "bully entry ",
        head,
        &format!("{head} shop/lease"),
        &format!("{head} shop//lease\nx"),
        &format!("{head}0 shop/lease\nx"),
        &format!("{head}\nshop/lease\nx"),
        "bully entry 0123456789abcdeg shop/lease\nx",
        &format!("{head} shop/lease\n{}", "x".repeat(MOST_BYTES + 1)),
    ] {
        assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
    }
}
