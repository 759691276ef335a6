//! The nodes that a watch asks, and the answers that count. Programs at sockets answer like nodes.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixListener,
    path::Path,
    thread,
};

use serde_json::{Value, json};

use super::Everyone;
use crate::{fixture, node::Node};

fn agent(name: &str, contenders: &[&str]) -> Value {
    let row = |name: &&str| json!({"agent": name, "score": 1, "about": null, "seen_ms": 5});
    let contenders: Vec<_> = contenders.iter().map(row).collect();
    fixture::agent(name, &json!({ "contenders": contenders }))
}

fn report(node: &str, agents: &[Value]) -> Value {
    let bridge = json!({"node": node, "listens": null, "counts": {}, "peers": []});
    json!({ "bridge": bridge, "agents": agents })
}

fn answer(path: &Path, reports: Vec<Value>) {
    let listener = UnixListener::bind(path).unwrap();
    thread::spawn(move || {
        for report in reports {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            writeln!(stream, "{}", json!({ "report": report })).unwrap();
        }
    });
}

/// Returns the watch's knowledge of each node: its name, the number of its agents that were heard, and the reason why
/// it does not answer.
fn seen<'a>(nodes: &'a Everyone<'_>) -> Vec<(&'a str, usize, Option<&'a str>)> {
    let nodes = nodes.nodes();
    let seen = nodes.iter().map(|node| {
        assert_eq!(node.age.is_some(), node.report.is_some() && !node.answers());
        let heard = node.report.map_or(0, |report| report.agents.len());
        (node.name, heard, node.failure)
    });
    seen.collect()
}

#[test]
fn a_contender_is_its_agent_and_its_report_grows_old() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let node = Node::Socket(path("a.sock"));
    let mut nodes = Everyone::new(&node);
    nodes.look().unwrap_err(); // no report to show
    let first = report("host-1", &[agent("a", &["b", "c", "d"])]);
    answer(&path("a.sock"), vec![first; 2]);
    let others = [agent("other", &[]), agent("b", &[])];
    answer(&path("b.sock"), vec![report("host-2", &others)]);
    answer(
        &path("c.sock"),
        vec![report("host-3", &[agent("x", &[])]); 2],
    );
    nodes.look().unwrap();
    let another = format!("another node answers at {}", path("c.sock").display());
    let another = ("c", 0, Some(&*another));
    // The last node has no socket, which is not a failure.
    assert_eq!(
        seen(&nodes),
        [("host-1", 1, None), ("b", 1, None), another, ("d", 0, None)]
    );
    fs::remove_file(path("b.sock")).unwrap();
    nodes.look().unwrap();
    assert_eq!(
        seen(&nodes),
        [
            ("host-1", 1, None),
            ("b", 1, Some("no socket or URL is known here any more")),
            another,
            ("d", 0, None),
        ]
    );
    fs::remove_file(path("a.sock")).unwrap();
    nodes.look().unwrap();
    let (name, agents, failure) = seen(&nodes)[0];
    assert_eq!((name, agents, failure.is_some()), ("host-1", 1, true));
}

#[test]
fn of_very_many_nodes_some_are_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<_> = (100..170).map(|number| number.to_string()).collect();
    for name in &names {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let path = folder.path().join("first");
    answer(&path, vec![report("first", &[agent("first", &names)])]);
    let node = Node::Socket(path);
    let mut nodes = Everyone::new(&node);
    nodes.look().unwrap();
    let left = Some("not asked: there are more than 64 other nodes");
    let is_left: Vec<_> = seen(&nodes).iter().map(|node| node.2 == left).collect();
    assert_eq!(is_left, [[false; 65].as_slice(), &[true; 6]].concat());
}
