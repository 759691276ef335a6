//! Commands by the routes: their authorization, and the answers.

use std::time::Duration;

use actix::{
    Actor, Context, Handler,
    clock::{sleep, timeout},
};
use actix_bully::{
    agent::{BullyHandle, Lifecycle, Notice},
    operate::{AgentRecording, Operated, Outcome},
    record::Recording,
    web::{Routes, Token, routes},
};
use actix_bully_web_tests::{TOKEN, command, get, play, post, post_to, settle, trio};

fn guarded(agent: &BullyHandle) -> Routes {
    routes(Operated::new(agent)).commands(Token::new(TOKEN).unwrap())
}

/// An actor of a leader that works and never reports the end of its work.
struct Worker;

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Notice> for Worker {
    type Result = ();
    fn handle(&mut self, _: Notice, _: &mut Context<Self>) {}
}

#[test]
fn without_a_token_there_are_no_commands() {
    play(async {
        let [c, _b, _a] = trio().await;
        let told = command(&routes(Operated::new(&c)), r#"{"command":"drain"}"#).await;
        assert_eq!(told.status, 404);
        settle().await;
        assert!(c.is_leader());
    });
}

#[test]
fn a_stranger_commands_nothing() {
    play(async {
        let [c, _b, _a] = trio().await;
        let node = guarded(&c);
        for (authorization, status) in
            [(None, 401), (Some(TOKEN), 401), (Some("Bearer wrong"), 403)]
        {
            // Without a right token the body has no influence on the answer, even if it is too long.
            for body in [r#"{"command":"drain"}"#, &"x".repeat(100_000)] {
                let told = post(&node, authorization, body).await;
                assert_eq!(told.status, status, "{authorization:?}");
                let asks = told.header("www-authenticate") == "Bearer";
                assert_eq!(asks, status == 401);
                assert!(!told.text.contains(TOKEN));
            }
        }
        sleep(Duration::from_secs(1)).await;
        assert!(c.is_leader(), "nothing was done");
        assert!(!format!("{node:?}").contains(TOKEN));
    });
}

#[test]
fn a_command_says_what_became_of_it() {
    play(async {
        let [c, b, _a] = trio().await;
        let told = command(&guarded(&c), r#"{"command":{"step_down":{"to":"b"}}}"#).await;
        assert_eq!(told.status, 200, "{told:?}");
        assert_eq!(told.header("cache-control"), "no-store");
        let leader = b.leader().unwrap();
        assert!(b.is_leader());
        let (json, term) = (told.json(), leader.term.to_string());
        assert_eq!(json["verdict"], "done");
        assert_eq!(json["message"], format!("b leads in term {term}"));
        let outcome: Outcome = serde_json::from_str(&told.text).unwrap();
        assert_eq!(outcome, Outcome::HandedOver { leader });

        let told = command(
            &guarded(&c),
            r#"{"command":{"set_score":{"score":[2,-5]}}}"#,
        )
        .await;
        assert_eq!(
            (told.status, &told.json()["became"]),
            (200, &"score_set".into())
        );
        let refused = command(&guarded(&c), r#"{"command":{"step_down":{}}}"#).await;
        assert_eq!(
            (refused.status, &refused.json()["reason"]),
            (409, &"not_leading".into())
        );
        let told = command(&guarded(&b), r#"{"command":"drain","within_ms":5000}"#).await;
        assert_eq!((told.status, &told.json()["became"]), (200, &"left".into()));
        assert_eq!(told.json()["leader"]["id"], "c");
        assert_eq!(get(&guarded(&b), "/health/ready").await.status, 503);
    });
}

#[test]
fn a_drain_goes_on_when_its_client_has_gone() {
    play(async {
        let [c, _b, _a] = trio().await;
        let work = Worker.start();
        let token = c.subscribe_draining(work.clone().recipient()).unwrap();
        let node = guarded(&c);
        let drain = command(&node, r#"{"command":"drain"}"#);
        let told = timeout(Duration::from_millis(50), drain).await;
        assert!(told.is_err(), "the work goes on");
        token.drained().unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(c.current().lifecycle, Lifecycle::Ended);
    });
}

#[test]
fn a_body_that_is_not_an_order_changes_nothing() {
    play(async {
        let [c, _b, _a] = trio().await;
        let node = guarded(&c);
        for body in ["", r#"{"command":"crash"}"#, &*"[".repeat(4_000)] {
            let told = command(&node, body).await;
            assert_eq!(told.status, 400, "{body}");
            assert!(told.message().contains("this is not an order"), "{told:?}");
        }
        for (length, status) in [(4_096, 400), (4_097, 413)] {
            let long = "x".repeat(length);
            assert_eq!(command(&node, &long).await.status, status, "{length}");
        }
        settle().await;
        assert!(c.is_leader());
    });
}

#[test]
fn the_record_is_switched_and_read_by_those_who_may_command() {
    play(async {
        let [c, b, _a] = trio().await;
        let node = routes(Operated::new(&c).agent(&b)).commands(Token::new(TOKEN).unwrap());
        let bearer = format!("Bearer {TOKEN}");
        let ask = async |body: &str| post_to(&node, "/record", Some(&bearer), body).await;
        for (authorization, status) in [(None, 401), (Some("Bearer wrong"), 403)] {
            let told = post_to(&node, "/record", authorization, r#"{"on":{}}"#).await;
            assert_eq!(told.status, status);
        }
        assert!(!c.is_recording(), "a stranger switches nothing");
        let told = ask(r#"{"on":{"entries":100}}"#).await;
        assert_eq!(told.status, 200, "{told:?}");
        assert!(c.is_recording() && b.is_recording());
        let told = command(&node, r#"{"command":{"step_down":{}},"agent":"c"}"#).await;
        assert_eq!(told.status, 200, "{told:?}");
        let told = ask(r#""read""#).await;
        let records: Vec<AgentRecording> = serde_json::from_str(&told.text).unwrap();
        let names: Vec<_> = records.iter().map(|one| one.agent.as_str()).collect();
        assert_eq!(names, ["c", "b"]);
        let text = records[0].jsonl.as_ref().unwrap();
        let recording = Recording::read(text.as_bytes()).unwrap();
        assert!(recording.to_text().contains("lost the leadership"));
        assert_eq!(ask(r#""off""#).await.status, 200);
        assert!(!c.is_recording());
        for body in ["", r#"{"on":{"files":1}}"#] {
            assert_eq!(ask(body).await.status, 400, "{body}");
        }
        let bare = routes(Operated::new(&c));
        let told = post_to(&bare, "/record", Some(&bearer), r#""read""#).await;
        assert_eq!(told.status, 404, "not mounted without a token");
    });
}
