//! What an application has beside its work: a job with due times, and messages for the leader.
//!
//! Decided here: no due time begins twice in a group, whatever happens to hosts, links and agents. Each message is
//! handled at most once, in the order of its sender. A history has an application if its plan has the flag
//! `has_application`. The flag is never drawn, so that the histories of all other seeds stay the same.

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

/// A message for the leader: the place of the sending agent, the number of its start, and the number of the message
/// among all messages of the agent.
#[derive(Debug, Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Numbered {
    member: usize,
    start: u64,
    number: u64,
}

/// Handles the messages for the leader.
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

/// The wall clock of a process. It is wrong by the number of milliseconds with which the process began.
#[derive(Clone, Copy, Debug)]
struct Wall(i64);

impl WallClock for Wall {
    fn now(&self) -> WallTime {
        WallTime::from_millis(wall_of(self.0))
    }
}

/// Starts the application for one start of an agent, if the plan has applications.
pub(crate) fn start(agent: &BullyHandle, setting: &Setting, wall: i64, member: &Rc<Member>) {
    if setting.plan.has_application {
        let (agent, ledger) = (agent.clone(), setting.ledger.clone());
        spawn_local(run(agent, ledger, wall, Rc::clone(member)));
    }
}

/// Runs the application until this start of the agent has ended.
async fn run(agent: BullyHandle, ledger: Ledger, wall: i64, member: Rc<Member>) {
    loop {
        let schedules = agent.schedules().clock(Wall(wall));
        match schedules.store(member.marks.clone()).start() {
            Ok(()) => break,
            // The host where the agent was before has not yet announced that the agent left.
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

/// Interval between two ticks.
const EVERY: Duration = Duration::from_millis(300);
