//! The calls to the system. A test can see each call and let it fail.
//!
//! Decided here: which call of the system serves each purpose. Not here: the order of the calls.

use std::{
    fmt::Debug,
    fs::{self, File, TryLockError},
    io,
    path::Path,
};

/// A call to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Call {
    Open,
    Make,
    Named,
    Linked,
    Held,
    Lock,
    Unlock,
    Read,
    Write,
    Allocate,
    SyncData,
    SyncAll,
    Rename,
    Remove,
    SyncFolder,
}

/// The calls of a [`RecordFile`](super::RecordFile) to the system. Every method makes the call. A test replaces
/// [`before`](Self::before), and the methods whose effect it models.
#[doc(hidden)]
pub trait FileSystem: Debug + Send + Sync {
    /// Called before each call. The call fails with its error.
    fn before(&self, _: Call) -> io::Result<()> {
        Ok(())
    }

    /// Opens a file to read and write. Links are followed.
    fn open(&self, path: &Path) -> io::Result<File> {
        self.before(Call::Open)?;
        host::open(path)
    }

    /// Opens a file to read and write, or makes the file with rights for its owner only. Links are not followed.
    fn open_or_make(&self, path: &Path) -> io::Result<File> {
        self.before(Call::Make)?;
        host::open_or_make(path)
    }

    /// Returns the status of the file to which a path leads, also through links.
    fn named(&self, path: &Path) -> io::Result<Status> {
        self.before(Call::Named)?;
        host::status(&fs::metadata(path)?)
    }

    /// Returns the status of the file with this name; of a link, the status of the link itself.
    fn linked(&self, path: &Path) -> io::Result<Status> {
        self.before(Call::Linked)?;
        host::status(&fs::symlink_metadata(path)?)
    }

    /// Returns the status of an open file.
    fn held(&self, file: &File) -> io::Result<Status> {
        self.before(Call::Held)?;
        host::status(&file.metadata()?)
    }

    /// Locks a file against every other open of the same file, without waiting.
    fn lock(&self, file: &File) -> Result<(), TryLockError> {
        self.before(Call::Lock).map_err(TryLockError::Error)?;
        file.try_lock()
    }

    /// Releases the lock.
    fn unlock(&self, file: &File) -> io::Result<()> {
        self.before(Call::Unlock)?;
        file.unlock()
    }

    /// Reads from the offset `at`, and returns the number of bytes that were read.
    fn read_at(&self, file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.before(Call::Read)?;
        host::read_at(file, into, at)
    }

    /// Writes at the offset `at`, and returns the number of bytes that were written.
    fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.before(Call::Write)?;
        host::write_at(file, bytes, at)
    }

    /// Empties a file and extends it with zeros to the length `len`. Returns whether the disk has reserved the space
    /// for it.
    fn allocate(&self, file: &File, len: u64) -> io::Result<bool> {
        self.before(Call::Allocate)?;
        file.set_len(0)?;
        file.set_len(len)?;
        host::reserve(file, len)
    }

    /// Writes the content of a file to the disk.
    fn sync_data(&self, file: &File) -> io::Result<()> {
        self.before(Call::SyncData)?;
        file.sync_data()
    }

    /// Writes a file and its metadata to the disk.
    fn sync_all(&self, file: &File) -> io::Result<()> {
        self.before(Call::SyncAll)?;
        file.sync_all()
    }

    /// Moves a file to a name that no file has.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.before(Call::Rename)?;
        if host::rename_new(from, to)? {
            return Ok(());
        }
        fs::hard_link(from, to)?;
        fs::remove_file(from)
    }

    /// Removes the name of a file.
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.before(Call::Remove)?;
        fs::remove_file(path)
    }

    /// Writes the names in a folder to the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.before(Call::SyncFolder)?;
        File::open(folder)?.sync_all()
    }

    /// Returns the number of this process.
    fn process(&self) -> u32 {
        std::process::id()
    }
}

/// The identity of a file, and the number of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) links: u64,
    pub(super) len: u64,
    pub(super) is_file: bool,
}

impl Status {
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The files of this host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl FileSystem for Host {}

#[cfg(unix)]
mod host {
    use std::{
        fs::{File, Metadata},
        io,
        os::unix::fs::{FileExt, MetadataExt},
        path::Path,
    };

    use rustix::fs::{Mode, OFlags};

    use super::Status;

    pub(super) fn open(path: &Path) -> io::Result<File> {
        // With the flags below the call does not wait at a pipe, and does not take over a terminal.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }

    pub(super) fn open_or_make(path: &Path) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the files of other systems have no such numbers"
    )]
    pub(super) fn status(found: &Metadata) -> io::Result<Status> {
        Ok(Status {
            device: found.dev(),
            inode: found.ino(),
            links: found.nlink(),
            len: found.len(),
            is_file: found.is_file(),
        })
    }

    pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
        file.read_at(into, at)
    }

    pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
        file.write_at(bytes, at)
    }

    /// Returns whether the disk has reserved the space.
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "android")),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            reason = "this system reserves no space"
        )
    )]
    pub(super) fn reserve(file: &File, len: u64) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{FallocateFlags, fallocate};
            use rustix::io::Errno;

            match fallocate(file, FallocateFlags::empty(), 0, len) {
                // The file system cannot allocate.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
                done => Ok(done.map(|()| true)?),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        Ok(false)
    }

    /// Returns whether the file was moved; if not, the file system has no such call.
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "android", target_vendor = "apple")),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            reason = "this system has no such call"
        )
    )]
    pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            use rustix::io::Errno;

            match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
                // The file system does not support `RENAME_NOREPLACE`.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
                renamed => Ok(renamed.map(|()| true)?),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        Ok(false)
    }
}

/// Other systems: no file is ever opened, so no other call is ever made.
#[cfg(not(unix))]
mod host {
    use std::{
        fs::{File, Metadata},
        io::{ErrorKind::Unsupported, Result},
        path::Path,
    };

    use super::Status;

    pub(super) fn open(_: &Path) -> Result<File> {
        Err(Unsupported.into())
    }

    pub(super) fn open_or_make(_: &Path) -> Result<File> {
        Err(Unsupported.into())
    }

    pub(super) fn status(_: &Metadata) -> Result<Status> {
        Err(Unsupported.into())
    }

    pub(super) fn read_at(_: &File, _: &mut [u8], _: u64) -> Result<usize> {
        Err(Unsupported.into())
    }

    pub(super) fn write_at(_: &File, _: &[u8], _: u64) -> Result<usize> {
        Err(Unsupported.into())
    }

    pub(super) fn reserve(_: &File, _: u64) -> Result<bool> {
        Err(Unsupported.into())
    }

    pub(super) fn rename_new(_: &Path, _: &Path) -> Result<bool> {
        Err(Unsupported.into())
    }
}
