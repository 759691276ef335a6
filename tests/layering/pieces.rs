//! The programs on pages are parts of programs that are built, and the page of an alias names its methods.
//!
//! Decided here: the meaning of `<!-- program: PATH -->` before a block: each part of the block, as `// ..` divides it,
//! stands in that file. The guide has a row for each finding and each alert.

use std::collections::BTreeSet;

use super::touches::{all_of, is_published, read, variants};

/// Pages with such blocks.
const PAGES: [&str; 3] = [
    "README.md",
    "src/guide/after_refusal.md",
    "src/guide/three_hosts.md",
];

#[test]
fn a_program_on_a_page_is_a_part_of_an_example() {
    if is_published() {
        return;
    }
    let mut parts = 0;
    for page in PAGES {
        for (path, block) in blocks(&read(page)) {
            let program = lines(&read(path));
            for part in block.split("// ..") {
                parts += 1;
                assert!(
                    program.contains(lines(part).trim()),
                    "{page}: not in {path}: {part}"
                );
            }
        }
    }
    assert!(parts >= 3, "only {parts} parts");
}

/// The guide stays short: details have pages of their own.
#[test]
fn the_guide_for_contributors_stays_short() {
    if is_published() {
        return;
    }
    let guide = read("CONTRIBUTING.md");
    assert!(guide.lines().count() <= 120, "{}", guide.lines().count());
    let long = guide.lines().find(|line| line.chars().count() > 100);
    assert_eq!(long, None);
}

#[test]
fn the_pieces_of_a_page_are_found() {
    let page = "text\n<!-- program: a.rs -->\n```rust,ignore\none();\n    // ..\ntwo();\n```\n";
    let found: Vec<_> = blocks(page).collect();
    assert_eq!(found, [("a.rs", "one();\n    // ..\ntwo();\n")]);
}

#[test]
fn the_guide_has_the_file_of_three_hosts() {
    let file = read("examples/configured/jobs.toml");
    let block = format!("```toml\n{file}```\n");
    assert!(read("src/guide/three_hosts.md").contains(&block));
}

/// No row is missing or twice there, and none describes a finding that no longer exists.
#[test]
fn the_guide_has_a_row_for_each_finding_and_alert() {
    let page = read("src/guide/running.md");
    let (before, after) = page.split_once("# Each finding").unwrap_or_default();
    let mut findings = variants(&read("src/agent/diagnosis/finding.rs"), "enum Finding {");
    findings.retain(|finding| finding != "Schedule");
    let schedules = read("src/agent/diagnosis/schedule.rs");
    findings.extend(variants(&schedules, "enum ScheduleFinding {"));
    assert!(findings.len() > 50, "only {findings:?}");
    findings.sort_unstable();
    let mut rows = first_cells(after);
    rows.sort_unstable();
    assert_eq!(rows, findings);

    let alerts = read("examples/metrics/alerts.yml");
    let alerts = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    let alerts: BTreeSet<_> = alerts.map(str::to_owned).collect();
    assert!(alerts.len() > 5, "only {alerts:?}");
    let rows = first_cells(before).into_iter();
    let rows: BTreeSet<_> = rows.filter(|row| row.starts_with("Bully")).collect();
    assert_eq!(rows, alerts);
}

/// Returns the names in the first cells of a page's tables.
fn first_cells(page: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.filter_map(|row| Some(row.split_once("` |")?.0));
    cells
        .flat_map(|cell| cell.split("`, `"))
        .map(str::to_owned)
        .collect()
}

/// rustdoc shows no methods on the page of an alias.
#[test]
fn the_pages_of_the_handle_and_the_builder_name_each_method() {
    let page = read("src/agent/bully.rs");
    let source = all_of("src/agent") + &all_of("src/leader");
    for target in ["ElectionHandle", "AgentBuilder"] {
        let mut methods = 0;
        for opened in [
            format!("impl<E: Election> {target}<E> {{"),
            format!("impl {target}<AnyBully> {{"),
        ] {
            for block in source.split(&opened).skip(1) {
                for name in public_methods(block.split("\n}").next().unwrap_or_default()) {
                    methods += 1;
                    assert!(page.contains(&format!("`{name}`")), "{target}::{name}");
                }
            }
        }
        assert!(methods > 20, "{target}: {methods}");
    }
}

fn public_methods(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("    pub ")?.split_once("fn ")?;
        rest.split(['(', '<']).next()
    })
}

fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("<!-- program: ").skip(1).filter_map(|rest| {
        let (path, rest) = rest.split_once(" -->\n```rust,ignore\n")?;
        let (block, _) = rest.split_once("```\n")?;
        Some((path, block))
    })
}

/// Removes the spaces at the beginning and the end of each line.
fn lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join("\n")
}
