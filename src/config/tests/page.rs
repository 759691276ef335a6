//! The page that shows every key.

use std::time::Duration;

use crate::{
    config::{Config, PeerSettings, read::keys, tests::every_key},
    elections::bully::Preemption,
    protocol::Timings,
    register::RegisterRefusal,
    remote::{Limits, MayBe},
};

const PAGE: &str = include_str!("../every_key.toml");

/// Returns the page with the keys that are hidden behind a `# `.
fn uncommented() -> String {
    let key = |line: &str| {
        let hidden = line.strip_prefix("# ")?;
        let (name, _) = hidden.split_once(" = ")?;
        name.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            .then(|| hidden.to_owned())
    };
    let lines = PAGE
        .lines()
        .map(|line| key(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the keys that the text sets: `quorum.voters`, `peers[].node`.
fn set_in(text: &str) -> Vec<String> {
    let mut section = String::new();
    let mut keys = Vec::new();
    for line in text.lines() {
        if let Some(table) = line.strip_prefix("[[") {
            section = format!("{}[].", table.trim_end_matches("]]"));
        } else if let Some(table) = line.strip_prefix('[') {
            section = format!("{}.", table.trim_end_matches(']'));
        } else if let Some((name, value)) = line.split_once(" = ") {
            keys.push(format!("{section}{name}"));
            let inner = value
                .strip_prefix("[{")
                .into_iter()
                .flat_map(|all| all.split(','));
            let inner = inner.filter_map(|pair| pair.split_once(" = "));
            keys.extend(inner.map(|(key, _)| format!("{section}{name}[].{}", key.trim())));
        }
    }
    keys.sort();
    keys.dedup();
    keys
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let mut all = every_key();
    // `peers` itself is the header of a section, not a key.
    all.retain(|key| key != "peers");
    all.sort();
    assert!(all.len() > 45, "{}", all.len());
    let shown = uncommented();
    let lines = shown.lines().filter(|line| !line.starts_with('#'));
    let text = lines.collect::<Vec<_>>().join("\n");
    assert_eq!(set_in(&text), all);
    Config::from_toml(&text).unwrap();
}

/// An operator who reads only the error must find the key.
#[test]
fn the_keys_that_a_stores_refusal_names_are_keys() {
    let all = keys::<Config>();
    let advice = RegisterRefusal::Layout.to_string();
    let named: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
    assert_eq!(named.len(), 3, "{advice}");
    for key in named {
        assert!(all.iter().any(|known| known == key), "{key}");
    }
}

#[test]
fn the_page_could_be_started_as_it_is() {
    let config = Config::from_toml(PAGE).unwrap();
    // Without the feature `tls` the page can be read, but not started.
    if cfg!(feature = "tls") {
        config.check().unwrap();
    }
    assert_eq!(config.node, "api-1");
    assert_eq!(config.role, MayBe::Leader);
    assert_eq!(
        config.preemption,
        Some(Preemption::After(Duration::from_secs(10)))
    );
    assert_eq!(config.quorum.voters, ["api-1", "api-2", "api-3"]);
    let [second, third] = config.peers.as_slice() else {
        panic!("{:?}", config.peers);
    };
    assert_eq!(*second, PeerSettings::new("api-2", "10.0.0.2:7400"));
    assert_eq!(third.rights.as_ref().map(Vec::len), Some(1));
}

/// The values on the page that are called defaults are the defaults.
#[test]
fn the_page_shows_the_defaults_of_timings_and_limits() {
    let config = Config::from_toml(PAGE).unwrap();
    let mut bare = Config::new("api-1", "jobs");
    bare.timings = config.timings;
    bare.limits = config.limits;
    let plan = bare.plan().unwrap();
    assert_eq!(plan.limits, Limits::default());
    let crate::agent::any::AnyConfig::Available(election) = plan.election else {
        panic!("no voters were named");
    };
    assert_eq!(election.timings, Timings::default());
}

#[test]
fn a_configuration_is_shown_as_it_is_read() {
    let config = Config::from_toml(PAGE).unwrap();
    let shown = serde_json::to_string(&config).unwrap();
    let again: Config = serde_json::from_str(&shown).unwrap();
    assert_eq!(again, config);
    assert!(
        shown.contains("\"key_file\":\"/etc/jobs/api-1.key\""),
        "{shown}"
    );

    let least = Config::new("a", "g");
    let shown = serde_json::to_value(&least).unwrap();
    let again: Config = serde_json::from_value(shown.clone()).unwrap();
    assert_eq!(again, least);
    again.check().unwrap();
    let expected = serde_json::json!({
        "node": "a", "cluster": "default", "group": "g", "role": "leader", "score": 0,
        "peers_name_all": false, "dangerous_plaintext": false,
        "quorum": {
            "epoch": 0, "store": "open", "diskless": false, "learner": false,
        },
        "lease": { "create_table": false, "kubernetes": false },
    });
    assert_eq!(shown, expected);
}

#[test]
fn timings_made_in_rust_are_shown_by_field() {
    for timings in [
        Timings::default(),
        Timings::lan(),
        Timings::fast(),
        Timings::wan(),
        Timings::in_process(),
    ] {
        let mut config = Config::new("a", "g");
        config.timings = (&timings).into();
        let shown = serde_json::to_value(&config).unwrap();
        let again: Config = serde_json::from_value(shown).unwrap();
        let crate::agent::any::AnyConfig::Available(election) = again.plan().unwrap().election
        else {
            panic!("no voters were named");
        };
        assert_eq!(election.timings, timings);
    }
}
