//! Histories with a second process of the same name, and with replaced stores. Each history has one leader at a time.

use std::time::Duration;

use actix_bully::testkit::faults::Conditions;
use bully_sim::sim::StoreContents;

use crate::quorum::kit::{Group, Net, P, id, ms};

/// Returns a group of three voters that `c` leads.
pub(crate) fn led() -> Net {
    let net = Group::of(3).led(1);
    net.watch().doubts_memory();
    net
}

/// Starts the leader's service a second time, with a new store. Only the second process gets the messages to its name.
pub(crate) fn second_with_a_new_store(net: &mut Net) {
    net.world.isolate("c");
    assert!(net.world.begin_second("c", StoreContents::New));
    net.world.run_for(ms(400));
}

/// Starts the leader's service a second time, with a copy of its disk. Both processes get all messages. The second
/// process asks questions when it starts, but they are lost, so no other agent knows of it before it asks for votes.
pub(crate) fn second_with_a_copy(net: &mut Net) {
    net.world.ignore("recall");
    assert!(net.world.begin_second("c", StoreContents::Copied));
    net.world.run_for(ms(400));
}

/// Kills the second process beside its sentinel, while the leader is cut off.
pub(crate) fn end_of_a_copy(net: &mut Net) {
    net.world.isolate("c");
    assert!(net.world.begin_second("c", StoreContents::Copied));
    assert!(net.world.end_second("c", true));
    net.world.run_for(ms(300));
}

/// Cuts `b` off until no promise binds it and it knows no store. Then `a`, which supports the leader, returns with a
/// new store and reaches only `b`.
pub(crate) fn new_store_of_a_supporter(net: &mut Net) {
    net.world.isolate("b");
    net.world.crash("b");
    net.world.restart("b");
    net.world.run_for(ms(2 * P + 50));
    lose_store(net, "a");
    net.world.heal();
    net.world.isolate("c");
    net.world.run_for(ms(300));
}

/// `c` once named `b` as its successor, and `b` gets this message late. `a` leads meanwhile. `c` returns with a new
/// store, and the claim of `b` is the first message of any election that `c` gets.
pub(crate) fn new_store_hears_a_named_claim_first(net: &mut Net) {
    net.world.ignore("claim"); // no voter votes ahead
    net.world.step_down("c", Some(id("b")));
    net.world.run_for(ms(40));
    let late = Conditions::builder().delay(ms(600)..=ms(600));
    net.world.set_link("c", "b", Some(late.build().unwrap()));
    net.world.run_for(ms(20));
    net.world.recover();
    net.world.isolate("b");
    let leads_again = net
        .world
        .run_until(|world| world.believers() == [id("a")], ms(500));
    assert!(leads_again, "{:?}", net.world);
    let arrives = net.world.last_arrival();
    let spare = arrives.since(net.world.now()).saturating_sub(ms(10));
    assert!(spare > Duration::ZERO, "it is late enough");
    net.world.run_for(spare);
    lose_store(net, "c");
    net.world.heal();
    net.world.isolate("a");
    net.world.ignore("elect");
    net.world.run_for(ms(60));
}

fn lose_store(net: &mut Net, agent: &str) {
    assert!(net.world.crash(agent));
    assert!(net.world.replace_store(agent, StoreContents::New));
    assert!(net.world.restart(agent));
}

type Play = fn(&mut Net);

/// All histories, each with its name.
pub(crate) const ALL: [(&str, Play); 5] = [
    ("a second process with a new store", second_with_a_new_store),
    ("the end of a copy", end_of_a_copy),
    ("a new store of a supporter", new_store_of_a_supporter),
    (
        "a new store hears a named claim first",
        new_store_hears_a_named_claim_first,
    ),
    ("a second process with a copy", second_with_a_copy),
];

#[test]
fn one_leads_whatever_store_a_process_of_a_name_has() {
    for (name, play) in ALL {
        let mut net = led();
        play(&mut net);
        let violation = net.world.violation();
        assert_eq!(violation, None, "{name}");
    }
}
