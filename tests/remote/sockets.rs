//! The same over real sockets, on ports that the system chooses.

use std::time::{Duration, Instant};

use actix::{System, clock::sleep};
use actix_bully::remote::{NodeIncarnation, Peer, RemoteBridge};

use super::kit::{Host, MS};

/// Waits until it holds, in real time.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "sockets know no virtual time")]
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        sleep(MS(2)).await;
    }
}

/// A host in a System of its own, on a thread of its own.
struct Apart {
    port: String,
    end: tokio::sync::oneshot::Sender<How>,
    thread: std::thread::JoinHandle<()>,
}

/// How it ends.
enum How {
    /// As by a signal that is not handled.
    Killed,
    /// Its agent leaves, its bridge says goodbye.
    Politely,
}

fn apart(name: &'static str, incarnation: u64, peer: &'static str, agent: &'static str) -> Apart {
    let (told, port) = std::sync::mpsc::channel();
    let (end, ended) = tokio::sync::oneshot::channel();
    let thread = std::thread::spawn(move || {
        System::new().block_on(async {
            let mut host = Host::with(|group| {
                let bridge = RemoteBridge::builder(name).listen("127.0.0.1:0");
                let bridge = bridge.incarnation(NodeIncarnation(incarnation));
                bridge.peer(Peer::inbound(peer)).carry(group)
            });
            let agent = host.agent(agent, 9);
            let at = host.bridge.local_addr().unwrap().to_string();
            told.send(at).unwrap();
            match ended.await.unwrap() {
                How::Killed => {}
                How::Politely => {
                    agent.leave(MS(5_000)).await.unwrap();
                    host.bridge.drain(MS(5_000)).await.unwrap();
                }
            }
        });
    });
    let port = port.recv().unwrap();
    Apart { port, end, thread }
}

#[test]
fn systems_on_threads_of_their_own_elect_and_survive_each_other() {
    System::new().block_on(async {
        let far = apart("b", 1, "a", "b1");
        let mut a = Host::with(|group| {
            let builder = RemoteBridge::builder("a").peer(Peer::new("b", &far.port));
            builder.carry(group)
        });
        a.agent("a1", 1);
        until("b1 leads", || a.follows("b1")).await;
        assert!(far.end.send(How::Killed).is_ok());
        until("a1 leads", || a.follows("a1")).await;
        far.thread.join().unwrap();
        assert!(a.agents[0].is_leader());

        assert!(a.bridge.remove_peer(&"b".parse().unwrap()));
        let far = apart("b", 2, "a", "b1");
        a.bridge.add_peer(Peer::new("b", &far.port)).unwrap();
        until("b1 leads again", || a.follows("b1")).await;
        assert!(far.end.send(How::Politely).is_ok());
        until("a1 took over", || a.follows("a1")).await;
        far.thread.join().unwrap();
        until("b1 is no member", || a.group.members().len() == 1).await;
    });
}
