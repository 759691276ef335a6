//! Every key with values that are wrong for most keys: the error has the key, and no other value.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, time::Duration};

use crate::config::{
    Config, ConfigError, PeerSettings,
    tests::{blamed, every_key},
};

/// A text that no error may show. An error repeats at most 64 characters of the value of the key that it names.
const SECRET: &str = "hunter2";

/// Values of many kinds. Each key refuses at least the first four. The last ones are as large as a value can be.
fn values() -> [String; 11] {
    let long = "x".repeat(64);
    [
        String::from("1.5"),
        String::from("99999999999999999999"),
        format!("{{ a = \"{SECRET}\" }}"),
        format!("[[\"{SECRET}\"]]"),
        String::from("\"\""),
        String::from("-1"),
        format!("\"{long}{SECRET}\""),
        String::from("9223372036854775807"),
        String::from("1e400"),
        String::from("\"584542y\""),
        String::from("\"18446744073709551615ns\""),
    ]
}

/// Returns a file that sets the key, with the secret on the lines before and after it and at their ends.
fn file(key: &str, value: &str) -> String {
    let line = match key.rsplit_once("[].") {
        None => format!("{key} = {value}"),
        Some(("peers", name)) => format!("peers = [{{ {name} = {value} }}]"),
        Some((_, name)) => format!("peers = [{{ rights = [{{ {name} = {value} }}] }}]"),
    };
    let other = if key == "cluster" { "group" } else { "cluster" };
    format!("{other} = \"{SECRET}\" # {SECRET}\n{line} # {SECRET}\n# {SECRET}")
}

/// Returns the error. Asserts that neither the error nor its sources contain the secret.
fn looked_through(read: Result<Config, ConfigError>) -> Option<ConfigError> {
    let refused = read.and_then(|config| config.check()).err()?;
    let mut said = format!("{refused} {refused:?}");
    let mut source = std::error::Error::source(&refused);
    while let Some(reason) = source {
        said = format!("{said} {reason} {reason:?}");
        source = reason.source();
    }
    assert!(!said.contains(SECRET), "{said}");
    Some(refused)
}

#[test]
fn a_wrong_value_names_its_key_and_shows_no_other_value() {
    for key in every_key() {
        let place = key.replace("[]", "[0]");
        for (at, value) in values().iter().enumerate() {
            let text = file(&key, value);
            let read = Config::from_toml(&text);
            let is_refused = read.is_err();
            let refused = looked_through(read);
            assert!(is_refused || at >= 4, "accepted: {text}");
            if let Some(refused) = refused.filter(|_| is_refused) {
                assert!(blamed(&refused).starts_with(&place), "{refused}: {text}");
            }
        }
    }
}

#[test]
fn a_number_of_any_length_is_shown_in_short() {
    let text = format!("quorum.epoch = -{}", "9".repeat(10_000));
    let refused = Config::from_toml(&text).unwrap_err().to_string();
    let shown = "9".repeat(63);
    let expected =
        format!("`quorum.epoch` is -{shown}..: it has to be within the 64 bits of a number");
    assert_eq!(refused, expected);
}

#[test]
fn a_wrong_variable_is_named_and_shows_no_other_value() {
    let long = format!("{}{SECRET}", "x".repeat(64));
    let texts = [
        "1.5",
        "99999999999999999999",
        "{ a = 1 }",
        "[]",
        "",
        "-1",
        &long,
    ];
    let mut refusals = 0;
    for key in every_key().iter().filter(|key| !key.contains('[')) {
        let name = format!("P_{}", key.replace('.', "_").to_ascii_uppercase());
        let other = if key == "cluster" {
            "P_GROUP"
        } else {
            "P_CLUSTER"
        };
        for text in texts {
            let variables = [(name.as_str(), text), (other, SECRET)];
            let read = with_env(&Config::default(), &variables);
            let is_refused = read.is_err();
            if let Some(refused) = looked_through(read).filter(|_| is_refused) {
                assert_eq!(blamed(&refused), name, "{refused}");
                refusals += 1;
            }
        }
    }
    assert!(refusals > 200, "{refusals}");
}

fn with_env(config: &Config, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let owned = variables.iter();
    let owned = owned.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    config.clone().with_env("P", owned)
}

/// The text of a variable has no quotes, so the type of the key decides its meaning.
#[test]
fn the_text_of_a_variable_is_read_as_its_key_needs_it() {
    let mut file = Config::new("file", "file");
    file.cluster = "file".to_owned();
    let read = with_env(
        &file,
        &[
            ("NODE", "other"),
            ("PNODE", "other"),
            ("P_NODE", "1"),
            ("P_GROUP", "true"),
            ("P_ABOUT", "1,2"),
            ("P_SCORE", "5"),
            ("P_MARGIN", "1, 2"),
            ("P_PEERS_NAME_ALL", "false"),
            ("P_DRAIN", "500ms"),
            ("P_QUORUM_VOTERS", "1,true,a"),
            ("P_QUORUM_EPOCH", "7"),
            ("P_PEERS", "1, true=b:1"),
        ],
    );
    let mut expected = Config::new("1", "true");
    expected.cluster = "file".to_owned();
    expected.about = Some("1,2".to_owned());
    expected.score = 5.into();
    expected.margin = Some((1, 2).into());
    expected.drain = Some(Duration::from_millis(500));
    expected.quorum.voters = ["1", "true", "a"].map(str::to_owned).to_vec();
    expected.quorum.epoch = 7;
    expected.peers = vec![PeerSettings::inbound("1"), PeerSettings::new("true", "b:1")];
    assert_eq!(read.unwrap(), expected);
    assert_eq!(with_env(&expected, &[("P_PEERS", "")]).unwrap().peers, []);
}

#[test]
fn variables_keep_what_was_set_in_rust_or_refuse_it() {
    let page = Config::from_toml(include_str!("../every_key.toml")).unwrap();
    let mut expected = page.clone();
    expected.score = 7.into();
    let seven = [("P_SCORE", "7")];
    assert_eq!(with_env(&page, &seven).unwrap(), expected);

    // The name of this file is not valid text, and this duration has too many nanoseconds for a file.
    let mut named = Config::new("a", "g");
    named.memory_file = Some(OsString::from_vec(vec![b'/', 0xff]).into());
    let mut slow = Config::new("a", "g");
    slow.drain = Some(Duration::MAX);
    for config in [named, slow] {
        assert_eq!(with_env(&config, &[("Q_SCORE", "7")]).unwrap(), config);
        let refused = with_env(&config, &seven).unwrap_err();
        let expected = "`Config` is a value that was set in Rust and that no file can hold: it has to be one of a file, where variables are laid over it";
        assert_eq!(refused.to_string(), expected);
    }
}
