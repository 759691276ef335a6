//! One file that is replaced as a whole, and that no other process has open.
//!
//! Decided here: the order of write, sync, rename and sync of the folder, and how a file is kept
//! exclusive although each save puts another one in its place. Everything here blocks.
//!
//! The lock is on the file itself, not on one beside it that would stay behind. A new file is
//! locked *before* it gets the name, so the file of that name is locked at every moment. A
//! process that locks a file which has just lost its name sees that, and tries again.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{
    Damage, StoreError,
    files::{Clobber, Files},
    lock::{self, Locked},
};
use crate::planted::{Defect, has};

/// Where a store's file is, and the lock on it.
#[derive(Debug)]
pub(super) struct Disk {
    /// As the user named it, for errors.
    named: PathBuf,
    /// Without links, so that a change of the working directory does not matter.
    folder: PathBuf,
    path: PathBuf,
    /// Where what format 1 has no room for stands.
    supplement: PathBuf,
    /// What is durable there.
    beside: Option<Vec<u8>>,
    /// The file that has the name.
    pub(super) held: Locked,
    files: Files,
}

impl Disk {
    /// Puts a new file where there is none.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Io`], [`StoreError::NotAvailable`]; there is no file
    /// of ours then.
    pub(super) fn create(named: &Path, text: &[u8], files: Files) -> Result<Self, StoreError> {
        let failed = |source| io_error(named, source);
        let name = named.file_name().ok_or(ErrorKind::InvalidFilename);
        let name = name.map_err(|kind| failed(kind.into()))?;
        let folder = fs::canonicalize(folder_of(named)).map_err(failed)?;
        let path = folder.join(name);
        let supplement = supplement_of(&path);
        // It says that a node ran here before, and may have voted.
        if fs::symlink_metadata(&supplement).is_ok() {
            return Err(StoreError::Exists { path: supplement });
        }
        let file = write_beside(&files, named, &path, text)?;
        // The rename itself refuses: a file that came after a look would be lost with its votes.
        let held = files.rename(file, &path, Clobber::Never).map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                return StoreError::Exists { path: named.into() };
            }
            failed(error)
        })?;
        if let Err(error) = files.sync_folder(&folder) {
            // It has our lock and holds nothing yet, so no record is lost with it.
            drop(fs::remove_file(&path));
            return Err(failed(error));
        }
        Ok(Self {
            named: named.into(),
            folder,
            path,
            supplement,
            beside: None,
            held: Locked::new(held),
            files,
        })
    }

    /// Locks the file of that name, whatever it holds.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::InUse`], [`StoreError::Io`],
    /// [`StoreError::NotAvailable`], and [`StoreError::Damaged`] for what is not a file.
    pub(super) fn open(named: &Path, files: Files) -> Result<Self, StoreError> {
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
                    supplement: supplement_of(&path),
                    path,
                    beside: None,
                    held,
                    files,
                });
            }
        }
        // It was replaced each time: another process saves.
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

    /// Where the supplement is, and what it holds, of which at most `max` bytes and one more; `None` if there
    /// is none.
    ///
    /// # Errors
    /// [`StoreError::Io`], and [`StoreError::Supplement`] for what is not a file.
    pub(super) fn read_supplement(
        &self,
        max: usize,
    ) -> Result<(&Path, Option<Vec<u8>>), StoreError> {
        let path = &*self.supplement;
        let failed = |source| io_error(path, source);
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((path, None)),
            Err(error) => return Err(failed(error)),
            // Asked before it is opened: the opening of a pipe waits for a writer.
            Ok(there) if there.is_file() => {}
            Ok(_) => {
                return Err(StoreError::Supplement {
                    path: path.into(),
                    damage: Damage::NotAFile,
                });
            }
        }
        let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        let mut text = Vec::new();
        File::open(path)
            .and_then(|file| file.take(limit).read_to_end(&mut text))
            .map_err(failed)?;
        Ok((path, Some(text)))
    }

    /// Puts a new supplement in the place of the present one, unless that says the same. It is durable when
    /// this returns.
    ///
    /// # Errors
    /// [`Unsaved`], which says whether the one before it is known to be there.
    pub(super) fn replace_supplement(&mut self, text: &[u8]) -> Result<(), Unsaved> {
        if self.beside.as_deref() == Some(text) {
            return Ok(());
        }
        self.check_name()?;
        let file = write_beside(&self.files, &self.supplement, &self.supplement, text);
        let file = file.map_err(Unsaved::AsBefore)?;
        let failed = |source| Unsaved::InDoubt(io_error(&self.supplement, source));
        // Its lock ends here: the lock of the store's own file is what counts.
        let renamed = self.files.rename(file, &self.supplement, Clobber::Always);
        drop(Locked::new(renamed.map_err(failed)?));
        self.files.sync_folder(&self.folder).map_err(failed)?;
        self.beside = Some(text.to_vec());
        Ok(())
    }

    /// Removes the supplement of a file that needs none any more.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn remove_supplement(&mut self) -> Result<(), StoreError> {
        self.beside = None;
        match fs::remove_file(&self.supplement) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(io_error(&self.supplement, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Another file of that name may hold votes that this store knows nothing of.
    fn check_name(&self) -> Result<(), Unsaved> {
        let failed = |source| Unsaved::InDoubt(io_error(&self.named, source));
        if lock::has_name(self.held.file(), &self.path).map_err(failed)? {
            return Ok(());
        }
        Err(Unsaved::InDoubt(StoreError::Replaced {
            path: self.named.clone(),
        }))
    }

    /// Puts a new file in the place of the present one. It is durable when this returns.
    ///
    /// # Errors
    /// [`Unsaved`], which says whether the file before it is known to be there.
    pub(super) fn replace(&mut self, text: &[u8]) -> Result<(), Unsaved> {
        self.check_name()?;
        let failed = |source| Unsaved::InDoubt(io_error(&self.named, source));
        if has(Defect::WrittenInPlace) {
            return fs::write(&self.path, text).map_err(failed);
        }
        let file = write_beside(&self.files, &self.named, &self.path, text);
        let file = file.map_err(Unsaved::AsBefore)?;
        let held = self.files.rename(file, &self.path, Clobber::Always);
        // Also if the sync below fails: the new file has the name, so its lock is what counts.
        self.held = Locked::new(held.map_err(failed)?);
        if has(Defect::FolderNotSynced) {
            return Ok(());
        }
        self.files.sync_folder(&self.folder).map_err(failed)
    }

    /// Removes what a crash between write and rename left behind.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn tidy(&self) -> Result<(), StoreError> {
        let failed = |source| io_error(&self.named, source);
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let entry_path = entry.path();
            if is_beside(&self.path, &entry_path) || is_beside(&self.supplement, &entry_path) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// Why a file was not replaced.
#[derive(Debug)]
pub(super) enum Unsaved {
    /// The disk holds the file before it, as if nothing had been tried.
    AsBefore(StoreError),
    /// The disk holds the one or the other.
    InDoubt(StoreError),
}

/// The folder of a file: of one that is named alone, the working directory.
pub(super) fn folder_of(named: &Path) -> &Path {
    match named.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Where the supplement of a store's file is. Release 0.1 leaves a file of that name alone.
fn supplement_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".supplement");
    name.into()
}

/// A new file beside the one of that path: locked, and with its contents on the disk, but not its
/// name. What fails here leaves nothing behind, so its room is free again.
fn write_beside(
    files: &Files,
    named: &Path,
    path: &Path,
    text: &[u8],
) -> Result<NamedTempFile, StoreError> {
    let failed = |source| io_error(named, source);
    let mut file = tempfile::Builder::new()
        .prefix(&before_chance(path))
        .rand_bytes(CHANCE)
        .suffix(AFTER_CHANCE)
        .tempfile_in(path.parent().unwrap_or(path))
        .map_err(failed)?;
    lock::lock(named, file.as_file())?;
    files.write(&mut file, text).map_err(failed)?;
    if !has(Defect::FileNotSynced) {
        files.sync(&file).map_err(failed)?;
    }
    Ok(file)
}

/// Whether this is a file that [`write_beside`] made for that store, not for another one.
fn is_beside(path: &Path, file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(before_chance(path).as_encoded_bytes())
        .and_then(|ending| ending.strip_suffix(AFTER_CHANCE.as_bytes()))
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

pub(super) fn io_error(path: &Path, source: io::Error) -> StoreError {
    let path = path.into();
    if is_full(&source) {
        StoreError::Full { path, source }
    } else {
        StoreError::Io { path, source }
    }
}

/// Whether there was no room, or none for this user.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

const CHANCE: usize = 8;
const AFTER_CHANCE: &str = ".unsaved";
const TRIES: usize = 8;
