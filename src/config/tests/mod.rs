//! Reading a configuration, its errors, its contradictions, and the page with every key.

mod check;
mod deploy;
mod keys;
mod page;
mod preflight;
mod refused;
mod wrong;
mod zenoh;

use super::{Config, ConfigError, GrantSettings, PeerSettings, read::keys};

/// Returns all keys, each with its section.
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

/// Returns the error of reading and checking the text, or "accepted".
fn refusal(text: &str) -> String {
    let judged = Config::from_toml(text).and_then(|config| config.check());
    judged.map_or_else(|refused| refused.to_string(), |()| String::from("accepted"))
}

/// Asserts the error of each text in a table of `text | error`. `
/// ` in a text is the end of a line. The lines `before` are before each text.
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

fn blamed(error: &ConfigError) -> String {
    error.key().unwrap_or_default()
}
