//! A register in memory that breaks one clause of the contract.
//!
//! Decided here: the behaviour of each defect. A client of a real store could have any of these mistakes.

use std::{
    collections::BTreeMap,
    future, io,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bully_register::{
    Change, ChangeStream, Entry, MOST_BYTES, MOST_LISTED, Register, RegisterError, RegisterKey,
    RegisterListing, RegisterReading, Removal, Removing, Swap, Swapping, Version,
};
use futures::stream;

/// Number of polls after which a waiting swap counts as blocked for ever. A swap behind live swaps waits for fewer
/// polls.
const LONGEST_QUEUE: u32 = 10_000;

/// The clause that a register breaks on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    Nothing,
    /// Each connection has a name of its own.
    NameOfConnection,
    /// A key that is absent has an empty value.
    AbsentIsEmpty,
    KeepsText,
    /// A swap returns the version before the write.
    FormerVersion,
    /// An answer comes before the write, and each seventh write is lost.
    LosesWrites,
    IgnoresCase,
    CutsKeys,
    /// Only creation is told from replacement.
    ComparesPresence,
    ComparesValue,
    /// The comparison is made when the swap is sent, the write when it arrives.
    ComparesAtSend,
    ConflictShowsExpected,
    VersionOfValue,
    VersionsBeginAnew,
    CutsValues,
    KeepsAnySize,
    /// Each connection reads what it has read before, every other time.
    ReadsCache,
    /// Others may write between the comparison and the write.
    WritesAfterComparison,
    /// A write whose connection was lost is sent again with the version that is there then.
    SendsAgain,
    WritesOnConflict,
    /// Each fifth write is done and says that the store was not reached.
    DoneIsUnreachable,
    SwapsAtOnce,
    DropKeepsLock,
    RemovesAny,
    RemovesNothing,
    RemovesLate,
    ListsByLetters,
    ListsWithoutOrder,
    /// A listing has the first entries, without a word about the others.
    ListsTheFirst,
    TellsNothing,
    TellsFormer,
}

/// A connection to the store.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    defect: Defect,
    name: String,
    store: Arc<Mutex<Store>>,
    cached: Arc<Mutex<BTreeMap<String, Option<Entry>>>>,
}

#[derive(Debug, Default)]
struct Store {
    entries: BTreeMap<String, (RegisterKey, Entry)>,
    written: u64,
    connections: u32,
    is_locked: bool,
}

impl Store {
    fn get(&self, place: &str) -> Option<Entry> {
        self.entries.get(place).map(|(_, entry)| entry.clone())
    }
}

