//! Commands from standard input, a line each.

use std::{error::Error, io::stdin, thread, time::Duration};

use actix_bully::{
    agent::{BullyHandle, VotersError},
    protocol::{Changed, Contact, NewVoter},
    remote::{BridgeHandle, NodeId, Peer},
    testkit::Inject,
};
use futures::{
    StreamExt,
    channel::mpsc::{UnboundedReceiver, unbounded},
};

use crate::screen::{Happening, Screen, name};

/// Longest time for a change of the voters.
const CHANGE: Duration = Duration::from_secs(10);

/// Carries out commands until one of them is `leave`, or for ever.
pub(crate) async fn obey(agent: &BullyHandle, bridge: &BridgeHandle, screen: &Screen) {
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
            ["add-peer", node, address] => {
                tell(screen, &line, bridge.add_peer(Peer::new(node, address)));
            }
            ["remove-peer", node] => tell(screen, &line, remove_peer(bridge, node)),
            ["why"] => screen.say(&Happening::Why(Box::new(agent.diagnosis()))),
            ["voters"] => match agent.voters() {
                Some(voters) => screen.say(&Happening::Voters(voters)),
                None => tell(screen, &line, Err(VotersError::NoVoters)),
            },
            words => {
                if !change_voters(agent, screen, &line, words) {
                    screen.say(&Happening::Unknown { command: line });
                }
            }
        }
    }
    // Without standard input the node continues.
    futures::future::pending::<()>().await;
}

/// Ends the link with the node `node`, until it is added again.
fn remove_peer(bridge: &BridgeHandle, node: &str) -> Result<(), Box<dyn Error>> {
    let is_peer = bridge.remove_peer(&NodeId::new(node)?);
    is_peer
        .then_some(())
        .ok_or_else(|| "it is not a peer".into())
}

/// Begins a change of the voters, and reports its outcome. Returns `false` if the words are not such a command.
fn change_voters(agent: &BullyHandle, screen: &Screen, line: &str, words: &[&str]) -> bool {
    let (screen, command, agent) = (screen.clone(), line.to_owned(), agent.clone());
    match words {
        ["add-voter", new, rest @ ..] => {
            let Some(new) = new_voter(new, rest) else {
                return false;
            };
            actix_rt::spawn(async move {
                changed(&screen, command, agent.add_voter(new, CHANGE).await);
            });
        }
        ["remove-voter", old] => {
            let Some(old) = name(old) else {
                return false;
            };
            actix_rt::spawn(async move {
                changed(&screen, command, agent.remove_voter(old, CHANGE).await);
            });
        }
        ["replace-voter", old, new, rest @ ..] => {
            let Some((old, new)) = name(old).zip(new_voter(new, rest)) else {
                return false;
            };
            actix_rt::spawn(async move {
                let outcome = agent.replace_voter(old, new, CHANGE).await;
                changed(&screen, command, outcome);
            });
        }
        _ => return false,
    }
    true
}

/// Returns a voter, with the address of its host if the words name it.
fn new_voter(id: &str, contact: &[&str]) -> Option<NewVoter> {
    let contact = match contact {
        [] => None,
        [node, address] => Some(Contact {
            node: (*node).to_owned(),
            address: (*address).to_owned(),
        }),
        _ => return None,
    };
    let id = name(id)?;
    Some(NewVoter { id, contact })
}

/// Reports the outcome of a change.
fn changed(screen: &Screen, command: String, outcome: Result<Changed, VotersError>) {
    screen.say(&match outcome {
        Ok(changed) => Happening::Changed { command, changed },
        Err(why @ (VotersError::TimedOut { .. } | VotersError::Ended)) => Happening::Unanswered {
            command,
            why: why.to_string(),
        },
        Err(why) => Happening::Refused {
            command,
            why: why.to_string(),
        },
    });
}

/// Reports the reason why a command was not carried out.
fn tell(screen: &Screen, command: &str, outcome: Result<(), impl ToString>) {
    if let Err(wrong) = outcome {
        let (command, why) = (command.to_owned(), wrong.to_string());
        screen.say(&Happening::Refused { command, why });
    }
}

/// Returns the lines of standard input. Its reads block, so a thread does them.
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
