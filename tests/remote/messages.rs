//! What applications of several hosts say to each other: it crosses with the group, in one call.

use std::sync::{Arc, Mutex};

use actix::{Actor, Context, Handler, clock::sleep};
use actix_bully::{
    group::Envelope,
    leader::{Messages, SendError},
    remote::{MayBe, Peer, Rights},
};
use serde::{Deserialize, Serialize};

use super::kit::{Host, MS, address, builder, pair, scene, until};

type Heard = Arc<Mutex<Vec<String>>>;

struct Listener(Heard);

impl Actor for Listener {
    type Context = Context<Self>;
}

#[derive(Serialize, Deserialize)]
struct Text(String);

impl Handler<Envelope<Text>> for Listener {
    type Result = ();
    fn handle(&mut self, said: Envelope<Text>, _: &mut Context<Self>) {
        let mut heard = self.0.lock().unwrap();
        heard.push(format!("{}: {}", said.from, said.message.0));
    }
}

fn take(heard: &Heard) -> Vec<String> {
    std::mem::take(&mut *heard.lock().unwrap())
}

#[test]
fn a_registered_type_crosses_with_its_group() {
    scene(async |pipes, _| {
        let [mut a, mut b] = pair(pipes, |bridge| bridge);
        let (a1, b1) = (a.agent("a1", 1), b.agent("b1", 2));
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        let at_b = Messages::of(&b1).unwrap();
        at_b.register::<Text>("text", listener.recipient()).unwrap();
        let texts = Messages::of(&a1).unwrap().channel::<Text>("text").unwrap();
        let said = |text: &str| texts.send_to(b1.id(), &Text(text.to_owned()));
        until("b1 is known", || said("hello").is_ok()).await;
        for text in ["one", "two"] {
            said(text).unwrap();
        }
        assert_eq!(texts.send_to_all(&Text("all".to_owned())).unwrap(), 1);
        sleep(MS(5)).await;
        let heard_now = take(&heard);
        assert_eq!(heard_now, ["a1: hello", "a1: one", "a1: two", "a1: all"]);
        assert_eq!(a.bridge.peers()[0].agents, 1, "each agent counts once");
        // Over the next link as well.
        pipes.cut("a", "b");
        said("after").unwrap();
        sleep(MS(1_000)).await;
        assert_eq!(take(&heard), ["a1: after"]);
        b.stop().await;
        until("b1 leads no more", || a.follows("a1")).await;
        assert!(said("lost").is_ok() || matches!(said("x"), Err(SendError::NoMember { .. })));
    });
}

#[test]
fn a_peer_sends_for_the_agents_that_its_rights_name_and_for_no_others() {
    scene(async |pipes, _| {
        let grant = Rights::none().grant("g", "a1", MayBe::Voter);
        let mut a = Host::start(pipes, "a", &["b"]);
        let mut b = Host::with(|group| {
            let peer = Peer::new("a", &address("a")).allow(grant);
            builder(pipes, "b", &[]).peer(peer).carry(group)
        });
        let b1 = b.agent("b1", 2);
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        let at_b = Messages::of(&b1).unwrap();
        at_b.register::<Text>("text", listener.recipient()).unwrap();
        let a1 = a.agent("a1", 1);
        a1.withdraw_score().unwrap();
        let texts = Messages::of(&a1).unwrap().channel::<Text>("text").unwrap();
        let said = || texts.send_to(b1.id(), &Text("x".to_owned())).is_ok();
        until("it crosses", || said() && !take(&heard).is_empty()).await;
        take(&heard);
        // An agent that the rights do not name ends the link as soon as it is announced.
        let a2 = a.agent("a2", 0);
        let others = Messages::of(&a2).unwrap().channel::<Text>("text").unwrap();
        sleep(MS(2_000)).await;
        others.send_to(b1.id(), &Text("y".to_owned())).ok();
        sleep(MS(2_000)).await;
        assert!(!take(&heard).iter().any(|said| said.starts_with("a2")));
    });
}
