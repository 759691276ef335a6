//! The table on the page is the table of the program.

use super::*;

/// The rows of the table on the page.
fn rows() -> Vec<[String; 5]> {
    let lines = include_str!("mod.rs").lines();
    let rows = lines.filter_map(|line| line.strip_prefix("//! | `bully_"));
    rows.map(|row| {
        let mut cells = row.split('|').map(|cell| cell.trim().to_owned());
        let mut next = || cells.next().unwrap_or_default();
        let name = format!("bully_{}", next().trim_end_matches('`'));
        [name, next(), next(), next(), next()]
    })
    .collect()
}

#[test]
fn the_table_on_the_page_is_what_is_described() {
    let due: Vec<_> = ALL
        .iter()
        .map(|series| {
            [
                series.name.to_owned(),
                format!("{:?}", series.kind).to_lowercase(),
                series.unit.unwrap_or_default().to_owned(),
                series.labels.join(", "),
                series.help.to_owned(),
            ]
        })
        .collect();
    assert_eq!(rows(), due);
}
