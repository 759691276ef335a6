//! A disk that survives its host: what was written before a crash is there afterwards.
//!
//! Decided here: that a write takes time, and that one that a crash interrupts may have happened or
//! not. It is not the store of a file, because what waits for a real disk takes real time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix_bully::store::{Generation, Generations, Saving, StoreError, TermStore};
use fastrand::Rng;
use tokio::time::sleep;

/// The disk of one host. Clones are the same disk.
#[derive(Debug)]
pub struct Disk<D>(Arc<Mutex<Platter<D>>>);

#[derive(Debug)]
struct Platter<D> {
    record: Option<D>,
    generations: Generations,
    rng: Rng,
    slowest: u64,
}

impl<D> Clone for Disk<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D> Disk<D> {
    /// An empty one, whose writes take up to so many milliseconds.
    #[must_use]
    pub fn new(seed: u64, slowest: u64) -> Self {
        Self(Arc::new(Mutex::new(Platter {
            record: None,
            generations: Generations::default(),
            rng: Rng::with_seed(seed),
            slowest,
        })))
    }

    /// Loses what was written.
    pub fn forget(&self) {
        self.with(|platter| platter.record = None);
    }

    fn with<R>(&self, then: impl FnOnce(&mut Platter<D>) -> R) -> R {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<D: Clone + std::fmt::Debug + Send + 'static> TermStore<D> for Disk<D> {
    fn load(&self) -> Result<Option<D>, StoreError> {
        Ok(self.with(|platter| platter.record.clone()))
    }

    fn begin(&self) -> Result<Generation, StoreError> {
        Ok(self.with(|platter| platter.generations.begin()))
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let disk = self.clone();
        Box::pin(async move {
            // A crash while it is on its way there, or on its way back.
            let (there, back) = disk.with(|platter| {
                let slowest = platter.slowest;
                (platter.rng.u64(0..=slowest), platter.rng.u64(0..=slowest))
            });
            sleep(Duration::from_millis(there)).await;
            disk.with(|platter| {
                platter.generations.check(by)?;
                platter.record = Some(record);
                Ok(())
            })?;
            sleep(Duration::from_millis(back)).await;
            Ok(())
        })
    }

    fn is_volatile(&self) -> bool {
        false
    }
}
