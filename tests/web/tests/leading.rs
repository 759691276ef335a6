//! Routes that only the leader answers: the answer of each agent, and the guard of each request.

use std::{cell::Cell, rc::Rc, time::Duration};

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, LeaderGuard},
    register::MemoryRegister,
    testkit::{Inject, VirtualClock},
    web::{WhileLeading, while_leading},
};
use actix_bully_web_tests::{Told, play, settle, trio};
use actix_web::{
    App, HttpResponse,
    test::{TestRequest, call_service, init_service},
    web,
};

/// Sends a request to a route that only a leader answers. The handler answers with the token and the fence of its
/// guard.
async fn ask(leading: &WhileLeading, uri: &str) -> Told {
    let work = |leader: web::ReqData<LeaderGuard>| async move {
        let fence = leader.fence().map(|fence| fence.number());
        HttpResponse::Ok().body(format!(
            "{} {fence:?} {}",
            leader.token(),
            leader.is_leader()
        ))
    };
    let route = web::resource("/orders").wrap(leading.clone());
    let app = App::new().service(route.route(web::post().to(work)));
    let service = init_service(app).await;
    let request = TestRequest::post().uri(uri).to_request();
    let response = call_service(&service, request).await;
    Told::of(response.map_into_boxed_body()).await
}

#[test]
fn the_leader_answers_with_its_guard_and_the_others_say_when_to_ask_again() {
    play(async {
        let [c, b, _a] = trio().await;
        let told = ask(&while_leading(&c), "/orders").await;
        let term = c.current().term;
        assert_eq!(
            (told.status, told.text),
            (200, format!("{term}@c.1 None true"))
        );
        let told = ask(&while_leading(&b), "/orders").await;
        assert_eq!((told.status, told.header("retry-after")), (503, "1"));
        assert_eq!(told.header("cache-control"), "no-store");
        assert_eq!(told.message(), "c leads: ask that agent");
        let redirects = while_leading(&b).redirect();
        let told = ask(&redirects, "/orders?x=1").await;
        assert_eq!(told.status, 307);
        assert_eq!(
            told.header("location"),
            "http://c.example/orders?x=1&bully-via=b"
        );
        assert_eq!(told.header("cache-control"), "no-store");
        let told = ask(&redirects, "/orders?bully-via=b").await;
        assert_eq!(told.status, 508);
        c.set_about(None).unwrap();
        settle().await;
        let told = ask(&redirects, "/orders").await;
        assert_eq!((told.status, told.header("retry-after")), (503, "1"));
    });
}

async fn leased(register: &MemoryRegister) -> BullyHandle {
    let agent = BullyAgent::builder("a")
        .clock(VirtualClock::new())
        .lease(register.clone());
    let agent = agent
        .drain(Duration::from_millis(500))
        .join(&Group::new("orders").unwrap());
    let agent = agent.start().unwrap();
    agent.wait_for_leader(Duration::from_secs(9)).await.unwrap();
    agent
}

#[test]
fn a_lease_gives_the_handler_its_fence_and_one_that_hands_over_begins_nothing() {
    play(async {
        let agent = leased(&MemoryRegister::new()).await;
        let leading = while_leading(&agent).redirect();
        let told = ask(&leading, "/orders").await;
        let term = agent.current().term;
        assert!(
            told.text.contains(&format!("Some({term}) true")),
            "{told:?}"
        );
        // The leader's work goes on for a while after it was asked to end.
        let (work, ended) = (agent.clone(), Rc::new(Cell::new(false)));
        let end = Rc::clone(&ended);
        actix::spawn(async move {
            let job = work.lead(|guard| {
                let end = Rc::clone(&end);
                async move {
                    guard.stepping_down().await;
                    sleep(Duration::from_millis(300)).await;
                    end.set(true);
                }
            });
            job.await.ok();
        });
        settle().await;
        agent.step_down(None).unwrap();
        settle().await;
        assert!(agent.current().draining && agent.is_leader());
        let told = ask(&leading, "/orders").await;
        assert_eq!(
            (told.status, told.message()),
            (503, "this agent hands over: ask again".into())
        );
        sleep(Duration::from_millis(400)).await;
        assert!(ended.get() && !agent.is_leader());
        let told = ask(&leading, "/orders").await;
        assert_eq!(
            (told.status, told.message()),
            (503, "no agent leads: ask again".into())
        );
    });
}

/// The agent hangs and cannot notice the end of its lease. The guard checks the clock instead.
#[test]
fn an_agent_that_hangs_answers_no_request_after_its_lease() {
    play(async {
        let agent = leased(&MemoryRegister::new()).await;
        let leading = while_leading(&agent);
        agent
            .addr()
            .do_send(Inject::hang(sleep(Duration::from_secs(60))));
        settle().await;
        assert_eq!(
            ask(&leading, "/orders").await.status,
            200,
            "its lease goes on"
        );
        sleep(Duration::from_secs(1)).await;
        let told = ask(&leading, "/orders").await;
        assert_eq!(
            (told.status, told.message()),
            (503, "no agent leads: ask again".into())
        );
    });
}
