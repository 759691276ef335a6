//! The size of the answer of each route: a small request gets a small answer.

use std::{collections::BTreeSet, fmt::Write as _};

use actix_bully::{dashboard::Dashboard, operate::RecordFolder, record::Recording};
use actix_bully_dashboard_tests::{ask, five, own_request, run, stage};
use actix_web::test::TestRequest;

/// A route, the worst request for it, and the bound of its answer: bytes for each byte of the request, and bytes
/// beside that.
struct Row {
    route: &'static str,
    is_post: bool,
    path: &'static str,
    body: String,
    for_each: usize,
    beside: usize,
}

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

fn rows() -> Vec<Row> {
    let read = |route, path, for_each, beside| Row {
        route,
        is_post: false,
        path,
        body: String::new(),
        for_each,
        beside,
    };
    let post = |route, body: String, for_each, beside| Row {
        is_post: true,
        body,
        ..read(route, route, for_each, beside)
    };
    vec![
        read("/", "/", 0, 32 * KIB),
        read("/page.css", "/page.css", 0, 32 * KIB),
        read("/page.js", "/page.js", 0, 128 * KIB),
        read("/stream.js", "/stream.js", 0, 32 * KIB),
        Row {
            path: "/go_on?at_ms=1",
            ..post("/go_on", crowd(100, 100), 0, KIB)
        },
        read("/history", "/history", 0, 4 * KIB),
        read("", "", 0, KIB),
        read("/copies/{file}", "/copies/run.jsonl", 0, 256 * KIB),
        read("/copies/{file}", "/copies/run.mmd", 0, 256 * KIB),
        read("/copies/{file}", "/copies/moment.svg", 0, 64 * KIB),
        read("/copies/{file}", "/copies/script.txt", 0, 64 * KIB),
        read("/copies/{file}", "/copies/recorded_run.rs", 0, 64 * KIB),
        read("/film", "/film", 0, 4 * KIB),
        read("/records", "/records", 0, 64 * KIB),
        read("/records/{file}", "/records/none.jsonl", 0, KIB),
        post(
            "/commands",
            r#"{"step":{"until":"event"}}"#.into(),
            2,
            2 * KIB,
        ),
        post("/commands", "x".repeat(60 * KIB), 2, 2 * KIB),
        post("/record", r#"{"on":{}}"#.into(), 2, 2 * KIB),
        post("/film", crowd(300, 200), 16, 256 * KIB),
        post("/film", crowd(1_000, 2_000), 16, 256 * KIB),
        post("/film", crowd(20, 40), 16, 256 * KIB),
    ]
}

#[test]
fn no_route_gives_many_bytes_for_few() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (page, _thread) = stage(five);
        let page = page.records(RecordFolder::new(folder.path()));
        for row in rows() {
            let Row {
                route,
                path,
                for_each,
                beside,
                ..
            } = row;
            let sent = row.body.len();
            let told = if row.is_post {
                let uri = format!("/election{path}");
                ask(&page, own_request().uri(&uri).set_payload(row.body)).await
            } else {
                ask(&page, TestRequest::get().uri(&format!("/election{path}"))).await
            };
            let most = sent * for_each + beside;
            let came = told.text.len();
            assert!(
                came <= most,
                "{route} {path}: {sent} bytes in, {came} out, {most} allowed"
            );
            assert_ne!(told.status, 500, "{route} {path}");
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
    let mut tested: BTreeSet<&str> = rows().iter().map(|row| row.route).collect();
    tested.insert("/events");
    assert_eq!(mounted, tested);
}

/// The recording is as large as a request may be, and its page is bounded too.
#[test]
fn a_page_of_a_recording_gives_no_more_than_its_bound() {
    run(async {
        let recording = Recording::read(crowd(1_000, 400).as_bytes()).unwrap();
        let page = Dashboard::replay(recording);
        let told = ask(&page, TestRequest::get().uri("/election/film")).await;
        assert_eq!(told.status, 200);
        assert!(told.text.len() <= 64 << 20, "{}", told.text.len());
        for file in ["run.jsonl", "run.mmd", "moment.svg"] {
            let uri = format!("/election/copies/{file}");
            let told = ask(&page, TestRequest::get().uri(&uri)).await;
            assert!(told.text.len() <= 16 << 20, "{file}: {}", told.text.len());
        }
    });
}
