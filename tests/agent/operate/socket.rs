//! The local socket of a node, and invalid requests at it.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{
        fs::{PermissionsExt, chown},
        net::{UnixListener, UnixStream},
    },
    path::Path,
    time::Duration,
};

use actix::System;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    operate::{Command, Operated, Order, Outcome, Report, SocketError, serve_socket},
    protocol::Timings,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::stage::MS;

/// Sends these bytes, ends its side of the connection, and returns the answer.
fn say(path: &Path, bytes: &[u8]) -> Value {
    let mut stream = UnixStream::connect(path).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    // The server may close the connection before it has read everything.
    stream.write_all(bytes).ok();
    stream.shutdown(std::net::Shutdown::Write).ok();
    hear(stream)
}

fn hear(mut stream: UnixStream) -> Value {
    let mut answer = Vec::new();
    // If the server leaves bytes unread, the connection ends with a reset after the answer.
    stream.read_to_end(&mut answer).ok();
    serde_json::from_slice(&answer).unwrap()
}

fn ask(path: &Path, request: &Value) -> Value {
    say(path, format!("{request}\n").as_bytes())
}

/// Returns the report in an answer.
fn report(answer: &Value) -> Report {
    Report::deserialize(&answer["report"]).unwrap_or_else(|wrong| panic!("{wrong}: {answer}"))
}

fn message(answer: &Value) -> String {
    let message = answer["error"]["message"].as_str();
    message.map_or_else(|| answer.to_string(), str::to_owned)
}

/// Starts two agents, of which `a` leads, and runs `test` in their System.
fn with_node<F: Future<Output = ()>>(test: impl FnOnce([BullyHandle; 2]) -> F) {
    System::new().block_on(async {
        let group = Group::new("g").unwrap();
        let agents = [("a", 2), ("b", 1)].map(|(name, score)| {
            let agent = BullyAgent::builder(name).score(score);
            agent.timings(Timings::lan()).join(&group).start().unwrap()
        });
        while !agents.iter().all(|agent| agent.leader().is_some()) {
            actix::clock::sleep(MS(1)).await;
        }
        assert!(agents[0].is_leader());
        test(agents).await;
    });
}

#[test]
fn a_node_is_shown_and_commanded_line_by_line() {
    with_node(|[a, b]| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.sock");
        let _guard = serve_socket(&path, Operated::new(&a)).unwrap();
        let asked = path.clone();
        let (shown, outcome) = spawn_blocking(move || {
            let to = Command::StepDown {
                to: Some("b".parse().unwrap()),
            };
            let order = json!({ "order": Order::new(to) });
            (ask(&asked, &json!("report")), ask(&asked, &order))
        })
        .await
        .unwrap();
        let report = report(&shown);
        assert_eq!(
            report.agents[0].status.leading,
            Some(report.agents[0].status.term)
        );
        let leader = b.leader().unwrap();
        assert!(b.is_leader());
        let became = Outcome::HandedOver { leader };
        assert_eq!(outcome, json!({ "outcome": became }));
    });
}

#[test]
fn the_socket_is_its_users_alone_and_goes_with_its_guard() {
    with_node(|[a, _b]| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.sock");
        let guard = serve_socket(&path, Operated::new(&a)).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(guard);
        assert!(!path.exists());
        // The guard does not remove a file that has replaced its socket.
        let guard = serve_socket(&path, Operated::new(&a)).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "somebody else's").unwrap();
        drop(guard);
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody else's");
    });
}

