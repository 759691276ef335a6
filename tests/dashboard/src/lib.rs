//! Scenes for the tests of the dashboard: a cluster on a stage, a page that is requested without a socket, and a
//! browser.
#![expect(
    clippy::missing_panics_doc,
    reason = "a scene that cannot be set fails the test"
)]

use std::{
    ops::Deref,
    thread::{self, JoinHandle},
    time::Duration,
};

use actix::System;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    dashboard::{
        Dashboard,
        stage::{Chosen, Stage, Staged},
    },
    record::Recording,
    testkit::{
        cluster::{Cluster, ClusterBuilder},
        faults::Conditions,
        virtual_system,
    },
};
use actix_web::{
    App,
    body::{BoxBody, MessageBody},
    dev::ServiceResponse,
    test::{TestRequest, call_service, init_service},
    web,
};
use bully_core::protocol::Election;
use futures::future::poll_fn;
use serde_json::Value;

pub mod browser;
pub mod hosts;
pub mod rust_test;
pub mod simulated;
#[path = "../../support/told.rs"]
mod told;
pub mod wire;

pub use told::Told;

/// Longest time for which a test waits for one thing.
pub const SOON: Duration = Duration::from_secs(20);

/// Starts two agents of the group: `low`, and `high` with the higher score.
pub fn low_and_high(group: &Group) -> [BullyHandle; 2] {
    [("low", 1), ("high", 2)].map(|(name, score)| {
        let agent = BullyAgent::builder(name).score(score).join(group);
        agent.start().expect("it starts")
    })
}

/// Starts an agent that is alone in its group.
pub fn alone(name: &str) -> BullyHandle {
    let group = Group::new("orders").expect("a group");
    let agent = BullyAgent::builder(name).score(1).join(&group);
    agent.start().expect("it starts")
}

/// Serves a page, and returns its address.
pub fn served(page: &Dashboard) -> String {
    let (address, server) = page.serve(0).expect("a port");
    actix::spawn(server);
    format!("http://{address}/")
}

/// Runs a test in real time, for four times [`SOON`] at most.
pub fn run(test: impl Future<Output = ()>) {
    System::new().block_on(async {
        let ended = actix::clock::timeout(4 * SOON, test).await;
        assert!(ended.is_ok(), "the test hangs");
    });
}

/// Plays a cluster in virtual time on a new thread, and returns its page, which allows all commands. The thread ends
/// with the page.
pub fn stage<E: Election>(
    cluster: impl FnOnce() -> ClusterBuilder<E> + Send + 'static,
) -> (Dashboard, JoinHandle<Option<Chosen>>) {
    played(async move |stage| stage.play(begun(cluster())).await)
}

/// Plays a quorum election with `voters` agents, as [`stage`] does.
pub fn quorum(voters: u32) -> (Dashboard, JoinHandle<Option<Chosen>>) {
    played(async move |stage| {
        let cluster = Cluster::builder().agents(voters).quorum();
        let only = Staged::new("quorum", begun(cluster));
        stage.play_beside(only, None).await
    })
}

/// Plays a bully and a quorum election side by side, as [`stage`] does.
pub fn side_by_side() -> (Dashboard, JoinHandle<Option<Chosen>>) {
    played(async |stage| {
        let first = Staged::new("bully", begun(five()));
        let beside = Staged::new("quorum", begun(five().quorum()));
        stage.play_beside(first, Some(beside)).await
    })
}

/// Plays five agents, and returns their page, which allows no commands.
pub fn watched() -> (Dashboard, JoinHandle<Option<Chosen>>) {
    staged(async |stage| stage.play(begun(five())).await)
}

/// Plays three agents in real time, and adds a viewer who has seen that agent-3 leads.
pub async fn in_real_time() -> (Dashboard, Viewer, JoinHandle<Option<Chosen>>) {
    let (stage, page) = Stage::real_time();
    let page = page.allow_faults();
    let mut stage = stage.elections("bully", ["bully"]);
    let thread = thread::spawn(move || {
        System::new().block_on(async {
            let cluster = Cluster::builder().agents(3).start();
            stage.play(cluster.expect("a cluster")).await
        })
    });
    let mut viewer = Viewer::new(&page).await.expect("a place");
    let is_led = |v: &Viewer| v.moment["agents"].is_array() && v.leaders() == ["agent-3"];
    viewer.until("it leads", is_led).await;
    (page, viewer, thread)
}

fn played(
    play: impl AsyncFnOnce(&mut Stage) -> Option<Chosen> + Send + 'static,
) -> (Dashboard, JoinHandle<Option<Chosen>>) {
    let (page, thread) = staged(play);
    (page.allow_faults(), thread)
}

