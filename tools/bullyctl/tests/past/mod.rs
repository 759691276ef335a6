//! The past: `bullyctl history` and `bullyctl record`, by the socket and by the routes.

use std::{fs, io::BufReader, process::Command};

use actix_bully::{history::GroupHistory, record::Recording};

use super::nodes::{Nodes, bullyctl};

#[test]
fn the_history_has_a_line_for_each_leadership() {
    let nodes = Nodes::start();
    let moved = nodes.by_socket("n3", "transfer --to n1");
    assert_eq!(moved.code, 0, "{moved:?}");
    for said in [
        nodes.by_socket("n3", "history"),
        bullyctl(&format!("--url {} history", nodes.get("n3").url)),
    ] {
        assert_eq!(said.code, 0, "{said:?}");
        let lines = said.out.lines();
        let lines: Vec<_> = lines.filter(|line| !line.contains(" found: ")).collect();
        assert!(lines[0].starts_with("orders: "), "{said:?}");
        let columns = [
            "FROM",
            "LEADER",
            "TERM",
            "LED FOR",
            "NO LEADER BEFORE",
            "END",
        ];
        assert!(
            columns.iter().all(|name| lines[1].contains(name)),
            "{said:?}"
        );
        let [.., before, last] = &*lines else {
            panic!("{said:?}");
        };
        assert!(
            before.contains(" n3 ") && before.ends_with("resigned"),
            "{said:?}"
        );
        assert!(last.contains(" n1 ") && last.ends_with("leads"), "{said:?}");
    }
    let groups: Vec<GroupHistory> = nodes.by_socket("n2", "history --json").read();
    let last = groups[0].leaderships.last().unwrap();
    assert_eq!((last.leader.as_str(), last.end), ("n1", None), "{groups:?}");
    let short = nodes.by_socket("n2", "history --last 1");
    assert!(short.out.starts_with("orders: 1 of "), "{short:?}");
}

#[test]
fn a_record_is_switched_on_and_saved_and_names_what_happened() {
    let nodes = Nodes::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("n1.jsonl");
    let save = format!("record save {}", file.display());
    let none = nodes.by_socket("n1", &save);
    assert!(
        none.code != 0 && none.err.contains("begin one with `record on`"),
        "{none:?}"
    );
    assert!(!file.exists());

    let on = nodes.by_socket("n1", "record on");
    assert_eq!(
        (on.code, &*on.out),
        (0, "the record of n1 in orders is on\n"),
        "{on:?}"
    );
    assert_eq!(nodes.by_socket("n3", "transfer --to n2").code, 0);
    nodes.wait_for_leader("n2");
    let saved = nodes.by_socket("n1", &save);
    assert_eq!(saved.code, 0, "{saved:?}");
    let lines = fs::File::open(&file).unwrap();
    let recording = Recording::read(BufReader::new(lines)).unwrap();
    assert!(
        recording.to_text().contains("follows n2 in term"),
        "{}",
        recording.to_text()
    );
    assert!(recording.header().began_unix_ms.is_some());

    let off = nodes.by_socket("n1", "record off");
    assert_eq!(&*off.out, "the record of n1 in orders is off\n", "{off:?}");
    let over = nodes.by_socket("n1", &save);
    assert!(over.err.contains("no record is saved over it"), "{over:?}");
    let other = format!("{save}.2");
    assert_eq!(nodes.by_socket("n1", &other).code, 0, "the record stays");
    let kept = nodes.by_socket("n1", &format!("{save} --kept"));
    assert!(kept.err.contains("the node kept no record"), "{kept:?}");
    // The routes do the same.
    fs::remove_file(&file).unwrap();
    let saved = nodes.by_url("n1", &save);
    assert_eq!(saved.code, 0, "{saved:?}");
    assert!(Recording::read(BufReader::new(fs::File::open(&file).unwrap())).is_ok());
}

#[test]
fn the_environment_names_the_node_where_no_argument_does() {
    let nodes = Nodes::start();
    let said = |variables: &[(&str, &str)], line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bullyctl"));
        command.args(line.split_whitespace());
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let socket = nodes.folder().join("n2.sock").display().to_string();
    let (socket, url) = (
        ("BULLYCTL_SOCKET", &*socket),
        ("BULLYCTL_URL", &*nodes.get("n1").url),
    );
    for (variables, line, node) in [
        (vec![socket], "status", "n2"),
        (vec![url], "status", "n1"),
        (vec![("BULLYCTL_SOCKET", ""), url], "status", "n1"),
    ] {
        let (is_good, text) = said(&variables, line);
        let row = text.lines().nth(1).unwrap_or_default();
        assert!(is_good && row.starts_with(node), "{variables:?}: {text}");
    }
    let by_argument = format!("--url {} status", nodes.get("n3").url);
    let (_, text) = said(&[socket], &by_argument);
    assert!(
        text.lines().nth(1).unwrap_or_default().starts_with("n3"),
        "{text}"
    );
    let (is_good, text) = said(&[socket, url], "status");
    assert!(
        !is_good && text.contains("BULLYCTL_SOCKET and BULLYCTL_URL"),
        "{text}"
    );
}
