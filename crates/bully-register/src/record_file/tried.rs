//! The files of this host, with calls that a test can see, let fail, or precede with an action; and a model of the
//! files on the disk.

#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "tests alone use it: a panic is how it answers"
)]

use std::{
    fmt,
    fs::File,
    io::{self, ErrorKind},
    mem,
    sync::{
        Mutex,
        atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst},
    },
};

pub use crate::record_file::Call;
use crate::record_file::{FileSystem, Host};

/// A planned event: it takes the place of a call, or happens before the call.
pub enum Event {
    Fails(ErrorKind),
    /// The call fails with the contained error of the system.
    Refused(i32),
    /// A write fails after this number of bytes; a read returns this number of bytes.
    Short(usize),
    Before(Box<dyn FnOnce() + Send>),
}

#[derive(Default)]
pub struct Tried {
    seen: Mutex<Vec<Call>>,
    count: AtomicUsize,
    events: Mutex<Vec<(usize, Event)>>,
    pub(super) disk: Mutex<Disk>,
    /// Added to the number of the process; a test sets it to act as a forked child.
    pub(super) forked: AtomicU32,
}

impl fmt::Debug for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.seen.fmt(f)
    }
}

/// A model of the last written file: its bytes on the disk, and the bytes that are not synced.
#[derive(Clone, Default)]
pub(super) struct Disk {
    pub(super) durable: Vec<u8>,
    /// The bytes written since the last sync. After a failed sync the pages of these bytes count as clean, and the disk
    /// never gets the bytes.
    pub(super) dirty: Vec<(usize, Vec<u8>)>,
}

impl Disk {
    fn sync(&mut self) {
        for (at, bytes) in mem::take(&mut self.dirty) {
            put(&mut self.durable, at, &bytes);
        }
    }
}

pub(super) fn put(image: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if image.len() < end {
        image.resize(end, 0);
    }
    image[at..end].copy_from_slice(bytes);
}

impl Tried {
    /// Plans the event before the call with the given number, counted from the next call.
    pub fn plan(&self, number: usize, event: Event) {
        let at = self.count.load(SeqCst) + number;
        self.events.lock().unwrap().push((at, event));
    }

    /// Returns the bytes of the last file that are on the disk.
    pub fn durable(&self) -> Vec<u8> {
        self.disk.lock().unwrap().durable.clone()
    }

    /// Returns the calls since the last look, and forgets the planned actions.
    pub fn take(&self) -> Vec<Call> {
        self.events.lock().unwrap().clear();
        mem::take(&mut self.seen.lock().unwrap())
    }

    /// Notes a call. `Ok(Some(len))` for a write or a read that shall be short.
    fn note(&self, call: Call) -> io::Result<Option<usize>> {
        let number = self.count.fetch_add(1, SeqCst);
        self.seen.lock().unwrap().push(call);
        let mut events = self.events.lock().unwrap();
        let now = events.iter().position(|(at, _)| *at == number);
        let event = now.map(|index| events.remove(index).1);
        drop(events);
        match event {
            None => Ok(None),
            Some(Event::Fails(kind)) => Err(kind.into()),
            Some(Event::Refused(number)) => Err(io::Error::from_raw_os_error(number)),
            Some(Event::Short(len)) => Ok(Some(len)),
            Some(Event::Before(act)) => {
                act();
                Ok(None)
            }
        }
    }
}

impl FileSystem for Tried {
    fn before(&self, call: Call) -> io::Result<()> {
        self.note(call).map(drop)
    }

    fn read_at(&self, file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
        let short = self.note(Call::Read)?;
        let len = short.unwrap_or(into.len());
        Host.read_at(file, &mut into[..len], at)
    }

    fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
        let short = self.note(Call::Write)?;
        let bytes = &bytes[..short.unwrap_or(bytes.len())];
        let written = Host.write_at(file, bytes, at)?;
        let at = usize::try_from(at).unwrap();
        let mut disk = self.disk.lock().unwrap();
        if written > 0 {
            disk.dirty.push((at, bytes[..written].to_vec()));
        }
        if short.is_some_and(|len| len > 0) {
            // The rest of the write is refused.
            self.plan(0, Event::Fails(ErrorKind::StorageFull));
        }
        Ok(written)
    }

    fn sync_data(&self, file: &File) -> io::Result<()> {
        if let Err(error) = self.note(Call::SyncData) {
            self.disk.lock().unwrap().dirty.clear();
            return Err(error);
        }
        Host.sync_data(file)?;
        self.disk.lock().unwrap().sync();
        Ok(())
    }

    fn sync_all(&self, file: &File) -> io::Result<()> {
        self.note(Call::SyncAll)?;
        Host.sync_all(file)?;
        self.disk.lock().unwrap().sync();
        Ok(())
    }

    fn process(&self) -> u32 {
        std::process::id() + self.forked.load(SeqCst)
    }
}
