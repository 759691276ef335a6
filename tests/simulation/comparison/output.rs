//! The output of the program: JSON with every field of every row, and Markdown with tables.

use clap::Parser;
use serde_json::Value;

use crate::comparison::{
    MEASURED,
    cases::{Case, Look},
    contenders::ALL,
    printed,
    run::{self, Args},
    told,
};

const FIELDS: [&str; 18] = [
    "case",
    "what",
    "lasts_s",
    "protocol",
    "source",
    "promise",
    "seeds",
    "agreed_ms",
    "agreed_ms_most",
    "agreed_percent",
    "highest_percent",
    "messages",
    "bytes",
    "rounds",
    "leaders_most",
    "contested_ms",
    "vacant_ms",
    "elections",
];

/// With one seed each figure is the measure itself.
#[test]
fn json_has_a_row_for_each_case_and_election_and_every_field() {
    let rows: Value = serde_json::from_str(&told(&["--json"])).unwrap();
    let mut rows = rows.as_array().unwrap().iter();
    for case in Case::ALL {
        for entrant in ALL {
            let row = rows.next().unwrap();
            let fields: Vec<&String> = row.as_object().unwrap().keys().collect();
            let mut expected = FIELDS;
            expected.sort_unstable();
            assert_eq!(fields, expected);
            for (field, text) in [
                ("case", case.name()),
                ("what", case.what()),
                ("protocol", entrant.name),
                ("source", entrant.source),
                ("promise", entrant.promise),
            ] {
                assert_eq!(row[field], text);
            }
            figures_of(row, (entrant.name, case.name()));
            let lasts = match case.look() {
                Look::Agreement => Value::Null,
                Look::While(span) => span.as_secs().into(),
            };
            assert_eq!(row["lasts_s"], lasts);
        }
    }
    assert_eq!(rows.next(), None);
}

fn figures_of(row: &Value, key: (&'static str, &'static str)) {
    let measure = &MEASURED[&key][0];
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    let agreed = ms(measure.agreed.unwrap());
    let count = |number: usize| f64::from(u32::try_from(number).unwrap());
    for (field, figure) in [
        ("seeds", 1.0),
        ("agreed_ms", agreed),
        ("agreed_ms_most", agreed),
        ("agreed_percent", 100.0),
        (
            "highest_percent",
            f64::from(u8::from(measure.highest)) * 100.0,
        ),
        ("messages", measure.messages),
        ("bytes", measure.bytes),
        ("rounds", f64::from(measure.rounds)),
        ("leaders_most", count(measure.leaders)),
        ("contested_ms", ms(measure.contested)),
        ("vacant_ms", ms(measure.vacant)),
        ("elections", count(measure.elections)),
    ] {
        let said = row[field].as_f64().unwrap();
        assert!(
            (said - figure).abs() < 1e-6,
            "{key:?}, {field}: {said}, not {figure}"
        );
    }
}

/// Returns the cells of a line of a Markdown table.
pub(crate) fn cells(line: &str) -> Vec<&str> {
    let inside = line
        .strip_prefix('|')
        .and_then(|line| line.strip_suffix('|'));
    let inside = inside.unwrap_or_else(|| panic!("no line of a table: {line}"));
    inside.split('|').map(str::trim).collect()
}

/// Returns the tables of a text, line by line and cell by cell. Panics unless each is a valid table: a head, a rule,
/// and lines with the same number of cells; an empty line before and after it.
pub(crate) fn tables(text: &str) -> Vec<Vec<Vec<&str>>> {
    let blocks = text.split("\n\n").map(str::trim);
    let mut tables = Vec::new();
    for block in blocks.filter(|block| block.contains('|')) {
        let mut table: Vec<_> = block.lines().map(cells).collect();
        let rule = table.remove(1);
        assert!(rule.iter().all(|cell| *cell == "---"), "{block}");
        for line in &table {
            assert_eq!(line.len(), rule.len(), "{line:?} in\n{block}");
            assert_eq!(
                line[1..].iter().find(|cell| cell.is_empty()),
                None,
                "{line:?}"
            );
        }
        tables.push(table);
    }
    tables
}

