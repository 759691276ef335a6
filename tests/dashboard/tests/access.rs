//! The rights to command by a page, and bodies that are not commands.

use actix::System;
use actix_bully::{Group, agent::BullyHandle, dashboard::Dashboard, operate::Operated, web::Token};
use actix_bully_dashboard_tests::{
    SOON, Viewer, ask, command, low_and_high, own_request, run, talk,
};
use actix_web::test::TestRequest;

const TOKEN: &str = "0123456789abcdef0123";
const STEP_DOWN: &str = r#"{"command":{"step_down":{"to":"low"}},"agent":"high"}"#;

/// Starts two agents, and waits until the second one leads.
async fn pair() -> [BullyHandle; 2] {
    let agents = low_and_high(&Group::new("orders").unwrap());
    agents[0].wait_for_leader(SOON).await.unwrap();
    agents
}

fn page(agents: &[BullyHandle; 2]) -> Dashboard {
    Dashboard::new(Operated::new(&agents[0]).agent(&agents[1]))
}

#[test]
fn a_page_of_another_site_takes_no_place_and_reads_nothing() {
    run(async {
        let agents = pair().await;
        let page = page(&agents).viewers(1);
        let from = |path: &str, name: &'static str, value: &'static str| {
            let request = TestRequest::get().uri(&format!("/election{path}"));
            request
                .insert_header((name, value))
                .insert_header(("Host", "127.0.0.1:8080"))
        };
        for path in ["/events", "/film", "/records", "/copies/run.jsonl"] {
            for (name, value) in [
                ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Site", "same-site"),
                ("Origin", "http://evil.example"),
            ] {
                let told = ask(&page, from(path, name, value)).await;
                assert_eq!(told.status, 403, "{path} {name} {told:?}");
                assert!(told.message().contains("another site"), "{told:?}");
            }
        }
        // Another site may link to the page, and may not embed any part of it.
        let told = ask(&page, from("/", "Sec-Fetch-Site", "cross-site")).await;
        assert_eq!(told.status, 200);
        assert_eq!(told.header("cross-origin-resource-policy"), "same-origin");
        assert!(Viewer::new(&page).await.is_ok(), "the place is free");
    });
}

#[test]
fn a_command_says_what_became_of_it() {
    run(async {
        let agents = pair().await;
        let told = command(&page(&agents), STEP_DOWN).await;
        assert!(
            told.status == 403 && told.message().contains("allow_faults"),
            "{told:?}"
        );
        let page = page(&agents).allow_faults();
        let viewer = Viewer::new(&page).await.unwrap();
        assert_eq!(viewer.head["controls"], "operate");
        let told = command(&page, STEP_DOWN).await;
        assert_eq!(
            (told.status, &told.json()["became"]),
            (200, &"handed_over".into())
        );
        assert!(agents[0].is_leader());
        let told = command(&page, r#"{"command":{"step_down":{}},"agent":"nobody"}"#).await;
        assert_eq!(told.status, 409);
        assert!(
            told.message().contains("orders/low, orders/high"),
            "{told:?}"
        );
    });
}

#[test]
fn a_page_of_another_origin_and_a_far_host_command_nothing() {
    run(async {
        let agents = pair().await;
        let page = page(&agents).allow_faults();
        let foreign = own_request().insert_header(("Origin", "http://evil.example:8080"));
        let bare = TestRequest::post().peer_addr(([127, 0, 0, 1], 50_000).into());
        let far = own_request().peer_addr(([192, 0, 2, 1], 50_000).into());
        for request in [foreign, bare.uri("/election/commands"), far] {
            let told = ask(&page, request.set_payload(STEP_DOWN)).await;
            assert_eq!(told.status, 403, "{told:?}");
            assert!(!told.message().is_empty());
        }
        // The body of a foreign request is not read: the answer is 403 and not 413.
        for path in ["/commands", "/film", "/go_on?at_ms=1", "/record"] {
            let foreign = own_request().insert_header(("Origin", "http://evil.example"));
            let foreign = foreign.uri(&format!("/election{path}"));
            let told = ask(&page, foreign.set_payload("x".repeat((16 << 20) + 1))).await;
            assert_eq!(told.status, 403, "{path}");
        }
        assert!(agents[1].is_leader(), "nothing was done");
    });
}

#[test]
fn with_a_token_those_who_know_it_command_from_anywhere() {
    run(async {
        let agents = pair().await;
        let page = page(&agents).token(Token::new(TOKEN).unwrap());
        let viewer = Viewer::new(&page).await.unwrap();
        assert_eq!(viewer.head["token"], true);
        let from_far = async |authorization: &str| {
            let far = own_request().peer_addr(([192, 0, 2, 1], 50_000).into());
            let far = far.insert_header(("Authorization", authorization));
            ask(&page, far.set_payload(STEP_DOWN)).await
        };
        let told = from_far("").await;
        assert_eq!(
            (told.status, told.header("www-authenticate")),
            (401, "Bearer")
        );
        let told = from_far(&format!("Bearer {TOKEN}0")).await;
        assert_eq!(told.status, 403);
        assert!(!told.text.contains(TOKEN) && !format!("{page:?}").contains(TOKEN));
        let told = from_far(&format!("Bearer {TOKEN}")).await;
        assert_eq!(told.status, 200, "{told:?}");
        assert!(agents[0].is_leader());
    });
}

#[test]
fn a_body_that_makes_no_sense_is_refused_in_words() {
    run(async {
        let agents = pair().await;
        let page = page(&agents).allow_faults();
        let long = "x".repeat(70_000);
        for (body, status, says) in [
            ("{", 400, "this is not a command"),
            (r#"{"crash":["c"]}"#, 400, "this is not a command"),
            (&*long, 413, "65536 bytes"),
        ] {
            let told = command(&page, body).await;
            assert_eq!(told.status, status, "{told:?}");
            assert!(told.message().contains(says), "{told:?}");
        }
        assert!(agents[1].is_leader());
    });
}

#[test]
fn a_server_of_its_own_answers_its_own_host_by_its_own_name() {
    System::new().block_on(async {
        let agents = pair().await;
        let (address, server) = page(&agents).serve(0).unwrap();
        assert!(address.ip().is_loopback());
        actix::spawn(server);
        for (host, status) in [
            (address.to_string(), "200"),
            ("evil.example".to_owned(), "403"),
        ] {
            let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            let answer = talk(address, &request).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{host}: {answer}"
            );
        }
    });
}
