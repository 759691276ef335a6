//! The size of the answer of each route: a small request gets a small answer.

use std::{collections::BTreeSet, fmt::Write as _};

use actix_bully::operate::RecordFolder;
use actix_bully_dashboard_tests::{Told, ask, five, get, own_request, run, stage};

const KIB: usize = 1 << 10;

/// Returns a recording with `agents` agents, in which one more agent comes and goes `instants` times.
fn crowd(agents: usize, instants: usize) -> String {
    let names: Vec<String> = (0..agents)
        .map(|number| format!(r#"{{"name":"a{number}","kind":"voter","score":[{number},0,0,0]}}"#))
        .collect();
    let mut text = format!(
        r#"{{"format":"actix-bully recording","version":1,"run":{{"writer":"x","protocol":"bully","clock":"virtual","seed":1,"network":null,"timings_ns":{{}},"again":null,"began_unix_ms":null,"forgotten":0,"agents":[{}]}}}}"#,
        names.join(",")
    );
    for at in 0..instants {
        let what = if at % 2 == 0 {
            r#"{"command":{"join":{"agent":"z","kind":"voter","score":null}}}"#
        } else {
            r#"{"happened":{"agent":"z","what":"left"}}"#
        };
        write!(text, "\n{{\"at_ns\":{},\"what\":{what}}}", at + 1).unwrap();
    }
    writeln!(text, "\n{{\"at_ns\":{},\"what\":\"ended\"}}", instants + 1).unwrap();
    text
}

/// A route, a path of it, and the bound of its answer in bytes.
const READ: [(&str, &str, usize); 14] = [
    ("", "", KIB),
    ("/", "/", 32 * KIB),
    ("/page.css", "/page.css", 32 * KIB),
    ("/page.js", "/page.js", 128 * KIB),
    ("/stream.js", "/stream.js", 32 * KIB),
    ("/history", "/history", 4 * KIB),
    ("/copies/{file}", "/copies/run.jsonl", 256 * KIB),
    ("/copies/{file}", "/copies/run.mmd", 256 * KIB),
    ("/copies/{file}", "/copies/moment.svg", 64 * KIB),
    ("/copies/{file}", "/copies/script.txt", 64 * KIB),
    ("/copies/{file}", "/copies/recorded_run.rs", 64 * KIB),
    ("/film", "/film", 4 * KIB),
    ("/records", "/records", 64 * KIB),
    ("/records/{file}", "/records/none.jsonl", KIB),
];

/// Returns a route, the worst body for it, and the bound of its answer: bytes for each byte of the body, and bytes beside
/// that.
fn posted() -> [(&'static str, String, usize, usize); 7] {
    let step = r#"{"step":{"until":"event"}}"#;
    [
        ("/go_on", crowd(100, 100), 0, KIB),
        ("/commands", step.to_owned(), 2, 2 * KIB),
        ("/commands", "x".repeat(60 * KIB), 2, 2 * KIB),
        ("/record", r#"{"on":{}}"#.to_owned(), 2, 2 * KIB),
        ("/film", crowd(300, 200), 16, 256 * KIB),
        ("/film", crowd(1_000, 2_000), 16, 256 * KIB),
        ("/film", crowd(20, 40), 16, 256 * KIB),
    ]
}

#[test]
fn no_route_gives_many_bytes_for_few() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (page, _thread) = stage(five);
        let page = page.records(RecordFolder::new(folder.path()));
        let is_short = |told: &Told, path: &str, most: usize| {
            let came = told.text.len();
            assert!(came <= most, "{path}: {came} bytes, {most} allowed");
            assert_ne!(told.status, 500, "{path}");
        };
        for (_, path, most) in READ {
            is_short(&get(&page, path).await, path, most);
        }
        for (route, body, for_each, beside) in posted() {
            let most = body.len() * for_each + beside;
            let request = own_request().uri(&format!("/election{route}?at_ms=1"));
            let told = ask(&page, request.set_payload(body)).await;
            is_short(&told, route, most);
        }
    });
}

/// The stream of events is left out: `src/dashboard/stream.rs` and `frames.rs` have tests of it.
#[test]
fn each_route_has_a_row() {
    let source = include_str!("../../../src/dashboard/routes.rs");
    let mounted = source.split("resource(\"").skip(1);
    let mounted: BTreeSet<&str> = mounted.filter_map(|rest| rest.split('"').next()).collect();
    assert!(mounted.len() > 8, "{mounted:?}");
    let mut tested: BTreeSet<&str> = READ.iter().map(|(route, ..)| *route).collect();
    tested.extend(posted().map(|(route, ..)| route));
    tested.insert("/events");
    assert_eq!(mounted, tested);
}
