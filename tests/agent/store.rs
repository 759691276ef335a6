//! A store of leases that fails on demand, and an agent that keeps its lease in it.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    clock::WallClock as _,
    elections::bully::Preemption,
    protocol::{Term, Timings},
    register::{
        ChangeStream, Entry, MemoryRegister, Register, RegisterError, RegisterKey, RegisterListing,
        RegisterReading, RegisterRefusal, Removal, Removing, StoreClock, Swap, Swapping,
    },
    testkit::{VirtualClock, VirtualWallClock},
};
use bully_core::elections::lease::{LeaseRecord, RegisterRecord};

use crate::stage::MS;

/// The way in which a store lists its entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Lists {
    #[default]
    Lacking,
    Working,
    Hanging,
}

/// The way in which a removal fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FailedRemoval {
    /// Another process has removed the entry meanwhile.
    Absent,
    Refused,
    Unanswered,
    Hanging,
}

/// A store with the entries of a test. It counts questions about marks, and fails on demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) inner: MemoryRegister,
    pub(crate) lists: Lists,
    pub(crate) removes: bool,
    pub(crate) clock: Option<VirtualWallClock>,
    pub(crate) removal: Option<FailedRemoval>,
    /// The text that another agent writes just before an entry is removed.
    pub(crate) written_meanwhile: Option<String>,
    /// Whether the store refuses the marks of schedules and takes the lease.
    pub(crate) has_no_room_for_marks: Arc<AtomicBool>,
    pub(crate) asked_for_marks: Arc<AtomicUsize>,
    pub(crate) tells: bool,
    pub(crate) is_down: Arc<AtomicBool>,
    pub(crate) takes_no_writes: Arc<AtomicBool>,
    /// Whether the next write is neither done nor answered.
    pub(crate) swallows_write: Arc<AtomicBool>,
    /// Whether each reading fails because another program wrote the entry.
    pub(crate) is_foreign: bool,
    /// Whether the store answers nothing.
    pub(crate) hangs: Arc<AtomicBool>,
    pub(crate) written: Arc<Mutex<Vec<LeaseRecord>>>,
}

impl Store {
    /// Returns a store that lists and removes entries, like most stores.
    pub(crate) fn whole() -> Self {
        Self {
            lists: Lists::Working,
            removes: true,
            ..Self::default()
        }
    }

    /// Cuts this process off from the store, or ends the cut.
    pub(crate) fn cut(&self, is_cut: bool) {
        self.is_down.store(is_cut, SeqCst);
    }

    async fn wait(&self) -> Result<(), RegisterError> {
        while self.hangs.load(SeqCst) {
            clock::sleep(MS(10)).await;
        }
        if self.is_down.load(SeqCst) {
            return Err(RegisterError::unreachable(io::Error::other("it is down")));
        }
        Ok(())
    }

    /// Writes an entry over the present one.
    pub(crate) async fn put(&self, key: &RegisterKey, value: String) {
        let expected = self.inner.read(key).await.unwrap();
        let swap = self.inner.swap(key, expected.as_ref(), value.into());
        swap.await.unwrap();
    }

    fn is_mark(&self, key: &RegisterKey) -> bool {
        let is_mark = key.as_str().contains("/schedule/");
        self.asked_for_marks.fetch_add(is_mark.into(), SeqCst);
        is_mark
    }

    pub(crate) fn terms(&self) -> Vec<Term> {
        let mut terms: Vec<_> = self
            .written
            .lock()
            .unwrap()
            .iter()
            .filter(|record| record.holder.is_some())
            .map(|record| record.term)
            .collect();
        terms.dedup();
        terms
    }
}

impl Register for Store {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (store, key) = (self.clone(), key.clone());
        self.is_mark(&key);
        Box::pin(async move {
            store.wait().await?;
            if store.is_foreign {
                return Err(RegisterError::Foreign { key });
            }
            store.inner.read(&key).await
        })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (store, key, expected) = (self.clone(), key.clone(), expected.cloned());
        let has_no_room = self.is_mark(&key) && self.has_no_room_for_marks.load(SeqCst);
        Box::pin(async move {
            store.wait().await?;
            if has_no_room || store.takes_no_writes.load(SeqCst) {
                let full = io::Error::other("it is full");
                return Err(RegisterError::refused(RegisterRefusal::Full, full));
            }
            if store.swallows_write.swap(false, SeqCst) {
                std::future::pending::<()>().await;
            }
            let record = LeaseRecord::decode(&value).ok();
            let swap = store.inner.swap(&key, expected.as_ref(), value).await?;
            if let (Swap::Done(_), Some(record)) = (&swap, record) {
                store.written.lock().unwrap().push(record);
            }
            Ok(swap)
        })
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        self.tells.then(|| self.inner.changes(key))?
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        match self.lists {
            Lists::Lacking => None,
            Lists::Working => self.inner.list(prefix),
            Lists::Hanging => Some(Box::pin(std::future::pending())),
        }
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        let (store, key, expected) = (self.clone(), key.clone(), expected.clone());
        self.removes.then(|| -> Removing {
            Box::pin(async move {
                if let Some(value) = store.written_meanwhile.clone() {
                    store.put(&key, value).await;
                }
                let error = || io::Error::other("it is broken");
                match store.removal {
                    None => store.inner.remove(&key, &expected).unwrap().await,
                    Some(FailedRemoval::Absent) => Ok(Removal::Conflict(None)),
                    Some(FailedRemoval::Refused) => {
                        Err(RegisterError::refused(RegisterRefusal::Full, error()))
                    }
                    Some(FailedRemoval::Unanswered) => Err(RegisterError::unknown(error())),
                    Some(FailedRemoval::Hanging) => std::future::pending().await,
                }
            })
        })
    }

    fn clock(&self) -> Option<StoreClock> {
        let now = self.clock.as_ref()?.now().as_millis();
        Some(Box::pin(async move { Ok(now) }))
    }
}

pub(crate) fn group() -> Group {
    Group::new("jobs").unwrap()
}

pub(crate) fn agent(
    group: &Group,
    store: &(impl Register + Clone + 'static),
    name: &str,
    rank: i32,
) -> BullyHandle {
    let agent = BullyAgent::builder(name)
        .score(rank)
        .timings(Timings::lan())
        .lease(store.clone())
        .preemption(Preemption::Never)
        .clock(VirtualClock::new())
        .join(group);
    agent.start().unwrap()
}
