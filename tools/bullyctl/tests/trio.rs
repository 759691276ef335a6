//! `bullyctl` as a process with three running nodes: each has a bridge on its own port, a socket and routes.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

mod everyone;
mod nodes;
mod past;
mod voters;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    path::Path,
    thread,
};

use actix_bully::operate::{Outcome, Report};
use nodes::{Nodes, Said, bullyctl};
use serde_json::Value;

#[test]
fn the_status_is_a_table_for_people_and_json_for_programs() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n2", "status");
    assert_eq!(said.code, 0, "{said:?}");
    let report: Report = nodes.by_socket("n2", "status --json").read();
    let [one, three] = ["n1", "n3"].map(|name| nodes.get(name).bridge.as_str());
    let expected = format!(
        "\
AGENT  GROUP   ROLE      TERM  LEADER  STATE
n2     orders  follower  {term}     n3      running

3 members of orders
MEMBER  KIND   SCORE  PRESENCE
n3      voter  30     up        leads
n2      voter  20     up
n1      voter  10     up        says: http://10.0.0.1:8080

peers of n2, which listens on {own}
PEER  ADDRESS          LINK    AGENTS  LOST  LAST ERROR
n1    {one}  linked  1       0
n3    {three}  linked  1       0
",
        term = report.agents[0].status.term,
        own = nodes.get("n2").bridge,
    );
    let columns = format!(
        "{:width$}  LINK",
        "ADDRESS",
        width = one.len().max(three.len())
    );
    let expected = expected.replace("ADDRESS          LINK", &columns);
    assert_eq!(said.out, expected);
    assert_eq!(report.bridge.map(|bridge| bridge.peers.len()), Some(2));
    // The routes have the same output.
    assert_eq!(nodes.by_url("n2", "status").out, said.out);
    let by_url: Report = nodes.by_url("n2", "status --json").read();
    assert_eq!(
        by_url.agents[0].status.leader,
        report.agents[0].status.leader
    );
}

#[test]
fn a_diagnosis_says_why_and_what_to_do() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n3", "diagnosis");
    assert_eq!((said.code, &*said.err), (0, ""), "{said:?}");
    assert!(said.out.starts_with("n3 leads orders in term "), "{said:?}");
    let told: Value = nodes.by_url("n1", "diagnosis --json").read();
    assert_eq!(told[0]["diagnosis"]["leader"]["id"], "n3");
    // Without a leader the routes answer with 503, but the answer still explains the situation.
    for node in ["n1", "n2", "n3"] {
        assert_eq!(nodes.by_socket(node, "score --withdraw").code, 0);
    }
    for said in [
        nodes.by_socket("n1", "diagnosis"),
        nodes.by_url("n1", "diagnosis"),
    ] {
        assert_eq!(said.code, 0, "{said:?}");
        assert!(
            said.out
                .starts_with("n1 has known no leader of orders for "),
            "{said:?}"
        );
        assert!(said.out.contains("\n- "), "{said:?}");
    }
}

#[test]
fn a_transfer_names_the_successor() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n3", "transfer --to n1");
    assert_eq!((said.code, &*said.err), (0, ""), "{said:?}");
    assert!(said.out.starts_with("n1 leads in term "), "{said:?}");
    nodes.wait_for_leader("n1");
    let said = nodes.by_url("n1", "transfer --to n2 --json");
    assert_eq!(said.code, 0, "{said:?}");
    let told: Value = said.read();
    assert_eq!(
        (&told["verdict"], &told["became"]),
        (&"done".into(), &"handed_over".into())
    );
    let Outcome::HandedOver { leader } = said.read() else {
        panic!("{said:?}")
    };
    assert_eq!(leader.id.as_str(), "n2");
    assert_eq!(told["message"], format!("n2 leads in term {}", leader.term));
}

#[test]
fn a_refusal_says_what_to_do() {
    let nodes = Nodes::start();
    for (node, task, says) in [
        (
            "n1",
            "transfer",
            "the agent does not lead: n3 leads, so command that agent\n",
        ),
        (
            "n3",
            "transfer --to n9",
            "the group has no member n9: name a member of the group, or none, and the election chooses one\n",
        ),
        (
            "n3",
            "drain --group stock",
            "no agent of this node fits the command: name one of orders/n3\n",
        ),
    ] {
        for said in [nodes.by_socket(node, task), nodes.by_url(node, task)] {
            assert_eq!((said.code, &*said.out, &*said.err), (1, says, ""), "{task}");
        }
        let told: Value = nodes.by_url(node, &format!("{task} --json")).read();
        assert_eq!(told["verdict"], "refused");
    }
    nodes.wait_for_leader("n3");
}

