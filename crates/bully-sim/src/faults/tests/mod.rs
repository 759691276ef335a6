//! The network's verbs, one test each.

use std::time::Duration;

use super::{Arrivals, Conditions, ConditionsError, Fate, Loss, Network};
use bully_core::protocol::Time;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn perfect() -> Network<char> {
    Network::new(1, Conditions::default())
}

fn lost(network: &mut Network<char>, from: char, to: char) -> Option<Loss> {
    match network.fate(Time::ZERO, &from, &to) {
        Fate::Lost(why) => Some(why),
        Fate::Arrives(_) => None,
    }
}

fn arrivals(network: &mut Network<char>, now: Time) -> Vec<Time> {
    match network.fate(now, &'a', &'b') {
        Fate::Lost(why) => panic!("lost: {why}"),
        Fate::Arrives(at) => at.iter().collect(),
    }
}

#[test]
fn sides_do_not_reach_each_other_and_the_unnamed_form_one_more() {
    let mut network = perfect();
    network.partition([vec!['a', 'b'], vec!['c']]);
    assert_eq!(lost(&mut network, 'a', 'b'), None);
    assert_eq!(lost(&mut network, 'a', 'c'), Some(Loss::Partition));
    assert_eq!(lost(&mut network, 'a', 'x'), Some(Loss::Partition));
    assert_eq!(lost(&mut network, 'x', 'y'), None);
    network.partition([['a', 'c']]);
    assert_eq!(
        lost(&mut network, 'a', 'c'),
        None,
        "the earlier one is over"
    );
    assert_eq!(lost(&mut network, 'b', 'x'), None);
    network.heal();
    assert_eq!(lost(&mut network, 'a', 'x'), None);
}

#[test]
fn a_one_way_cut_leaves_the_way_back() {
    let mut network = perfect();
    network.cut_one_way(&'a', &'b');
    assert_eq!(lost(&mut network, 'a', 'b'), Some(Loss::Cut));
    assert_eq!(lost(&mut network, 'b', 'a'), None);
    network.cut(&'a', &'b');
    assert_eq!(lost(&mut network, 'b', 'a'), Some(Loss::Cut));
    network.mend(&'b', &'a');
    assert!(network.connects(&'a', &'b') && network.connects(&'b', &'a'));
}

#[test]
fn an_isolated_member_reaches_no_other_and_no_other_reaches_it() {
    let mut network = perfect();
    network.isolate(&'a');
    assert_eq!(lost(&mut network, 'a', 'b'), Some(Loss::Isolation));
    assert_eq!(lost(&mut network, 'x', 'a'), Some(Loss::Isolation));
    assert_eq!(lost(&mut network, 'x', 'b'), None);
    assert_eq!(network.tally().separated(), 2);
}

#[test]
fn messages_stay_in_order_unless_they_may_overtake() {
    let jitter = Conditions::builder().delay(MS(1)..=MS(50));
    let run = |conditions| {
        let mut network = Network::new(9, conditions);
        let times: Vec<Time> = (0..500)
            .flat_map(|now| arrivals(&mut network, Time::from_millis(now)))
            .collect();
        (times.is_sorted(), network.tally().reordered > 0)
    };
    assert_eq!(run(jitter.build().unwrap()), (true, false));
    assert_eq!(run(jitter.in_any_order().build().unwrap()), (false, true));
}

#[test]
fn a_shorter_delay_does_not_overtake_what_is_under_way() {
    let mut network = Network::new(1, Conditions::delayed(MS(50)));
    assert_eq!(arrivals(&mut network, Time::ZERO), [Time::from_millis(50)]);
    network.set_conditions(Conditions::default());
    assert_eq!(
        arrivals(&mut network, Time::from_millis(1)),
        [Time::from_millis(50)]
    );
    assert_eq!(
        arrivals(&mut network, Time::from_millis(60)),
        [Time::from_millis(60)]
    );
}

#[test]
fn duplicates_are_bounded_and_shares_are_kept() {
    let all = Conditions::builder().duplication(1000).build().unwrap();
    assert_eq!(
        arrivals(&mut Network::new(1, all), Time::ZERO).len(),
        Arrivals::MOST
    );
    let some = Conditions::builder().loss(300).build().unwrap();
    let mut network = Network::new(4, some);
    let gone = (0..10_000)
        .filter(|_| lost(&mut network, 'a', 'b').is_some())
        .count();
    assert!((2_800..3_200).contains(&gone), "{gone} of 10,000 at 300");
    assert_eq!(network.tally().lost, u64::try_from(gone).unwrap());
}

#[test]
fn slow_messages_are_held_for_longer() {
    let slow = Conditions::builder().slow(1000, MS(100)..=MS(100));
    let slow = slow.build().unwrap();
    let mut network = Network::new(1, slow);
    assert_eq!(arrivals(&mut network, Time::ZERO), [Time::from_millis(100)]);
}

#[test]
fn links_and_kinds_can_be_treated_worse_until_recovery() {
    let mut network = perfect();
    network.drop(&'a', &'b', 1000).unwrap();
    network.set_link(&'b', &'a', Some(Conditions::delayed(MS(7))));
    network.ignore("elected");
    assert_eq!(
        network.drop(&'a', &'b', 1001),
        Err(ConditionsError::Loss { per_mille: 1001 })
    );
    assert_eq!(
        network.to_string(),
        "seed 1; delay 0ns to 0ns, in order; a -> b delay 0ns to 0ns, loss 1000, in order; \
         b -> a delay 7ms to 7ms, in order; ignored elected"
    );
    assert_eq!(lost(&mut network, 'a', 'b'), Some(Loss::Chance));
    let ignored = network.fate_of("elected", Time::ZERO, &'x', &'y');
    assert_eq!(ignored, Fate::Lost(Loss::Ignored));
    network.recover();
    assert_eq!(lost(&mut network, 'a', 'b'), None);
    assert_eq!(network.to_string(), "seed 1; delay 0ns to 0ns, in order");
}
