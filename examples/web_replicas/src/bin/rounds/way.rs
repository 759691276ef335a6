//! Follows the redirects of replicas to the leader, for routes that only the leader answers.
//!
//! Decided here: each replica must lead to one new leader by both routes, and the time at which all do.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread::{self, JoinHandle, sleep},
    time::{Duration, Instant},
};

use super::{SOON, Wrong};

/// Asks replicas repeatedly, while another replica ends.
pub(crate) struct Way {
    begun: Instant,
    found: JoinHandle<Result<Instant, String>>,
}

impl Way {
    /// Starts to ask the replicas at the addresses `through`, until all of them lead to one leader other than `former`.
    pub(crate) fn watch(through: Vec<String>, former: &str) -> Self {
        let former = former.to_owned();
        Self {
            begun: Instant::now(),
            found: thread::spawn(move || find(&through, &former)),
        }
    }

    /// Returns the time until the last replica led to the new leader.
    pub(crate) fn found(self) -> Result<Duration, Wrong> {
        let found = self.found.join().map_err(|_| "the asking panicked")??;
        Ok(found - self.begun)
    }
}

fn find(through: &[String], former: &str) -> Result<Instant, String> {
    let end = Instant::now() + SOON;
    loop {
        // Stops at the first replica that does not lead to a leader: a frozen replica makes the round wait.
        let leaders: Result<Vec<_>, _> = through.iter().map(|at| leader_by(at)).collect();
        if let Ok(Some((first, rest))) = leaders.as_deref().map(<[_]>::split_first)
            && first != former
            && rest.iter().all(|it| it == first)
        {
            return Ok(Instant::now());
        }
        if Instant::now() > end {
            return Err(format!(
                "the replicas do not lead to a new leader: {leaders:?}"
            ));
        }
        sleep(Duration::from_millis(10));
    }
}

/// Returns the name of the leader that answers both routes through the replica at the address `at`.
pub(crate) fn leader_by(at: &str) -> Result<String, String> {
    let name = follow(at, "/job")?;
    let told = follow(at, "/leader")?;
    let is_it = told.contains(&format!("\"id\":\"{name}\"")) && told.contains("\"here\":true");
    is_it.then_some(name).ok_or(told)
}

/// Returns the answer after all redirects.
fn follow(at: &str, path: &str) -> Result<String, String> {
    let (mut at, mut path) = (at.to_owned(), path.to_owned());
    for _ in 0..MOST {
        let (head, body) =
            ask(&at, &path, PATIENCE).map_err(|wrong| format!("{at}{path}: {wrong}"))?;
        if head.starts_with("HTTP/1.1 200") {
            return Ok(body);
        }
        let location = head
            .lines()
            .find_map(|line| line.strip_prefix("location: http://"));
        let Some((next, rest)) = location.and_then(|url| url.trim().split_once('/')) else {
            return Err(head.lines().next().unwrap_or_default().to_owned());
        };
        (at, path) = (next.to_owned(), format!("/{rest}"));
    }
    Err(format!("redirected {MOST} times"))
}

const MOST: usize = 6;

/// Returns one answer, head and body.
pub(crate) fn ask(at: &str, path: &str, within: Duration) -> Result<(String, String), Wrong> {
    let mut stream = TcpStream::connect_timeout(&at.parse()?, within)?;
    stream.set_read_timeout(Some(within))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
    Ok((head.to_owned(), body.to_owned()))
}

/// Longest wait for an answer. A frozen replica does not answer.
const PATIENCE: Duration = Duration::from_millis(25);
