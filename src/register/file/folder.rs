//! The operations, each one attempt that waits for no other process.
//!
//! Decided here: the comparison under the lock of a key's file, and which record needs no second sync since this
//! register synced it. Everything here blocks, for a sync at most.

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
    record_file::{FileSystem, Host, RecordFile, RecordFileError, Stamp},
    register::{
        Entry, MOST_LISTED, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap, Version,
    },
};

/// A folder of a register, as one of its threads has it.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// Absolute, and followed anew in each operation: where it leads to another folder, that one counts for all.
    path: PathBuf,
    system: Arc<dyn FileSystem>,
    /// The last record of each key that this thread has synced.
    synced: RefCell<BTreeMap<RegisterKey, Stamp>>,
}

impl Folder {
    /// Makes the folder where it is missing.
    pub(super) fn make(path: &Path) -> Result<Self, RegisterError> {
        let path = std::path::absolute(path).map_err(|error| of_system(path, &error))?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(of_system(&path, &error));
            }
            Ok(()) | Err(_) => {}
        }
        let folder = Self::on(path, Arc::new(Host));
        folder.check()?;
        folder.may_write()?;
        Ok(folder)
    }

    pub(super) fn on(path: PathBuf, system: Arc<dyn FileSystem>) -> Self {
        Self {
            path,
            system,
            synced: RefCell::default(),
        }
    }

    /// How an operator calls it, by whichever link it was opened.
    pub(super) fn name(&self) -> Result<String, RegisterError> {
        let path = self.path.canonicalize();
        let path = path.map_err(|error| of_system(&self.path, &error))?;
        Ok(format!("files {}", path.display()))
    }

    pub(super) fn read(&self, key: &RegisterKey) -> Result<Option<Entry>, FileFailure> {
        let (_, found) = self.open(key, false)?;
        Ok(found.map(|(_, entry)| entry))
    }

    pub(super) fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, FileFailure> {
        let record = content::encode(key, fastrand::u64(..), value);
        let (path, found) = self.open(key, true)?;
        let file = match (found, expected) {
            (Some((mut file, entry)), Some(expected)) if entry == *expected => {
                if let Some(stamp) = self.synced.borrow().get(key) {
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
                    // Another process was first.
                    Err(RecordFileError::Exists) => {
                        let (_, found) = self.open(key, true)?;
                        return Ok(Swap::Conflict(found.map(|(_, entry)| entry)));
                    }
                    Err(error) => return Err(failure(&path, error, true)),
                }
            }
            (found, _) => return Ok(Swap::Conflict(found.map(|(_, entry)| entry))),
        };
        let stamp = file.stamp();
        self.synced.borrow_mut().insert(key.clone(), stamp);
        Ok(Swap::Done(version(key, stamp)?))
    }

    pub(super) fn remove(
        &self,
        key: &RegisterKey,
        expected: &Entry,
    ) -> Result<Removal, FileFailure> {
        let (path, found) = self.open(key, true)?;
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

    /// The names of the files that may belong to keys below this one.
    pub(super) fn names(&self, prefix: &RegisterKey) -> Result<Vec<String>, RegisterError> {
        self.check()?;
        let failed = |error| of_system(&self.path, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            // A register gives no file a name outside of Unicode.
            let name = entry.map_err(failed)?.file_name().into_string();
            names.extend(name.ok().filter(|name| may_be_below(name, prefix)));
            if names.len() > MOST_LISTED {
                let prefix = prefix.clone();
                return Err(RegisterError::TooMany { prefix });
            }
        }
        Ok(names)
    }

    /// Key and entry of the file of that name; `None` if it was removed meanwhile, or no register wrote it.
    pub(super) fn read_file(
        &self,
        name: &str,
    ) -> Result<Option<(RegisterKey, Entry)>, FileFailure> {
        let path = self.path.join(name);
        match RecordFile::open(Arc::clone(&self.system), &path) {
            Err(RecordFileError::Missing) => Ok(None),
            Err(error) => Err(failure(&path, error, false)),
            Ok(file) => {
                let Some((key, value)) = content::decode(file.record()) else {
                    return Ok(None);
                };
                if file_name(&key) != name {
                    return Ok(None);
                }
                let entry = Entry::new(&key, version(&key, file.stamp())?, value.to_vec())?;
                Ok(Some((key, entry)))
            }
        }
    }

    /// The path of a key's file, and the file with its entry if it is there.
    fn open(
        &self,
        key: &RegisterKey,
        writes: bool,
    ) -> Result<(PathBuf, Option<(RecordFile, Entry)>), FileFailure> {
        self.check()?;
        let path = self.path.join(file_name(key));
        let file = match RecordFile::open(Arc::clone(&self.system), &path) {
            Err(RecordFileError::Missing) if self.path.is_dir() => return Ok((path, None)),
            // Nothing is known of a record whose folder is away.
            Err(RecordFileError::Missing) => {
                return Err(of_system(&self.path, &ErrorKind::NotFound.into()).into());
            }
            Err(error) => return Err(failure(&path, error, writes)),
            Ok(file) => file,
        };
        let foreign = || RegisterError::Foreign { key: key.clone() };
        let (found, value) = content::decode(file.record()).ok_or_else(foreign)?;
        if found != *key {
            return Err(foreign().into());
        }
        let entry = Entry::new(key, version(key, file.stamp())?, value.to_vec())?;
        Ok((path, Some((file, entry))))
    }

    /// Anything may have been mounted there since the last operation.
    fn check(&self) -> Result<(), RegisterError> {
        let kind = kind_at(&self.path).map_err(|error| of_system(&self.path, &error))?;
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

    /// Nothing is ever made there.
    #[cfg(not(unix))]
    fn may_write(&self) -> Result<(), RegisterError> {
        let source = io::Error::from(ErrorKind::Unsupported);
        Err(RegisterError::refused(RegisterRefusal::Other, source))
    }
}

/// The version of a record: its stamp has the device and the inode of its file, so that a copy is a change.
fn version(key: &RegisterKey, stamp: Stamp) -> Result<Version, RegisterError> {
    let version = Version::new(&stamp.to_string());
    version.ok_or_else(|| RegisterError::Foreign { key: key.clone() })
}
