//! The actions on agents.

use super::{MS, id, inputs, settled, three, voter};
use crate::faults::Conditions;
use bully_core::protocol::{Incarnation, Time, VoterChange};

#[test]
fn an_agent_that_hangs_handles_its_inputs_when_it_continues() {
    let mut world = settled();
    assert!(world.pause("a") && !world.pause("a"));
    let before = inputs(&world, "a").len();
    world.run_for(MS(35));
    assert_eq!(inputs(&world, "a").len(), before);
    assert!(world.resume("a") && !world.resume("a"));
    world.run_for(MS(0));
    assert_eq!(inputs(&world, "a").len(), before + 3, "three beats");
    let last = world.machine("a").unwrap().inputs.last().unwrap().1;
    assert_eq!(last, Time::from_millis(35));
}

#[test]
fn a_command_after_a_hang_is_handled_after_the_commands_that_waited() {
    let mut world = settled();
    world.pause("a");
    world.set_score("a", None);
    world.step_down("a", None);
    world.resume("a");
    world.set_score("a", Some(7.into()));
    world.campaign("a");
    world.run_for(MS(0));
    world.step_down("a", None);
    let commands = inputs(&world, "a");
    let commands = commands.iter().filter(|input| {
        let by_user = ["SetScore", "Campaign", "StepDown"];
        by_user.iter().any(|name| input.starts_with(name))
    });
    let names: Vec<_> = commands.map(|input| input.get(..8)).collect();
    let expected = ["SetScore", "StepDown", "SetScore", "Campaign", "StepDown"];
    assert_eq!(names, expected.map(|name| name.get(..8)));
}

#[test]
fn a_leader_that_hangs_beats_once_when_it_goes_on() {
    let mut world = settled();
    world.pause("c");
    world.run_for(MS(100));
    assert_eq!(world.believers(), [id("c")]);
    world.resume("c");
    world.run_for(MS(0));
    assert_eq!(inputs(&world, "c"), ["start", "TimedOut('b')"]);
}

#[test]
fn a_command_in_a_wrong_state_changes_nothing() {
    let mut world = settled();
    assert!(!world.crash("x") && !world.restart("c") && !world.resume("c"));
    assert!(!world.reconfigure("x", false) && !world.reconfigure("c", false));
    assert!(world.crash("c") && !world.crash("c") && !world.pause("c"));
    assert!(world.reconfigure("c", false), "it does not run");
    assert!(!world.campaign("c") && !world.set_score("c", None) && !world.step_down("c", None));
    assert!(world.restart("c") && !world.restart("c"));
    assert_eq!(world.incarnation("c"), Some(Incarnation(2)));
    assert!(!world.join(voter("c", 3)), "a member already");
    assert!(world.leave("c") && !world.leave("c") && !world.restart("c"));
    assert!(world.join(voter("c", 3)));
    assert_eq!(world.incarnation("c"), Some(Incarnation(3)));
}

#[test]
fn messages_under_way_to_the_dead_are_not_under_way_for_ever() {
    let mut world = three(1).conditions(Conditions::delayed(MS(5))).build();
    world.run_for(MS(1));
    world.pause("a");
    world.run_for(MS(9));
    assert!(!world.is_calm(), "a has not read it yet");
    world.crash("a");
    assert!(world.is_calm());
}

#[test]
fn a_newcomer_that_ranks_highest_leads() {
    let mut world = settled();
    assert!(world.join(voter("d", 9)));
    assert_eq!(world.settle(MS(50)), Ok(id("d")));
    assert_eq!(world.agents().count(), 4);
    assert!(world.leave("d"));
    assert_eq!(world.settle(MS(50)), Ok(id("c")));
}

#[test]
fn a_change_of_the_voters_is_asked_for_until_it_is_answered_or_the_time_is_over() {
    let mut world = settled();
    for agent in ["a", "c", "c"] {
        let change = VoterChange::Remove(id("b"));
        assert!(world.change_voters(agent, change, MS(10), MS(50)));
        world.run_for(MS(100));
    }
    let is_asked = |input: &&String| input.starts_with("ChangeVoters");
    let asked = ["a", "c"].map(|agent| inputs(&world, agent).iter().filter(is_asked).count());
    assert_eq!(asked, [6, 2], "c leads, and answers each time");
}

#[test]
fn the_networks_verbs_reach_the_network() {
    let mut world = settled();
    world.cut("a", "c");
    world.run_for(MS(10));
    let cut = world.tally().cut;
    world.mend("a", "c");
    world.drop("c", "a", 1000).unwrap();
    world.run_for(MS(10));
    assert!(cut > 0 && world.tally().cut == cut && world.tally().lost > 0);
    world.recover();
    world.set_conditions(Conditions::delayed(MS(2)));
    world.run_for(MS(30));
    assert_eq!(world.last_arrival(), world.now().after(MS(2)));
}
