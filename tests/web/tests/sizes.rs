//! The size of the answer of each route: a small request gets a small answer.

use std::collections::BTreeSet;

use actix_bully::{
    operate::Operated,
    web::{Token, routes},
};
use actix_bully_web_tests::{TOKEN, get, play, post_to, settle, trio};

/// The route, the posted body, and the most bytes of the answer for three agents.
const ROWS: [(&str, Option<&str>, usize); 13] = [
    ("/leader", None, 256),
    ("/health", None, 8 << 10),
    ("/health/live", None, 64),
    ("/health/ready", None, 64),
    ("/status", None, 16 << 10),
    ("/history", None, 4 << 10),
    ("/metrics", None, 1 << 10),
    (
        "/commands",
        Some(r#"{"command":{"step_down":{"to":"b"}}}"#),
        1 << 10,
    ),
    ("/commands", Some("[[[[[[[[[["), 1 << 10),
    ("/record", Some(r#"{"on":{}}"#), 1 << 10),
    ("/record", Some(r#""read""#), 64 << 10),
    ("/record", Some(r#""read_kept""#), 64 << 10),
    ("/record", Some(r#""off""#), 64 << 10),
];

#[test]
fn no_route_gives_many_bytes_for_few() {
    play(async {
        let [c, _b, _a] = trio().await;
        let node = routes(Operated::new(&c)).commands(Token::new(TOKEN).unwrap());
        let huge = "x 1\n".repeat(5 << 20);
        let node = node.metrics(move || huge.clone());
        for (route, body, most) in ROWS {
            let told = match body {
                None => get(&node, route).await,
                Some(body) => {
                    let token = format!("Bearer {TOKEN}");
                    post_to(&node, route, Some(&token), body).await
                }
            };
            settle().await;
            let came = told.text.len();
            assert!(came <= most, "{route}: {came} bytes, {most} allowed");
            if route == "/metrics" {
                assert_eq!(told.status, 507);
                assert!(told.message().contains("fewer series"), "{told:?}");
            }
        }
    });
}

#[test]
fn each_route_has_a_row() {
    let source = include_str!("../../../src/web/mod.rs");
    let mounted = source.split("resource(\"").skip(1);
    let mounted: BTreeSet<&str> = mounted.filter_map(|rest| rest.split('"').next()).collect();
    let tested: BTreeSet<&str> = ROWS.iter().map(|(route, ..)| *route).collect();
    assert_eq!(mounted, tested);
}
