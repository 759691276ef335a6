//! Messages between the applications of one process.

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use actix::{Actor, Arbiter, Context, Handler};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    group::Envelope,
    leader::{Messages, MessagesError, SendError},
};
use tracing::Level;

use crate::{
    logs::logged,
    stage::{play, settle},
};

/// The received messages, each with its sender.
type Heard = Arc<Mutex<Vec<String>>>;

struct Listener(Heard);

impl Actor for Listener {
    type Context = Context<Self>;
}

/// The listener receives texts and numbers.
impl<T: Display + 'static> Handler<Envelope<T>> for Listener {
    type Result = ();
    fn handle(&mut self, said: Envelope<T>, _: &mut Context<Self>) {
        let mut heard = self.0.lock().unwrap();
        heard.push(format!("{}: {}", said.from, said.message));
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
        m2.register::<String>("text", listener.clone().recipient())
            .unwrap();
        m2.register::<u64>("number", listener.clone().recipient())
            .unwrap();
        m1.register::<String>("text", listener.recipient()).unwrap();
        texts.send_to(two.id(), &"b".to_owned()).unwrap();
        numbers.send_to(two.id(), &7_u64).unwrap();
        texts.send_to(two.id(), &"c".to_owned()).unwrap();
        settle().await;
        assert_eq!(take(&heard), ["a1: b", "a1: 7", "a1: c"]);
        assert_eq!(texts.send_to_all(&"all".to_owned()).unwrap(), 2);
        texts.send_to(one.id(), &"me".to_owned()).unwrap();
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
        let texts = m1.channel::<String>("text").unwrap();
        let to = two.id();
        let none = texts.send_to(to, &String::new()).unwrap_err();
        assert_eq!(none, SendError::NoMember { to: to.clone() });
        let m2 = Messages::of(&two).unwrap();
        let to_texts = || listener.clone().recipient::<Envelope<String>>();
        m2.register("text", to_texts()).unwrap();
        let twice = m2.register("text", to_texts()).unwrap_err();
        assert!(matches!(twice, MessagesError::Taken { .. }), "{twice}");
        let other = m2.register::<u64>("text", listener.clone().recipient());
        assert_eq!(other.unwrap_err(), twice, "two types of one name");
        assert!(matches!(
            m2.register("a text", to_texts()).unwrap_err(),
            MessagesError::Name(_)
        ));
        let (len, max) = (65, 64);
        let long = m2.register(&"x".repeat(len), to_texts()).unwrap_err();
        assert_eq!(long, MessagesError::NameTooLong { len, max });

        let (fits, max) = (Messages::MAX_LEN - 3, Messages::MAX_LEN);
        texts.send_to(to, &"x".repeat(fits)).unwrap();
        let long = texts.send_to(to, &"x".repeat(fits + 1)).unwrap_err();
        assert_eq!(long, SendError::TooLong { len: max + 1, max });
        let maps = m1.channel::<BTreeMap<String, u32>>("text").unwrap();
        let map = BTreeMap::from([("x".to_owned(), 1)]);
        for unsaid in [
            maps.send_to(to, &map).unwrap_err(),
            maps.send_to_all(&map).unwrap_err(),
        ] {
            let is_told = matches!(unsaid, SendError::Unencodable { .. })
                && unsaid.to_string().contains("send a list of pairs");
            assert!(is_told, "{unsaid}");
        }
        // The name belongs to another type than these bytes.
        let wrong = m1.channel::<u64>("text").unwrap();
        wrong.send_to(to, &1_u64).unwrap();
        settle().await;
        assert_eq!(take(&heard).len(), 1);
        assert_eq!(m2.unreadable(), 1);
    });
}

#[test]
fn a_receiver_says_once_which_name_or_type_it_does_not_know() {
    logged(Level::WARN, async |lines| {
        let [one, two] = agents(["a1", "a2"]);
        let [m1, m2] = [&one, &two].map(|agent| Messages::of(agent).unwrap());
        let listener = Listener(Heard::default()).start();
        let recipient = listener.recipient::<Envelope<String>>();
        m2.register("greeting", recipient).unwrap();
        for name in ["greetng", "orders"] {
            let texts = m1.channel::<String>(name).unwrap();
            for _ in 0..3 {
                texts.send_to(two.id(), &"x".to_owned()).unwrap();
            }
        }
        let numbers = m1.channel::<u64>("greeting").unwrap();
        numbers.send_to(two.id(), &1_u64).unwrap();
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
        let texts = Messages::of(&one)
            .unwrap()
            .channel::<String>("text")
            .unwrap();
        let before = Messages::of(&two).unwrap();
        two.leave(Duration::from_secs(1)).await.unwrap();
        assert_eq!(Messages::of(&two).unwrap_err(), MessagesError::Ended);
        // The next agent starts at once, whether the former agent's endpoint has ended or not.
        let two = start("a2");
        let now = Messages::of(&two).unwrap();
        now.register::<String>("text", listener.recipient())
            .unwrap();
        settle().await;
        let ended = before.channel::<String>("text").unwrap_err();
        assert_eq!(ended, MessagesError::Ended);
        texts.send_to(two.id(), &"x".to_owned()).unwrap();
        settle().await;
        assert_eq!(take(&heard), ["a1: x"]);
        one.leave(Duration::from_secs(1)).await.unwrap();
        settle().await;
        let ended = texts.send_to(two.id(), &"y".to_owned());
        assert_eq!(ended.unwrap_err(), SendError::Ended);
    });
}

/// The former agent's endpoint is on a thread that hangs.
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
