//! Schedules across three hosts in the quorum mode, with what they acknowledge on disk: partitions, and hosts that are
//! killed and come back.

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
    voters::{believer, host, others},
};

const SECOND: Duration = Duration::from_secs(1);
const DAWN: WallTime = WallTime::from_millis(1_767_323_040_000);

/// How often each due time has begun, and how often it was said to be a repetition.
type Begun = Arc<Mutex<BTreeMap<u64, (u32, u32)>>>;

struct Scene<'a> {
    pipes: Pipes,
    folder: &'a Path,
    wall: VirtualWallClock,
    misfire: Misfire,
    begun: Begun,
    starts: u64,
}

impl<'a> Scene<'a> {
    fn new(folder: &'a Path, misfire: Misfire) -> Self {
        Self {
            pipes: Pipes::new(),
            folder,
            wall: VirtualWallClock::new(DAWN),
            misfire,
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
        let every = agent.every("job", SECOND).misfire(self.misfire);
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

/// The host of the leader is cut off, several times; what has begun by the end.
fn begun_through_partitions(misfire: Misfire) -> BTreeMap<u64, (u32, u32)> {
    let mut begun = BTreeMap::new();
    scene(async |_, folder| {
        let mut scene = Scene::new(folder, misfire);
        let hosts = scene.all().await;
        for _ in 0..4 {
            sleep(MS(3_300)).await;
            let leader = believer(&hosts.each_ref()).unwrap_or_default();
            let leader = leader.trim_end_matches('1');
            for other in others(leader) {
                scene.pipes.partition(leader, other);
            }
            sleep(MS(9_400)).await;
            assert!(believer(&hosts.each_ref()).is_some(), "the others elect");
            for other in others(leader) {
                scene.pipes.heal(leader, other);
            }
        }
        sleep(MS(15_000)).await;
        begun = scene.begun();
    });
    begun
}

#[test]
fn a_partition_repeats_no_tick() {
    let begun = begun_through_partitions(Misfire::Skip);
    assert!(begun.values().all(|times| *times == (1, 0)), "{begun:?}");
    assert!(begun.len() > 40, "{}", begun.len());
}

#[test]
fn a_partition_loses_no_tick_that_must_not_be_lost() {
    let begun = begun_through_partitions(Misfire::AtLeastOnce);
    let (first, last) = (*begun.keys().next().unwrap(), *begun.keys().last().unwrap());
    assert!(last - first > 60, "{first} to {last}");
    let mut all = first..=last;
    assert!(all.all(|due| begun.contains_key(&due)), "{begun:?}");
    let is_named = |(times, repeats): &(u32, u32)| *times == repeats + 1;
    assert!(begun.values().all(is_named), "{begun:?}");
}

#[test]
fn hosts_that_were_killed_know_what_they_acknowledged_whatever_their_clocks_say() {
    scene(async |_, folder| {
        let mut scene = Scene::new(folder, Misfire::Skip);
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
