//! What is read, what is refused and how that is said, what fits together, and that the page has every key.

mod check;
mod deploy;
mod keys;
mod page;
mod preflight;
mod random;
mod refused;
mod wrong;
mod zenoh;

use super::{Config, ConfigError, GrantSettings, PeerSettings, read::keys};

/// All keys, each under the section that has it.
fn every_key() -> Vec<String> {
    let of_peers = keys::<PeerSettings>()
        .into_iter()
        .map(|key| format!("peers[].{key}"));
    let of_rights = keys::<GrantSettings>()
        .into_iter()
        .map(|key| format!("peers[].rights[].{key}"));
    let all = keys::<Config>().into_iter();
    all.chain(of_peers).chain(of_rights).collect()
}

/// What a text and its check say.
fn refusal(text: &str) -> String {
    let judged = Config::from_toml(text).and_then(|config| config.check());
    judged.map_or_else(|refused| refused.to_string(), |()| String::from("accepted"))
}

/// A table of `text | what is said`, of which `\n` is a line's end; the first texts stand before each.
#[track_caller]
fn every_line_is_refused(before: &str, table: &str) {
    let mut rows = 0;
    for row in table.trim().lines().filter(|row| !row.trim().is_empty()) {
        let (text, expected) = row.split_once(" | ").unwrap_or_else(|| panic!("{row}"));
        let text = format!("{before}\n{}", text.trim().replace("\\n", "\n"));
        let said = refusal(&text);
        assert_eq!(said, expected.trim(), "\n{text}");
        rows += 1;
    }
    assert!(rows > 3, "{rows}");
}

/// The key that an error blames.
fn blamed(error: &ConfigError) -> String {
    error.key().unwrap_or_default()
}
