//! The routes of a node in each class of equal offers, requested over a socket as a load balancer does.
//!
//! The features that are not routes are tested in `tests/remote/features`, in the same worlds.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a scene that cannot be set fails the test"
)]

#[expect(dead_code, reason = "the tests of the bridge use the rest")]
#[path = "../../remote/kit.rs"]
mod kit;
#[expect(dead_code, reason = "the trials of the other features use the rest")]
#[path = "../../remote/features/world.rs"]
mod world;

mod common {
    pub(crate) use actix_bully::testkit::virtual_system;
}

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use actix_bully::{operate::Operated, web::routes};
use actix_web::{App, HttpServer, dev::ServerHandle, rt::System, web};
use serde_json::Value;

use world::{NAMES, OfferClass, TrialWorld};

/// The nodes of a world on a server in real time. The routes of each node are mounted below its name.
struct Served {
    address: SocketAddr,
    handle: ServerHandle,
}

impl Served {
    fn of(world: &TrialWorld) -> Self {
        let nodes: Vec<_> = world.agents.iter().map(Operated::new).collect();
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            System::new().block_on(async {
                let app = move || {
                    let nodes = NAMES.iter().zip(&nodes);
                    nodes.fold(App::new(), |app, (name, node)| {
                        let routes = routes(node.clone());
                        app.service(web::scope(name).configure(|app| routes.configure(app)))
                    })
                };
                let server = HttpServer::new(app).workers(1).disable_signals();
                let server = server.bind(("127.0.0.1", 0)).unwrap();
                let address = server.addrs()[0];
                let server = server.run();
                let handle = server.handle();
                tell.send(Self { address, handle }).unwrap();
                server.await.unwrap();
            });
        });
        told.recv().unwrap()
    }

    /// Gets a route of a node. The virtual clock stands still meanwhile.
    async fn get(&self, name: &str, path: &str) -> (u16, Value) {
        let address = self.address;
        let asked = format!("GET /{name}{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            let patience = Some(Duration::from_secs(20));
            stream.set_read_timeout(patience).unwrap();
            stream.write_all(asked.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        let answer = answer.await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }
}

async fn try_routes(class: OfferClass) {
    let world = TrialWorld::set(class).await;
    let served = Served::of(&world);
    let leader = world.leader().id().clone();
    for name in NAMES {
        let (status, told) = served.get(name, "/leader").await;
        let is_here = leader.as_str() == name;
        assert_eq!(status, 200, "{class}: {told}");
        assert_eq!(told["leader"]["id"], leader.as_str(), "{class}: {told}");
        assert_eq!(told["here"], is_here, "{class}: {told}");
        let (status, told) = served.get(name, "/health").await;
        assert_eq!(
            (status, &told["healthy"]),
            (200, &true.into()),
            "{class}: {told}"
        );
        let led = &told["agents"][0]["diagnosis"]["leader"]["id"];
        assert_eq!(led, leader.as_str(), "{class}: {told}");
        for (path, key) in [("/health/live", "live"), ("/health/ready", "ready")] {
            let (status, told) = served.get(name, path).await;
            assert_eq!((status, &told[key]), (200, &true.into()), "{class}: {told}");
        }
        let (status, told) = served.get(name, "/status").await;
        assert_eq!(status, 200, "{class}: {told}");
        let known = &told["agents"][0]["leader"]["id"];
        assert_eq!(known, leader.as_str(), "{class}: {told}");
    }
    // No agent may lead. The load balancer gets an error, and restarts no node.
    for agent in &world.agents {
        agent.withdraw_score().unwrap();
    }
    actix::clock::sleep(Duration::from_secs(20)).await;
    for name in NAMES {
        let (status, told) = served.get(name, "/leader").await;
        assert_eq!((status, &told["leader"]), (503, &Value::Null), "{class}");
        let (status, told) = served.get(name, "/health").await;
        assert_eq!(
            (status, &told["healthy"]),
            (503, &false.into()),
            "{class}: {told}"
        );
        for path in ["/health/live", "/health/ready"] {
            let (status, told) = served.get(name, path).await;
            assert_eq!(status, 200, "{class}, {path}: {told}");
        }
    }
    served.handle.stop(false).await;
}

#[test]
fn each_class_of_mode_tells_its_leader_and_its_health_by_http() {
    for class in OfferClass::all() {
        kit::play(try_routes(class));
    }
}
