//! What an application has beside its work: a job that is due again and again, and messages for the leader.
//!
//! Decided here: that no due time begins twice in a group, whatever happens to hosts, links and agents, and that each
//! message is handled at most once, in the order of its sender. A history has it where its plan says so; it is
//! never drawn, so that the histories of all other seeds stay as they are.

use std::{cell::Cell, rc::Rc, time::Duration};

use actix::{Actor, Context, Handler, Message};
use actix_bully::{
    agent::{BullyHandle, Lifecycle},
    clock::{WallClock, WallTime},
    leader::{
        LeaderProxy, ProxyError, SendError,
        schedule::{Misfire, ScheduleError, Tick},
    },
};
use serde::{Deserialize, Serialize};
use tokio::{task::spawn_local, time::sleep};

use crate::{begin::wall_of, ledger::Ledger, member::Member, setting::Setting};

/// A message for the leader: of which agent, of which of its starts, and the how many-th of the agent.
#[derive(Debug, Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Numbered {
    member: usize,
    start: u64,
    number: u64,
}

/// Handles what the leader gets.
struct Handles(Ledger);

impl Actor for Handles {
    type Context = Context<Self>;
}

impl Handler<Numbered> for Handles {
    type Result = ();

    fn handle(&mut self, message: Numbered, _: &mut Context<Self>) {
        let Numbered {
            member,
            start,
            number,
        } = message;
        self.0.handled(member, start, number);
    }
}

/// The wall clock of a process: right, but for what the process began with.
#[derive(Clone, Copy, Debug)]
struct Wall(i64);

impl WallClock for Wall {
    fn now(&self) -> WallTime {
        WallTime::from_millis(wall_of(self.0))
    }
}

/// Starts it for one start of an agent, where the plan has it.
pub(crate) fn start(agent: &BullyHandle, setting: &Setting, wall: i64, member: &Rc<Member>) {
    if setting.plan.has_application {
        let (agent, ledger) = (agent.clone(), setting.ledger.clone());
        spawn_local(run(agent, ledger, wall, Rc::clone(member)));
    }
}

/// Runs until that start has ended.
async fn run(agent: BullyHandle, ledger: Ledger, wall: i64, member: Rc<Member>) {
    loop {
        let schedules = agent.schedules().clock(Wall(wall));
        match schedules.store(member.marks.clone()).start() {
            Ok(()) => break,
            // Another host, where the agent was before, has not been heard to have none of that name any more.
            Err(ScheduleError::Messages(_)) => sleep(Duration::from_millis(50)).await,
            Err(ScheduleError::Ended { .. }) => return,
            Err(refused) => return ledger.breaks(format!("no schedules: {refused}")),
        }
    }
    let start = (member.generation - 1) * 1_000 + member.starts.get();
    let index = member.index;
    match serve(&agent, &ledger) {
        Ok(proxy) => loop {
            let message = Numbered {
                member: index,
                start,
                number: next(&member.numbers),
            };
            if let Err(ProxyError::Send(SendError::Ended)) = proxy.try_send(message) {
                return;
            }
            sleep(Duration::from_millis(25)).await;
        },
        Err(_) if agent.current().lifecycle == Lifecycle::Ended => {}
        Err(refused) => ledger.breaks(format!("no schedule or proxy: {refused}")),
    }
}

fn serve(agent: &BullyHandle, ledger: &Ledger) -> turmoil::Result<LeaderProxy<Numbered>> {
    let noted = ledger.clone();
    let job = move |tick: Tick| {
        noted.begun(tick.due);
        sleep(Duration::from_millis(30))
    };
    agent
        .every("job", EVERY)
        .misfire(Misfire::Skip)
        .start(job)?;
    let handles = Handles(ledger.clone()).start();
    let proxy = LeaderProxy::<Numbered>::builder(agent, "numbered");
    Ok(proxy.deliver_to(handles.recipient()).start()?)
}

fn next(numbers: &Cell<u64>) -> u64 {
    numbers.set(numbers.get() + 1);
    numbers.get()
}

/// Between two ticks.
const EVERY: Duration = Duration::from_millis(300);
