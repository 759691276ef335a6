//! The operations, each as a single attempt that does not wait for a lock of another process.
//!
//! Decided here: entries are compared under the lock of the key's file; which answers need no lock; and a record that
//! this register has synced itself is not synced again. All functions of this file block, at most for one sync.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    content::{self, MOST_RECORD, file_name, may_be_below},
    failure::{FileFailure, failure, of_system},
    kind::{kind_at, shared_kind},
};
use crate::{
    Entry, MOST_LISTED, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap, Version,
    record_file::{FileSystem, Host, RecordFile, RecordFileError, Seen, Stamp},
};

/// The folder of a register, as one of its threads uses it.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// The absolute path of the folder. Each operation resolves it again, so if the path leads to another folder by
    /// then, the operation uses the other folder.
    path: PathBuf,
    system: Arc<dyn FileSystem>,
    /// Returns the number of the file system at a path. A test names another one.
    pub(super) kind_at: fn(&Path) -> io::Result<Option<u32>>,
    /// The last record of each key that this thread has synced.
    synced: RefCell<BTreeMap<RegisterKey, Stamp>>,
}

impl Folder {
    /// Makes the folder if it is missing.
    pub(super) fn make(path: &Path) -> Result<Self, RegisterError> {
        let path = std::path::absolute(path).map_err(|error| of_system(path, &error))?;
        let folder = Self::on(path, Arc::new(Host));
        folder.prepare()?;
        Ok(folder)
    }

