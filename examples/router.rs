//! Requests come in at any host and reach the leader: the leader crashes in between, and no request is lost
//! or done twice.
//!
//! ```text
//! $ cargo run --example router
//! ```
//!
//! Expected output: `examples/expected/router.txt`. Request 4 comes when the leader has just crashed: it waits for the
//! next leader. Each answer returns to the host where the request came in.
//!
//! All hosts are in one process here. Across hosts it is the same, with a bridge that carries the group. Then a request
//! that is on its way while a link or the leader is lost may end in `ProxyError::Unknown`: it is never sent again,
//! because it may have been done. Time is virtual, so that the waits take no time.
//!
//! Try next: `.deliver_to_found(..)` with the actor of a singleton (`examples/singleton.rs`); a buffer of one request.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix::{
    clock::{Instant, sleep},
    prelude::*,
};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    leader::LeaderProxy,
    testkit::Inject,
};
use serde::{Deserialize, Serialize};

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    System::with_tokio_rt(move || runtime).block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let group = Group::new("demo")?;
    let mut hosts = Vec::new();
    for number in 1..=3 {
        hosts.push(Host::start(number, &group)?);
    }
    println!("     TIME  REQUEST  CAME IN AT  ANSWER");
    let begin = Instant::now();
    let mut answers = Vec::new();
    for (number, host) in (1..=6).zip(hosts.iter().cycle()) {
        sleep(Duration::from_millis(100)).await;
        if number == 4 {
            // Lets the leading agent panic, without the output of a panic.
            for host in hosts.iter().filter(|host| host.agent.is_leader()) {
                println!(
                    "{:>6} ms  {} crashes",
                    begin.elapsed().as_millis(),
                    host.agent.id()
                );
                host.agent.addr().do_send(Inject::Crash);
            }
        }
        let (requests, came_in_at) = (host.requests.clone(), host.agent.id().clone());
        answers.push(actix::spawn(async move {
            let answer = requests
                .send(Request { number }, Duration::from_secs(5))
                .await?;
            let time = begin.elapsed().as_millis();
            println!("{time:>6} ms  {number:>7}  {came_in_at:<10}  {answer}");
            Ok::<(), Box<dyn Error>>(())
        }));
    }
    for answer in answers {
        answer.await??;
    }
    for host in &hosts {
        let counts = host.requests.counts();
        println!(
            "{}: {} delivered, {} unknown",
            host.agent.id(),
            counts.delivered,
            counts.unknown
        );
    }
    Ok(())
}

/// One host: an agent, an actor that does the work while the agent leads, and the proxy to the leader.
struct Host {
    agent: BullyHandle,
    requests: LeaderProxy<Request>,
}

impl Host {
    fn start(number: i32, group: &Group) -> Result<Self, Box<dyn Error>> {
        let agent = BullyAgent::builder(&format!("agent-{number}"))
            .score(number)
            .join(group)
            .start()?;
        let worker = Worker {
            name: agent.id().to_string(),
            done: 0,
        };
        let requests = LeaderProxy::builder(&agent, "request")
            .deliver_to(worker.start().recipient())
            .start()?;
        Ok(Self { agent, requests })
    }
}

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "String")]
struct Request {
    number: u32,
}

/// The actor that does the work of the leader.
struct Worker {
    name: String,
    done: u32,
}

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Request> for Worker {
    type Result = String;

    fn handle(&mut self, request: Request, _: &mut Context<Self>) -> String {
        self.done += 1;
        format!("{} did {}, its {}.", self.name, request.number, self.done)
    }
}
