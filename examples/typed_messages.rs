//! The three messages of the textbook, each by its own type: an actor of the application among the agents.
//!
//! ```text
//! $ cargo run --example typed_messages
//! -- agent-1 is told to hold an election
//! agent-1 asks which agents outrank it  (Elect)
//! we do  (Ok), and ask in turn  (Elect)
//! agent-3 asks which agents outrank it  (Elect)
//! agent-4 asks which agents outrank it  (Elect)
//! agent-3 outranks us  (Ok)
//! agent-4 outranks us  (Ok)
//! agent-4 leads in term 1  (Elected)
//! ```
//!
//! The agents follow the ASTRA rules: each asks every agent that outranks it, as the textbook does. With their
//! usual rules they save most of these messages.
//!
//! Try next: without `astra`; then read `examples/supervised.rs`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix::{Actor, AsyncContext, Context, Handler, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyElection, BullyMember},
    elections::bully::{Elect, Elected, Ok as Answer},
    group::Envelope,
    protocol::{AgentId, Round, Score},
    testkit::virtual_system,
};

/// An actor that outranks agent-1. The named agents outrank it.
struct ByHand(BullyMember, [AgentId; 2]);

impl Actor for ByHand {
    type Context = Context<Self>;
}

impl Handler<Envelope<Elect>> for ByHand {
    type Result = ();

    fn handle(&mut self, asked: Envelope<Elect>, _: &mut Context<Self>) {
        let Elect { round, seen, .. } = asked.message;
        println!("{} asks which agents outrank it  (Elect)", asked.from);
        if asked.message.score >= Score::from(2) {
            return; // it does not hear from those it outranks
        }
        let answer = Answer {
            round,
            seen,
            refusal: None,
        };
        println!("we do  (Ok), and ask in turn  (Elect)");
        self.0.send(&asked.from, answer);
        let elect = Elect {
            round: Round {
                incarnation: self.0.incarnation(),
                counter: 1,
            },
            score: Score::from(2),
            seen,
            takeover: None,
            released: None,
        };
        for name in &self.1 {
            self.0.send(name, elect.clone());
        }
    }
}

impl Handler<Envelope<Answer>> for ByHand {
    type Result = ();

    fn handle(&mut self, answer: Envelope<Answer>, _: &mut Context<Self>) {
        println!("{} outranks us  (Ok)", answer.from);
    }
}

impl Handler<Envelope<Elected>> for ByHand {
    type Result = ();

    fn handle(&mut self, elected: Envelope<Elected>, _: &mut Context<Self>) {
        let term = elected.message.term;
        println!("{} leads in term {term}  (Elected)", elected.from);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    virtual_system().block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let group = Group::new("demo")?;
    let start = |name, score| {
        BullyAgent::builder(name)
            .score(score)
            .astra()
            .join(&group)
            .start()
    };
    let (_high, _middle, low) = (
        start("agent-4", 4)?,
        start("agent-3", 3)?,
        start("agent-1", 1)?,
    );
    let id = AgentId::new("by-hand")?;
    let score = Some(Score::from(2));
    let by_hand = Context::new();
    let member = BullyMember::join(&group, id, score, &by_hand.address())?;
    let _by_hand = by_hand.run(ByHand(member, ["agent-3".parse()?, "agent-4".parse()?]));
    sleep(Duration::from_secs(1)).await;
    println!("-- agent-1 is told to hold an election");
    low.addr().do_send(BullyElection);
    sleep(Duration::from_secs(5)).await;
    Ok(())
}