#[test]
fn scores_are_set_and_withdrawn() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n1", "score 5 -7");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .starts_with("the score is (5, -7), and n3 leads in term "),
        "{said:?}"
    );
    assert!(
        nodes
            .by_socket("n1", "status")
            .out
            .contains("n1      voter  (5, -7)  up")
    );
    let said = nodes.by_url("n3", "score --withdraw");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .starts_with("the agent is not elected any more, and n2 leads"),
        "{said:?}"
    );
    assert!(
        nodes
            .by_socket("n3", "status")
            .out
            .contains("n3      voter  -        up")
    );
}

#[test]
fn a_drained_node_has_left() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n3", "drain");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .starts_with("the agent has left its group, and n2 leads in term "),
        "{said:?}"
    );
    assert!(nodes.by_socket("n3", "status").out.contains("ended"));
    let said = nodes.by_socket("n3", "drain");
    assert_eq!(
        (said.code, &*said.out),
        (1, "the agent has ended: start it again\n")
    );
    nodes.wait_for_leader("n2");
    assert!(
        nodes
            .by_socket("n2", "status")
            .out
            .contains("2 members of orders")
    );
}

#[test]
fn a_command_whose_time_is_over_has_a_code_of_its_own() {
    let nodes = Nodes::start();
    nodes.get("n3").hold_work();
    let said = nodes.by_socket("n3", "transfer --within 0.1");
    assert_eq!(said.code, 4, "{said:?}");
    assert!(
        said.out
            .starts_with("the agent hands over, and its work in term "),
        "{said:?}"
    );
    assert!(
        nodes
            .by_socket("n3", "status")
            .out
            .contains("running, draining")
    );
}

#[test]
fn a_watch_prints_what_changes() {
    let nodes = Nodes::start();
    let watching = {
        let line = nodes.line_by_socket("n1", "watch --every 0.05 --lines 2");
        thread::spawn(move || bullyctl(&line))
    };
    // This call ends after the first look of the other watch, which then has its first line. A later transfer is its
    // second line.
    let once = nodes.by_socket("n1", "watch --lines 1");
    assert_eq!(once.code, 0, "{once:?}");
    assert!(
        once.out.contains("orders/n1  follower  leader n3 in term "),
        "{once:?}"
    );
    assert!(
        once.out.trim_end().ends_with("running  3 of 3 up"),
        "{once:?}"
    );
    thread::park_timeout(std::time::Duration::from_millis(500));
    assert_eq!(nodes.by_socket("n3", "score --withdraw").code, 0);
    let said = watching.join().unwrap();
    let lines: Vec<_> = said.out.lines().collect();
    assert_eq!((said.code, lines.len()), (0, 2), "{said:?}");
    assert!(lines[0].contains("leader n3"), "{said:?}");
    assert!(!lines[1].contains("leader n3"), "{said:?}");
    let said = nodes.by_url("n2", "watch --lines 1 --json");
    let agent: Value = said.read();
    assert_eq!(agent["agent"], "n2");
    // A program gets one value of JSON for each line, also for a node that has ended.
    let report = nodes.by_socket("n2", "status --json").out;
    let (answer, gone) = (format!("{{\"report\":{}}}\n", report.trim()), "gone.sock");
    let task = "watch --every 0.05 --lines 2 --json";
    let said = answered(&nodes.folder().join(gone), &answer, task);
    let (first, last) = said.out.split_once('\n').unwrap();
    assert!(first.contains("\"n2\"") && last == "null\n", "{said:?}");
}

#[test]
fn a_node_that_is_not_there_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join("stale.sock");
    drop(UnixListener::bind(&stale).unwrap());
    let none = folder.path().join("none.sock");
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for (place, advice) in [
        (
            format!("--socket {}", stale.display()),
            "left its socket behind: start it again",
        ),
        (
            format!("--socket {}", none.display()),
            "is that the path that the node gave to serve_socket",
        ),
        (
            format!("--url {closed}"),
            "does the node run, and is that its port?",
        ),
    ] {
        for task in ["status", "watch", "drain"] {
            if task == "drain" && place.contains("--url") {
                continue; // commands need a token first
            }
            let said = bullyctl(&format!("{place} {task}"));
            assert_eq!((said.code, &*said.out), (3, ""), "{said:?}");
            assert!(
                said.err.starts_with("bullyctl: no node answers at "),
                "{said:?}"
            );
            assert!(
                said.err.trim_end().ends_with(advice) || said.err.contains(advice),
                "{said:?}"
            );
        }
        let said = bullyctl(&format!("{place} status --json"));
        let error: Value = said.read();
        assert_eq!(
            (said.code, &error["error"]["kind"]),
            (3, &"unreachable".into())
        );
    }
}

