//! A driver of forty lines over plain tokio: three agents of one process elect the highest in rank, without actix.
//!
//! `cargo run -p bully-core --example driver`
//!
//! It keeps the duties of a driver that [`Election`] names, except two: this election stores nothing, and no agent of
//! this program crashes.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use bully_core::{
    elections::bully::{Bully, BullyConfig},
    protocol::{
        AgentId, Birth, Effect, Effects, Election, Identity, Incarnation, Input, InputOf, Member,
        MemberKind, Members, Time, To,
    },
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

type Inboxes = Arc<BTreeMap<AgentId, UnboundedSender<InputOf<Bully>>>>;

/// The driver: inputs go in one by one, and effects are done in their order.
async fn drive(
    me: AgentId,
    mut machine: Bully,
    mut inbox: UnboundedReceiver<InputOf<Bully>>,
    to: Inboxes,
) {
    let began = Instant::now();
    let now = || Time::ZERO.after(began.elapsed());
    let mut timers: BTreeMap<_, Time> = BTreeMap::new();
    let mut out = Effects::new();
    loop {
        let first = timers.iter().min_by_key(|(_, at)| **at);
        let input = match first.map(|(timer, at)| (*timer, *at)) {
            Some((timer, at)) => tokio::select! {
                input = inbox.recv() => input,
                () = sleep(at.since(now())) => {
                    timers.remove(&timer);
                    Some(Input::TimedOut(timer))
                }
            },
            None => inbox.recv().await,
        };
        let Some(input) = input else { return };
        machine.handle(now(), input, &mut out);
        for effect in out.drain() {
            match effect {
                Effect::Send {
                    to: receivers,
                    message,
                } => {
                    let is_meant = |id: &AgentId| match &receivers {
                        To::One(one) => id == one,
                        To::All => *id != me,
                        To::Set(some) => some.contains(id),
                    };
                    for (_, inbox) in to.iter().filter(|(id, _)| is_meant(id)) {
                        let (from, message) = (me.clone(), message.clone());
                        let input = Input::Received {
                            from,
                            incarnation: Incarnation(1),
                            message,
                        };
                        inbox.send(input).ok(); // an agent that has ended hears nothing
                    }
                }
                Effect::SetTimer { timer, after } => {
                    timers.insert(timer, now().after(after.max));
                }
                Effect::CancelTimer(timer) => drop(timers.remove(&timer)),
                Effect::Notify(event) => println!("{me}: {event}"),
                Effect::Persist(_) => unreachable!("a bully stores nothing"),
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = Arc::new(BullyConfig::default());
    let mut members = Members::new(true);
    let (mut inboxes, mut agents) = (BTreeMap::new(), Vec::new());
    for (name, score) in [("api-1", 10), ("api-2", 20), ("api-3", 30)] {
        let (id, score) = (AgentId::new(name)?, Some(score.into()));
        let (incarnation, kind) = (Incarnation(1), MemberKind::Voter);
        members.join([Member::up(id.clone(), kind, score, incarnation)]);
        let identity = Identity {
            id: id.clone(),
            incarnation,
            kind,
            score,
            birth: Birth::Started,
            store: None,
        };
        let (inbox, receiver) = unbounded_channel();
        inboxes.insert(id.clone(), inbox);
        agents.push((id, Bully::new(identity, &config, None), receiver));
    }
    let (members, inboxes) = (Arc::new(members), Arc::new(inboxes));
    let mut tasks = JoinSet::new();
    for (id, machine, receiver) in agents {
        tasks.spawn(drive(id, machine, receiver, Arc::clone(&inboxes)));
    }
    for inbox in inboxes.values() {
        inbox.send(Input::Start(Arc::clone(&members)))?;
    }
    // The agents run for ever; two seconds are enough to see who leads.
    timeout(Duration::from_secs(2), tasks.join_next())
        .await
        .ok();
    Ok(())
}
