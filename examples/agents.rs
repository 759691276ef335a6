//! Rovers on a field: the rover with the most power coordinates, and hands its plan over when its power runs low.
//!
//! ```text
//! $ cargo run --example agents
//! ```
//!
//! Expected output: `examples/expected/agents.txt`. A rover is an agent with beliefs: the coordinator, and the sites
//! that are left to do. Its score is its battery, and a *margin* keeps two rovers of about the same charge from taking
//! turns. The coordinator is a `Singleton`: at a hand-over it tells all rovers the plan before it ends. When the agent
//! of a rover crashes, its coordinator ends as well, and the successor continues from the last plan that it received.
//!
//! Try next: a margin of 0; then `cargo run --example cluster -- --mermaid story.md`, which draws what agents say.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{cell::RefCell, collections::BTreeMap, error::Error, rc::Rc, time::Duration};

use actix::{clock::sleep, prelude::*};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, LeaderGuard, Notice},
    leader::{Singleton, SteppingDown},
    protocol::Event,
    testkit::{Inject, virtual_system},
};

/// Percentage of charge by which a rover must exceed the coordinator before it replaces the coordinator.
const MARGIN: i32 = 40;
/// Charge below which a coordinator steps down.
const LOW: i32 = 50;
const SITES: [&str; 9] = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];

/// The beliefs of a rover.
#[derive(Clone, Debug)]
struct Beliefs {
    coordinator: Option<String>,
    /// The sites that still have to be visited. A newer plan has a higher number.
    plan: Plan,
}

#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
struct Plan {
    number: u64,
    sites: Vec<&'static str>,
}

struct Rover {
    name: &'static str,
    battery: i32,
    agent: BullyHandle,
    beliefs: Rc<RefCell<Beliefs>>,
}

impl Actor for Rover {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.agent.subscribe(ctx.address().recipient()).ok();
        ctx.run_interval(Duration::from_secs(1), |rover, _| {
            // A coordinator sends messages, which costs power.
            rover.battery -= if rover.agent.is_leader() { 10 } else { 1 };
            rover.agent.set_score(rover.battery).ok();
            if rover.agent.is_leader() && rover.battery < LOW {
                rover.agent.step_down(None).ok();
            }
        });
    }
}

impl Handler<Notice> for Rover {
    type Result = ();
    fn handle(&mut self, notice: Notice, _: &mut Context<Self>) {
        self.beliefs.borrow_mut().coordinator = if let Event::NewLeader(leader) = notice.event {
            Some(leader.id.to_string())
        } else {
            self.agent.is_leader().then(|| self.name.to_owned())
        };
    }
}

impl Handler<Plan> for Rover {
    type Result = ();
    fn handle(&mut self, plan: Plan, _: &mut Context<Self>) {
        let known = &mut self.beliefs.borrow_mut().plan;
        if plan.number > known.number {
            *known = plan;
        }
    }
}

/// Asks a rover to visit a site.
#[derive(Message)]
#[rtype(result = "()")]
struct Visit;

impl Handler<Visit> for Rover {
    type Result = ();
    fn handle(&mut self, Visit: Visit, _: &mut Context<Self>) {
        self.battery -= 1;
    }
}

type Rovers = Rc<RefCell<BTreeMap<&'static str, Addr<Rover>>>>;

/// The work of the rover that coordinates.
struct Coordinator {
    leader: LeaderGuard,
    beliefs: Rc<RefCell<Beliefs>>,
    rovers: Rovers,
}

impl Coordinator {
    fn name(&self) -> String {
        self.leader.token().node.to_string()
    }

    /// Sends another rover to the next site.
    fn assign(&mut self, _: &mut Context<Self>) {
        let plan = self.beliefs.borrow().plan.clone();
        let Some((site, rest)) = plan.sites.split_first() else {
            return; // nothing is left to do
        };
        let (own, turn) = (self.name(), rest.len() % 2);
        let others: Vec<_> = self.rovers.borrow().clone().into_iter().collect();
        let Some((name, rover)) = others
            .into_iter()
            .filter(|(name, _)| *name != own)
            .nth(turn)
        else {
            return;
        };
        println!("{own} sends {name} to {site}");
        rover.do_send(Visit);
        self.tell(&Plan {
            number: plan.number + 1,
            sites: rest.to_vec(),
        });
    }

    fn tell(&self, plan: &Plan) {
        self.beliefs.borrow_mut().plan = plan.clone();
        for rover in self.rovers.borrow().values() {
            rover.do_send(plan.clone());
        }
    }
}

impl Actor for Coordinator {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let left = self.beliefs.borrow().plan.sites.len();
        println!(
            "{} coordinates in term {}: {left} sites left",
            self.name(),
            self.leader.token().term
        );
        ctx.run_interval(Duration::from_secs(1), Self::assign);
    }
}

impl Handler<SteppingDown> for Coordinator {
    type Result = ();
    fn handle(&mut self, _: SteppingDown, ctx: &mut Context<Self>) {
        let plan = self.beliefs.borrow().plan.clone();
        println!("{} hands its plan over: {:?}", self.name(), plan.sites);
        self.tell(&plan);
        ctx.stop();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    virtual_system().block_on(async {
        let group = Group::new("rovers")?;
        let rovers = Rovers::default();
        for (name, battery) in [("rover-1", 95), ("rover-2", 88), ("rover-3", 82)] {
            let agent = BullyAgent::builder(name)
                .score(battery)
                .margin(MARGIN)
                .join(&group)
                .start()?;
            let beliefs = Rc::new(RefCell::new(Beliefs {
                coordinator: None,
                plan: Plan {
                    number: 0,
                    sites: SITES.to_vec(),
                },
            }));
            let (mind, all) = (Rc::clone(&beliefs), Rc::clone(&rovers));
            let coordinator = move |leader| Coordinator {
                leader,
                beliefs: Rc::clone(&mind),
                rovers: Rc::clone(&all),
            };
            Singleton::builder(&agent, coordinator).start()?;
            let rover = Rover {
                name,
                battery,
                agent: agent.clone(),
                beliefs,
            };
            rovers.borrow_mut().insert(name, rover.start());
        }
        sleep(Duration::from_millis(6_500)).await;
        println!("-- the agent of rover-2 crashes");
        if let Some(rover) = rovers.borrow().get("rover-2") {
            rover.do_send(Crash);
        }
        sleep(Duration::from_secs(4)).await;
        let all = rovers.borrow().clone();
        for (name, rover) in all {
            println!("{name} believes: {}", rover.send(Ask).await?);
        }
        Ok(())
    })
}

/// Lets the agent of the rover panic, without the output of a panic.
#[derive(Message)]
#[rtype(result = "()")]
struct Crash;

impl Handler<Crash> for Rover {
    type Result = ();
    fn handle(&mut self, Crash: Crash, _: &mut Context<Self>) {
        self.agent.addr().do_send(Inject::Crash);
    }
}

/// Asks a rover for its beliefs.
#[derive(Message)]
#[rtype(result = "String")]
struct Ask;

impl Handler<Ask> for Rover {
    type Result = String;
    fn handle(&mut self, Ask: Ask, _: &mut Context<Self>) -> String {
        let Beliefs { coordinator, plan } = &*self.beliefs.borrow();
        let coordinator = coordinator.as_deref().unwrap_or("nobody");
        format!(
            "{coordinator} coordinates, {} sites left, {} % of its own charge",
            plan.sites.len(),
            self.battery
        )
    }
}
