//! The places that a new option of an election has to touch: an option is a public field of a configuration.
//!
//! Decided here: how the configurations and their setters are found in the sources. A list names each option that
//! leaves a place out, with the reason. Not here: whether `check` knows the option, its effect on the longest failover,
//! and `CHANGELOG.md`. A reader of text cannot judge these.

use std::fs;

use super::touches::{MACHINES, Missing, all_of, has_word, is_published, read, root};

/// The options without a setter of the builder, with the reason.
const NO_SETTER: Reasons = &[
    ("QuorumConfig", "voters", "`quorum` takes them"),
    (
        "QuorumConfig",
        "vote_quorum",
        "rare: users write the struct",
    ),
    (
        "QuorumConfig",
        "lease_quorum",
        "rare: users write the struct",
    ),
    ("QuorumConfig", "wait", "rare: users write the struct"),
    ("LeaseConfig", "name", "the register sets it"),
    ("LeaseConfig", "poll", "rare: users write the struct"),
];

/// The options that fuzzing does not vary, with the reason. A duration needs no reason: fuzzing fires any timer next,
/// whatever its duration.
const NOT_FUZZED: Reasons = &[
    (
        "QuorumConfig",
        "epoch",
        "no machine reads it: the group compares it",
    ),
    (
        "QuorumConfig",
        "learner",
        "no machine reads it: the builder checks it at the start",
    ),
    (
        "LeaseConfig",
        "name",
        "fuzzing varies the group's name in the records",
    ),
];

type Reasons = &'static [(&'static str, &'static str, &'static str)];

#[test]
fn an_option_of_an_election_is_set_fuzzed_and_tested() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    let configs = configs();
    assert!(configs.len() >= 7, "only {} elections", configs.len());
    let (settings, fuzzing) = (read("src/agent/bully.rs"), read("fuzz/src/core.rs"));
    for Config {
        name,
        tests,
        samples,
        options,
    } in &configs
    {
        let set = setters(&settings, name);
        let made = samples.clone().or_else(|| made(&fuzzing, name));
        for Field { field, kind } in options {
            let option = format!("{name}::{field}");
            let mut places = vec![];
            if !is_named(&all_of(tests), field, kind) {
                missing.add(&option, tests);
            }
            if let Some(set) = &set {
                let has = set.contains(&field.as_str());
                places.push((has, "the table of src/agent/bully.rs", NO_SETTER));
            }
            let is_time = kind.contains("Duration") || kind == "Timings";
            if let Some(made) = made.as_ref().filter(|_| !is_time) {
                let has = has_word(made, field);
                places.push((
                    has,
                    "its `samples`, or `MADE` of fuzz/src/core.rs",
                    NOT_FUZZED,
                ));
            }
            for (has, place, reasons) in places {
                let excused = reasons.iter().any(|(of, at, _)| of == name && at == field);
                match (has, excused) {
                    (false, false) => missing.add(&option, place),
                    (true, true) => {
                        missing.add(&option, &format!("what lacks {place}: drop the reason"));
                    }
                    (true, false) | (false, true) => {}
                }
            }
        }
    }
    for (config, option, _) in NO_SETTER.iter().chain(NOT_FUZZED) {
        let known = configs.iter().filter(|known| known.name == *config);
        if !known
            .flat_map(|known| &known.options)
            .any(|known| known.field == *option)
        {
            missing.add(
                &format!("{config}::{option}"),
                "the elections: drop the reason",
            );
        }
    }
    missing.report();
}

/// The configuration of an election.
struct Config {
    name: String,
    tests: String,
    /// The function that makes samples of it for tests, if there is one.
    samples: Option<String>,
    options: Vec<Field>,
}

struct Field {
    field: String,
    kind: String,
}

/// Returns the configuration of every election; the file `config` in the election's folder defines it.
fn configs() -> Vec<Config> {
    let folders = MACHINES.into_iter().flat_map(|all| {
        let folders = fs::read_dir(root().join(all)).expect("the folder is there");
        folders.map(move |entry| (all, entry.expect("an entry").file_name()))
    });
    let config = |all: &str, machine: String| {
        let folder = format!("{all}/{machine}");
        let source = root().join(&folder).join("config.rs");
        let source = fs::read_to_string(source).ok()?;
        let is_config = |(name, _): &(&str, &str)| name.ends_with("Config");
        let mut structs = source.split("pub struct ").skip(1);
        let (name, rest) = structs.find_map(|text| text.split_once(" {").filter(is_config))?;
        Some(Config {
            name: name.to_owned(),
            tests: format!("{folder}/tests"),
            samples: source.split_once(" fn samples(").and_then(|(_, rest)| {
                let (body, _) = rest.split_once("\n    }\n")?;
                Some(body.to_owned())
            }),
            options: fields(rest.split_once("\n}")?.0),
        })
    };
    let mut configs: Vec<_> = folders
        .filter_map(|(all, name)| config(all, name.into_string().ok()?))
        .collect();
    configs.sort_by(|a, b| a.name.cmp(&b.name));
    configs
}

/// Returns the fields that users see. A field for planted defects is hidden from them.
fn fields(body: &str) -> Vec<Field> {
    let mut is_hidden = false;
    let mut found = Vec::new();
    for line in body.lines().map(str::trim) {
        is_hidden |= line == "#[doc(hidden)]";
        let Some(field) = line.strip_prefix("pub ") else {
            continue;
        };
        let (field, kind) = field.split_once(": ").expect("a field has a type");
        if !std::mem::take(&mut is_hidden) {
            found.push(Field {
                field: field.to_owned(),
                kind: kind.trim_end_matches(',').to_owned(),
            });
        }
    }
    found
}

/// Returns whether tests name an option, its default as a constant (`DRAIN`), or its type if it has the option's name
/// (`Timings`).
fn is_named(tests: &str, field: &str, kind: &str) -> bool {
    let is_own_type = kind.eq_ignore_ascii_case(&field.replace('_', ""));
    has_word(tests, field)
        || has_word(tests, &field.to_uppercase())
        || is_own_type && has_word(tests, kind)
}

/// Returns the options that setters of the builder set in `config`; `None` if the builder makes no such configuration.
fn setters<'a>(settings: &'a str, config: &str) -> Option<Vec<&'a str>> {
    let columns = ["BullyConfig", "AstraConfig", "QuorumConfig", "LeaseConfig"];
    let column = columns.iter().position(|name| *name == config)?;
    let (_, table) = settings.split_once(" => { $to! {").expect("the table");
    let (table, _) = table.split_once("\n    } };").expect("its end");
    let rows = table.lines().filter(|line| !line.trim().starts_with("///"));
    let rows = rows.filter_map(|row| row.trim().split_once('('));
    let set = rows.filter(|(_, row)| {
        let (_, modes) = row.rsplit_once("} ").expect("the modes");
        let mut modes = modes.split([' ', ',', ';']);
        modes.nth(column) == Some("yes")
    });
    Some(set.map(|(setting, _)| setting).collect())
}

/// Returns the code of the fuzzer that makes `config`; `None` if no such machine is fuzzed.
fn made(fuzzing: &str, config: &str) -> Option<String> {
    if !has_word(fuzzing, config) {
        return None;
    }
    let (_, rest) = fuzzing.split_once("static MADE").expect("configurations");
    let (made, _) = rest.split_once("\n});").expect("their end");
    let begin = format!("{config} {{");
    let structs = made.split(&begin).skip(1);
    Some(
        structs
            .filter_map(|text| Some(text.split_once('}')?.0))
            .collect(),
    )
}
