//! Several clients on one key at the same time, each on a thread and a connection of its own.
//!
//! Decided here: which operation each client makes next, and the moments at which it begins and ends. `history.rs`
//! judges these steps, `faults.rs` makes the faults of the network.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
};

use tokio::{runtime::Handle, sync::oneshot};

use super::{
    Clause, NonConformance, SuiteRun,
    faults::Faulty,
    history::{Did, HistoryStep, SwapOutcome, contended_swaps, judge},
    probe::ClauseProbe,
};
use crate::{Entry, Register, RegisterError, RegisterKey, Swap};

/// The network between the clients and the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContestNetwork {
    /// The real network.
    Plain,
    /// A network that delays, loses answers, and delivers writes late.
    Faulty,
}

struct Client {
    number: usize,
    probe: ClauseProbe,
    faults: Option<Faulty>,
    key: RegisterKey,
    dice: fastrand::Rng,
    /// A counter that all clients share. The counter is raised at the beginning and at the end of each step, and so
    /// gives the order of these moments.
    clock: Arc<AtomicU64>,
    steps: Vec<HistoryStep>,
}

/// Plays rounds until enough swaps were contended. On a busy host one thread makes all its steps before the next thread
/// begins, and such a round shows nothing.
pub(super) async fn play(run: &SuiteRun, network: ContestNetwork) -> Result<(), NonConformance> {
    let mut contended = 0;
    for round in 0..MOST_ROUNDS {
        let steps = play_round(run, network, round).await?;
        judge(&steps)?;
        contended += contended_swaps(&steps);
        if contended >= ENOUGH_CONTENDED {
            break;
        }
    }
    Ok(())
}

/// Returns the steps of all clients on a new key, and a last read.
async fn play_round(
    run: &SuiteRun,
    network: ContestNetwork,
    round: u64,
) -> Result<Vec<HistoryStep>, NonConformance> {
    let runtime = Handle::try_current().map_err(|_| NonConformance::NoRuntime)?;
    let name = match network {
        ContestNetwork::Plain => "contest",
        ContestNetwork::Faulty => "faults",
    };
    let key = run.key(&format!("{name}-{round}"));
    let clock = Arc::new(AtomicU64::new(1));
    let begin = Arc::new(Barrier::new(run.clients.len()));
    let mut played = Vec::new();
    for (number, register) in run.clients.iter().enumerate() {
        let seed = u64::try_from(number).unwrap_or(0) + (round << 8);
        let faults =
            (network == ContestNetwork::Faulty).then(|| Faulty::new(Arc::clone(register), seed));
        let register = match &faults {
            Some(between) => Arc::new(between.clone()),
            None => Arc::clone(register),
        };
        let client = Client {
            number,
            probe: ClauseProbe {
                register,
                clause: Clause::SeenAtOnce,
            },
            faults,
            key: key.clone(),
            dice: fastrand::Rng::with_seed(seed),
            clock: Arc::clone(&clock),
            steps: Vec::new(),
        };
        let (end, ended) = oneshot::channel();
        let (runtime, begin) = (runtime.clone(), Arc::clone(&begin));
        thread::spawn(move || {
            begin.wait();
            end.send(runtime.block_on(client.play())).ok();
        });
        played.push(ended);
    }
    let mut steps = Vec::new();
    for ended in played {
        // A thread that ends without a result has panicked.
        let clause = Clause::SeenAtOnce;
        let client = ended
            .await
            .map_err(|_| NonConformance::Panicked { clause })?;
        steps.extend(client?);
    }
    let begin = clock.fetch_add(1, SeqCst);
    let last = run.other(Clause::SeenAtOnce).read(&key).await?;
    steps.push(HistoryStep {
        client: run.clients.len(),
        begin,
        end: clock.fetch_add(1, SeqCst),
        did: Did::Read(last),
    });
    Ok(steps)
}

impl Client {
    async fn play(mut self) -> Result<Vec<HistoryStep>, NonConformance> {
        let mut known = self.look().await?;
        let mut former = None;
        for number in 0..STEPS {
            let before = known.clone();
            known = match self.dice.u32(0..8) {
                0 => self.look().await?,
                // The swap expects the entry before the present entry, like the swap of a client that was paused.
                1 => self.swap(former.clone(), number).await?,
                _ => self.swap(known, number).await?,
            };
            if known != before {
                former = before;
            }
        }
        if let Some(faults) = &self.faults {
            self.probe.within(faults.settle()).await?;
        }
        Ok(self.steps)
    }

    async fn look(&mut self) -> Result<Option<Entry>, NonConformance> {
        let begin = self.clock.fetch_add(1, SeqCst);
        let found = self.probe.read(&self.key).await?;
        self.note(begin, Did::Read(found.clone()));
        Ok(found)
    }

    /// Swaps once, and returns the entry that the client now considers present.
    async fn swap(
        &mut self,
        expected: Option<Entry>,
        number: u32,
    ) -> Result<Option<Entry>, NonConformance> {
        let value = format!("client {}, write {number}", self.number).into_bytes();
        let begin = self.clock.fetch_add(1, SeqCst);
        let swap = self
            .probe
            .register
            .swap(&self.key, expected.as_ref(), value.clone());
        let swap = self.probe.within(swap).await?;
        let outcome = match &swap {
            Ok(swap) => SwapOutcome::Answered(swap.clone()),
            Err(RegisterError::Unknown(_)) => SwapOutcome::Unknown,
            Err(_) => SwapOutcome::Failed,
        };
        let did = Did::Swap {
            expected,
            value: value.clone(),
            outcome,
        };
        self.note(begin, did);
        match swap {
            Ok(Swap::Done(version)) => Ok(Some(Entry { version, value })),
            Ok(Swap::Conflict(found)) => Ok(found),
            Err(error) => {
                self.probe.pause(&mut 0, error).await?;
                self.look().await
            }
        }
    }

    fn note(&mut self, begin: u64, did: Did) {
        self.steps.push(HistoryStep {
            client: self.number,
            begin,
            end: self.clock.fetch_add(1, SeqCst),
            did,
        });
    }
}

/// Number of clients. The number is chosen, like `STEPS`: a test shows that this number finds a faulty register, which
/// compares before the write and not together with the write.
pub(super) const CLIENTS: usize = 6;
/// Number of steps of each client.
const STEPS: u32 = 40;
/// Number of contended swaps of all rounds together. The number is chosen: on two idle cores one round mostly has more
/// contended swaps.
const ENOUGH_CONTENDED: usize = 60;
/// A register whose swap is over before the next thread runs has no contended swaps, and shows no more in more rounds.
const MOST_ROUNDS: u64 = 20;