impl Wrong {
    /// Returns a store with the defect. Each call of the store makes a connection.
    pub(crate) fn store(defect: Defect) -> impl Fn() -> Self {
        let store = Arc::<Mutex<Store>>::default();
        move || {
            let mut values = store.lock().unwrap();
            values.connections += 1;
            let name = match defect {
                Defect::NameOfConnection => format!("connection {}", values.connections),
                _ => "wrong".to_owned(),
            };
            Self {
                defect,
                name,
                store: Arc::clone(&store),
                cached: Arc::default(),
            }
        }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn place(&self, key: &RegisterKey) -> String {
        match self.defect {
            Defect::IgnoresCase => key.as_str().to_lowercase(),
            Defect::CutsKeys => key.as_str().chars().take(255).collect(),
            _ => key.as_str().to_owned(),
        }
    }

    fn values(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }

    fn look(&self, place: &str) -> Option<Entry> {
        self.values().get(place)
    }

    fn matches(&self, there: Option<&Entry>, expected: Option<&Entry>) -> bool {
        match self.defect {
            Defect::ComparesPresence => there.is_some() == expected.is_some(),
            Defect::ComparesValue => {
                there.map(|entry| &entry.value) == expected.map(|entry| &entry.value)
            }
            _ => there == expected,
        }
    }

    fn write(&self, values: &mut Store, key: &RegisterKey, value: Vec<u8>) -> Version {
        let place = self.place(key);
        values.written += 1;
        let number = match self.defect {
            Defect::VersionOfValue => value.iter().map(|byte| u64::from(*byte)).sum(),
            Defect::VersionsBeginAnew => values.get(&place).map_or(1, |entry| {
                entry.version.as_str().parse::<u64>().unwrap() + 1
            }),
            _ => values.written,
        };
        let value = match self.defect {
            Defect::KeepsText => String::from_utf8_lossy(&value).into_owned().into_bytes(),
            Defect::CutsValues => value.into_iter().take(1_000).collect(),
            _ => value,
        };
        let version = Version::from(number);
        let entry = Entry::new(key, version.clone(), value);
        let is_lost = self.is(Defect::LosesWrites) && values.written.is_multiple_of(7);
        // A value that is too large makes no entry.
        if let (Ok(entry), false) = (entry, is_lost) {
            values.entries.insert(place, (key.clone(), entry));
        }
        match self.defect {
            Defect::FormerVersion => Version::from(number - 1),
            _ => version,
        }
    }

    async fn swap_now(
        self,
        key: RegisterKey,
        expected: Option<Entry>,
        value: Vec<u8>,
        was_there: Option<Entry>,
    ) -> Result<Swap, RegisterError> {
        if value.len() > MOST_BYTES && !self.is(Defect::KeepsAnySize) {
            return Err(RegisterError::TooLarge { len: value.len() });
        }
        if self.is(Defect::DropKeepsLock) {
            let mut turns = 0;
            while self.values().is_locked {
                // A dropped swap keeps the lock for ever. The paused clock lets the suite's deadline pass without a
                // wait.
                if turns == LONGEST_QUEUE {
                    tokio::time::pause();
                    future::pending::<()>().await;
                }
                turns += 1;
                tokio::task::yield_now().await;
            }
            self.values().is_locked = true;
            tokio::task::yield_now().await;
            self.values().is_locked = false;
        }
        let place = self.place(&key);
        let is_split = self.is(Defect::WritesAfterComparison) && {
            let there = self.look(&place);
            tokio::time::sleep(Duration::from_millis(1)).await;
            there == expected
        };
        let swap = {
            let mut values = self.values();
            let there = match self.defect {
                Defect::ComparesAtSend => was_there,
                _ => values.get(&place),
            };
            if is_split || self.matches(there.as_ref(), expected.as_ref()) {
                Swap::Done(self.write(&mut values, &key, value.clone()))
            } else {
                if self.is(Defect::WritesOnConflict) {
                    self.write(&mut values, &key, value.clone());
                }
                Swap::Conflict(match self.defect {
                    Defect::ConflictShowsExpected => expected,
                    _ => there,
                })
            }
        };
        let Swap::Done(_) = swap else {
            return Ok(swap);
        };
        self.cached.lock().unwrap().remove(&place);
        let written = self.values().written;
        if self.is(Defect::SendsAgain) && written.is_multiple_of(4) {
            tokio::time::sleep(Duration::from_millis(2)).await;
            return Ok(Swap::Done(self.write(&mut self.values(), &key, value)));
        }
        if self.is(Defect::DoneIsUnreachable) && written.is_multiple_of(5) {
            return Err(RegisterError::unreachable(io::Error::other("lost")));
        }
        Ok(swap)
    }
}

impl Register for Wrong {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (register, key) = (self.clone(), key.clone());
        Box::pin(async move {
            let place = register.place(&key);
            if register.is(Defect::ReadsCache) {
                let cached = register.cached.lock().unwrap().remove(&place);
                if let Some(entry) = cached {
                    return Ok(entry);
                }
            }
            let mut found = register.look(&place);
            if register.is(Defect::AbsentIsEmpty) && found.is_none() {
                found = Some(Entry::new(&key, Version::from(0), Vec::new())?);
            }
            register.cached.lock().unwrap().insert(place, found.clone());
            Ok(found)
        })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let was_there = self.look(&self.place(key));
        if self.is(Defect::SwapsAtOnce)
            && was_there.as_ref() == expected
            && value.len() <= MOST_BYTES
        {
            let version = self.write(&mut self.values(), key, value);
            return Box::pin(async { Ok(Swap::Done(version)) });
        }
        let swap = self
            .clone()
            .swap_now(key.clone(), expected.cloned(), value, was_there);
        Box::pin(swap)
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        let (register, prefix) = (self.clone(), prefix.clone());
        Some(Box::pin(async move {
            let values = register.values();
            let all = values.entries.values().cloned();
            let mut below: Vec<_> = all
                .filter(|(key, _)| match register.defect {
                    Defect::ListsByLetters => key.as_str().starts_with(prefix.as_str()),
                    _ => key.is_below(&prefix),
                })
                .collect();
            match register.defect {
                Defect::ListsWithoutOrder => below.reverse(),
                Defect::ListsTheFirst => below.truncate(MOST_LISTED),
                _ if below.len() > MOST_LISTED => return Err(RegisterError::TooMany { prefix }),
                _ => {}
            }
            Ok(below)
        }))
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        let (register, key, expected) = (self.clone(), key.clone(), expected.clone());
        let was_there = self.look(&self.place(&key));
        Some(Box::pin(async move {
            let place = register.place(&key);
            let mut values = register.values();
            let there = match register.defect {
                Defect::RemovesLate => was_there,
                _ => values.get(&place),
            };
            let any = register.is(Defect::RemovesAny) && there.is_some();
            if there.as_ref() != Some(&expected) && !any {
                return Ok(Removal::Conflict(there));
            }
            if !register.is(Defect::RemovesNothing) {
                values.entries.remove(&place);
            }
            Ok(Removal::Done)
        }))
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        // A hint may report a change all the time.
        let loud = || Box::pin(stream::repeat(Change::Unknown));
        Some(match self.defect {
            Defect::TellsNothing => {
                // The paused clock lets the suite's deadlines for a report pass without a wait.
                tokio::time::pause();
                Box::pin(stream::pending())
            }
            Defect::TellsFormer => {
                let (register, place) = (self.clone(), self.place(key));
                Box::pin(stream::repeat_with(move || match register.look(&place) {
                    Some(mut entry) => {
                        entry.value = b"former".to_vec();
                        Change::Written {
                            entry,
                            replaced: None,
                        }
                    }
                    None => Change::Unknown,
                }))
            }
            _ => loud(),
        })
    }
}
