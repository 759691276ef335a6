//! Three processes of one host have one leader, by a lease in a folder: nothing to install, no ports, no voters.
//!
//! ```text
//! $ cargo run --example lease
//! ```
//!
//! Expected output: `examples/expected/lease.txt`. The program starts itself as each of the processes, which share only
//! the folder. Then it kills the leader, and has the next leader hand over. The others notice a killed leader when its
//! lease is over by their own clocks. After a hand-over they follow at their next read of the file.
//!
//! Try next: replace `FileRegister::open(..)` by `PostgresRegister::builder(..)`, feature `postgres`, and run it on
//! several hosts: nothing else changes. A leader of another group needs only another name, not another folder.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    io::{self, BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio, exit},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

use actix_bully::{Group, agent::BullyAgent, protocol::Timings, register::FileRegister};
use futures::StreamExt;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().collect();
    match &*words {
        [_, folder, name] => actix::System::new().block_on(take_part(folder, name)),
        _ => show(),
    }
}

/// Runs one of the processes.
async fn take_part(folder: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let group = Group::new("jobs")?;
    let agent = BullyAgent::builder(name)
        .timings(Timings::lan())
        .lease(FileRegister::open(folder)?)
        .join(&group)
        .start()?;

    let mut changes = agent.changes();
    actix::spawn(async move {
        while let Some(status) = changes.next().await {
            if let Some(leader) = status.leader {
                println!("{} {}", leader.id, leader.term);
            }
        }
    });
    // The end of its input is the request to hand over.
    let (ask, asked) = tokio::sync::oneshot::channel();
    thread::spawn(move || {
        io::stdin().lines().next();
        ask.send(()).ok();
    });
    asked.await.ok();
    agent.leave(Duration::from_secs(5)).await?;
    exit(0);
}

/// The line of a process: the leader that it follows, maybe itself, and the term.
struct Said {
    process: String,
    leader: String,
    term: u64,
}

struct Processes {
    folder: PathBuf,
    running: BTreeMap<String, Child>,
    say: Sender<Said>,
    said: Receiver<Said>,
    token: u64,
}

impl Processes {
    fn start(&mut self, name: &str) -> io::Result<()> {
        let mut child = Command::new(env::current_exe()?)
            .args([self.folder.as_os_str(), name.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (say, process) = (self.say.clone(), name.to_owned());
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if let Some((leader, term)) = line.split_once(' ') {
                        let (process, leader) = (process.clone(), leader.to_owned());
                        let term = term.parse().unwrap_or_default();
                        say.send(Said {
                            process,
                            leader,
                            term,
                        })
                        .ok();
                    }
                }
            });
        }
        self.running.insert(name.to_owned(), child);
        Ok(())
    }

    /// Waits until that number of processes have printed that they follow a leader with a higher token, or the leader
    /// that is known; returns the leader.
    fn agree(&mut self, what: &str, number: usize) -> Result<String, Box<dyn Error>> {
        let mut follow = BTreeMap::new();
        let mut is_higher = false;
        while follow.len() < number {
            let said = self.said.recv_timeout(Duration::from_secs(20))?;
            // Lines about the former leader no longer count once there is another leader.
            if said.term > self.token {
                (self.token, is_higher) = (said.term, true);
                follow.clear();
            }
            if said.term == self.token && self.running.contains_key(&said.process) {
                follow.insert(said.process, said.leader);
            }
        }
        let leader = follow.pop_first().map(|(_, leader)| leader);
        let leader = leader.unwrap_or_default();
        let token = if is_higher {
            "a higher token"
        } else {
            "the same token"
        };
        println!("{what:<22} {leader} leads with {token}");
        Ok(leader)
    }
}

fn show() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (say, said) = channel();
    let mut all = Processes {
        folder: folder.path().join("leases"),
        running: BTreeMap::new(),
        say,
        said,
        token: 0,
    };

    all.start("api-1")?;
    all.agree("api-1 starts", 1)?;
    all.start("api-2")?;
    all.agree("api-2 starts", 1)?;
    all.start("api-3")?;
    all.agree("api-3 starts", 1)?;

    if let Some(mut leader) = all.running.remove("api-1") {
        leader.kill()?;
        leader.wait()?;
    }
    let leader = all.agree("api-1 is killed", 2)?;
    all.start("api-1")?;
    all.agree("api-1 starts again", 1)?;
    if let Some(mut leader) = all.running.remove(&leader) {
        // Close its input.
        drop(leader.stdin.take());
        leader.wait()?;
    }
    all.agree("the leader leaves", 2)?;

    for (_, mut process) in all.running {
        process.kill()?;
        process.wait()?;
    }
    Ok(())
}
