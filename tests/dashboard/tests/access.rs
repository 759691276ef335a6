//! The rights to command by a page, and bodies that are not commands.

use actix::System;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    dashboard::Dashboard,
    operate::Operated,
    web::Token,
};
use actix_bully_dashboard_tests::{SOON, TOKEN, Viewer, ask, command, own_request, run};
use actix_web::test::TestRequest;

const STEP_DOWN: &str = r#"{"command":{"step_down":{"to":"b"}},"agent":"c"}"#;

async fn pair() -> [BullyHandle; 2] {
    let group = Group::new("orders").unwrap();
    let agents = [("b", 2), ("c", 3)].map(|(name, score)| {
        let agent = BullyAgent::builder(name).score(score).join(&group);
        agent.start().unwrap()
    });
    agents[0].wait_for_leader(SOON).await.unwrap();
    agents
}

fn page(agents: &[BullyHandle; 2]) -> Dashboard {
    Dashboard::new(Operated::new(&agents[0]).agent(&agents[1]))
}

#[test]
fn a_page_only_shows_until_more_is_allowed() {
    run(async {
        let agents = pair().await;
        let told = command(&page(&agents), STEP_DOWN).await;
        assert_eq!(told.status, 403);
        assert!(told.message().contains("allow_faults"), "{told:?}");
        assert!(agents[1].is_leader());
    });
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
        assert!(told.message().contains("orders/b, orders/c"), "{told:?}");
    });
}

#[test]
fn a_page_of_another_origin_commands_nothing() {
    run(async {
        let agents = pair().await;
        let page = page(&agents).allow_faults();
        let bare = || {
            let request = TestRequest::post().uri("/election/commands");
            request.peer_addr(([127, 0, 0, 1], 50_000).into())
        };
        let host = ("Host", "127.0.0.1:8080");
        let ours = ("X-Bully-Dashboard", "1");
        let from = |origin: &'static str| ("Origin", origin);
        let evil = "http://evil.example:8080";
        for request in [
            bare(),
            bare()
                .insert_header(host)
                .insert_header(from("http://127.0.0.1:8080")),
            bare().insert_header(host).insert_header(ours),
            bare()
                .insert_header(host)
                .insert_header(ours)
                .insert_header(from(evil)),
            bare()
                .insert_header(host)
                .insert_header(ours)
                .insert_header(from("null")),
            // The attacker's own domain name leads to this host.
            bare()
                .insert_header(("Host", "evil.example:8080"))
                .insert_header(ours)
                .insert_header(from(evil)),
            own_request().peer_addr(([192, 0, 2, 1], 50_000).into()),
        ] {
            let told = ask(&page, request.set_payload(STEP_DOWN)).await;
            assert_eq!(told.status, 403, "{told:?}");
            assert!(!told.message().is_empty());
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
        let far = || {
            own_request()
                .peer_addr(([192, 0, 2, 1], 50_000).into())
                .set_payload(STEP_DOWN)
        };
        let told = ask(&page, far()).await;
        assert_eq!(
            (told.status, told.header("www-authenticate")),
            (401, "Bearer")
        );
        let wrong = format!("Bearer {TOKEN}0");
        let told = ask(&page, far().insert_header(("Authorization", wrong))).await;
        assert_eq!(told.status, 403);
        assert!(!told.text.contains(TOKEN) && !format!("{page:?}").contains(TOKEN));
        let right = format!("Bearer {TOKEN}");
        let told = ask(&page, far().insert_header(("Authorization", right))).await;
        assert_eq!(told.status, 200, "{told:?}");
        assert!(agents[0].is_leader());
    });
}

#[test]
fn a_body_that_makes_no_sense_is_refused_in_words() {
    run(async {
        let agents = pair().await;
        let page = page(&agents).allow_faults();
        for body in [
            "",
            "{",
            "[]",
            r#"{"command":"explode"}"#,
            r#"{"crash":["c"]}"#,
            "\u{0}\u{1}",
        ] {
            let told = command(&page, body).await;
            assert_eq!(told.status, 400, "{body:?}");
            assert!(
                told.message().starts_with("this is not a command"),
                "{told:?}"
            );
        }
        let told = command(&page, &"x".repeat(70_000)).await;
        assert_eq!(told.status, 413);
        assert!(told.message().contains("65536 bytes"), "{told:?}");
        // The body of a foreign request is not read: the answer is 403 and not 413.
        let stranger = own_request().insert_header(("Origin", "http://evil.example"));
        let told = ask(&page, stranger.set_payload("x".repeat(70_000))).await;
        assert_eq!(told.status, 403);
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
            let answer = actix_bully_dashboard_tests::talk(address, &request).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{host}: {answer}"
            );
        }
    });
}
