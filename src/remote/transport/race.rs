//! Dials a host that has several addresses, as RFC 8305 does: one address after the other, without waiting for the end
//! of an attempt.
//!
//! Decided here: if an attempt has failed, or has not succeeded within [`STEP`], the next attempt begins beside it; the
//! first success ends all other attempts; and the error if all fail. So an address that never answers costs a quarter
//! of a second, and not the whole time limit.

use std::{io, net::SocketAddr, time::Duration};

use actix::clock::sleep;
use futures::{
    StreamExt,
    future::{Either, pending, select},
    stream::FuturesUnordered,
};

/// Returns the first stream to any of these addresses.
pub(super) async fn race<T, F: Future<Output = io::Result<T>>>(
    addresses: Vec<SocketAddr>,
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<T> {
    let mut waiting = in_turn(addresses).into_iter().peekable();
    let mut attempts = FuturesUnordered::new();
    let mut failures = Vec::new();
    loop {
        attempts.extend(waiting.next().map(&connect));
        let step = async {
            match waiting.peek() {
                Some(_) => sleep(STEP).await,
                None => pending().await,
            }
        };
        match select(attempts.next(), std::pin::pin!(step)).await {
            Either::Left((Some(Ok(stream)), _)) => return Ok(stream),
            Either::Left((Some(Err(reason)), _)) => failures.push(reason),
            Either::Left((None, _)) => return Err(verdict(failures)),
            Either::Right(_) => {}
        }
    }
}

/// Orders the addresses so that the two families alternate, beginning with the family of the first address: often a
/// whole family is unreachable.
fn in_turn(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first = addresses.first().map(SocketAddr::is_ipv6);
    let (one, other): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| Some(address.is_ipv6()) == first);
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let mut turns = Vec::new();
    loop {
        let pair = [one.next(), other.next()];
        if pair == [None, None] || turns.len() >= MOST {
            turns.truncate(MOST);
            return turns;
        }
        turns.extend(pair.into_iter().flatten());
    }
}

/// Returns the error if no attempt succeeded. A dialler takes [`ConnectionRefused`](io::ErrorKind::ConnectionRefused)
/// as the end of the process. So `ConnectionRefused` is returned only if every address that this host can reach gave
/// this error: the process may live behind an address that does not answer.
fn verdict(failures: Vec<io::Error>) -> io::Error {
    let weight = |reason: &io::Error| {
        if OUT_OF_REACH.contains(&reason.kind()) {
            0
        } else if reason.kind() == io::ErrorKind::ConnectionRefused {
            1
        } else {
            2
        }
    };
    let nowhere = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let heaviest = failures.into_iter().max_by_key(weight);
    heaviest.unwrap_or_else(nowhere)
}

/// Errors of addresses that this host cannot reach.
const OUT_OF_REACH: [io::ErrorKind; 3] = [
    io::ErrorKind::NetworkUnreachable,
    io::ErrorKind::HostUnreachable,
    io::ErrorKind::AddrNotAvailable,
];
/// Time before the next attempt begins: the delay that RFC 8305 recommends.
const STEP: Duration = Duration::from_millis(250);
/// Largest number of addresses of a name that are tried: more do not fit into the time for a handshake.
const MOST: usize = 8;

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, io::ErrorKind};

    use actix::clock::Instant;

    use super::*;

    fn play<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime.unwrap().block_on(test)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn addresses(all: &[&str]) -> Vec<SocketAddr> {
        all.iter().map(|address| address.parse().unwrap()).collect()
    }

    /// Runs a race: each address has its outcome after a number of milliseconds. Returns the result, its time, and
    /// the beginning of each attempt.
    fn raced(
        plan: &[(u64, Result<(), ErrorKind>)],
    ) -> (Result<usize, ErrorKind>, Duration, Vec<Duration>) {
        play(async {
            let zero = Instant::now();
            let began = RefCell::new(Vec::new());
            let all = (0..).take(plan.len());
            let all = all.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
            let result = race(all.collect(), |address| {
                let at = usize::from(address.port());
                began.borrow_mut().push(zero.elapsed());
                let (after, outcome) = plan[at];
                async move {
                    sleep(ms(after)).await;
                    outcome.map(|()| at).map_err(io::Error::from)
                }
            })
            .await;
            let result = result.map_err(|reason| reason.kind());
            (result, zero.elapsed(), began.into_inner())
        })
    }

    const NEVER: (u64, Result<(), ErrorKind>) = (86_400_000, Err(ErrorKind::TimedOut));

    #[test]
    fn an_address_that_swallows_everything_costs_one_step() {
        let (result, took, began) = raced(&[NEVER, (10, Ok(()))]);
        assert_eq!((result, took), (Ok(1), ms(260)));
        assert_eq!(began, [ms(0), ms(250)]);
        let (result, took, began) = raced(&[NEVER, NEVER, NEVER, (10, Ok(()))]);
        assert_eq!((result, took), (Ok(3), ms(760)));
        assert_eq!(began, [ms(0), ms(250), ms(500), ms(750)]);
    }

    #[test]
    fn an_address_that_fails_lets_the_next_one_begin_at_once() {
        let refused = (5, Err(ErrorKind::ConnectionRefused));
        let (result, took, _) = raced(&[refused, refused, (10, Ok(()))]);
        assert_eq!((result, took), (Ok(2), ms(20)));
    }

    #[test]
    fn the_first_to_answer_wins_although_others_began_before() {
        let (result, took, began) = raced(&[(400, Ok(())), (10, Ok(())), NEVER]);
        assert_eq!((result, took), (Ok(1), ms(260)));
        assert_eq!(began.len(), 2, "no other address is dialled");
        let (result, took, _) = raced(&[(300, Ok(())), NEVER]);
        assert_eq!((result, took), (Ok(0), ms(300)), "the first goes on");
    }

    #[test]
    fn only_a_host_that_refuses_wherever_it_is_reached_is_taken_for_one_that_has_ended() {
        let (dead, lost) = (ErrorKind::ConnectionRefused, ErrorKind::NetworkUnreachable);
        let refused = |plan: &[ErrorKind]| {
            let plan: Vec<_> = plan.iter().map(|kind| (5, Err(*kind))).collect();
            raced(&plan).0.unwrap_err()
        };
        assert_eq!(refused(&[dead, dead]), dead);
        assert_eq!(refused(&[lost, dead]), dead);
        assert_eq!(refused(&[dead, lost]), dead);
        assert_eq!(refused(&[ErrorKind::TimedOut, dead]), ErrorKind::TimedOut);
        assert_eq!(refused(&[dead, ErrorKind::TimedOut]), ErrorKind::TimedOut);
        assert_eq!(refused(&[]), ErrorKind::NotFound);
    }

    #[test]
    fn the_families_take_turns_and_there_is_an_end() {
        let all = ["[::1]:1", "[::2]:1", "[::3]:1", "10.0.0.1:1", "10.0.0.2:1"];
        let turns = ["[::1]:1", "10.0.0.1:1", "[::2]:1", "10.0.0.2:1", "[::3]:1"];
        assert_eq!(in_turn(addresses(&all)), addresses(&turns));
        let many = vec![SocketAddr::from(([10, 0, 0, 1], 1)); 100];
        assert_eq!(in_turn(many).len(), 8);
    }
}
