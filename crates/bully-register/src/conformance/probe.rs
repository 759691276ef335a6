//! The operations of a register as the suite calls them.
//!
//! Decided here: the time limit of an operation, and how often an operation that had no effect is tried again. After
//! each failed swap or removal the key is read: only the error `Unknown` may come with a change of the entry.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use super::{Clause, NonConformance};
use crate::{Entry, Register, RegisterError, RegisterKey, RegisterListing, Removal, Swap};

/// A connection, and the clause that is being tested.
#[derive(Clone, Debug)]
pub(super) struct ClauseProbe {
    pub(super) register: Arc<dyn Register>,
    pub(super) clause: Clause,
}

impl ClauseProbe {
    pub(super) async fn read(&self, key: &RegisterKey) -> Result<Option<Entry>, NonConformance> {
        self.until_read(|| self.register.read(key)).await
    }

    /// Returns the entry of a key that must have an entry.
    pub(super) async fn entry(&self, key: &RegisterKey) -> Result<Entry, NonConformance> {
        let found = self.read(key).await?;
        found.ok_or_else(|| {
            self.clause
                .broken(format!("{key} was written and has no entry"))
        })
    }

    /// Lists the entries below a key. `None` if the register does not offer listings.
    pub(super) async fn list(
        &self,
        prefix: &RegisterKey,
    ) -> Result<Option<Vec<(RegisterKey, Entry)>>, NonConformance> {
        if self.register.list(prefix).is_none() {
            return Ok(None);
        }
        let none = || -> RegisterListing { Box::pin(async { Ok(Vec::new()) }) };
        let list = || self.register.list(prefix).unwrap_or_else(none);
        self.until_read(list).await.map(Some)
    }

    async fn until_read<T>(
        &self,
        ask: impl Fn() -> std::pin::Pin<Box<dyn Future<Output = Result<T, RegisterError>> + Send>>,
    ) -> Result<T, NonConformance> {
        let mut tries = 0;
        loop {
            match self.within(ask()).await? {
                Err(error @ RegisterError::Unreachable(_)) => self.pause(&mut tries, error).await?,
                read => return read.map_err(|source| self.failed(source)),
            }
        }
    }

    pub(super) async fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, NonConformance> {
        let mut tries = 0;
        loop {
            let swap = self.register.swap(key, expected, value.to_vec());
            let error = match self.within(swap).await? {
                Ok(swap) => return Ok(swap),
                Err(error) => error,
            };
            let found = self.read(key).await?;
            let is_written = found.as_ref() != expected
                && found.as_ref().is_some_and(|entry| entry.value == value);
            match found {
                Some(entry) if is_written && error.is_unknown() => {
                    return Ok(Swap::Done(entry.version));
                }
                _ => unchanged(!is_written, key, &error)?,
            }
            self.pause(&mut tries, error).await?;
        }
    }

