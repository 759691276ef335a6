//! The end of a server: its node hands over and leaves before the server ends, by the one line in the documentation.

use std::time::Duration;

use actix::{System, clock::timeout};
use actix_bully::{agent::Lifecycle, config::Config, leader::leave_on_signals};
use actix_web::{App, HttpServer};
use rustix::process::{Signal, getpid, kill_process};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_server_ends_after_its_node_has_left() {
    System::new().block_on(async {
        let node = |name: &str| Config::new(name, name).start().unwrap();
        let (one, other) = (node("one"), node("other"));
        for running in [&one, &other] {
            running.agent().wait_for_leader(SOON).await.unwrap();
        }
        // The first future belongs to a node, and the second one to an agent without a node.
        let (leave, also) = (
            one.leave_on_signals(SOON),
            leave_on_signals(other.agent(), SOON),
        );
        let server = |leave: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| {
            let server = HttpServer::new(App::new).workers(1).shutdown_signal(leave);
            server.bind(("127.0.0.1", 0)).unwrap().run()
        };
        let first = server(Box::pin(async move {
            leave.await.ok();
        }));
        let second = server(Box::pin(async move {
            also.await.ok();
        }));
        let ended = actix_web::rt::spawn(async { (first.await, second.await) });
        kill_process(getpid(), Signal::TERM).unwrap();
        let (first, second) = timeout(SOON, ended).await.unwrap().unwrap();
        first.unwrap();
        second.unwrap();
        for running in [one, other] {
            assert_eq!(running.agent().current().lifecycle, Lifecycle::Ended);
        }
    });
}
