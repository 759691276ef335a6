//! The calls to the system. A test can see each call and let it fail.
//!
//! Decided here: which call of the system serves each purpose. Not here: the order of the calls.

use std::{
    fmt::Debug,
    fs::{File, TryLockError},
    io,
    path::Path,
};

/// The calls of a [`RecordFile`](super::RecordFile) to the system. [`Host`] makes them; a test uses another
/// implementation.
#[doc(hidden)]
pub trait FileSystem: Debug + Send + Sync {
    /// Opens a file to read and write. It follows links.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Opens a file to read and write, or makes it with rights for its owner only. It follows no link.
    fn open_or_make(&self, path: &Path) -> io::Result<File>;
    /// Returns the status of the file to which a path leads, also through links.
    fn named(&self, path: &Path) -> io::Result<Status>;
    /// Returns the status of the file with that name, even if it is a link.
    fn linked(&self, path: &Path) -> io::Result<Status>;
    /// Returns the status of an open file.
    fn held(&self, file: &File) -> io::Result<Status>;
    /// Locks a file against every other open of the same file, without waiting.
    fn lock(&self, file: &File) -> Result<(), TryLockError>;
    /// Releases the lock.
    fn unlock(&self, file: &File) -> io::Result<()>;
    /// Reads from the offset `at`, and returns the number of bytes that were read.
    fn read_at(&self, file: &File, into: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes at the offset `at`, and returns the number of bytes that were written.
    fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<usize>;
    /// Empties a file and extends it with zeros to the length `len`. Returns whether the disk has reserved the space
    /// for it.
    fn allocate(&self, file: &File, len: u64) -> io::Result<bool>;
    /// Writes the content of a file to the disk.
    fn sync_data(&self, file: &File) -> io::Result<()>;
    /// Writes a file and its metadata to the disk.
    fn sync_all(&self, file: &File) -> io::Result<()>;
    /// Moves a file to a name that no file has.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes the name of a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Writes the names in a folder to the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Returns the number of this process.
    fn process(&self) -> u32;
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

#[cfg(unix)]
mod unix {
    use std::{
        fs::{self, File, Metadata, TryLockError},
        io,
        os::unix::fs::{FileExt, MetadataExt},
        path::Path,
    };

    use rustix::fs::{Mode, OFlags};

    use super::{FileSystem, Host, Status};

    impl FileSystem for Host {
        fn open(&self, path: &Path) -> io::Result<File> {
            // With these flags the call does not wait at a pipe, and does not take over a terminal.
            let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
        }

        fn open_or_make(&self, path: &Path) -> io::Result<File> {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
        }

        fn named(&self, path: &Path) -> io::Result<Status> {
            fs::metadata(path).map(|found| status(&found))
        }

        fn linked(&self, path: &Path) -> io::Result<Status> {
            fs::symlink_metadata(path).map(|found| status(&found))
        }

        fn held(&self, file: &File) -> io::Result<Status> {
            file.metadata().map(|found| status(&found))
        }

        fn lock(&self, file: &File) -> Result<(), TryLockError> {
            file.try_lock()
        }

        fn unlock(&self, file: &File) -> io::Result<()> {
            file.unlock()
        }

        fn read_at(&self, file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
            FileExt::read_at(file, into, at)
        }

        fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
            FileExt::write_at(file, bytes, at)
        }

        fn allocate(&self, file: &File, len: u64) -> io::Result<bool> {
            file.set_len(0)?;
            file.set_len(len)?;
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

        fn sync_data(&self, file: &File) -> io::Result<()> {
            file.sync_data()
        }

        fn sync_all(&self, file: &File) -> io::Result<()> {
            file.sync_all()
        }

        fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
            #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
            {
                use rustix::fs::{CWD, RenameFlags, renameat_with};
                use rustix::io::Errno;

                match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
                    // The file system does not support `RENAME_NOREPLACE`.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                    renamed => return Ok(renamed?),
                }
            }
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            fs::remove_file(path)
        }

        fn sync_folder(&self, folder: &Path) -> io::Result<()> {
            File::open(folder)?.sync_all()
        }

        fn process(&self) -> u32 {
            std::process::id()
        }
    }

    fn status(found: &Metadata) -> Status {
        Status {
            device: found.dev(),
            inode: found.ino(),
            links: found.nlink(),
            len: found.len(),
            is_file: found.is_file(),
        }
    }
}

/// The implementation for other systems: no file is ever opened, so no other call is ever made.
#[cfg(not(unix))]
mod other {
    use std::{
        fs::{File, TryLockError},
        io::{Error, ErrorKind::Unsupported, Result},
        path::Path,
    };

    use super::{FileSystem, Host, Status};

    impl FileSystem for Host {
        fn open(&self, _: &Path) -> Result<File> {
            Err(Unsupported.into())
        }

        fn open_or_make(&self, _: &Path) -> Result<File> {
            Err(Unsupported.into())
        }

        fn named(&self, _: &Path) -> Result<Status> {
            Err(Unsupported.into())
        }

        fn linked(&self, _: &Path) -> Result<Status> {
            Err(Unsupported.into())
        }

        fn held(&self, _: &File) -> Result<Status> {
            Err(Unsupported.into())
        }

        fn lock(&self, _: &File) -> std::result::Result<(), TryLockError> {
            Err(TryLockError::Error(Error::from(Unsupported)))
        }

        fn unlock(&self, _: &File) -> Result<()> {
            Err(Unsupported.into())
        }

        fn read_at(&self, _: &File, _: &mut [u8], _: u64) -> Result<usize> {
            Err(Unsupported.into())
        }

        fn write_at(&self, _: &File, _: &[u8], _: u64) -> Result<usize> {
            Err(Unsupported.into())
        }

        fn allocate(&self, _: &File, _: u64) -> Result<bool> {
            Err(Unsupported.into())
        }

        fn sync_data(&self, _: &File) -> Result<()> {
            Err(Unsupported.into())
        }

        fn sync_all(&self, _: &File) -> Result<()> {
            Err(Unsupported.into())
        }

        fn rename_new(&self, _: &Path, _: &Path) -> Result<()> {
            Err(Unsupported.into())
        }

        fn remove(&self, _: &Path) -> Result<()> {
            Err(Unsupported.into())
        }

        fn sync_folder(&self, _: &Path) -> Result<()> {
            Err(Unsupported.into())
        }

        fn process(&self) -> u32 {
            std::process::id()
        }
    }
}