#[test]
fn only_a_socket_that_was_left_behind_is_replaced() {
    with_node(|[a, _b]| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.sock");
        let serve = || serve_socket(&path, Operated::new(&a));
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "it is left behind");
        let first = serve().unwrap();
        assert!(matches!(serve(), Err(SocketError::InUse { .. })));
        // The first server still answers.
        report(&ask(&path, &json!("report")));
        drop(first);
        fs::write(&path, "a file").unwrap();
        assert!(matches!(serve(), Err(SocketError::NoSocket { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
        let nowhere = folder.path().join("none/node.sock");
        let refused = serve_socket(&nowhere, Operated::new(&a));
        assert!(matches!(refused, Err(SocketError::Io { .. })));
        let long = folder.path().join("x".repeat(120));
        let refused = serve_socket(&long, Operated::new(&a));
        assert!(matches!(refused, Err(SocketError::Io { .. })));
        // Only root can give a file to another user. A test that does not run as root uses a file of root.
        let foreign = if chown(&path, Some(12_345), None).is_ok() {
            path.clone()
        } else {
            Path::new("/etc/passwd").to_owned()
        };
        let refused = serve_socket(&foreign, Operated::new(&a));
        assert!(
            matches!(refused, Err(SocketError::Foreign { .. })),
            "{refused:?}"
        );
        assert!(a.is_leader(), "a socket is nothing to the election");
    });
}

/// A process that hangs accepts no connections, but its socket is in use.
#[test]
fn a_socket_whose_process_hangs_is_in_use() {
    with_node(|[a, _b]| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.sock");
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let _waiting = UnixStream::connect(&path).unwrap();
        let refused = serve_socket(&path, Operated::new(&a));
        assert!(
            matches!(refused, Err(SocketError::InUse { .. })),
            "{refused:?}"
        );
    });
}

#[test]
fn an_invalid_request_is_answered_with_its_error() {
    with_node(|[a, _b]| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.sock");
        let _guard = serve_socket(&path, Operated::new(&a)).unwrap();
        let long = [b'x'; 5_000];
        let deep = "[".repeat(4_000) + "\n";
        for (bytes, wrong) in [
            (&b"\n"[..], "this is not a request"),
            (b"GET / HTTP/1.1\r\n\r\n", "this is not a request"),
            (b"\xff\xfe\x00\n", "this is not a request"),
            (b"\"crash\"\n", "unknown variant `crash`"),
            (deep.as_bytes(), "this is not a request"),
            (
                b"{\"order\":{\"command\":\"drain\",\"froce\":true}}\n",
                "unknown field `froce`",
            ),
            (b"\"report\"", "the request has no end"),
            (b"", "the request has no end"),
            (&long, "more than 4096 bytes"),
        ] {
            let answer = message(&say(&path, bytes));
            assert!(answer.contains(wrong), "{answer}");
        }
        // The server reads one line, and ignores the rest.
        report(&say(&path, b"\"report\"\n\"crash\"\n"));
        let agents = ask(&path, &json!("diagnosis"));
        let text = agents["diagnosis"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("a leads g in term "), "{agents}");
        assert!(a.is_leader(), "nothing was done");
    });
}

#[test]
fn a_hundred_clients_are_answered_although_some_say_nothing() {
    with_node(|[a, _b]| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.sock");
        let _guard = serve_socket(&path, Operated::new(&a)).unwrap();
        let silent: Vec<_> = (0..10)
            .map(|_| UnixStream::connect(&path).unwrap())
            .collect();
        let mut half = UnixStream::connect(&path).unwrap();
        half.write_all(b"\"rep").unwrap();
        let asking: Vec<_> = (0..90)
            .map(|_| {
                let mut stream = UnixStream::connect(&path).unwrap();
                stream.write_all(b"\"report\"\n").unwrap();
                stream
            })
            .collect();
        for stream in asking {
            report(&hear(stream));
        }
        for stream in silent {
            assert!(message(&hear(stream)).contains("no request arrived within 5s"));
        }
        assert!(message(&hear(half)).contains("no request arrived"));
    });
}

#[test]
fn a_report_is_answered_although_the_threads_of_the_application_hang() {
    let system = System::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.sock");
    let guard = system.block_on(async {
        let group = Group::new("g").unwrap();
        let agent = BullyAgent::builder("a").join(&group).start().unwrap();
        serve_socket(&path, Operated::new(&agent)).unwrap()
    });
    // No thread runs the agent any more.
    report(&ask(&path, &json!("report")));
    let order = Order::new(Command::SetScore { score: 1.into() }).within(MS(50));
    let request = json!({ "order": order });
    let unheard = json!({ "outcome": Outcome::Unheard });
    assert_eq!(ask(&path, &request), unheard);
    // An answer that is under way is still sent after the guard was dropped.
    let mut asking = UnixStream::connect(&path).unwrap();
    asking.write_all(format!("{request}\n").as_bytes()).unwrap();
    report(&ask(&path, &json!("report")));
    drop(guard);
    assert_eq!(hear(asking), unheard);
    drop(system);
}
