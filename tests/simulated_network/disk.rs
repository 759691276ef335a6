//! A disk that survives its host: a record that was written before a crash is there afterwards.
//!
//! Decided here: a write takes time, and a write that a crash interrupts may or may not have happened. This disk is
//! not the store in a file, because an agent waits for a real disk in real time. In a history of one process this
//! disk stands for a store in memory.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix_bully::{
    elections::quorum::Vote,
    leader::schedule::ScheduleRecord,
    protocol::AgentId,
    store::{Generation, Generations, Saving, StoreError, TermStore},
};
use fastrand::Rng;
use tokio::time::sleep;

use crate::ledger::Ledger;

/// The disk of one agent. Clones share one disk.
#[derive(Debug)]
pub struct Disk<D>(Arc<Mutex<Platter<D>>>);

#[derive(Debug)]
struct Platter<D> {
    record: Option<D>,
    generations: Generations,
    rng: Rng,
    slowest: u64,
    owner: AgentId,
    is_volatile: bool,
    ledger: Ledger,
}

impl<D> Clone for Disk<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D> Disk<D> {
    /// Creates an empty disk, whose writes take up to `slowest` milliseconds each way.
    pub fn new(owner: AgentId, seed: u64, slowest: u64, ledger: &Ledger) -> Self {
        Self(Arc::new(Mutex::new(Platter {
            record: None,
            generations: Generations::default(),
            rng: Rng::with_seed(seed),
            slowest,
            owner,
            is_volatile: false,
            ledger: ledger.clone(),
        })))
    }

    /// Makes the disk a store in memory.
    pub fn in_memory(self) -> Self {
        self.with(|platter| platter.is_volatile = true);
        self
    }

    /// Returns an empty disk of the same owner and kind.
    pub fn another(&self, seed: u64) -> Self {
        self.like(
            self.with(|platter| platter.owner.clone()),
            Rng::with_seed(seed),
        )
    }

    /// Returns an empty disk of the same kind for another owner.
    pub fn of_owner(&self, owner: AgentId, seed: u64) -> Self {
        self.like(owner, Rng::with_seed(seed))
    }

    /// Returns an empty disk of the same owner for another type of record.
    pub fn of_another_kind<O>(&self) -> Disk<O> {
        let (owner, rng) = self.with(|platter| (platter.owner.clone(), platter.rng.clone()));
        self.like(owner, rng)
    }

    fn like<O>(&self, owner: AgentId, rng: Rng) -> Disk<O> {
        self.with(|platter| {
            Disk(Arc::new(Mutex::new(Platter {
                record: None,
                generations: Generations::default(),
                rng,
                slowest: platter.slowest,
                owner,
                is_volatile: platter.is_volatile,
                ledger: platter.ledger.clone(),
            })))
        })
    }

    /// Loses the record.
    pub fn forget(&self) {
        self.with(|platter| platter.record = None);
    }

    fn with<R>(&self, then: impl FnOnce(&mut Platter<D>) -> R) -> R {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A record that can be on a disk.
pub trait OnDisk: Clone + Debug + Send + 'static {
    /// Notes in the ledger that the record is on the disk.
    fn is_written(&self, owner: &AgentId, ledger: &Ledger);
}

impl OnDisk for Vote {
    fn is_written(&self, owner: &AgentId, ledger: &Ledger) {
        ledger.wrote(owner, self);
    }
}

impl OnDisk for ScheduleRecord {
    fn is_written(&self, _: &AgentId, _: &Ledger) {}
}

impl<D: OnDisk> TermStore<D> for Disk<D> {
    fn load(&self) -> Result<Option<D>, StoreError> {
        Ok(self.with(|platter| platter.record.clone()))
    }

    fn begin(&self) -> Result<Generation, StoreError> {
        Ok(self.with(|platter| platter.generations.begin()))
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let disk = self.clone();
        Box::pin(async move {
            // A crash may interrupt a write before or after the record is on the disk.
            let (there, back) = disk.with(|platter| {
                let slowest = platter.slowest;
                (platter.rng.u64(0..=slowest), platter.rng.u64(0..=slowest))
            });
            sleep(Duration::from_millis(there)).await;
            disk.with(|platter| {
                platter.generations.check(by)?;
                record.is_written(&platter.owner, &platter.ledger);
                platter.record = Some(record);
                Ok(())
            })?;
            sleep(Duration::from_millis(back)).await;
            Ok(())
        })
    }

    fn is_volatile(&self) -> bool {
        self.with(|platter| platter.is_volatile)
    }
}
