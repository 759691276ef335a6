//! Commands from standard input, a line each.

use std::{io::stdin, thread};

use actix_bully::{
    agent::{BullyHandle, CommandError},
    testkit::Inject,
};
use futures::{
    StreamExt,
    channel::mpsc::{UnboundedReceiver, unbounded},
};

use crate::screen::{Happening, Screen, name};

/// Carries out commands until one of them is `leave`, or for ever.
pub(crate) async fn obey(agent: &BullyHandle, screen: &Screen) {
    let mut lines = lines();
    while let Some(line) = lines.next().await {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["leave"] => return,
            ["panic"] => agent.addr().do_send(Inject::Crash),
            ["withdraw"] => tell(screen, &line, agent.withdraw_score()),
            ["campaign"] => tell(screen, &line, agent.campaign()),
            ["step-down"] => tell(screen, &line, agent.step_down(None)),
            ["step-down", to] if name(to).is_some() => {
                tell(screen, &line, agent.step_down(name(to)));
            }
            ["score", number] if number.parse::<i64>().is_ok() => {
                let score = number.parse::<i64>().unwrap_or_default();
                tell(screen, &line, agent.set_score(score));
            }
            _ => screen.say(&Happening::Unknown { command: line }),
        }
    }
    // Without standard input it goes on.
    futures::future::pending::<()>().await;
}

/// Says why a command was not carried out.
fn tell(screen: &Screen, command: &str, outcome: Result<(), CommandError>) {
    if let Err(wrong) = outcome {
        let (command, why) = (command.to_owned(), wrong.to_string());
        screen.say(&Happening::Refused { command, why });
    }
}

/// The lines of standard input. Its reads block, so a thread does them.
fn lines() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded();
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            if sender.unbounded_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
