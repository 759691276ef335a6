//! A second process of one name, and replaced stores: histories by hand, each with one leader at a
//! time.

use std::time::Duration;

use actix_bully::testkit::faults::Conditions;
use bully_sim::sim::StoreContents;

use crate::quorum::kit::{Group, Net, P, id, ms};

/// Three voters, of which `c` leads.
pub(crate) fn led() -> Net {
    let net = Group::of(3).led(1);
    net.watch().doubts_memory();
    net
}

/// The leader's service is started once more, with a store that was just made; only the second process hears the
/// messages to its name.
pub(crate) fn second_with_a_new_store(net: &mut Net) {
    net.world.isolate("c");
    assert!(net.world.begin_second("c", StoreContents::New));
    net.world.run_for(ms(400));
}

/// The leader's service runs twice, by a copy of its disk, and both hear everything. The second one's questions at its
/// start are lost, so that no other agent knows of it before it asks for votes.
pub(crate) fn second_with_a_copy(net: &mut Net) {
    net.world.ignore("recall");
    assert!(net.world.begin_second("c", StoreContents::Copied));
    net.world.run_for(ms(400));
}

/// The second one is killed beside its sentinel, while the leader is cut off.
pub(crate) fn end_of_a_copy(net: &mut Net) {
    net.world.isolate("c");
    assert!(net.world.begin_second("c", StoreContents::Copied));
    assert!(net.world.end_second("c", true));
    net.world.run_for(ms(300));
}

/// `b` was cut off until no promise bound it, and knows no store. `a`, which supports the leader, comes back
/// with a new one and meets `b` alone.
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

/// `b` was named once by `c`, and hears it late: its claim is the first that `c` hears, with a new store, of any election.
/// `a` leads.
pub(crate) fn new_store_hears_a_named_claim_first(net: &mut Net) {
    net.world.ignore("claim"); // nothing is voted ahead
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

/// Each by its name.
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
