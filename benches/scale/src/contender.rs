//! `contender NAME ENDPOINT lease PRESET` and `contender NAME ENDPOINT rule LEASE RENEW RETRY` (milliseconds): a
//! process that competes for work, by a lease in etcd: ours, or by the rule of client-go.
//!
//! It prints `works` on a line when its work begins. On SIGINT and SIGTERM it hands over, and ends. It also ends when
//! its standard input ends.
#![expect(
    clippy::print_stdout,
    reason = "a process is asked to say what it does"
)]

mod rule;

use std::{env, error::Error, io, pin::pin, process::exit, sync::Arc, thread, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, ElectionArbiter},
    elections::bully::Preemption,
    leader::leave_on_signals,
    protocol::Timings,
    register::{EtcdRegister, Register},
};
use futures::future::{Either, select};
use tokio::signal::unix::{SignalKind, signal};

use rule::{Candidate, Rule};

/// Longest time for a hand-over.
const SOON: Duration = Duration::from_secs(5);

type Failure = Box<dyn Error>;

#[actix::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<_> = env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let [name, endpoint, way, durations @ ..] = &*words else {
        return Err("name a process, an endpoint and a way: lease or rule".into());
    };
    thread::spawn(|| {
        drop(io::stdin().lines().last());
        exit(0);
    });
    let register: Arc<dyn Register> = Arc::new(EtcdRegister::builder([*endpoint]).open()?);
    match (*way, durations) {
        ("lease", ["lan"]) => lease(name, Timings::lan(), register).await,
        ("lease", ["default"]) => lease(name, Timings::default(), register).await,
        ("rule", [lease_duration, renew_deadline, retry_period]) => {
            let ms = |word: &str| word.parse().map(Duration::from_millis);
            let rule = Rule {
                lease_duration: ms(lease_duration)?,
                renew_deadline: ms(renew_deadline)?,
                retry_period: ms(retry_period)?,
            };
            by_rule(name, rule, register).await
        }
        _ => Err("lease lan, lease default, or rule LEASE RENEW RETRY in milliseconds".into()),
    }
}

async fn lease(name: &str, timings: Timings, register: Arc<dyn Register>) -> Result<(), Failure> {
    let elections = ElectionArbiter::new()?;
    let agent = BullyAgent::builder(name)
        .timings(timings)
        .lease(register)
        .preemption(Preemption::Never)
        .join(&Group::new("beside")?)
        .start_in_arbiter(&elections.handle())?;
    let work = agent.lead(|leader| async move {
        println!("works");
        leader.stepping_down().await;
    });
    match select(pin!(leave_on_signals(&agent, SOON)), pin!(work)).await {
        Either::Left((left, _)) => Ok(left?),
        Either::Right((ended, _)) => Ok(ended?),
    }
}

async fn by_rule(name: &str, rule: Rule, register: Arc<dyn Register>) -> Result<(), Failure> {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut asked_to_end = pin!(terminated.recv());
    let mut candidate = Candidate {
        name: name.to_owned(),
        rule,
        register,
        key: "beside/rule".parse()?,
        observed: None,
    };
    if let Either::Right(_) = select(pin!(candidate.acquire()), asked_to_end.as_mut()).await {
        return Ok(());
    }
    println!("works");
    candidate.renew(asked_to_end).await;
    candidate.release().await;
    Ok(())
}
