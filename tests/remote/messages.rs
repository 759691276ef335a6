//! Messages between the applications of several hosts: they cross with the group, after one call.

use std::sync::{Arc, Mutex};

use actix::{Actor, Context, Handler, clock::sleep};
use actix_bully::{
    group::Envelope,
    leader::{Messages, SendError},
    remote::{MayBe, Peer, Rights},
};

use super::kit::{Host, MS, address, builder, scene, until};

type Heard = Arc<Mutex<Vec<String>>>;

struct Listener(Heard);

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<Envelope<String>> for Listener {
    type Result = ();
    fn handle(&mut self, said: Envelope<String>, _: &mut Context<Self>) {
        let mut heard = self.0.lock().unwrap();
        heard.push(format!("{}: {}", said.from, said.message));
    }
}

fn take(heard: &Heard) -> Vec<String> {
    std::mem::take(&mut *heard.lock().unwrap())
}

/// The rights of the peer for agents of the group also decide about these messages.
#[test]
fn a_registered_type_crosses_with_its_group() {
    scene(async |pipes, _| {
        let mut a = Host::start(pipes, "a", &["b"]);
        let rights = Rights::none().grant("g", "a1", MayBe::Leader);
        let peer = Peer::new("a", &address("a")).allow(rights);
        let mut b = Host::with(|group| builder(pipes, "b", &[]).peer(peer).carry(group));
        let (a1, b1) = (a.agent("a1", 1), b.agent("b1", 2));
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        let at_b = Messages::of(&b1).unwrap();
        at_b.register::<String>("text", listener.recipient())
            .unwrap();
        let texts = Messages::of(&a1)
            .unwrap()
            .channel::<String>("text")
            .unwrap();
        let said = |text: &str| texts.send_to(b1.id(), &text.to_owned());
        until("b1 is known", || said("hello").is_ok()).await;
        for text in ["one", "two"] {
            said(text).unwrap();
        }
        assert_eq!(texts.send_to_all(&"all".to_owned()).unwrap(), 1);
        sleep(MS(5)).await;
        let heard_now = take(&heard);
        assert_eq!(heard_now, ["a1: hello", "a1: one", "a1: two", "a1: all"]);
        assert_eq!(a.bridge.peers()[0].agents, 1, "each agent counts once");
        // Messages cross over the next link as well.
        pipes.cut("a", "b");
        said("after").unwrap();
        sleep(MS(1_000)).await;
        assert_eq!(take(&heard), ["a1: after"]);
        b.stop().await;
        until("b1 leads no more", || a.follows("a1")).await;
        assert!(said("lost").is_ok() || matches!(said("x"), Err(SendError::NoMember { .. })));
    });
}
