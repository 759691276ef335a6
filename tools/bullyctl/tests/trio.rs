//! `bullyctl` as a process with three running nodes: each has a bridge on its own port, a socket and routes.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

mod everyone;
mod nodes;
mod past;

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
use serde_json::{Value, json};

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
fn a_command_prints_its_outcome_and_exits_with_its_code() {
    let nodes = Nodes::start();
    let said = nodes.by_socket("n3", "transfer --to n1");
    assert_eq!((said.code, &*said.err), (0, ""), "{said:?}");
    assert!(said.out.starts_with("n1 leads in term "), "{said:?}");
    nodes.wait_for_leader("n1");
    let said = nodes.by_url("n1", "transfer --to n2 --json");
    assert_eq!(said.code, 0, "{said:?}");
    let told: Value = said.read();
    let Outcome::HandedOver { leader } = said.read() else {
        panic!("{said:?}")
    };
    assert_eq!(leader.id.as_str(), "n2");
    assert_eq!(
        (&told["verdict"], &told["message"]),
        (
            &"done".into(),
            &format!("n2 leads in term {}", leader.term).into()
        )
    );
    nodes.wait_for_leader("n2");
    let refusal = "the agent does not lead: n2 leads, so command that agent\n";
    for said in [
        nodes.by_socket("n1", "transfer"),
        nodes.by_url("n1", "transfer"),
    ] {
        assert_eq!((said.code, &*said.out, &*said.err), (1, refusal, ""));
    }
    let told: Value = nodes.by_url("n1", "transfer --json").read();
    assert_eq!(told["verdict"], "refused");
    let late = "{\"outcome\":{\"became\":\"still_draining\",\"term\":\"7\"}}\n";
    let said = answered(&nodes.folder().join("late.sock"), late, "transfer");
    assert_eq!(said.code, 4, "{said:?}");
}

#[test]
fn scores_and_the_end_of_a_node_are_shown() {
    let nodes = Nodes::start();
    assert_eq!(nodes.by_socket("n1", "score 5 -7").code, 0);
    assert_eq!(nodes.by_url("n2", "score --withdraw").code, 0);
    let shown = nodes.by_socket("n1", "status").out;
    assert!(shown.contains("n1      voter  (5, -7)  up"), "{shown}");
    assert!(shown.contains("n2      voter  -        up"), "{shown}");
    let said = nodes.by_socket("n3", "drain");
    let left = "the agent has left its group, and n1 leads in term ";
    assert!(said.code == 0 && said.out.starts_with(left), "{said:?}");
    assert!(nodes.by_socket("n3", "status").out.contains("ended"));
    nodes.wait_for_leader("n1");
    let shown = nodes.by_socket("n2", "status").out;
    assert!(shown.contains("2 members of orders"), "{shown}");
}

/// The report is that of a node, with a list of voters.
#[test]
fn the_voters_of_a_quorum_are_shown() {
    let nodes = Nodes::start();
    let mut report: Value = nodes.by_socket("n1", "status --json").read();
    let agent = &mut report["agents"][0];
    agent["voters"] = json!(["n1", "n3", "n9"]);
    agent["epoch"] = 4.into();
    agent["draining"] = true.into();
    let answer = format!("{}\n", json!({ "report": report }));
    let path = nodes.folder().join("voters.sock");
    let shown = "\
3 voters of orders in epoch 4, as n1 knows them
VOTER  PRESENCE
n1     up
n3     up        leads
n9     unseen
not voters: n2
";
    let said = answered(&path, &answer, "voters");
    assert_eq!((said.code, &*said.out), (0, shown), "{said:?}");
    let told: Value = answered(&path, &answer, "voters --json").read();
    let voters =
        json!({"agent": "n1", "group": "orders", "epoch": 4, "voters": ["n1", "n3", "n9"]});
    assert_eq!(told, json!([voters]));
    let status = answered(&path, &answer, "status").out;
    assert!(status.contains("3 voters in epoch 4: n1, n3, n9\n"));
    assert!(status.contains("  running, draining\n"), "{status}");
    let said = nodes.by_socket("n1", "voters");
    let none = "orders has no list of voters: only a quorum has one\n";
    assert_eq!((said.code, &*said.out), (0, none));
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
        for task in ["status", "watch"] {
            let said = bullyctl(&format!("{place} {task}"));
            assert_eq!((said.code, &*said.out), (3, ""), "{said:?}");
            let begin = "bullyctl: no node answers at ";
            let is_told = said.err.starts_with(begin) && said.err.contains(advice);
            assert!(is_told, "{said:?}");
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
    for (line, says) in [
        ("status", "name the node by --socket or by --url"),
        ("--url https://localhost status", "does not speak TLS"),
        (
            "--url http://localhost --token-file /nowhere/token drain",
            "/nowhere/token cannot be read",
        ),
    ] {
        let said = bullyctl(line);
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
