//! Agents of several epochs on two hosts, where their rules learn of epochs.

use std::sync::{Arc, Mutex};

use actix::{Actor, Addr, Context, Handler, clock::sleep};
use actix_bully::{
    elections::AnyMessage,
    group::{Envelope, MembersChanged},
    protocol::{AgentId, Incarnation, MemberKind, Term},
    remote::transport::Pipes,
};
use bully_core::{
    elections::bully::Behind,
    protocol::{Electorate, Epochs, Member, Requirements, Rules, To},
};

use super::kit::{Host, MS, are_linked, id, pair, scene, until};

/// A member that writes down the terms that it hears.
#[derive(Clone, Default)]
struct Scribe(Arc<Mutex<Vec<u64>>>);

impl Actor for Scribe {
    type Context = Context<Self>;
}

impl Handler<MembersChanged> for Scribe {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {}
}

impl Handler<Envelope<AnyMessage>> for Scribe {
    type Result = ();
    fn handle(&mut self, envelope: Envelope<AnyMessage>, _: &mut Context<Self>) {
        if let AnyMessage::Behind(Behind { seen: term }) = envelope.message {
            self.0.lock().unwrap().push(term.0);
        }
    }
}

fn of(epoch: u64, voters: &[&str]) -> Requirements {
    let names: Vec<AgentId> = voters.iter().map(|name| id(name)).collect();
    Requirements {
        epoch,
        epochs: Epochs::Learned { term_bits: 40 },
        voters: Some(Electorate::new(&names, 2, 2)),
        names: Some(names.into()),
        ..Requirements::new(Rules::new("lottery"))
    }
}

const THREE: &[&str] = &["a1", "b1", "c1"];
const FOUR: &[&str] = &["a1", "b1", "c1", "d1"];

struct Joined {
    name: AgentId,
    incarnation: Incarnation,
    heard: Scribe,
    _addr: Addr<Scribe>,
}

fn join(host: &Host, name: &str, kind: MemberKind, requirements: &Requirements) -> Joined {
    let name = id(name);
    let incarnation = host.group.reserve(&name, requirements.clone()).unwrap();
    let heard = Scribe::default();
    let addr = heard.clone().start();
    let (inbox, changes) = (addr.clone().recipient(), addr.clone().recipient());
    let member = Member::up(name.clone(), kind, Some(1.into()), incarnation);
    assert!(host.group.join(member, inbox, changes));
    Joined {
        name,
        incarnation,
        heard,
        _addr: addr,
    }
}

impl Joined {
    fn says(&self, host: &Host, epoch: u64, count: u64) {
        let term = Term(epoch << 40 | count);
        let said = Behind { seen: term }.into();
        host.group
            .deliver(&self.name, self.incarnation, &To::All, said);
    }

    async fn hears(&self, epoch: u64, count: u64) {
        let term = epoch << 40 | count;
        let has = || self.heard.0.lock().unwrap().contains(&term);
        until("it is heard", has).await;
    }

    fn goes_to(&self, host: &Host, requirements: &Requirements) {
        let (id, voter) = (&self.name, MemberKind::Voter);
        let requirements = requirements.clone();
        host.group
            .advance(id, self.incarnation, voter, requirements)
            .unwrap();
    }
}

fn knows(host: &Host, name: &str) -> bool {
    host.group.members().get(&id(name)).is_some()
}

async fn two_hosts(pipes: &Pipes) -> [Host; 2] {
    let [a, b] = pair(pipes, |bridge| bridge);
    are_linked(&a, &b).await;
    [a, b]
}

#[test]
fn one_epoch_with_two_lists_is_refused_until_one_of_them_is_told_of_the_next() {
    scene(async |pipes, _| {
        let [a, b] = two_hosts(pipes).await;
        let voter = MemberKind::Voter;
        let a1 = join(&a, "a1", voter, &of(1, THREE));
        let _b1 = join(&b, "b1", voter, &of(1, FOUR));
        sleep(MS(3_000)).await;
        let have_met = knows(&a, "b1") || knows(&b, "a1");
        assert!(!have_met, "one epoch has one list");
        a1.goes_to(&a, &of(2, FOUR));
        until("they meet", || knows(&a, "b1") && knows(&b, "a1")).await;
    });
}

#[test]
fn an_absurd_epoch_is_heard_only_if_a_quorum_names_it() {
    scene(async |pipes, _| {
        let [a, b] = two_hosts(pipes).await;
        let voter = MemberKind::Voter;
        let a1 = join(&a, "a1", voter, &of(0, THREE));
        let b1 = join(&b, "b1", voter, &of(0, THREE));
        let c1 = join(&b, "c1", voter, &of(0, THREE));
        let x1 = join(&b, "x1", voter, &of(0, THREE));
        until("all meet", || {
            ["b1", "c1", "x1"].iter().all(|name| knows(&a, name))
        })
        .await;
        let last = (1 << 24) - 2;
        for liar in [&b1, &x1] {
            liar.says(&b, last, 1);
        }
        let unvouched = || a.bridge.counters().get("unvouched_term").unwrap();
        until("one word is refused", || unvouched() == 2).await;
        b1.says(&b, 0, 9);
        a1.hears(0, 9).await;
        assert!(
            a.is_linked("b"),
            "the numbers of its own epoch are as before"
        );
        assert!(a1.heard.0.lock().unwrap().iter().all(|term| *term == 9));
        c1.says(&b, last, 1);
        a1.hears(last, 1).await;
    });
}

/// Nobody here counted the terms of the earlier epoch meanwhile, in which the one that comes back still is.
#[test]
fn an_agent_that_comes_back_hears_of_the_epoch_that_its_peers_have_entered() {
    scene(async |pipes, _| {
        let [a, b] = two_hosts(pipes).await;
        let gone = join(&a, "a1", MemberKind::Voter, &of(0, THREE));
        let peer = join(&b, "b1", MemberKind::Voter, &of(0, THREE));
        until("both are known", || knows(&a, "b1") && knows(&b, "a1")).await;
        a.group.leave(&gone.name, gone.incarnation);
        until("it is gone", || !knows(&b, "a1")).await;
        peer.goes_to(&b, &of(1, FOUR));
        sleep(MS(500)).await;
        let back = join(&a, "a1", MemberKind::Voter, &of(0, THREE));
        until("it is back", || knows(&b, "a1")).await;
        peer.says(&b, 0, 5);
        back.hears(0, 5).await;
        peer.says(&b, 1, 1);
        back.hears(1, 1).await;
    });
}
