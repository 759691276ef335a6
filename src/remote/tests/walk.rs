//! The page of `remote` follows one `Elect` through the code. The functions that it names must exist.

use std::{fs, path::Path};

const PAGE: &str = include_str!("../mod.rs");

#[test]
fn every_stop_of_the_walk_is_a_function_of_its_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/remote");
    let walk = PAGE.split("//! # The walk").nth(1).unwrap();
    let mut stops = 0;
    for row in walk.lines().filter(|line| line.starts_with("//! | `")) {
        let cells: Vec<_> = row.split('`').collect();
        let (function, file) = (cells[1], cells[3]);
        let source = fs::read_to_string(folder.join(file)).unwrap();
        let has = |head: &str| source.contains(&format!("fn {function}{head}"));
        assert!(has("(") || has("<"), "no `{function}` in {file}");
        stops += 1;
    }
    assert!(stops >= 8, "{stops}");
}