#[test]
fn markdown_has_a_table_for_each_case_and_a_line_for_each_election() {
    let text = told(&["--markdown"]);
    let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("**")).collect();
    let tables = tables(&text);
    assert_eq!(
        (titles.len(), tables.len()),
        (Case::ALL.len(), Case::ALL.len())
    );
    for ((case, title), table) in Case::ALL.into_iter().zip(titles).zip(tables) {
        assert!(title.starts_with(&format!("**{}**: {}", case.name(), case.what())));
        let head = "|source|agreed|longest|messages|bytes|rounds|leaders|two for|none for|elected";
        assert_eq!(table[0].join("|"), head);
        let lines: Vec<_> = table[1..].iter().map(|line| (line[0], line[1])).collect();
        let due: Vec<_> = ALL.iter().map(|one| (one.name, one.source)).collect();
        assert_eq!(lines, due);
    }
}

#[test]
fn the_overview_has_a_line_for_each_case_and_a_column_for_each_election() {
    let text = told(&["--overview"]);
    let [agreed, meanwhile] = <[_; 2]>::try_from(tables(&text)).unwrap();
    for table in [&agreed, &meanwhile] {
        let names: Vec<_> = ALL.iter().map(|one| one.name).collect();
        let sources: Vec<_> = ALL.iter().map(|one| one.source).collect();
        assert_eq!(table[0][1..], names);
        assert_eq!(table[1][1..], sources);
    }
    let first = |table: &[Vec<&str>]| -> Vec<String> {
        table[2..].iter().map(|line| line[0].to_owned()).collect()
    };
    let all = Case::ALL.map(|case| format!("{}: {}", case.name(), case.what()));
    assert_eq!(first(&agreed), all);
    let lasting = Case::ALL
        .into_iter()
        .filter(|case| case.look() != Look::Agreement);
    let lasting: Vec<_> = lasting.map(|case| case.name().to_owned()).collect();
    assert_eq!(first(&meanwhile), lasting);
    // One figure of the overview is compared with the measure.
    let quorum = ALL.iter().position(|one| one.name == "quorum").unwrap() + 1;
    let line = meanwhile
        .iter()
        .find(|line| line[0] == "shattered")
        .unwrap();
    let vacant = MEASURED[&("quorum", "shattered")][0].vacant.as_secs_f64();
    assert_eq!(line[quorum], format!("1, none {vacant:.1} s"));
}

#[test]
fn a_terminal_has_the_same_columns_in_every_block() {
    let text = printed(&["--seeds", "1", "--case", "crash", "--case", "split"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(lines.len(), 2 * (ALL.len() + 1));
    let width = lines[0].len();
    assert!(
        lines.iter().all(|line| line.chars().count() == width),
        "{text}"
    );
}

#[test]
fn cases_and_elections_are_chosen_by_name() {
    let text = printed(&[
        "--json",
        "--seeds",
        "1",
        "--case",
        "split",
        "--protocol",
        "ring",
    ]);
    let rows: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(
        (&rows[0]["case"], &rows[0]["protocol"]),
        (&"split".into(), &"ring".into())
    );
    let args = Args::try_parse_from(["compare", "--protocol", "paxos"]).unwrap();
    let wrong = run::compare(&args, ALL).unwrap_err().to_string();
    assert!(ALL.iter().all(|one| wrong.contains(one.name)), "{wrong}");
    let wrong = Args::try_parse_from(["compare", "--case", "flood"]).unwrap_err();
    assert!(wrong.to_string().contains("shattered"), "{wrong}");
    assert!(Args::try_parse_from(["compare", "--json", "--overview"]).is_err());
}
