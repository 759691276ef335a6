//! One file that is replaced as a whole, and that nobody else has open.
//!
//! Decided here: the order of write, sync, rename and sync of the folder, and how a file is kept
//! exclusive although each save puts another one in its place. Everything here blocks.
//!
//! The lock is on the file itself, not on one beside it that would stay behind. A new file is
//! locked *before* it gets the name, so whoever has the name is locked at every moment. Who locks
//! a file that has just lost its name sees that it has, and tries again.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{
    Damage, StoreError,
    lock::{self, Locked},
};

/// Where a store's file is, and the lock on it.
#[derive(Debug)]
pub(super) struct Disk {
    /// As the user named it, for errors.
    named: PathBuf,
    /// Without links, so that a change of the working directory does not matter.
    folder: PathBuf,
    path: PathBuf,
    /// The file that has the name.
    pub(super) held: Locked,
}

impl Disk {
    /// Puts a new file where there is none.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Io`], [`StoreError::NotAvailable`]; there is no file
    /// of ours then.
    pub(super) fn create(named: &Path, text: &[u8]) -> Result<Self, StoreError> {
        let failed = |source| io_error(named, source);
        let name = named.file_name().ok_or(ErrorKind::InvalidFilename);
        let name = name.map_err(|kind| failed(kind.into()))?;
        let folder = match named.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let folder = fs::canonicalize(folder).map_err(failed)?;
        let path = folder.join(name);
        let file = write_beside(named, &folder, &path, text)?;
        let held = file
            .persist_noclobber(&path)
            .map_err(|refused| refused.error)
            .map_err(|error| {
                if error.kind() == ErrorKind::AlreadyExists {
                    return StoreError::Exists { path: named.into() };
                }
                failed(error)
            })?;
        if let Err(error) = sync_folder(&folder) {
            // It has our lock and holds nothing yet: nobody misses it.
            drop(fs::remove_file(&path));
            return Err(failed(error));
        }
        Ok(Self {
            named: named.into(),
            folder,
            path,
            held: Locked::new(held),
        })
    }

    /// Locks the file of that name, whatever it holds.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::InUse`], [`StoreError::Io`],
    /// [`StoreError::NotAvailable`], and [`StoreError::Damaged`] for what is not a file.
    pub(super) fn open(named: &Path) -> Result<Self, StoreError> {
        let failed = |source: io::Error| {
            if source.kind() == ErrorKind::NotFound {
                return StoreError::Missing { path: named.into() };
            }
            io_error(named, source)
        };
        let path = fs::canonicalize(named).map_err(failed)?;
        let folder = path.parent().unwrap_or(&path).to_path_buf();
        for _ in 0..TRIES {
            // Asked before it is opened: the opening of a pipe waits for a writer.
            if !fs::metadata(&path).map_err(failed)?.is_file() {
                return Err(StoreError::Damaged {
                    path: named.into(),
                    damage: Damage::NotAFile,
                });
            }
            let held = File::open(&path).map_err(failed)?;
            lock::lock(named, &held)?;
            let held = Locked::new(held);
            if lock::has_name(held.file(), &path).map_err(failed)? {
                return Ok(Self {
                    named: named.into(),
                    folder,
                    path,
                    held,
                });
            }
        }
        // It was replaced each time: somebody saves.
        Err(StoreError::InUse { path: named.into() })
    }

    /// The path as the user named it.
    pub(super) fn named(&self) -> &Path {
        &self.named
    }

    /// What the file holds, of which at most `max` bytes, and one more to show that there are.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn read(&self, max: usize) -> Result<Vec<u8>, StoreError> {
        let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        let mut text = Vec::new();
        self.held
            .file()
            .take(limit)
            .read_to_end(&mut text)
            .map_err(|source| io_error(&self.named, source))?;
        Ok(text)
    }

    /// Puts a new file in the place of the present one. It is durable when this returns; after an
    /// error it is not known which of the two is.
    ///
    /// # Errors
    /// [`StoreError::Replaced`], and [`StoreError::Io`].
    pub(super) fn replace(&mut self, text: &[u8]) -> Result<(), StoreError> {
        let failed = |source| io_error(&self.named, source);
        if !lock::has_name(self.held.file(), &self.path).map_err(failed)? {
            return Err(StoreError::Replaced {
                path: self.named.clone(),
            });
        }
        let file = write_beside(&self.named, &self.folder, &self.path, text)?;
        let held = file
            .persist(&self.path)
            .map_err(|refused| failed(refused.error))?;
        self.held = Locked::new(held);
        sync_folder(&self.folder).map_err(failed)
    }

    /// Removes what a crash between write and rename left behind.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn tidy(&self) -> Result<(), StoreError> {
        let failed = |source| io_error(&self.named, source);
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if is_beside(&self.path, &entry.path()) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// A new file in the folder: locked, and with its contents on the disk, but not its name.
fn write_beside(
    named: &Path,
    folder: &Path,
    path: &Path,
    text: &[u8],
) -> Result<NamedTempFile, StoreError> {
    let failed = |source| io_error(named, source);
    let mut file = tempfile::Builder::new()
        .prefix(&before_chance(path))
        .rand_bytes(CHANCE)
        .suffix(AFTER_CHANCE)
        .tempfile_in(folder)
        .map_err(failed)?;
    lock::lock(named, file.as_file())?;
    file.write_all(text).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    Ok(file)
}

/// Whether this is a file that [`write_beside`] made for that store, not for another one.
fn is_beside(path: &Path, file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(before_chance(path).as_encoded_bytes())
        .and_then(|rest| rest.strip_suffix(AFTER_CHANCE.as_bytes()))
        .is_some_and(|chance| {
            chance.len() == CHANCE && chance.iter().all(u8::is_ascii_alphanumeric)
        })
}

/// `.NAME.`, of which [`write_beside`] makes `.NAME.a1B2c3d4.unsaved`.
fn before_chance(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

/// A rename is durable only once the folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(super) fn io_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        path: path.into(),
        source,
    }
}

const CHANCE: usize = 8;
const AFTER_CHANCE: &str = ".unsaved";
const TRIES: usize = 8;
