//! The keys of the settings of an election, which need no row: in each mode of a file, a key changes the field of its
//! name, or is refused. The unit tests of the election show the effect of the field.

use crate::{agent::settings, config::Config};

/// Returns the keys in the table of the settings, with the setting, and whether each of the three modes below has the
/// key.
pub(super) fn keys() -> Vec<(String, &'static str, [bool; 3])> {
    let mut all = Vec::new();
    macro_rules! add {
        ($(
            $(#[$doc:meta])*
            $setting:ident($($given:tt)*) -> $type:ty { $value:expr }
            $available:ident $astra:ident $quorum:ident $lease:ident $(, $($key:ident).+)?;
        )*) => {
            $($(all.push((
                [$(stringify!($key)),+].join("."),
                stringify!($setting),
                [stringify!($available), stringify!($quorum), stringify!($lease)].map(|has| has == "yes"),
            ));)?)*
        };
    }
    settings!(add);
    all
}

const AVAILABLE: &str = "node = \"a\"\ngroup = \"g\"";
const QUORUM: &str =
    "node = \"a\"\ngroup = \"g\"\nquorum.voters = [\"a\"]\nquorum.store_file = \"v\"";
const LEASE: &str = "node = \"a\"\ngroup = \"g\"\nlease.folder = \"f\"";

/// Values in every form that the keys have. At least one changes each setting.
const VALUES: [&str; 5] = ["3", "1", "true", "false", "\"7s\""];

/// Returns the fields of the election, or the reason why there is none.
fn election(config: &Config) -> Result<String, String> {
    let plan = config.plan().map_err(|refused| refused.to_string())?;
    Ok(format!("{:?}", plan.election))
}

#[test]
fn a_setting_is_read_in_the_modes_that_have_it_and_refused_in_all_others() {
    for (key, name, [available, quorum, lease]) in keys() {
        let (section, _) = key.split_once('.').unwrap_or_default();
        for (mode, has) in [(AVAILABLE, available), (QUORUM, quorum), (LEASE, lease)] {
            let plain = Config::from_toml(mode).unwrap();
            let without = election(&plain).unwrap();
            let texts = VALUES.map(|value| format!("{mode}\n{key} = {value}"));
            let read = texts.iter().flat_map(|text| Config::from_toml(text));
            // A key with the default value of its type chooses nothing.
            let read = read.filter(|config| *config != plain);
            let with: Vec<_> = read.map(|config| election(&config)).collect();
            let changes_its_field = |with: &String| {
                let mut fields = with.split(", ").zip(without.split(", "));
                let changed = fields.find(|(new, old)| new != old);
                changed.is_some_and(|(new, _)| new.starts_with(&format!("{name}: ")))
            };
            // Without voters, the section of their keys does not exist.
            let reasons = [
                format!("`{key}` contradicts `"),
                format!("`{section}.voters` is missing: "),
            ];
            let is_refused = |with: &Result<String, String>| {
                let mut reasons = reasons.iter();
                with.as_ref()
                    .err()
                    .is_some_and(|said| reasons.any(|why| said.starts_with(why)))
            };
            let is_right = if has {
                with.iter().flatten().any(changes_its_field)
            } else {
                with.iter().all(is_refused)
            };
            assert!(is_right && !with.is_empty(), "{mode}\n{key}: {with:#?}");
        }
    }
}
