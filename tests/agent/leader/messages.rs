//! What applications of one process say to each other.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use actix::{Actor, Arbiter, Context, Handler};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    group::{Envelope, GroupError},
    leader::{ChannelError, Messages, MessagesError, SendError},
};
use serde::{Deserialize, Serialize};
use tracing::Level;

use crate::{
    logs::logged,
    stage::{play, settle},
};

/// What was heard, with the sender.
type Heard = Arc<Mutex<Vec<String>>>;

struct Listener(Heard);

impl Actor for Listener {
    type Context = Context<Self>;
}

#[derive(Serialize, Deserialize)]
struct Text(String);

#[derive(Serialize, Deserialize)]
struct Number(u64);

impl Handler<Envelope<Text>> for Listener {
    type Result = ();
    fn handle(&mut self, said: Envelope<Text>, _: &mut Context<Self>) {
        let mut heard = self.0.lock().unwrap();
        heard.push(format!("{}: {}", said.from, said.message.0));
    }
}

impl Handler<Envelope<Number>> for Listener {
    type Result = ();
    fn handle(&mut self, said: Envelope<Number>, _: &mut Context<Self>) {
        let mut heard = self.0.lock().unwrap();
        heard.push(format!("{}: {}", said.from, said.message.0));
    }
}

fn agents<const N: usize>(names: [&str; N]) -> [BullyHandle; N] {
    let group = Group::new("g").unwrap();
    names.map(|name| BullyAgent::builder(name).join(&group).start().unwrap())
}

fn take(heard: &Heard) -> Vec<String> {
    std::mem::take(&mut *heard.lock().unwrap())
}

#[test]
fn each_agent_hears_the_types_that_it_has_registered_in_order() {
    play(async {
        let [one, two, three] = agents(["a1", "a2", "a3"]);
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        let [m1, m2, m3] = [&one, &two, &three].map(|agent| Messages::of(agent).unwrap());
        let (texts, numbers) = (m1.channel("text").unwrap(), m1.channel("number").unwrap());
        m2.register::<Text>("text", listener.clone().recipient())
            .unwrap();
        m2.register::<Number>("number", listener.clone().recipient())
            .unwrap();
        m1.register::<Text>("text", listener.recipient()).unwrap();
        texts.send_to(two.id(), &Text("b".to_owned())).unwrap();
        numbers.send_to(two.id(), &Number(7)).unwrap();
        texts.send_to(two.id(), &Text("c".to_owned())).unwrap();
        settle().await;
        assert_eq!(take(&heard), ["a1: b", "a1: 7", "a1: c"]);
        assert_eq!(texts.send_to_all(&Text("all".to_owned())).unwrap(), 2);
        texts.send_to(one.id(), &Text("me".to_owned())).unwrap();
        settle().await;
        assert_eq!(take(&heard), ["a1: all", "a1: me"]);
        assert_eq!(
            [m1.unreadable(), m2.unreadable(), m3.unreadable()],
            [0, 0, 1]
        );
    });
}

#[test]
fn a_message_that_cannot_be_sent_or_read_is_reported() {
    play(async {
        let [one, two] = agents(["a1", "a2"]);
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        let m1 = Messages::of(&one).unwrap();
        let texts = m1.channel::<Text>("text").unwrap();
        let to = two.id();
        let none = texts.send_to(to, &Text(String::new())).unwrap_err();
        assert_eq!(none, SendError::NoMember { to: to.clone() });
        let m2 = Messages::of(&two).unwrap();
        let to_texts = || listener.clone().recipient::<Envelope<Text>>();
        m2.register("text", to_texts()).unwrap();
        let twice = m2.register("text", to_texts()).unwrap_err();
        assert!(matches!(twice, ChannelError::Taken { .. }), "{twice}");
        let other = m2.register::<Number>("text", listener.clone().recipient());
        assert_eq!(other.unwrap_err(), twice, "two types of one name");
        assert!(matches!(
            m2.register("a text", to_texts()).unwrap_err(),
            ChannelError::Name(_)
        ));
        let (len, max) = (65, 64);
        let long = m2.register(&"x".repeat(len), to_texts()).unwrap_err();
        assert_eq!(long, ChannelError::NameTooLong { len, max });

        let (fits, max) = (Messages::MAX_LEN - 3, Messages::MAX_LEN);
        texts.send_to(to, &Text("x".repeat(fits))).unwrap();
        let long = texts.send_to(to, &Text("x".repeat(fits + 1))).unwrap_err();
        assert_eq!(long, SendError::TooLong { len: max + 1, max });
        // Bytes of another type than the name says.
        let wrong = m1.channel::<Number>("text").unwrap();
        wrong.send_to(to, &Number(1)).unwrap();
        settle().await;
        assert_eq!(take(&heard).len(), 1);
        assert_eq!(m2.unreadable(), 1);
    });
}

#[derive(Serialize, Deserialize)]
struct Mapped(BTreeMap<String, u32>);

impl Handler<Envelope<Mapped>> for Listener {
    type Result = ();
    fn handle(&mut self, said: Envelope<Mapped>, _: &mut Context<Self>) {
        let mut heard = self.0.lock().unwrap();
        heard.push(format!("{}: {}", said.from, said.message.0.len()));
    }
}

