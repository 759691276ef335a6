//! The effects of a builder's calls on each other, in any order.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use actix::{Actor, Context, Handler};

use super::IdleSubscriber;
use crate::{
    agent::{BullyAgent, BullyBuilder, any::AnyConfig, bully::settings, choices::Choices},
    clock::{BootClock, WallTime},
    elections::{lease::LeaseConfig, quorum::QuorumConfig},
    group::Group,
    protocol::{AgentId, Preemption, Score, Timings},
    register::MemoryRegister,
    store::MemoryStore,
    supervisor::{RestartPolicy, Supervision},
    testkit::{VirtualWallClock, virtual_system},
};
use bully_register::calls::pairs::setters_of;

type Call = Box<dyn Fn(BullyBuilder) -> BullyBuilder>;

/// A type of settings, with a value that is not the default.
trait Value {
    fn value() -> Self;
}

macro_rules! values {
    ($($type:ty: $value:expr;)*) => { $(
        impl Value for $type {
            fn value() -> Self {
                $value
            }
        }
    )* };
}
values! {
    Timings: Self::lan();
    Preemption: Self::Never;
    Score: Self::from(3);
    Duration: Self::from_millis(7);
    bool: true;
    u8: 3;
    u16: 3;
    u32: 3;
    u64: 3;
    usize: 3;
}

fn value<T: Value>(_setting: &str) -> T {
    T::value()
}

/// Returns every setter by its name, with a value that is not the default.
fn setters() -> BTreeMap<&'static str, Call> {
    let other = Group::new("other").unwrap();
    let mut all = BTreeMap::<&str, Call>::new();
    let mut add = |name, call: fn(BullyBuilder) -> BullyBuilder| {
        all.insert(name, Box::new(call));
    };
    add("score", |it| it.score(7));
    add("about", |it| it.about("http://a"));
    add("ineligible", BullyBuilder::ineligible);
    add("observer", BullyBuilder::observer);
    add("clock", |it| it.clock(BootClock::new().unwrap()));
    add("wall_clock", |it| {
        it.wall_clock(VirtualWallClock::new(OTHER_TIME))
    });
    add("store", |it| it.store(MemoryStore::new()));
    add("store_if_kept", |it| it.store_if_kept(MemoryStore::new()));
    add("seed", |it| it.seed(7));
    add("recovering", BullyBuilder::recovering);
    add("restart_policy", |it| {
        it.restart_policy(RestartPolicy::temporary())
    });
    add("parent", |it| it.parent(IdleSubscriber.start().recipient()));
    add("subscribe", |it| {
        it.subscribe(IdleSubscriber.start().recipient())
    });
    add("quorum", |it| it.quorum(VOTERS));
    add("quorum_config", |it| {
        it.quorum_config(Arc::new(QuorumConfig::new(
            VOTERS.map(|name| AgentId::new(name).unwrap()),
        )))
    });
    add("astra", BullyBuilder::astra);
    macro_rules! add {
        ($(
            $(#[$doc:meta])*
            $setting:ident($($given:ident: $from:ty)?) -> $type:ty { $value:expr } $($mode:ident)* $(, $($key:ident).+)?;
        )*) => { $(
            add(stringify!($setting), |it| it.$setting($(value::<$type>(stringify!($given)))?));
        )* };
    }
    settings!(add);
    all.insert("join", Box::new(move |it| it.join(&other)));
    let (one, same) = (MemoryRegister::new(), MemoryRegister::new());
    all.insert("lease", Box::new(move |it| it.lease(one.clone())));
    let config = Arc::new(LeaseConfig::new("cluster", "base").unwrap());
    all.insert(
        "lease_with",
        Box::new(move |it| it.lease_with(Arc::clone(&config), same.clone())),
    );
    all
}

const MODES: [&str; 6] = [
    "quorum",
    "astra",
    "lease",
    "quorum_config",
    "store",
    "diskless",
];
const VOTERS: [&str; 3] = ["a", "b", "c"];
const OTHER_TIME: WallTime = WallTime::from_millis(7);

impl Handler<Supervision<AgentId>> for IdleSubscriber {
    type Result = ();
    fn handle(&mut self, _: Supervision<AgentId>, _: &mut Context<Self>) {}
}

