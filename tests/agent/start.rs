//! The checks before an agent starts, and the arbiter of the agent.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use actix::{Arbiter, System, clock};
use actix_bully::{
    Group,
    agent::{Agent, BullyAgent, ElectionArbiter, StartError},
    group::{GroupError, Holder, JoinError},
    protocol::{IdError, Timings},
    register::MemoryRegister,
    testkit::VirtualClock,
};

use crate::{
    stage::{MS, Stage, id, play, settle},
    term_store::TestStore,
    toy::{Script, Toy},
};

#[test]
fn a_start_that_is_refused_says_why_and_changes_nothing() {
    play(async {
        let stage = Stage::new();
        assert!(matches!(
            Group::new("a/b"),
            Err(GroupError::Name(IdError::Forbidden { found: '/' }))
        ));
        let group = Group::new("bullies").unwrap();
        let refused = |builder: actix_bully::agent::AgentBuilder<_>| builder.start().unwrap_err();
        let error = refused(BullyAgent::builder("agent 1").join(&group));
        assert!(matches!(
            error,
            StartError::Id(IdError::Forbidden { found: ' ' })
        ));
        assert!(matches!(
            refused(BullyAgent::builder("a")),
            StartError::NotJoined
        ));
        let negative = refused(BullyAgent::builder("a").margin((1, -1)).join(&group));
        assert!(format!("{negative:?}").contains("negative part"));
        let without_store = Agent::<Toy>::with_config("a", Script::default()).join(&stage.group);
        assert!(matches!(without_store.start(), Err(StartError::NoStore)));
        assert!(group.members().is_empty());

        let first = BullyAgent::builder("a").join(&group).start().unwrap();
        let error = refused(BullyAgent::builder("a").join(&group));
        let taken = JoinError::Taken {
            id: id("a"),
            group: id("bullies"),
            holder: Holder::Here,
        };
        assert!(matches!(error, StartError::Join(why) if why == taken));
        assert_eq!(group.members().len(), 1);
        drop(first);
    });
}

#[test]
fn two_groups_of_one_name_that_do_not_know_each_other_are_refused() {
    play(async {
        let [one, other] = ["same"; 2].map(|name| Group::new(name).unwrap());
        let start = |group: &Group, name: &str| BullyAgent::builder(name).join(group).start();
        let first = start(&one, "a").unwrap();
        let refused = start(&other, "b").unwrap_err();
        let is_named = matches!(&refused, StartError::TwoGroups { group } if &**group == "same");
        assert!(is_named, "{refused}");
        let says = "make one group, and give its clones to all agents";
        // Rust prints an error in this form if `main` returns it.
        assert!(format!("{refused:?}").contains(says), "{refused:?}");
        assert!(other.members().is_empty());
        start(&one, "b").unwrap();
        start(&Group::new("another").unwrap(), "a").unwrap();

        // Contenders for a lease meet in its store, so their groups may have one name.
        let store = MemoryRegister::new();
        for name in ["a", "b"] {
            let agent = BullyAgent::builder(name).lease(store.clone());
            let agent = agent.clock(VirtualClock::new());
            agent.join(&Group::new("leased").unwrap()).start().unwrap();
        }
        for agent in [&first, &start(&one, "c").unwrap()] {
            agent.leave(MS(100)).await.unwrap();
        }
    });
}

#[test]
fn a_record_counts_that_was_saved_until_the_store_was_taken_over() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).store(TestStore::taken_over(7));
        let _toy = toy.start().unwrap();
        settle().await;
        let born = stage.inputs.take().swap_remove(0);
        assert!(born.ends_with("Some(7)"), "{born}");
    });
}

#[test]
fn an_agent_whose_arbiter_stops_while_it_is_started_leaves_no_member_behind() {
    System::new().block_on(async {
        let stage = Stage::new();
        let arbiter = Arbiter::new();
        let handle = arbiter.handle();
        let stops = move |_: &_| {
            handle.stop();
            let began = clock::Instant::now();
            while handle.alive() {
                let is_late = began.elapsed() > Duration::from_secs(10);
                assert!(!is_late, "the arbiter goes on");
                std::thread::yield_now();
            }
        };
        let store = TestStore {
            at_begin: Some(Arc::new(stops)),
            ..TestStore::default()
        };
        let toy = Toy::builder("toy", &stage).store(store);
        let refused = toy.start_in_arbiter(&arbiter.handle()).unwrap_err();
        assert!(matches!(refused, StartError::NoArbiter), "{refused:?}");
        assert!(stage.group.members().get(&id("toy")).is_none());
        assert!(
            Toy::builder("toy", &stage).start().is_ok(),
            "the name is free"
        );
    });
}

#[test]
fn an_agent_runs_on_a_local_set_without_a_system() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let group = Group::new("g").unwrap();
    runtime.block_on(async {
        let refused = BullyAgent::builder("a").join(&group).start();
        assert!(matches!(refused, Err(StartError::NoSystem)), "in no task");
        let local = tokio::task::LocalSet::new();
        let elected = local.spawn_local(async move {
            let agent = BullyAgent::builder("a").join(&group).start().unwrap();
            agent.wait_for_leader(MS(10_000)).await.unwrap()
        });
        local.run_until(elected).await.unwrap();
    });
}

#[test]
fn an_agent_needs_a_system_or_an_arbiter_that_runs() {
    let group = Group::new("g").unwrap();
    let refused = BullyAgent::builder("a").join(&group).start();
    assert!(matches!(refused, Err(StartError::NoSystem)));
    assert!(matches!(ElectionArbiter::new(), Err(StartError::NoSystem)));
    System::new().block_on(async {
        let arbiter = ElectionArbiter::new().unwrap();
        let handle = arbiter.handle();
        drop(arbiter); // stops the arbiter, and waits for its end
        let refused = BullyAgent::builder("a")
            .join(&group)
            .start_in_arbiter(&handle);
        assert!(matches!(refused, Err(StartError::NoArbiter)));
    });
    assert!(group.members().is_empty());
}

/// The test uses real time, because virtual time exists on one thread only.
#[test]
fn agents_elect_on_an_arbiter_of_their_own() {
    System::new().block_on(async {
        let group = Group::new("g").unwrap();
        let arbiter = ElectionArbiter::new().unwrap();
        let start = |name| {
            let agent = BullyAgent::builder(name).timings(Timings::in_process());
            agent
                .join(&group)
                .start_in_arbiter(&arbiter.handle())
                .unwrap()
        };
        let agents = ["a", "b", "c"].map(start);
        assert_eq!(group.members().len(), 3, "members at once");
        let minute = Duration::from_secs(60);
        while agents[0].wait_for_leader(minute).await.unwrap().id != id("c") {}
        while !agents[2].is_leader() {
            actix_rt::task::yield_now().await;
        }

        let (sender, receiver) = mpsc::channel();
        arbiter.handle().spawn_fn(move || sender.send(()).unwrap());
        receiver.recv().unwrap();
        drop(arbiter);
        assert!(
            agents.iter().all(|agent| !agent.is_leader()),
            "ended with their arbiter"
        );
    });
}