    pub(super) fn prepare(&self) -> Result<(), RegisterError> {
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(of_system(&self.path, &error));
            }
            Ok(()) | Err(_) => {}
        }
        self.check()?;
        self.may_write()
    }

    pub(super) fn on(path: PathBuf, system: Arc<dyn FileSystem>) -> Self {
        Self {
            path,
            system,
            kind_at,
            synced: RefCell::default(),
        }
    }

    /// Returns the name of the register: the real path of the folder, even if it was opened through a link.
    pub(super) fn name(&self) -> Result<String, RegisterError> {
        let path = self.path.canonicalize();
        let path = path.map_err(|error| of_system(&self.path, &error))?;
        Ok(format!("files {}", path.display()))
    }

    /// Reads the entry of a key. The read takes the lock only if the last writer of the file was killed or has failed.
    pub(super) fn read(&self, key: &RegisterKey) -> Result<Option<Entry>, FileFailure> {
        if let Unlocked::Found(found) = self.see(key)? {
            return Ok(found);
        }
        let (_, found) = self.open(key, false)?;
        Ok(found.map(|(_, entry)| entry))
    }

    pub(super) fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, FileFailure> {
        // Contains a random number, because the same value written again must be another record (see `content.rs`).
        let record = content::encode(key, fastrand::u64(..), value);
        let (path, found) = match self.open_or_see(key, expected)? {
            Opened::Mine(path, found) => (path, found),
            Opened::Changed(found) => return Ok(Swap::Conflict(found)),
        };
        let file = match (found, expected) {
            (Some((mut file, entry)), Some(expected)) if entry == *expected => {
                if let Some(stamp) = self.synced.borrow().get(key) {
                    // If this thread synced the present record, `write` need not sync that record first (rule
                    // `confirm-first`).
                    file.trust(*stamp);
                }
                let written = file.write(&record);
                written.map_err(|error| failure(&path, error, true))?;
                file
            }
            (None, None) => {
                let system = Arc::clone(&self.system);
                match RecordFile::create(system, &path, MOST_RECORD, &record) {
                    Ok(file) => file,
                    // Another process has made the file in the meantime.
                    Err(RecordFileError::Exists) => {
                        let (_, found) = self.open(key, true)?;
                        return Ok(Swap::Conflict(found.map(|(_, entry)| entry)));
                    }
                    Err(error) => return Err(failure(&path, error, true)),
                }
            }
            (found, _) => return Ok(Swap::Conflict(found.map(|(_, entry)| entry))),
        };
        file.say();
        let stamp = file.stamp();
        self.synced.borrow_mut().insert(key.clone(), stamp);
        Ok(Swap::Done(version(key, stamp)?))
    }

    pub(super) fn remove(
        &self,
        key: &RegisterKey,
        expected: &Entry,
    ) -> Result<Removal, FileFailure> {
        let (path, found) = match self.open_or_see(key, Some(expected))? {
            Opened::Mine(path, found) => (path, found),
            Opened::Changed(found) => return Ok(Removal::Conflict(found)),
        };
        match found {
            Some((file, entry)) if entry == *expected => {
                let removed = file.remove();
                removed.map_err(|error| failure(&path, error, true))?;
                self.synced.borrow_mut().remove(key);
                Ok(Removal::Done)
            }
            found => Ok(Removal::Conflict(found.map(|(_, entry)| entry))),
        }
    }

    /// Returns the names of the files that may belong to keys below `prefix`.
    pub(super) fn names(&self, prefix: &RegisterKey) -> Result<Vec<String>, RegisterError> {
        self.check()?;
        let failed = |error| of_system(&self.path, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            // A name that is not Unicode is skipped: no register gives a file such a name.
            let name = entry.map_err(failed)?.file_name().into_string();
            names.extend(name.ok().filter(|name| may_be_below(name, prefix)));
            // Refused, because the caller would consider a shortened list complete.
            if names.len() > MOST_LISTED {
                let prefix = prefix.clone();
                return Err(RegisterError::TooMany { prefix });
            }
        }
        Ok(names)
    }

    /// Returns the key and the entry of the file `name`; `None` if it was removed meanwhile, or no register wrote it.
    pub(super) fn read_file(
        &self,
        name: &str,
    ) -> Result<Option<(RegisterKey, Entry)>, FileFailure> {
        let path = self.path.join(name);
        let seen = match RecordFile::see(&self.system, &path) {
            Ok(None) => RecordFile::open(Arc::clone(&self.system), &path).map(RecordFile::seen),
            Ok(Some(seen)) => Ok(seen),
            Err(error) => Err(error),
        };
        let Seen { record, stamp } = match seen {
            Err(RecordFileError::Missing) => return Ok(None),
            Err(error) => return Err(failure(&path, error, false)),
            Ok(seen) => seen,
        };
        let Some((key, value)) = content::decode(&record) else {
            return Ok(None);
        };
        // A copy of a file under another name does not count: only the right name is the file of the key.
        if file_name(&key) != name {
            return Ok(None);
        }
        let entry = Entry::new(&key, version(&key, stamp)?, value.to_vec())?;
        Ok(Some((key, entry)))
    }

    /// Opens the file to compare and to write. If another process has the lock, the entry is read without the lock: if
    /// it is not the expected one, the result is a conflict without waiting. Most processes that want a lease get such
    /// a conflict, because another process has just taken the lease.
    fn open_or_see(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
    ) -> Result<Opened, FileFailure> {
        match self.open(key, true) {
            Ok((path, found)) => Ok(Opened::Mine(path, found)),
            Err(FileFailure::InUse(file)) => match self.see(key)? {
                Unlocked::Found(found) if found.as_ref() != expected => Ok(Opened::Changed(found)),
                Unlocked::Found(_) | Unlocked::Unsaid => Err(FileFailure::InUse(file)),
            },
            Err(error) => Err(error),
        }
    }

    /// Opens a key's file. Returns the path, and the file with its entry if the file exists.
    fn open(
        &self,
        key: &RegisterKey,
        writes: bool,
    ) -> Result<(PathBuf, Option<(RecordFile, Entry)>), FileFailure> {
        self.check()?;
        let path = self.path.join(file_name(key));
        match RecordFile::open(Arc::clone(&self.system), &path) {
            Err(RecordFileError::Missing) => self.missing().map(|()| (path, None)),
            Err(error) => Err(failure(&path, error, writes)),
            Ok(file) => {
                let entry = entry(key, file.record(), file.stamp())?;
                Ok((path, Some((file, entry))))
            }
        }
    }

    /// Returns the entry of a key, read without the lock.
    fn see(&self, key: &RegisterKey) -> Result<Unlocked, FileFailure> {
        self.check()?;
        let path = self.path.join(file_name(key));
        match RecordFile::see(&self.system, &path) {
            Err(RecordFileError::Missing) => self.missing().map(|()| Unlocked::Found(None)),
            Err(error) => Err(failure(&path, error, false)),
            Ok(None) => Ok(Unlocked::Unsaid),
            Ok(Some(Seen { record, stamp })) => {
                Ok(Unlocked::Found(Some(entry(key, &record, stamp)?)))
            }
        }
    }

    /// Returns an error if the folder is missing: then it is not known whether the key has an entry.
    fn missing(&self) -> Result<(), FileFailure> {
        if self.path.is_dir() {
            return Ok(());
        }
        Err(of_system(&self.path, &ErrorKind::NotFound.into()).into())
    }

    /// Checks the file system, because another file system may have been mounted at the path since the last operation.
    fn check(&self) -> Result<(), RegisterError> {
        let kind = (self.kind_at)(&self.path).map_err(|error| of_system(&self.path, &error))?;
        let Some(shared) = kind.and_then(shared_kind) else {
            return Ok(());
        };
        let words = format!(
            "{} is on {shared}, which other hosts may share without seeing its locks: take a folder on a disk of this host, or PostgreSQL or etcd",
            self.path.display()
        );
        let source = io::Error::other(words);
        Err(RegisterError::refused(RegisterRefusal::Other, source))
    }

    #[cfg(unix)]
    fn may_write(&self) -> Result<(), RegisterError> {
        use rustix::fs::{Access, access};

        let may = access(&self.path, Access::WRITE_OK | Access::EXEC_OK);
        may.map_err(|error| of_system(&self.path, &error.into()))
    }

    /// Refuses to write, because registers make no files on this system.
    #[cfg(not(unix))]
    fn may_write(&self) -> Result<(), RegisterError> {
        let source = io::Error::from(ErrorKind::Unsupported);
        Err(RegisterError::refused(RegisterRefusal::Other, source))
    }
}

/// The opened file of a key, or the entry that was found in place of the expected one.
enum Opened {
    Mine(PathBuf, Option<(RecordFile, Entry)>),
    Changed(Option<Entry>),
}

/// The answer to a read without the lock of the key's file.
enum Unlocked {
    Found(Option<Entry>),
    /// Without the lock the answer is not certain, so the file has to be locked.
    Unsaid,
}

fn entry(key: &RegisterKey, record: &[u8], stamp: Stamp) -> Result<Entry, RegisterError> {
    let foreign = || RegisterError::Foreign { key: key.clone() };
    let (found, value) = content::decode(record).ok_or_else(foreign)?;
    if found != *key {
        return Err(foreign());
    }
    Entry::new(key, version(key, stamp)?, value.to_vec())
}

/// Returns the version of a record, which is its stamp. A stamp contains the device and the inode of the file, so that
/// a copy counts as a change.
fn version(key: &RegisterKey, stamp: Stamp) -> Result<Version, RegisterError> {
    let version = Version::new(&stamp.to_string());
    version.ok_or_else(|| RegisterError::Foreign { key: key.clone() })
}
