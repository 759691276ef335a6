//! Values that no configuration accepts, and the errors.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::Table;

use crate::config::{
    Config, ConfigError,
    read::read,
    tests::{blamed, every_line_is_refused},
};

#[test]
fn a_text_that_is_no_toml_is_refused_by_its_place_and_not_repeated() {
    for (text, line, column) in [
        ("node = hunter2", 1, 8),
        ("group = \"g\"\nsecret = \"hunter2", 2, 18),
        ("é = \"a\"\n", 1, 1),
        ("node = \"a\"\nnode = \"hunter2\"", 2, 1),
    ] {
        let refused = Config::from_toml(text).unwrap_err();
        let ConfigError::Syntax {
            line: l, column: c, ..
        } = &refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!((*l, *c), (line, column), "{text}: {refused}");
        assert!(
            !format!("{refused} {refused:?}").contains("hunter2"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_file_that_is_too_long_is_refused_before_it_is_read() {
    let text = format!("# {}", "-".repeat(64 * 1024));
    let refused = Config::from_toml(&text).unwrap_err();
    let expected = "the configuration exceeds the limit of 65536 bytes: is this the right file?";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn a_value_that_nests_too_deep_is_refused() {
    let deep = "[".repeat(20_000);
    let refused = Config::from_toml(&format!("score = {deep}")).unwrap_err();
    assert_eq!(blamed(&refused), "", "{refused}");
    let dotted = vec!["a"; 20_000].join(".");
    drop(Config::from_toml(&format!("{dotted} = 1")).unwrap_err());
}

#[test]
fn unknown_keys_are_refused_by_name_and_their_values_not_repeated() {
    every_line_is_refused(
        "",
        r#"
        nodes = "a" | there is no key `nodes`: did you mean `node`?
        secret = "hunter2" | there is no key `secret`: leave it out
        voters = ["a"] | there is no key `voters`: did you mean `quorum.voters`?
        [quorum]\nkept = "x" | there is no key `quorum.kept`: leave it out
        [quorum]\nepok = 3 | there is no key `quorum.epok`: did you mean `quorum.epoch`?
        [timing]\npreset = "lan" | there is no key `timing`: leave it out
        [limits]\ndeadline = "1s" | there is no key `limits.deadline`: did you mean `timings.deadline`?
        [[peers]]\nnode = "b"\nadress = "b:1" | there is no key `peers[0].adress`: did you mean `address`?
        [[peers]]\n[[peers]]\nport = 7 | there is no key `peers[1].port`: leave it out
        [[peers]]\nrights = [{ agent = "*" }] | there is no key `peers[0].rights[0].agent`: did you mean `agents`?
    "#,
    );
}

#[test]
fn wrong_types_are_refused_with_what_is_wanted() {
    every_line_is_refused(
        "",
        r#"
        node = 3 | `node` is 3: it has to be text in quotes
        peers_name_all = "yes" | `peers_name_all` is "yes": it has to be true or false
        score = "30" | `score` is "30": it has to be a whole number, or a list of one to four of them
        score = 1.5 | `score` is 1.5: it has to be a whole number, or a list of one to four of them
        score = [1, 2, 3, 4, 5] | `score` is a list: it has to be a whole number, or a list of one to four of them
        role = "boss" | `role` is "boss": it has to be "leader", "voter" or "observer"
        drain = 5 | `drain` is 5: it has to be a duration in quotes: a whole number and ns, us, ms, s, min or h, such as "40ms"
        drain = "5" | `drain` is "5": it has to be a duration in quotes: a whole number and ns, us, ms, s, min or h, such as "40ms"
        preemption = "later" | `preemption` is "later": it has to be "immediately", "never" or a duration such as "10s"
        memory_file = "" | `memory_file` is "": it has to be the path of a file, in quotes
        peers = "b" | `peers` is "b": it has to be a table for each peer, such as [[peers]]
        peers = ["b"] | `peers[0]` is "b": it has to be a table for each peer, such as [[peers]]
        quorum = ["a"] | `quorum` is a list: it has to be a section of its own
        [quorum]\nvoters = "a" | `quorum.voters` is "a": it has to be a list of names in quotes
        [quorum]\nvoters = ["a", 2] | `quorum.voters[1]` is 2: it has to be text in quotes
        [quorum]\nepoch = -1 | `quorum.epoch` is -1: it has to be a whole number that is not negative
        [timings]\npreset = "astra" | `timings.preset` is "astra": it has to be "default", "lan", "fast", "wan" or "in_process"
        [tls]\nkey_file = 2020-01-01 | `tls.key_file` is 2020-01-01: it has to be the path of a file, in quotes
        [[peers]]\nnode = "b"\nrights = "all" | `peers[0].rights` is "all": it has to be a list of tables, such as [{ agents = "api-*" }]
        [[peers]]\nrights = [{ may_be = "king" }] | `peers[0].rights[0].may_be` is "king": it has to be "leader", "voter" or "observer"
    "#,
    );
}

/// No key has these types yet.
#[test]
fn a_number_is_wanted_within_the_limits_of_its_type() {
    fn refusal<T: DeserializeOwned>(number: i64) -> String {
        let table = Table::from_iter([("n".to_owned(), number.into())]);
        let refused = read::<BTreeMap<String, T>>(table).err();
        refused.map_or_else(String::new, |refused| refused.to_string())
    }
    let refused = "`n` is 99999999999: it has to be a whole number, ";
    for (said, limits) in [
        (refusal::<u8>(99_999_999_999), "0 to 255"),
        (refusal::<u16>(99_999_999_999), "0 to 65535"),
        (refusal::<u32>(99_999_999_999), "0 to 4294967295"),
        (refusal::<i32>(99_999_999_999), "-2147483648 to 2147483647"),
    ] {
        assert_eq!(said, format!("{refused}{limits}"));
    }
}

fn with_env(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::from_toml("group = \"jobs\"\nscore = 1")?.with_env("JOBS", pairs)
}

#[test]
fn a_variable_that_is_wrong_is_named_as_it_is_called() {
    for (name, value, expected) in [
        (
            "JOBS_SCORE",
            "ten",
            "`JOBS_SCORE` is \"ten\": it has to be a whole number, or a list of one to four of them",
        ),
        (
            "JOBS_QUORUM_STORE",
            "1",
            "`JOBS_QUORUM_STORE` is \"1\": it has to be \"open\", \"create\" or \"open-or-create\"",
        ),
        (
            "JOBS_QUORUM_EPOC",
            "hunter2",
            "the variable JOBS_QUORUM_EPOC does not name a key: did you mean `JOBS_QUORUM_EPOCH`?",
        ),
        (
            "JOBS_SERVICE_HOST",
            "hunter2",
            "the variable JOBS_SERVICE_HOST does not name a key: choose a prefix that nothing else uses",
        ),
    ] {
        let refused = with_env(&[(name, value)]).unwrap_err();
        assert_eq!(refused.to_string(), expected);
        assert_eq!(blamed(&refused), name);
    }
}

#[test]
fn a_prefix_may_end_in_its_underscore_and_has_to_be_one_of_variables() {
    let with = |prefix: &str| {
        let score = [("JOBS_SCORE".to_owned(), "7".to_owned())];
        Config::new("a", "g").with_env(prefix, score)
    };
    for prefix in ["JOBS", "JOBS_"] {
        assert_eq!(with(prefix).unwrap().score, 7.into(), "{prefix}");
    }
    for prefix in ["", "_", "JOBS ", "JOBS=", "J\0"] {
        let refused = with(prefix).unwrap_err();
        let is_prefix = matches!(&refused, ConfigError::Prefix { prefix: p } if **p == *prefix);
        assert!(is_prefix, "{prefix:?}: {refused}");
        assert_eq!(refused.key(), None);
    }
    let refused = Config::load("/nowhere", "").unwrap_err();
    let expected = "the prefix \"\" cannot begin the name of a variable: use letters, digits and underscores, such as \"JOBS\"";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn a_file_is_read_as_far_as_a_configuration_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.toml");
    let prefix = "ACTIX_BULLY_TEST_OF_LOAD";
    let missing = Config::load(&path, prefix).unwrap_err();
    let expected = format!("the configuration {path:?} cannot be read: ");
    assert!(missing.to_string().starts_with(&expected), "{missing}");
    #[cfg(unix)]
    assert!(missing.to_string().contains("No such file"), "{missing}");

    std::fs::write(&path, "node = \"a\"\ngroup = \"g\"").unwrap();
    assert_eq!(Config::load(&path, prefix).unwrap(), Config::new("a", "g"));
    std::fs::write(&path, "node = \"a\"").unwrap();
    let refused = Config::load(&path, prefix).unwrap_err();
    assert_eq!(blamed(&refused), "group", "it is checked as a whole");
    std::fs::write(&path, vec![b'#'; 10_000_000]).unwrap();
    assert!(matches!(
        Config::load(&path, prefix),
        Err(ConfigError::TooLong { .. })
    ));
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(matches!(
        Config::load(&path, prefix),
        Err(ConfigError::Unreadable { .. })
    ));
}