#[test]
fn a_map_is_refused_where_it_is_sent() {
    play(async {
        let [one, two] = agents(["a1", "a2"]);
        let [m1, m2] = [&one, &two].map(|agent| Messages::of(agent).unwrap());
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        m2.register::<Mapped>("map", listener.recipient()).unwrap();
        let maps = m1.channel::<Mapped>("map").unwrap();
        let map = Mapped(BTreeMap::from([("x".to_owned(), 1)]));
        for refused in [
            maps.send_to(two.id(), &map).unwrap_err(),
            maps.send_to_all(&map).unwrap_err(),
        ] {
            let is_told = matches!(refused, SendError::Unencodable { .. })
                && refused.to_string().contains("send a list of pairs");
            assert!(is_told, "{refused}");
        }
        settle().await;
        assert_eq!((take(&heard).len(), m2.unreadable()), (0, 0));
    });
}

#[test]
fn a_receiver_says_once_which_name_or_type_it_does_not_know() {
    logged(Level::WARN, async |lines| {
        let [one, two] = agents(["a1", "a2"]);
        let [m1, m2] = [&one, &two].map(|agent| Messages::of(agent).unwrap());
        let listener = Listener(Heard::default()).start();
        let recipient = listener.recipient::<Envelope<Text>>();
        m2.register("greeting", recipient).unwrap();
        for name in ["greetng", "orders"] {
            let texts = m1.channel::<Text>(name).unwrap();
            for _ in 0..3 {
                texts.send_to(two.id(), &Text("x".to_owned())).unwrap();
            }
        }
        let numbers = m1.channel::<Number>("greeting").unwrap();
        numbers.send_to(two.id(), &Number(1)).unwrap();
        settle().await;
        assert_eq!(m2.unreadable(), 7);
        let told = lines.about("messages of this name are dropped");
        let [misspelled, unknown, other] = &told[..] else {
            panic!("one line for each name: {told:?}");
        };
        for (line, parts) in [
            (misspelled, ["similar=\"greeting\"", "is it misspelled?"]),
            (
                unknown,
                ["no type is registered for it", "register it before"],
            ),
            (other, ["not of the type that is registered", "reason="]),
        ] {
            assert!(parts.iter().all(|part| line.contains(part)), "{line}");
            assert!(line.contains("from=a1"), "{line}");
        }
    });
}

#[test]
fn messages_end_with_their_agent_and_begin_with_the_next_one_of_its_name() {
    play(async {
        let group = Group::new("g").unwrap();
        let start = |name: &str| BullyAgent::builder(name).join(&group).start().unwrap();
        let (one, two) = (start("a1"), start("a2"));
        let heard = Heard::default();
        let listener = Listener(Arc::clone(&heard)).start();
        let texts = Messages::of(&one).unwrap().channel::<Text>("text").unwrap();
        let before = Messages::of(&two).unwrap();
        two.leave(Duration::from_secs(1)).await.unwrap();
        assert_eq!(Messages::of(&two).unwrap_err(), MessagesError::Ended);
        // At once, whether the endpoint of before has ended or not.
        let two = start("a2");
        let now = Messages::of(&two).unwrap();
        now.register::<Text>("text", listener.recipient()).unwrap();
        settle().await;
        let ended = before.channel::<Text>("text").unwrap_err();
        assert_eq!(ended, ChannelError::Ended);
        texts.send_to(two.id(), &Text("x".to_owned())).unwrap();
        settle().await;
        assert_eq!(take(&heard), ["a1: x"]);
        one.leave(Duration::from_secs(1)).await.unwrap();
        settle().await;
        let ended = texts.send_to(two.id(), &Text("y".to_owned()));
        assert_eq!(ended.unwrap_err(), SendError::Ended);
    });
}

/// The endpoint of before is on a thread that hangs.
#[test]
fn the_next_agent_of_a_name_does_not_wait_for_the_endpoint_of_the_last_one() {
    play(async {
        let group = Group::new("g").unwrap();
        let start = || BullyAgent::builder("a").join(&group).start().unwrap();
        let (first, elsewhere) = (start(), Arbiter::new());
        let (let_go, waits) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let here = first.clone();
        elsewhere.spawn_fn(move || {
            tell.send(Messages::of(&here).is_ok()).unwrap();
            waits.recv().ok();
        });
        assert!(told.recv().unwrap());
        first.leave(Duration::from_secs(1)).await.unwrap();
        Messages::of(&start()).unwrap();
        drop(let_go);
        elsewhere.stop();
    });
}

#[test]
fn a_group_has_room_for_the_name_of_its_messages() {
    play(async {
        let name = "x".repeat(248);
        let group = Group::new(&name).unwrap();
        let agent = BullyAgent::builder("a").join(&group).start().unwrap();
        let long = Messages::of(&agent).unwrap_err();
        assert_eq!(long, MessagesError::GroupName { group: name.into() });
        let reserved = Group::new("g!messages").unwrap_err();
        assert!(matches!(reserved, GroupError::Reserved { .. }));
    });
}
