//! Schedules across three hosts in the quorum mode, with what they acknowledge on disk: hosts that are killed and come back.
//!
//! Partitions and all other faults: `tests/simulated_network`.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::clock::sleep;
use actix_bully::{
    agent::BullyHandle,
    clock::WallTime,
    leader::schedule::{Misfire, ScheduleError, ScheduleRecord, Tick},
    remote::transport::Pipes,
    store::{FileStore, StoreIdentity},
    testkit::VirtualWallClock,
};

use super::{
    kit::{Host, MS, id, scene, until},
    voters::{believer, host},
};

const SECOND: Duration = Duration::from_secs(1);
const DAWN: WallTime = WallTime::from_millis(1_767_323_040_000);

/// How often each due time has begun, and how often it was said to be a repetition.
type Begun = Arc<Mutex<BTreeMap<u64, (u32, u32)>>>;

struct Scene<'a> {
    pipes: Pipes,
    folder: &'a Path,
    wall: VirtualWallClock,
    begun: Begun,
    starts: u64,
}

impl<'a> Scene<'a> {
    fn new(folder: &'a Path) -> Self {
        Self {
            pipes: Pipes::new(),
            folder,
            wall: VirtualWallClock::new(DAWN),
            begun: Begun::default(),
            starts: 1_000,
        }
    }

    /// Starts a host, with what it left on disk.
    fn host(&mut self, name: &'static str) -> Host {
        self.starts += 1_000;
        let host = host(&self.pipes, name, self.starts, self.folder);
        let agent = &host.agents[0];
        let schedules = agent.schedules().clock(self.wall.clone());
        schedules.store(store(agent, self.folder)).start().unwrap();
        let begun = Arc::clone(&self.begun);
        let work = move |tick: Tick| {
            let mut begun = begun.lock().unwrap();
            let seconds = tick.due.since(DAWN).as_secs();
            let times = begun.entry(seconds).or_default();
            *times = (times.0 + 1, times.1 + u32::from(tick.is_repeat));
            sleep(MS(100))
        };
        let every = agent.every("job", SECOND).misfire(Misfire::Skip);
        every.start(work).unwrap();
        host
    }

    async fn all(&mut self) -> [Host; 3] {
        let hosts = ["a", "b", "c"].map(|name| self.host(name));
        until("one leads", || believer(&hosts.each_ref()).is_some()).await;
        hosts
    }

    fn begun(&self) -> BTreeMap<u64, (u32, u32)> {
        self.begun.lock().unwrap().clone()
    }
}

fn store(agent: &BullyHandle, folder: &Path) -> FileStore<ScheduleRecord> {
    let path = folder.join(format!("{}.schedules", agent.id()));
    let identity = StoreIdentity {
        cluster: id("test"),
        group: id("g"),
        node: agent.id().clone(),
    };
    let opened = if path.exists() {
        FileStore::open(&path, identity)
    } else {
        FileStore::create(&path, identity)
    };
    opened.unwrap()
}

#[test]
fn hosts_that_were_killed_know_what_they_acknowledged_whatever_their_clocks_say() {
    scene(async |_, folder| {
        let mut scene = Scene::new(folder);
        let hosts = scene.all().await;
        sleep(MS(5_000)).await;
        let before = scene.begun();
        assert!(before.len() >= 4, "{before:?}");
        // All at once, so that what was acknowledged is nowhere but on disk.
        for host in hosts {
            host.stop().await;
        }
        scene.wall.set_ahead(-20_000);
        let hosts = scene.all().await;
        sleep(MS(8_000)).await;
        assert_eq!(scene.begun(), before, "by their clocks it was all to come");
        scene.wall.set_ahead(0);
        sleep(MS(5_000)).await;
        let begun = scene.begun();
        assert!(begun.len() >= before.len() + 4, "{begun:?}");
        assert!(begun.values().all(|times| *times == (1, 0)), "{begun:?}");
        drop(hosts);
    });
}

#[test]
fn a_voter_of_several_hosts_has_to_store_what_it_acknowledges() {
    scene(async |pipes, folder| {
        let host = host(pipes, "a", 1_000, folder);
        let agent = &host.agents[0];
        let nothing = |_: Tick| async {};
        let refused = agent.every("job", SECOND).start(nothing).unwrap_err();
        assert!(matches!(refused, ScheduleError::VolatileStore), "{refused}");
        // That of another agent is refused as well.
        let path = folder.join("foreign");
        let identity = StoreIdentity {
            cluster: id("test"),
            group: id("g"),
            node: id("b1"),
        };
        let foreign = FileStore::create(&path, identity).unwrap();
        let refused = agent.schedules().store(foreign).start().unwrap_err();
        let is_foreign = matches!(refused, ScheduleError::ForeignStore { .. });
        assert!(is_foreign, "{refused}");
        // Nothing was changed.
        let schedules = agent.schedules().store(store(agent, folder));
        schedules.start().unwrap();
        agent.every("job", SECOND).start(nothing).unwrap();
    });
}
