//! The calls of a bridge's builder have the same result in any order.

use std::{
    collections::BTreeMap,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    time::SystemTime,
};

use actix::{Actor, Context, Handler};

use super::{BridgeBuilder, BridgeError, Peer, RemoteBridge};
use crate::{
    elections::AnyMessage,
    group::Group,
    remote::{
        Limits, NodeId, NodeIncarnation,
        secret::Secret,
        sentinel::{Sentinel, SentinelDriver, SentinelError, Watched},
        transport::{
            Listener, Pending, Pipes, Securing, Security, StartingBridge, Stream, Transport,
        },
        wire::Versions,
    },
    store::{Incarnations, MemoryStore},
    supervisor::{RestartPolicy, Supervision},
    testkit::virtual_system,
};
use bully_register::calls::pairs::{Outcome, idle_setters, setters_of, wrong_pairs};

type Call = Box<dyn Fn(BridgeBuilder) -> BridgeBuilder>;

/// Returns every setter by its name, with a value that is not the default.
fn setters() -> BTreeMap<&'static str, Call> {
    let mut all = BTreeMap::<&str, Call>::new();
    let mut add = |name, call: fn(BridgeBuilder) -> BridgeBuilder| {
        all.insert(name, Box::new(call));
    };
    add("cluster", |it| it.cluster("shop"));
    add("versions", |it| it.versions(Versions { min: 7, max: 7 }));
    add("listen", |it| it.listen("127.0.0.1:0"));
    add("peer", |it| it.peer(Peer::inbound("b")));
    add("carry", |it| {
        it.carry(&Group::<AnyMessage>::new("demo").unwrap())
    });
    add("limits", |it| {
        it.limits(Limits::builder().frame(100_000).build().unwrap())
    });
    add("transport", |it| it.transport(Pipes::new().host("a")));
    // The setter `tls` does the same, but it needs certificates.
    add("tls", |mut it| {
        it.security = Some(Arc::new(Certified(NodeId::new("a").unwrap())));
        it
    });
    add("credential", |it| it.credential(secret()));
    add("secret", |it| it.secret(secret()));
    add("dangerous_plaintext", BridgeBuilder::dangerous_plaintext);
    add("incarnation", |it| it.incarnation(NodeIncarnation(7)));
    add("remember", |it| it.remember("a/file"));
    add("seed", |it| it.seed(7));
    add("wall_clock", |it| it.wall_clock(|| 7));
    add("restart_policy", |it| {
        it.restart_policy(RestartPolicy::temporary())
    });
    add("parent", |it| it.parent(Parent.start().recipient()));
    add("sentinel", |it| it.sentinel(Sentinel::driven_by(Idle)));
    // All calls share one store, because each store has a number of its own.
    let store: Arc<dyn Incarnations> = Arc::new(MemoryStore::<u64>::new());
    let remember_in: Call = Box::new(move |it| it.remember_in(Arc::clone(&store)));
    all.insert("remember_in", remember_in);
    all
}

fn secret() -> Secret {
    Secret::new("0123456789abcdef").unwrap()
}

#[derive(Debug)]
struct Certified(NodeId);

impl Security for Certified {
    fn fault(&self, _: &io::Error) -> Option<crate::remote::Closed> {
        None
    }

    fn outbound<'a>(&'a self, _: Box<dyn Stream>, _: &'a NodeId) -> Securing<'a> {
        unreachable!("nothing is dialled")
    }

    fn inbound<'a>(&'a self, _: Box<dyn Stream>, _: &'a dyn Fn(&NodeId) -> bool) -> Securing<'a> {
        unreachable!("nothing is heard")
    }

    fn vouches_for(&self) -> &NodeId {
        &self.0
    }

    fn expires_soon(&self) -> Pin<Box<dyn Future<Output = Option<SystemTime>> + '_>> {
        Box::pin(async { None })
    }
}

#[derive(Debug)]
struct Idle;

impl SentinelDriver for Idle {
    fn id(&self) -> u32 {
        1
    }

    fn order(&mut self, _: &Watched) -> Result<(), SentinelError> {
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        false
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        Ok(())
    }
}

struct Parent;

impl Actor for Parent {
    type Context = Context<Self>;
}

impl Handler<Supervision<NodeId>> for Parent {
    type Result = ();
    fn handle(&mut self, _: Supervision<NodeId>, _: &mut Context<Self>) {}
}

fn outcome(calls: &[&dyn Fn(BridgeBuilder) -> BridgeBuilder]) -> Outcome {
    let built = calls
        .iter()
        .fold(RemoteBridge::builder("a"), |it, call| call(it));
    built.check_calls().map_err(|refused| refused.to_string())?;
    Ok(format!("{built:?}"))
}

#[test]
fn each_setter_of_the_source_is_in_the_list() {
    virtual_system().block_on(async {
        let found = setters_of(env!("CARGO_MANIFEST_DIR"), "BridgeBuilder");
        let listed: Vec<_> = setters().keys().map(|name| (*name).to_owned()).collect();
        assert!(found.iter().eq(&listed), "{found:?} {listed:?}");
        assert_eq!(idle_setters(&setters(), outcome), [""; 0]);
    });
}

#[test]
fn each_pair_of_calls_means_the_same_in_both_orders_or_is_refused_by_both_names() {
    virtual_system().block_on(async {
        assert_eq!(wrong_pairs(&setters(), outcome), [""; 0]);
    });
}

/// A transport that refuses to open. It notes the node, the cluster and the address of the bridge, and whether others
/// may read the streams.
#[derive(Debug)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Transport for Asked {
    fn open(&self, bridge: &StartingBridge<'_>) -> io::Result<Option<Box<dyn Listener>>> {
        let StartingBridge {
            node,
            cluster,
            listen,
            may_be_read,
        } = bridge;
        let told = format!("{node} of {cluster} at {listen:?}, {may_be_read}");
        self.0.lock().unwrap().push(told);
        Err(io::Error::other("asked"))
    }

    fn dial<'a>(&'a self, _: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(async { Err(io::Error::other("no way")) })
    }

    fn listen(&self, _: &str) -> io::Result<Box<dyn Listener>> {
        Err(io::Error::other("no way"))
    }

    fn is_loopback(&self, _: &str) -> bool {
        false
    }
}

#[test]
fn a_network_is_told_of_its_bridge_and_whether_others_may_read_the_streams() {
    virtual_system().block_on(async {
        let all = setters();
        for (call, told) in [
            ("cluster", "a of shop at None, false"),
            ("listen", "a of default at Some(\"127.0.0.1:0\"), false"),
            ("secret", "a of default at None, false"),
            ("dangerous_plaintext", "a of default at None, true"),
            ("tls", "a of default at None, true"),
        ] {
            let asked = Arc::default();
            let network = RemoteBridge::builder("a").transport(Asked(Arc::clone(&asked)));
            let refused = all[call](all["carry"](network)).start();
            assert!(matches!(refused, Err(BridgeError::Transport(_))), "{call}");
            assert_eq!(*asked.lock().unwrap(), [told], "{call}");
        }
    });
}
