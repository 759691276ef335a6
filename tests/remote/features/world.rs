//! Three agents of each class of equal offers: in one process, over links, or with only a store in common.

use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder, BullyHandle},
    clock::{WallClock as _, WallTime},
    protocol::Timings,
    register::{
        Entry, MemoryRegister, Register, RegisterKey, RegisterListing, RegisterReading, Removing,
        Swapping,
    },
    remote::transport::Pipes,
    store::{FileStore, MemoryStore},
    testkit::{VirtualClock, VirtualWallClock},
};

use futures::future::join_all;

use crate::kit::{Host, MS, identity, until};

static WORLDS: AtomicU32 = AtomicU32::new(0);
pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
/// The beginning of 2026.
const DAWN: WallTime = WallTime::from_millis(1_767_225_600_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TriedMode {
    Available,
    Astra,
    Quorum,
    Diskless,
    LeaseInMemory,
    LeaseInStore,
}

/// A mode, and whether a bridge carries the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfferClass {
    pub(super) mode: TriedMode,
    pub(super) is_linked: bool,
}

impl fmt::Display for OfferClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let links = if self.is_linked { "linked" } else { "alone" };
        write!(f, "{:?}, {links}", self.mode)
    }
}

/// A store that looks to an agent as if other processes could reach it.
#[derive(Clone, Debug, Default)]
struct SharedStore(MemoryRegister);

impl Register for SharedStore {
    fn name(&self) -> &'static str {
        "a store of many hosts"
    }
    fn read(&self, key: &RegisterKey) -> RegisterReading {
        self.0.read(key)
    }
    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        self.0.swap(key, expected, value)
    }
    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        self.0.list(prefix)
    }
    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        self.0.remove(key, expected)
    }
}

pub(super) struct TrialWorld {
    pub(super) class: OfferClass,
    pub(super) agents: Vec<BullyHandle>,
    groups: Vec<Group>,
    hosts: Vec<Host>,
    folder: tempfile::TempDir,
    memory: MemoryRegister,
    store: SharedStore,
    wall: VirtualWallClock,
}

impl TrialWorld {
    /// Sets three agents, and waits until one of them leads.
    pub(super) async fn set(class: OfferClass) -> Self {
        let mut world = Self {
            class,
            agents: Vec::new(),
            groups: Vec::new(),
            hosts: Vec::new(),
            folder: tempfile::tempdir().unwrap(),
            memory: MemoryRegister::new(),
            store: SharedStore::default(),
            wall: VirtualWallClock::new(DAWN),
        };
        let pipes = Pipes::new();
        // A process cannot have two groups of one name, and several worlds exist at the same time.
        let own_name = format!("g{}", WORLDS.fetch_add(1, Relaxed));
        for name in NAMES {
            let group = match (class.mode, world.groups.first()) {
                _ if class.is_linked => {
                    let peers: Vec<_> = NAMES.into_iter().filter(|peer| *peer != name).collect();
                    let wall = world.wall.clone();
                    let host = Host::with(|group| {
                        let bridge = crate::kit::builder(&pipes, name, &peers);
                        bridge
                            .wall_clock(move || wall.now().as_millis())
                            .carry(group)
                    });
                    let group = host.group.clone();
                    world.hosts.push(host);
                    group
                }
                // A group of its own stands for another process.
                (TriedMode::LeaseInStore, _) | (_, None) => Group::new(&own_name).unwrap(),
                (_, Some(group)) => group.clone(),
            };
            world.groups.push(group);
        }
        for name in NAMES {
            let agent = world.builder(name).start().unwrap();
            world.agents.push(agent);
        }
        actix::clock::sleep(MS(500)).await; // until they are linked
        if class.mode == TriedMode::Astra {
            world.agents[0].campaign().unwrap();
        }
        until(&format!("{class}: a leader"), || {
            world.agents.iter().all(|agent| agent.leader().is_some()) && world.leaders() == 1
        })
        .await;
        // An agent reads which other agents exist a second after its start, and then every 30 s.
        actix::clock::sleep(MS(2_000)).await;
        world
    }

    /// Ends all agents and bridges. Otherwise the heartbeats of this world would slow down each later trial.
    pub(super) async fn end(&self) {
        let leaving = self.agents.iter().map(|agent| agent.leave(MS(1)));
        join_all(leaving).await;
        for host in &self.hosts {
            host.bridge.stop();
        }
    }

    fn leaders(&self) -> usize {
        self.agents.iter().filter(|agent| agent.is_leader()).count()
    }

    pub(super) fn builder(&self, name: &str) -> BullyBuilder {
        let at = NAMES.iter().position(|of| *of == name).unwrap();
        let builder = BullyAgent::builder(name)
            .score(i64::try_from(at).unwrap())
            .clock(VirtualClock::new())
            .wall_clock(self.wall.clone())
            .about(format!("http://{name}:8080"))
            .join(&self.groups[at]);
        self.mode(builder, name)
    }

    fn mode(&self, builder: BullyBuilder, name: &str) -> BullyBuilder {
        let timings = Timings::default();
        match self.class.mode {
            TriedMode::Available => builder.timings(timings),
            TriedMode::Astra => builder.astra().timings(timings),
            TriedMode::Quorum => self.kept(builder.quorum(NAMES).timings(timings), name),
            TriedMode::Diskless => builder.quorum(NAMES).diskless().timings(timings),
            TriedMode::LeaseInMemory => builder.lease(self.memory.clone()).timings(timings),
            TriedMode::LeaseInStore => builder.lease(self.store.clone()).timings(timings),
        }
    }

    fn kept(&self, builder: BullyBuilder, name: &str) -> BullyBuilder {
        let path = self.folder.path().join(name);
        // The trials never start a second builder of the same name.
        if self.class.is_linked && !path.exists() {
            builder.store(FileStore::create(path, identity(name)).unwrap())
        } else {
            builder.store(MemoryStore::new())
        }
    }

    /// Starts the schedules of each agent, by the wall clock of this world.
    pub(super) fn begin_schedules(&self) {
        for agent in &self.agents {
            let schedules = agent.schedules().clock(self.wall.clone());
            if self.class.mode == TriedMode::Quorum && self.class.is_linked {
                let path = self.folder.path().join(format!("{}-schedules", agent.id()));
                let store = FileStore::create(path, identity(agent.id().as_str())).unwrap();
                schedules.store(store).start().ok();
            } else {
                schedules.start().ok();
            }
        }
    }

    pub(super) fn due_in(&self, span: Duration) -> WallTime {
        let millis = self.wall.now().as_millis();
        WallTime::from_millis(millis + u64::try_from(span.as_millis()).unwrap())
    }

    pub(super) fn leader(&self) -> &BullyHandle {
        self.agents.iter().find(|agent| agent.is_leader()).unwrap()
    }

    /// Returns the follower with the highest rank.
    pub(super) fn follower(&self) -> &BullyHandle {
        let mut others = self.agents.iter().rev();
        others.find(|agent| !agent.is_leader()).unwrap()
    }
}
