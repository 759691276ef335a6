//! The bodies and the status codes of the routes that show the state.

use std::time::Duration;

use actix::clock::sleep;
use actix_bully::{
    history::{GroupHistory, LeadershipEnd},
    operate::{Operated, Report},
    protocol::LostReason,
    testkit::Inject,
    web::routes,
};
use actix_bully_web_tests::{ask, get, play, settle, trio};
use actix_web::{http::Method, test::TestRequest};

#[test]
fn every_node_names_the_leader_and_says_whether_it_is_here() {
    play(async {
        let [c, b, _a] = trio().await;
        let term = c.current().term.to_string();
        for (agent, here) in [(&c, true), (&b, false)] {
            let told = get(&routes(Operated::new(agent)), "/leader").await;
            assert_eq!(told.status, 200);
            assert_eq!(told.header("cache-control"), "no-store");
            assert_eq!(told.header("content-type"), "application/json");
            let shown = format!(
                r#"{{"leader":{{"id":"c","incarnation":"1","term":"{term}"}},"about":"http://c.example","here":{here}}}"#
            );
            assert_eq!(told.text, shown);
        }
    });
}

#[test]
fn without_a_leader_the_node_is_unavailable_for_that_and_ready_all_the_same() {
    play(async {
        let [c, b, a] = trio().await;
        let plain = routes(Operated::new(&c));
        for agent in [&a, &b, &c] {
            agent.withdraw_score().unwrap();
        }
        sleep(Duration::from_secs(5)).await;
        assert_eq!(c.leader(), None);
        let told = get(&plain, "/leader").await;
        assert_eq!(
            (told.status, &*told.text),
            (503, r#"{"leader":null,"here":false}"#)
        );
        assert_eq!(told.header("cache-control"), "no-store");
        let told = get(&plain, "/health").await;
        assert_eq!((told.status, &told.json()["healthy"]), (503, &false.into()));
        let why = told.json()["agents"][0]["diagnosis"]["findings"].to_string();
        assert!(why.contains("none_eligible"), "{why}");
        assert_eq!(get(&plain, "/health/ready").await.status, 200);
        assert_eq!(get(&plain, "/health/live").await.status, 200);
    });
}

#[test]
fn a_leader_elsewhere_is_redirected_to_where_it_says_it_is() {
    play(async {
        let [c, b, _a] = trio().await;
        let told = get(&routes(Operated::new(&b)), "/leader").await;
        assert_eq!(told.status, 200, "nobody asked for it");
        let redirects = |agent| routes(Operated::new(agent)).redirect();
        let told = get(&redirects(&b), "/leader?agent=b&x=%20").await;
        assert_eq!(told.status, 307);
        let location = "http://c.example/bully/leader?agent=b&x=%20&bully-via=b";
        assert_eq!(told.header("location"), location);
        assert_eq!(told.header("cache-control"), "no-store");
        assert_eq!(told.json()["leader"]["id"], "c");
        let told = get(&redirects(&c), "/leader?bully-via=b").await;
        assert_eq!(told.status, 200, "it is here");
        let told = get(&redirects(&b), "/leader?bully-via=c&bully-via=b").await;
        assert_eq!(told.status, 508, "it was here before");
        assert!(told.message().contains("`about` of its own"), "{told:?}");
        c.set_about(Some("a rack".parse().unwrap())).unwrap();
        settle().await;
        let told = get(&redirects(&b), "/leader").await;
        assert_eq!(
            (told.status, &told.json()["about"]),
            (200, &"a rack".into())
        );
        c.set_about(None).unwrap();
        settle().await;
        let told = get(&redirects(&b), "/leader").await;
        assert_eq!((told.status, told.json().get("about")), (200, None));
    });
}

#[test]
fn where_a_node_has_several_agents_the_question_names_one() {
    play(async {
        let [c, b, _a] = trio().await;
        let both = routes(Operated::new(&c).agent(&b));
        let told = get(&both, "/leader").await;
        assert_eq!(told.status, 400);
        assert!(told.text.contains("orders/c, orders/b"), "{told:?}");
        assert_eq!(get(&both, "/leader?agent=b").await.json()["here"], false);
        assert_eq!(
            get(&both, "/leader?agent=c&group=orders").await.json()["here"],
            true
        );
        assert_eq!(get(&both, "/leader?agent=x").await.status, 400);
        assert_eq!(get(&both, "/leader?agent=a%20b").await.status, 400);
    });
}

#[test]
fn readiness_is_tied_to_the_leadership_only_if_asked_for() {
    play(async {
        let [c, b, _a] = trio().await;
        for (agent, tied) in [(&c, 200), (&b, 503)] {
            let plain = routes(Operated::new(agent));
            assert_eq!(get(&plain, "/health/ready").await.status, 200);
            let told = get(&plain.ready_when_leading(), "/health/ready").await;
            assert_eq!(told.status, tied, "{told:?}");
        }
        c.leave(Duration::from_secs(1)).await.unwrap();
        let left = routes(Operated::new(&c));
        let told = get(&left, "/health/ready").await;
        assert_eq!((told.status, &*told.text), (503, r#"{"ready":false}"#));
    });
}

#[test]
fn an_agent_that_hangs_is_not_alive() {
    play(async {
        let [c, b, _a] = trio().await;
        let node = routes(Operated::new(&c));
        let told = get(&node, "/health/live").await;
        assert_eq!((told.status, &*told.text), (200, r#"{"live":true}"#));
        c.addr()
            .do_send(Inject::hang(sleep(Duration::from_secs(60))));
        assert_eq!(get(&node, "/health/live").await.status, 503);
        let other = routes(Operated::new(&b));
        assert_eq!(get(&other, "/health/live").await.status, 200);
        sleep(Duration::from_secs(61)).await;
        assert_eq!(get(&node, "/health/live").await.status, 200);
    });
}

#[test]
fn health_is_the_diagnosis_of_each_agent() {
    play(async {
        let [c, b, _a] = trio().await;
        let told = get(&routes(Operated::new(&b).agent(&c)), "/health").await;
        assert_eq!((told.status, &told.json()["healthy"]), (200, &true.into()));
        let agents = &told.json()["agents"];
        assert_eq!(agents[0]["diagnosis"]["node"], "b");
        assert!(
            agents[1]["text"]
                .as_str()
                .unwrap()
                .starts_with("c leads orders"),
            "{agents}"
        );
    });
}

#[test]
fn the_status_is_the_report() {
    play(async {
        let [c, _b, _a] = trio().await;
        let node = Operated::new(&c);
        let told = get(&routes(node.clone()), "/status").await;
        assert_eq!(told.status, 200);
        let shown: Report = serde_json::from_str(&told.text).unwrap();
        assert_eq!(shown, node.report());
    });
}

#[test]
fn the_history_names_who_led_and_why_that_ended() {
    play(async {
        let [c, b, _a] = trio().await;
        let node = Operated::new(&b);
        c.leave(Duration::from_secs(5)).await.unwrap();
        let mut leader = None;
        while leader != Some("b".parse().unwrap()) {
            settle().await;
            leader = b.leader().map(|leader| leader.id);
        }
        let told = get(&routes(node.clone()), "/history").await;
        assert_eq!(told.status, 200);
        let shown: Vec<GroupHistory> = serde_json::from_str(&told.text).unwrap();
        assert_eq!(shown, node.history());
        let rows = shown[0].leaderships.iter();
        let rows: Vec<_> = rows.map(|one| (one.leader.as_str(), one.end)).collect();
        let resigned = LeadershipEnd::Lost(LostReason::Resigned);
        assert!(
            rows.ends_with(&[("c", Some(resigned)), ("b", None)]),
            "{rows:?}"
        );
    });
}

#[test]
fn metrics_are_what_the_application_renders() {
    play(async {
        let [c, _b, _a] = trio().await;
        let plain = routes(Operated::new(&c));
        assert_eq!(get(&plain, "/metrics").await.status, 404);
        let leads = c.clone();
        let render = move || format!("bully_is_leader {}\n", u8::from(leads.is_leader()));
        let told = get(&plain.metrics(render), "/metrics").await;
        assert_eq!((told.status, &*told.text), (200, "bully_is_leader 1\n"));
        assert_eq!(told.header("cache-control"), "no-store");
        assert!(
            told.header("content-type")
                .starts_with("text/plain; version=0.0.4")
        );
    });
}

#[test]
fn a_route_is_asked_by_its_own_methods() {
    play(async {
        let [c, _b, _a] = trio().await;
        let node = routes(Operated::new(&c));
        settle().await;
        for path in [
            "/leader",
            "/health",
            "/health/live",
            "/health/ready",
            "/status",
            "/history",
        ] {
            let request = |method| {
                TestRequest::default()
                    .method(method)
                    .uri(&format!("/bully{path}"))
            };
            let told = ask(&node, request(Method::HEAD)).await;
            assert_eq!(told.status, 200, "{path}");
            let told = ask(&node, request(Method::DELETE)).await;
            assert_eq!(told.status, 405, "{path}");
        }
    });
}