#[test]
fn a_command_by_the_routes_needs_the_token_of_the_node() {
    let nodes = Nodes::start();
    let url = &nodes.get("n3").url;
    let wrong = nodes.folder().join("wrong");
    fs::write(&wrong, "fedcba9876543210").unwrap();
    let wrong = format!("--token-file {}", wrong.display());
    for (token, says) in [
        ("", "name its file by --token-file"),
        (&*wrong, "is not that of this node"),
    ] {
        let said = bullyctl(&format!("--url {url} {token} drain"));
        assert_eq!((said.code, &*said.out), (5, ""), "{said:?}");
        assert!(said.err.contains(says), "{said:?}");
    }
    let said = bullyctl(&format!(
        "--url {} {wrong} drain",
        nodes.get("n3").url_without_commands
    ));
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.err.contains("this URL takes no commands"), "{said:?}");
    nodes.wait_for_leader("n3");
}

#[test]
fn wrong_arguments_are_said_to_be_wrong() {
    let missing = Path::new("/nowhere/token").display();
    for (line, says) in [
        ("status".to_owned(), "--socket"),
        (
            "--socket a --url b status".to_owned(),
            "cannot be used with",
        ),
        ("--socket a score".to_owned(), "required"),
        (
            "--url https://localhost status".to_owned(),
            "does not speak TLS",
        ),
        (
            "--url localhost status".to_owned(),
            "the URL is not that of a node",
        ),
        (
            format!("--url http://localhost --token-file {missing} drain"),
            "/nowhere/token cannot be read",
        ),
        (
            "--socket a --token 0123456789abcdef drain".to_owned(),
            "unexpected argument '--token'",
        ),
    ] {
        let said = bullyctl(&line);
        assert_eq!((said.code, &*said.out), (2, ""), "{said:?}");
        assert!(said.err.contains(says), "{said:?}");
    }
    let help = bullyctl("--help");
    assert!(
        help.code == 0 && help.out.contains("3  no node answers there"),
        "{help:?}"
    );
}

#[test]
fn the_answer_of_another_program_is_not_understood() {
    let nodes = Nodes::start();
    let said = bullyctl(&format!("--url {}/elsewhere status", nodes.get("n1").url));
    assert_eq!(said.code, 6, "{said:?}");
    assert!(said.err.contains("no route of a node is at"), "{said:?}");
    let path = nodes.folder().join("other.sock");
    for answer in [
        "SSH-2.0-OpenSSH\r\n",
        "{\"report\":{\"agents\":7}}\n",
        "{\"outcome\":{\"became\":\"left\",\"leader\":null}}\n",
    ] {
        let said = answered(&path, answer, "status");
        assert_eq!((said.code, &*said.out), (6, ""), "{said:?}");
        assert!(
            said.err.contains("the answer cannot be understood"),
            "{said:?}"
        );
    }
    let said = answered(
        &path,
        "{\"denied\":{\"message\":\"the user 7 may not ask here\"}}\n",
        "status",
    );
    assert_eq!(said.code, 5, "{said:?}");
    assert_eq!(
        said.err,
        "bullyctl: not permitted: the user 7 may not ask here\n"
    );
    let said = answered(&path, "", "status");
    assert_eq!(said.code, 3, "a silent program is not a node: {said:?}");
}

#[test]
fn a_redirect_is_not_followed() {
    let nodes = Nodes::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let to = nodes.get("n1").url.clone();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(&stream).lines();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let head = "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\n";
        write!(stream, "{head}Location: {to}/status\r\n\r\n").unwrap();
    });
    let said = bullyctl(&format!("--url http://{place} status"));
    answering.join().unwrap();
    assert_eq!((said.code, &*said.out), (6, ""), "{said:?}");
    assert!(said.err.contains("307"), "{said:?}");
}

/// Returns the output for a program that gives this answer on the socket, and then ends.
fn answered(path: &Path, answer: &str, task: &str) -> Said {
    let answer = answer.to_owned();
    fs::remove_file(path).ok();
    let listener = UnixListener::bind(path).unwrap();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // If the program ended without reading, its client would see a reset.
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let said = bullyctl(&format!("--socket {} {task}", path.display()));
    answering.join().unwrap();
    said
}
