//! `watch --all`: all nodes that one node knows, by sockets and by routes, and views that differ.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixListener,
    thread,
};

use actix_bully::protocol::About;
use serde_json::Value;

use crate::nodes::{Nodes, Said, bullyctl};

/// Returns the rows of each node without the spaces between their cells, and without the time of a line.
fn rows(said: &Said) -> Vec<String> {
    let lines = said.out.lines();
    let row = |line: &str| {
        let words = line
            .split_whitespace()
            .skip_while(|word| word.starts_with('+'));
        words.collect::<Vec<_>>().join(" ")
    };
    lines.map(row).collect()
}

#[test]
fn by_routes_the_nodes_are_asked_at_the_ports_that_their_agents_publish() {
    let nodes = Nodes::start();
    let first = |name: &str, lines: u32| {
        nodes.by_url(name, &format!("watch --all --every 0.05 --lines {lines}"))
    };
    // Only this node has routes at the port of `n1`.
    let said = first("n1", 3);
    let unheard = rows(&said);
    assert_eq!(
        unheard[1..],
        ["n2 orders/n2 up not heard", "n3 orders/n3 up not heard"]
    );
    for name in ["n1", "n2", "n3"] {
        let node = nodes.get(name);
        let origin = node.url.trim_end_matches("/bully");
        node.handle.set_about(About::new(origin).ok()).unwrap();
    }
    nodes.wait_for_texts("n1");
    let said = first("n1", 3);
    let heard = rows(&said);
    assert_eq!((said.code, heard.len()), (0, 3), "{said:?}");
    assert!(
        heard[2].starts_with("n3 orders/n3 leader leader n3 in term "),
        "{heard:?}"
    );
    // The call has no token of the other nodes, and needs none.
    let line = format!("--url {} watch --all --lines 3", nodes.get("n2").url);
    assert!(
        rows(&bullyctl(&line))
            .iter()
            .all(|row| !row.contains("not heard"))
    );
}

/// Starts a program that answers in place of `n3` with a report in which `n3` leads in a later term.
fn impostor(nodes: &Nodes) {
    let said = nodes.by_socket("n3", "status --json");
    let mut report: Value = said.read();
    for place in ["/agents/0/term", "/agents/0/leader/term"] {
        *report.pointer_mut(place).unwrap() = "9".into();
    }
    let path = nodes.folder().join("n3.sock");
    std::fs::remove_file(&path).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let answer = serde_json::json!({ "report": report });
            writeln!(stream, "{answer}").unwrap();
        }
    });
}

/// The terminal has 80 columns. `script` of util-linux makes it.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_the_sentence_below_the_table_is_whole() {
    let nodes = Nodes::start();
    impostor(&nodes);
    let bullyctl = env!("CARGO_BIN_EXE_bullyctl");
    let line = nodes.line_by_socket("n1", "watch --all --every 0.05");
    let line = format!("stty cols 80; exec timeout 2 {bullyctl} {line}");
    let shown = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    let frame = text
        .split("\x1b[?7l")
        .nth(1)
        .unwrap_or_else(|| panic!("{text:?}"));
    let lines: Vec<_> = frame.split("\x1b[K").map(str::trim).collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{lines:?}"
    );
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["NODE", "AGENT", "ROLE", "TERM", "LEADER", "HEARD"]
    );
    assert!(
        lines[3].starts_with("!  n3") && lines[3].ends_with("now"),
        "{lines:?}"
    );
    let sentence = lines[4..].join(" ");
    let begin = "the views of orders differ: n3 leads in term ";
    let end = " (n1, n2); n3 leads in term 9 (n3)";
    assert!(sentence.starts_with(begin), "{lines:?}");
    assert!(sentence.contains(end), "{lines:?}");
}
