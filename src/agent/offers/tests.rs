//! The table of modes and features on the page of `leader`, and the words of each refusal.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use super::{Carrier, Contenders, ElectionMode, Feature, Keeps, Lack, Offers, Tokens, VoterList};

/// Modes in the order of the table, with their names in the table.
const MODES: &[(ElectionMode, &str)] = &[
    (ElectionMode::Available, "available"),
    (ElectionMode::Astra, "ASTRA"),
    (ElectionMode::Quorum, "quorum"),
    (ElectionMode::Diskless, "quorum, diskless"),
    (ElectionMode::LeaseInMemory, "lease in memory"),
    (
        ElectionMode::LeaseInStore,
        "lease in files, PostgreSQL, etcd, Kubernetes or a store of yours",
    ),
];

const fn is_listed(mode: ElectionMode) -> bool {
    match mode {
        ElectionMode::Available
        | ElectionMode::Astra
        | ElectionMode::Quorum
        | ElectionMode::Diskless
        | ElectionMode::LeaseInMemory
        | ElectionMode::LeaseInStore => true,
        // The offers of an own election follow from its requirements.
        ElectionMode::Own { .. } => false,
    }
}

#[test]
fn the_page_of_leader_has_the_table_of_modes_and_features() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/leader/features.md");
    let table = page();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(
        written, table,
        "write it anew: BLESS=1 cargo test --lib offers"
    );
}

#[test]
fn each_mode_is_listed_once_and_each_feature_has_a_name_of_its_own() {
    assert!(MODES.iter().all(|(mode, _)| is_listed(*mode)));
    let names: BTreeMap<&str, Feature> = Feature::ALL.iter().map(|of| (of.name(), *of)).collect();
    assert_eq!(names.len(), Feature::ALL.len());
}

#[test]
fn a_refusal_names_the_feature_the_missing_offer_and_the_setting() {
    let offers = ElectionMode::LeaseInStore.offers(false);
    let refused = offers.check(Feature::LeaderProxy).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`LeaderProxy` needs a way for messages to the agent that leads, and agents that only share a store have none: \
         add a bridge, by the keys `listen` and `[[peers]]` of the configuration, or by a `RemoteBridge` that carries the \
         group and is started before its agents"
    );
    for offers in MODES
        .iter()
        .flat_map(|(mode, _)| [mode.offers(false), mode.offers(true)])
    {
        for feature in Feature::ALL {
            if let Err(refused) = offers.check(*feature) {
                let said = refused.to_string();
                assert!(said.starts_with(feature.name()), "{said}");
                let said_again = format!("needs {}", feature.name());
                assert!(!said.contains(&said_again), "twice the same: {said}");
                assert!(said.contains('`') && said.contains(": "), "{said}");
            }
        }
    }
}

fn page() -> String {
    let mut text = String::from(
        "<!-- features: made from the data in `src/agent/offers` by `BLESS=1 cargo test --lib offers` -->\n\
         # What works in which mode\n\
         Each mode [offers](crate::agent::Offers) what features need, and a feature asks for it when it starts. If an offer \
         is missing, the feature is refused by an error that names the offer and the setting that provides it. \
         \"Linked\" means that a bridge carries the group to other processes.\n\n\
         | mode | contenders | messages go by | begun work is found | token | voters |\n|---|---|---|---|---|---|\n",
    );
    for (mode, name) in MODES {
        let (alone, linked) = (mode.offers(false), mode.offers(true));
        row(&mut text, name, alone);
        row(&mut text, &format!("{name}, linked"), linked);
    }
    text += "\n| feature |";
    for (_, name) in MODES {
        write!(text, " {name} |").unwrap();
    }
    text += "\n|---|";
    text += &"---|".repeat(MODES.len());
    text += "\n";
    let mut notes: Vec<Lack> = Vec::new();
    for feature in Feature::ALL {
        write!(text, "| {feature} |").unwrap();
        for (mode, _) in MODES {
            write!(text, " {} |", cell(*feature, *mode, &mut notes)).unwrap();
        }
        text += "\n";
    }
    text += "\n";
    for (at, lack) in notes.iter().enumerate() {
        let (note, missing, provided) = (at + 1, lack.missing(), lack.provided_by());
        writeln!(
            text,
            "{note}. Refused: it needs {missing}. Instead: {provided}."
        )
        .unwrap();
    }
    text += "<!-- end of features -->\n";
    text
}

fn cell(feature: Feature, mode: ElectionMode, notes: &mut Vec<Lack>) -> String {
    let [alone, linked] = [false, true].map(|links| mode.offers(links).check(feature));
    let mut note = |lack| {
        let at = notes.iter().position(|known| *known == lack);
        1 + at.unwrap_or_else(|| {
            notes.push(lack);
            notes.len() - 1
        })
    };
    match (alone, linked) {
        (Ok(()), Ok(())) => String::from("yes"),
        (Err(refused), Ok(())) => format!("linked ({})", note(refused.lack)),
        (_, Err(refused)) => format!("no ({})", note(refused.lack)),
    }
}

fn row(text: &mut String, name: &str, offers: Offers) {
    let Offers {
        contenders,
        carrier,
        keeps,
        tokens,
        voters,
        has_policy: _, // the rows `margin` and `preemption` show it
        is_by_rank: _, // no feature needs it
    } = offers;
    let contenders = match contenders {
        Contenders::Members => "the members of the group",
        Contenders::Store => "those that the store's records name",
    };
    let carrier = match carrier {
        Carrier::Process => "the process",
        Carrier::Links => "links",
        Carrier::None => "nothing",
    };
    let keeps = match keeps {
        Keeps::Voters => "with a majority of the voters",
        Keeps::Store => "in the store",
        Keeps::BestEffort => "with the members that heard of it",
    };
    let tokens = match tokens {
        Tokens::Fence => "a fence",
        Tokens::Conditional => "a fence, while no clock is set back",
        Tokens::Epoch => "an epoch",
    };
    let voters = match voters {
        VoterList::Changes => "a list that changes",
        VoterList::Fixed => "a fixed list",
        VoterList::None => "no list",
    };
    writeln!(
        text,
        "| {name} | {contenders} | {carrier} | {keeps} | {tokens} | {voters} |"
    )
    .unwrap();
}