#[test]
fn each_setter_of_the_source_is_in_the_list() {
    let listed = setters();
    let mut lacking = setters_of(env!("CARGO_MANIFEST_DIR"), "AgentBuilder");
    lacking.retain(|name| !listed.contains_key(name.as_str()));
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// Returns the settings of an agent after these calls, or the reason why it is refused.
fn outcome(calls: &[&Call]) -> Result<String, String> {
    let base = BullyAgent::builder("a").join(&Group::new("base").unwrap());
    let built = calls.iter().fold(base, |builder, call| call(builder));
    let mut settled = built.settle().map_err(|refused| refused.to_string())?;
    // Two agents with different calls may have the same settings, so the calls themselves are left out.
    settled.rest.choices = Choices::default();
    let has_wall = settled.rest.wall.as_ref();
    let has_wall = has_wall.is_some_and(|wall| wall.now() == OTHER_TIME);
    Ok(format!(
        "{} {:?} {:?} {:?} {:?} {:?} {} {}",
        settled.group.name(),
        settled.config,
        settled.requirements,
        settled.score,
        settled.about,
        settled.rest,
        has_wall,
        settled.store.is_some()
    ))
}

#[test]
fn each_pair_of_calls_means_the_same_in_both_orders_or_is_refused_by_both_names() {
    virtual_system().block_on(async {
        let all = setters();
        let spare = &all["store_if_kept"];
        let mut wrong = Vec::new();
        // The calls stand alone, or beside each mode: before, between or after the two calls of a pair.
        for third in MODES.map(Some).into_iter().chain([None]) {
            let mode: Vec<&Call> = third.iter().map(|name| &all[name]).collect();
            let with = |calls: &[&Call]| outcome(&[&[spare], &*mode, calls].concat());
            let (alone, mut single) = (with(&[]), BTreeMap::new());
            for (name, call) in &all {
                let built = with(&[call]);
                // The mode and `store_if_kept` are in every combination.
                let is_there = third == Some(*name) || *name == "store_if_kept";
                if built.is_ok() && built == alone && !is_there {
                    wrong.push(format!("{third:?}: {name} has no effect"));
                }
                single.insert(*name, built);
            }
            for (first, one) in &all {
                for (second, two) in all.iter().filter(|(second, _)| *second > first) {
                    let both = with(&[one, two]);
                    assert_eq!(with(&[two, one]), both, "{third:?}: {second}, {first}");
                    for around in [
                        vec![spare, one, two],
                        vec![one, two, spare],
                        vec![one, spare, two],
                    ] {
                        let split = around.iter().position(|call| std::ptr::eq(*call, spare));
                        let (before, behind) = around.split_at(split.unwrap_or_default());
                        let calls = [before, &*mode, behind].concat();
                        assert_eq!(outcome(&calls), both, "{third:?} among {first}, {second}");
                    }
                    let (left, right) = (&single[first], &single[second]);
                    match &both {
                        Err(said) if left.is_ok() && right.is_ok() => {
                            for name in [first, second] {
                                let names = [format!("{name}("), format!("`{name}`")];
                                let is_named = names.iter().any(|name| said.contains(name));
                                // The error is about the list of voters, and may contain other names.
                                let is_listed = said.contains("observer and in the list of voters");
                                if !is_named && !is_listed {
                                    wrong.push(format!("{third:?} {first} {second}: {said}"));
                                }
                            }
                        }
                        Err(_) => {}
                        Ok(_) => {
                            for (lost, name, rest) in [(left, first, right), (right, second, left)]
                            {
                                if both == *rest && *lost != alone {
                                    wrong.push(format!(
                                        "{third:?} {first} {second}: {name} is lost"
                                    ));
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

#[test]
fn voters_that_are_named_again_keep_all_other_settings() {
    let config = |builder: BullyBuilder| {
        let builder = builder
            .store(MemoryStore::new())
            .join(&Group::new("demo").unwrap());
        builder.settle().map(|settled| settled.config)
    };
    let builder = || BullyAgent::builder("a");
    let again = builder().quorum(["a"]).timings(Timings::lan()).epoch(7);
    let again = config(again.margin(3).quorum(["a", "b"]));
    let once = config(
        builder()
            .margin(3)
            .epoch(7)
            .timings(Timings::lan())
            .quorum(["a", "b"]),
    );
    let margin = Some(Score::from(3));
    assert!(
        matches!(&once, Ok(AnyConfig::Quorum(config)) if config.margin == margin && config.epoch == 7)
    );
    assert_eq!(again.unwrap(), once.unwrap());
}

#[test]
fn a_configuration_that_is_given_whole_takes_no_other_mode() {
    let given = BullyAgent::with_config("a", AnyConfig::default());
    let refused = given
        .join(&Group::new("demo").unwrap())
        .quorum(VOTERS)
        .settle();
    let said = refused
        .err()
        .map(|refused| refused.to_string())
        .unwrap_or_default();
    assert!(
        said.contains("with_config(") && said.contains("quorum("),
        "{said}"
    );
}
