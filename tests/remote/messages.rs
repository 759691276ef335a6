//! What applications of several hosts say to each other: it crosses with the group, in one call.

use std::sync::{Arc, Mutex};

use actix::{Actor, Context, Handler, clock::sleep};
use actix_bully::{
    group::Envelope,
    leader::{Messages, SendError},
};
use serde::{Deserialize, Serialize};

use super::kit::{MS, pair, scene, until};

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