fn staged(
    play: impl AsyncFnOnce(&mut Stage) -> Option<Chosen> + Send + 'static,
) -> (Dashboard, JoinHandle<Option<Chosen>>) {
    let (stage, page) = Stage::virtual_time();
    let mut stage = stage.elections("bully", ["bully", "quorum"]);
    let thread = thread::spawn(move || virtual_system().block_on(play(&mut stage)));
    (page, thread)
}

fn begun<E: Election>(cluster: ClusterBuilder<E>) -> Cluster<E> {
    let ms = Duration::from_millis;
    let network = Conditions::builder().delay(ms(10)..=ms(30)).build();
    let cluster = cluster.network(network.expect("a network"));
    cluster.start().expect("a cluster")
}

/// Returns a cluster of five agents with the bully election.
pub fn five() -> ClusterBuilder {
    Cluster::builder().agents(5)
}

/// Plays five agents at this speed, and adds a viewer who has seen that agent-5 leads.
pub async fn five_led(speed: u32) -> (Dashboard, Viewer, JoinHandle<Option<Chosen>>) {
    led(stage(five), speed, "agent-5").await
}

/// Sets the speed of a stage, and adds a viewer who has seen that `leader` leads.
pub async fn led(
    (page, thread): (Dashboard, JoinHandle<Option<Chosen>>),
    speed: u32,
    leader: &str,
) -> (Dashboard, Viewer, JoinHandle<Option<Chosen>>) {
    done(&page, &format!(r#"{{"speed":{speed}}}"#)).await;
    let mut viewer = Viewer::new(&page).await.expect("a place");
    viewer.led_by(&[leader]).await;
    (page, viewer, thread)
}

/// Sends a request from this host to a page, which is mounted below `/election`.
pub async fn send(page: &Dashboard, request: TestRequest) -> ServiceResponse<BoxBody> {
    let scope = web::scope("/election").configure(|app| page.configure(app));
    let service = init_service(App::new().service(scope)).await;
    let response = call_service(&service, request.to_request()).await;
    response.map_into_boxed_body()
}

/// Sends a request as [`send`] does, and reads the whole answer.
pub async fn ask(page: &Dashboard, request: TestRequest) -> Told {
    let response = send(page, request).await;
    Told::of(response).await
}

/// Sends a GET request for this path.
pub async fn get(page: &Dashboard, path: &str) -> Told {
    ask(page, TestRequest::get().uri(&format!("/election{path}"))).await
}

/// Returns a request for a command, without a body, with the headers that the page itself sends.
pub fn own_request() -> TestRequest {
    TestRequest::post()
        .uri("/election/commands")
        .peer_addr(([127, 0, 0, 1], 50_000).into())
        .insert_header(("Host", "127.0.0.1:8080"))
        .insert_header(("Origin", "http://127.0.0.1:8080"))
        .insert_header(("X-Bully-Dashboard", "1"))
}

/// Sends a command as the page does, and returns the answer.
pub async fn command(page: &Dashboard, body: &str) -> Told {
    ask(page, own_request().set_payload(body.to_owned())).await
}

/// Sends a command, and asserts that it is carried out.
pub async fn done(page: &Dashboard, body: &str) {
    let told = command(page, body).await;
    assert_eq!(told.status, 200, "{body}: {told:?}");
}

/// Returns the text of the recording that a page saves.
pub async fn saved(page: &Dashboard, query: &str) -> String {
    let told = get(page, &format!("/copies/run.jsonl{query}")).await;
    assert_eq!(told.status, 200, "{query}: {told:?}");
    told.text
}

/// Returns the recording that a page saves.
pub async fn recorded(page: &Dashboard, query: &str) -> Recording {
    let text = saved(page, query).await;
    Recording::read(text.as_bytes()).expect("a recording")
}

/// Asks the page to go on live from the moment `at_ms` of a recording.
pub async fn opened(page: &Dashboard, at_ms: f64, body: impl Into<String>) -> Told {
    let request = own_request().uri(&format!("/election/go_on?at_ms={at_ms}"));
    ask(page, request.set_payload(body.into())).await
}

/// A viewer of a page: it reads events, and keeps the state that they describe. It dereferences to the state of the
/// first election.
#[derive(Debug)]
pub struct Viewer {
    body: BoxBody,
    /// The text that has arrived and was not parsed yet.
    rest: String,
    first: Shown,
    /// The state of the second election, beside the first.
    pub beside: Shown,
}

/// The state of one election on a page.
#[derive(Debug, Default)]
pub struct Shown {
    /// The moment, with all changes since the last snapshot.
    pub moment: Value,
    /// The head of the last snapshot.
    pub head: Value,
    /// All events and elections that the page reported, in their order.
    pub said: Vec<Value>,
}

impl Deref for Viewer {
    type Target = Shown;

    fn deref(&self) -> &Shown {
        &self.first
    }
}

impl Viewer {
    /// Opens the stream of events, and reads the first snapshot.
    ///
    /// # Errors
    /// The status of the answer if it is not 200, for example because the page has too many viewers.
    pub async fn new(page: &Dashboard) -> Result<Self, u16> {
        let response = send(page, TestRequest::get().uri("/election/events")).await;
        if response.status() != 200 {
            return Err(response.status().as_u16());
        }
        let kind = response.headers().get("content-type").expect("a type");
        assert_eq!(kind, "text/event-stream");
        let mut viewer = Self {
            body: response.into_body(),
            rest: String::new(),
            first: Shown::default(),
            beside: Shown::default(),
        };
        viewer.read().await;
        assert!(!viewer.head.is_null(), "a snapshot comes first");
        Ok(viewer)
    }

    /// Pauses the stage, and waits until each shown election stands still.
    pub async fn pause(&mut self, page: &Dashboard) {
        done(page, r#""pause""#).await;
        let stands = |shown: &Shown| shown.moment["clock"]["paused"] == true;
        let all =
            |v: &Self| stands(v) && (v.beside.head["election"].is_null() || stands(&v.beside));
        self.until("it stands", all).await;
    }

    /// Reads events until the condition holds.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let met = actix::clock::timeout(SOON, async {
            while !holds(self) {
                self.read().await;
            }
        });
        let met = met.await.is_ok();
        assert!(met, "{what}: {:#} {:?}", self.moment, self.said.last());
    }

    /// Reads events until exactly these agents lead.
    pub async fn led_by(&mut self, leaders: &[&str]) {
        let what = format!("led by {leaders:?}");
        self.until(&what, |v| v.leaders() == leaders).await;
    }

    async fn read(&mut self) {
        let body = &mut self.body;
        let more = poll_fn(|context| std::pin::Pin::new(&mut *body).poll_next(context)).await;
        let more = more.expect("the stream goes on").expect("a chunk");
        self.rest
            .push_str(std::str::from_utf8(&more).expect("text"));
        while let Some((event, rest)) = self.rest.split_once("\n\n") {
            let (event, rest) = (event.to_owned(), rest.to_owned());
            self.rest = rest;
            self.take(&event);
        }
    }

    fn take(&mut self, event: &str) {
        let Some((name, data)) = event.split_once("\ndata: ") else {
            assert!(event.starts_with(':'), "{event}");
            return;
        };
        let data: Value = serde_json::from_str(data).expect("JSON");
        match name {
            "event: beat" => self.first.moment["at_ms"] = data["at_ms"].clone(),
            "event: snapshot" => self.first.begin(&data),
            "event: change" => self.first.change(&data),
            "event: beside-snapshot" => self.beside.begin(&data),
            "event: beside-change" => self.beside.change(&data),
            other => panic!("{other}"),
        }
    }
}

