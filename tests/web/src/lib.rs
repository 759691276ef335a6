//! Scenes for the tests of the routes: agents in virtual time, and a service that answers without a socket.
#![expect(
    clippy::missing_panics_doc,
    reason = "a scene that cannot be set fails the test"
)]

use std::time::Duration;

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::bully::Preemption,
    testkit::virtual_system,
    web::Routes,
};
use actix_web::{
    App,
    http::Method,
    test::{TestRequest, call_service, init_service},
    web,
};
#[path = "../../support/told.rs"]
mod told;

pub use told::Told;

/// Token of every node in these tests.
pub const TOKEN: &str = "0123456789abcdef0123";

/// Runs a test in virtual time, for one hour of it at most.
pub fn play(test: impl Future<Output = ()>) {
    virtual_system().block_on(async {
        let ended = clock::timeout(Duration::from_secs(3_600), test).await;
        assert!(ended.is_ok(), "the test hangs");
    });
}

/// Waits for a millisecond of virtual time, in which every actor handles its messages.
pub async fn settle() {
    clock::sleep(Duration::from_millis(1)).await;
}

/// Starts three agents, and waits until `c` leads.
pub async fn trio() -> [BullyHandle; 3] {
    let group = Group::new("orders").expect("a name");
    let agents = [("c", 3), ("b", 2), ("a", 1)].map(|(name, score)| {
        let agent = BullyAgent::builder(name).score(score);
        let agent = agent.about(format!("http://{name}.example"));
        let agent = agent.preemption(Preemption::Never).join(&group);
        agent.start().expect("it starts")
    });
    settle().await;
    assert!(agents[0].is_leader());
    agents
}

/// Sends a request to the routes, which are mounted below `/bully`.
pub async fn ask(routes: &Routes, request: TestRequest) -> Told {
    let scope = web::scope("/bully").configure(|app| routes.configure(app));
    let service = init_service(App::new().service(scope)).await;
    let response = call_service(&service, request.to_request()).await;
    let told = Told::of(response.map_into_boxed_body()).await;
    assert_ne!(told.status, 500, "{told:?}");
    told
}

/// Gets a route.
pub async fn get(routes: &Routes, path: &str) -> Told {
    ask(routes, TestRequest::get().uri(&format!("/bully{path}"))).await
}

/// Posts a command. `authorization` is the header of this name, if any.
pub async fn post(routes: &Routes, authorization: Option<&str>, body: &str) -> Told {
    post_to(routes, "/commands", authorization, body).await
}

/// Posts a body to any route.
pub async fn post_to(routes: &Routes, path: &str, authorization: Option<&str>, body: &str) -> Told {
    let request = TestRequest::default()
        .method(Method::POST)
        .uri(&format!("/bully{path}"))
        .set_payload(body.to_owned());
    let request = match authorization {
        Some(value) => request.insert_header(("Authorization", value)),
        None => request,
    };
    ask(routes, request).await
}

/// Posts a command with the right token.
pub async fn command(routes: &Routes, body: &str) -> Told {
    post(routes, Some(&format!("Bearer {TOKEN}")), body).await
}