    /// Writes, checks that a read shows the entry that the swap reported, and returns this entry.
    pub(super) async fn write(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Entry, NonConformance> {
        match self.swap(key, expected, value).await? {
            Swap::Done(version) => {
                let entry = self.entry(key).await?;
                Clause::ReadsWhatWasWritten.check(
                    entry.version == version && entry.value == value,
                    || {
                        let due = Entry {
                            version,
                            value: value.to_vec(),
                        };
                        format!(
                            "{} was written to {key}, and {} is read",
                            ShownEntry(&due),
                            ShownEntry(&entry)
                        )
                    },
                )?;
                Ok(entry)
            }
            Swap::Conflict(found) => Err(Clause::SwapCompares.broken(format!(
                "a swap of {key} that expects {} conflicts with {}, although no other client wrote",
                ShownAt(expected),
                ShownAt(found.as_ref())
            ))),
        }
    }

    /// Makes a swap that must end in a conflict, since the present entry is `there` and not `expected`.
    pub(super) async fn conflict(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        there: Option<&Entry>,
    ) -> Result<(), NonConformance> {
        let swap = self.swap(key, expected, b"a swap that conflicts").await?;
        let (due, was) = (ShownAt(there), ShownAt(expected));
        match &swap {
            Swap::Done(_) => Err(self.clause.broken(format!(
                "a swap of {key} that expects {was} was done while {due} was there"
            ))),
            Swap::Conflict(found) if found.as_ref() != there => Err(self.clause.broken(format!(
                "a swap of {key} shows {} in its conflict while {due} is there",
                ShownAt(found.as_ref())
            ))),
            Swap::Conflict(_) => {
                let found = self.read(key).await?;
                Clause::FailureMeansUnchanged.check(found.as_ref() == there, || {
                    let found = ShownAt(found.as_ref());
                    format!("after a conflict {key} has {found} in the place of {due}")
                })
            }
        }
    }

    /// Removes an entry. `None` if the register does not offer removals.
    pub(super) async fn remove(
        &self,
        key: &RegisterKey,
        expected: &Entry,
    ) -> Result<Option<Removal>, NonConformance> {
        let mut tries = 0;
        loop {
            let Some(removal) = self.register.remove(key, expected) else {
                return Ok(None);
            };
            let error = match self.within(removal).await? {
                Ok(removal) => return Ok(Some(removal)),
                Err(error) => error,
            };
            let is_removed = self.read(key).await?.is_none();
            if is_removed && error.is_unknown() {
                return Ok(Some(Removal::Done));
            }
            unchanged(!is_removed, key, &error)?;
            self.pause(&mut tries, error).await?;
        }
    }

    pub(super) async fn within<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, NonConformance> {
        let overdue = |_| NonConformance::Overdue {
            clause: self.clause,
            limit: LIMIT,
        };
        timeout(LIMIT, work).await.map_err(overdue)
    }

    /// Waits before an operation is tried again. Fails after too many tries, or if another try cannot help.
    pub(super) async fn pause(
        &self,
        tries: &mut u32,
        error: RegisterError,
    ) -> Result<(), NonConformance> {
        let may_pass = matches!(
            error,
            RegisterError::Unreachable(_) | RegisterError::Unknown(_)
        );
        if !may_pass || *tries >= TRIES {
            return Err(self.failed(error));
        }
        *tries += 1;
        sleep(PAUSE).await;
        Ok(())
    }

    fn failed(&self, source: RegisterError) -> NonConformance {
        NonConformance::Failed {
            clause: self.clause,
            source,
        }
    }
}

/// Fails if an operation changed an entry although it ended with an error other than `Unknown`.
fn unchanged(
    is_unchanged: bool,
    key: &RegisterKey,
    error: &RegisterError,
) -> Result<(), NonConformance> {
    Clause::FailureMeansUnchanged.check(is_unchanged || error.is_unknown(), || {
        format!("{key} was changed by an operation that failed with {error:?}")
    })
}

/// The text of an entry in an error: its version, and the beginning of its value.
pub(super) struct ShownEntry<'a>(pub(super) &'a Entry);

impl fmt::Display for ShownEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { version, value } = self.0;
        let text = String::from_utf8_lossy(value);
        let begin: String = text.chars().take(MOST_SHOWN).collect();
        let rest = if text.len() > begin.len() { ".." } else { "" };
        write!(
            f,
            "{begin:?}{rest} of {} bytes (version {:?})",
            value.len(),
            version.as_str()
        )
    }
}

/// The text of an entry or of no entry.
pub(super) struct ShownAt<'a>(pub(super) Option<&'a Entry>);

impl fmt::Display for ShownAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(entry) => ShownEntry(entry).fmt(f),
            None => f.write_str("no entry"),
        }
    }
}

/// Time within which an operation has to end.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// Number of further tries of an operation that had no effect. Chosen: with the pauses, a store may be away for 5 s.
const TRIES: u32 = 100;
/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(50);
/// Longest part of a value in an error, in characters.
const MOST_SHOWN: usize = 24;