impl Shown {
    /// Returns an agent of the present moment, or null.
    pub fn agent(&self, name: &str) -> &Value {
        let agents = self.moment["agents"].as_array().expect("agents");
        let found = agents.iter().find(|agent| agent["name"] == name);
        found.unwrap_or(&Value::Null)
    }

    /// Returns the names of the agents that lead.
    pub fn leaders(&self) -> Vec<&str> {
        let agents = self.moment["agents"].as_array().expect("agents");
        let leaders = agents.iter().filter(|agent| agent["leads"] == true);
        leaders.filter_map(|agent| agent["name"].as_str()).collect()
    }

    fn begin(&mut self, snapshot: &Value) {
        self.moment = snapshot["moment"].clone();
        self.head = snapshot["head"].clone();
        for list in ["said", "elections"] {
            let said = snapshot[list].as_array().expect("a list");
            self.said.extend(said.iter().cloned());
        }
    }

    fn change(&mut self, change: &Value) {
        for (key, value) in change.as_object().expect("an object") {
            match key.as_str() {
                "agents" => {
                    for pair in value.as_array().expect("pairs") {
                        let place = pair[0].as_u64().expect("a place");
                        let place = usize::try_from(place).expect("a place");
                        self.moment["agents"][place] = pair[1].clone();
                    }
                }
                "said" => self
                    .said
                    .extend(value.as_array().expect("a list").iter().cloned()),
                _ => self.moment[key] = value.clone(),
            }
        }
    }
}

/// Sends these bytes to a server, and reads the answer until the server closes the connection.
pub async fn talk(address: std::net::SocketAddr, request: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let talk = async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let ended = actix::clock::timeout(SOON, talk).await;
    ended.expect("an answer in time").expect("an answer")
}
