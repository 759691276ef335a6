//! Creates a socket in a folder, and replaces an old socket.
//!
//! Decided here: which file may be replaced. A file of another user, a file that is not a socket, and a socket that
//! answers are not changed. A socket that a process left behind is replaced. Processes that start at the same time wait
//! for each other by a lock on the folder, so that no process removes the socket of another.

use std::{
    fs::{self, Metadata, Permissions},
    io,
    os::{
        fd::OwnedFd,
        unix::{
            fs::{FileTypeExt, MetadataExt, PermissionsExt},
            net::UnixListener,
        },
    },
    path::Path,
    thread,
    time::Duration,
};

use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, open},
    io::{Errno, ioctl_fionbio},
    net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket},
    process::geteuid,
};

use super::SocketError;

/// The identity of a file. A later file with the same name has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|metadata| Self::from(&metadata))
    }
}

impl From<&Metadata> for FileIdentity {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// Creates the socket, with mode 0600.
pub(super) fn bind(path: &Path) -> Result<(UnixListener, FileIdentity), SocketError> {
    let failed = |source: io::Error| SocketError::Io {
        path: path.to_owned(),
        source,
    };
    let _lock = lock_folder(path)?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
        Ok(found) => {
            may_replace(path, &found)?;
            fs::remove_file(path).map_err(failed)?;
        }
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    // Until this line the process's umask decided the mode, so other users may have connected. The thread of the socket
    // refuses their connections later, by their uid.
    let made = fs::set_permissions(path, Permissions::from_mode(0o600))
        .and_then(|()| listener.set_nonblocking(true))
        .and_then(|()| FileIdentity::of(path));
    match made {
        Ok(file) => Ok((listener, file)),
        Err(error) => {
            fs::remove_file(path).ok();
            Err(failed(error))
        }
    }
}

/// Checks that the file is a socket that a process of this user has left behind.
fn may_replace(path: &Path, found: &Metadata) -> Result<(), SocketError> {
    let path = path.to_owned();
    let (owner, own) = (found.uid(), geteuid().as_raw());
    if owner != own {
        return Err(SocketError::Foreign { path, owner, own });
    }
    if !found.file_type().is_socket() {
        return Err(SocketError::NoSocket { path });
    }
    match is_served(&path) {
        Ok(false) => Ok(()),
        Ok(true) => Err(SocketError::InUse { path }),
        Err(source) => Err(SocketError::Io { path, source }),
    }
}

fn is_served(path: &Path) -> io::Result<bool> {
    let probe: OwnedFd = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    // A process that hangs does not accept the connection, so the probe must not wait.
    ioctl_fionbio(&probe, true)?;
    match connect(&probe, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Ok(true),
        Err(Errno::CONNREFUSED | Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn lock_folder(path: &Path) -> Result<OwnedFd, SocketError> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let failed = |error: Errno| SocketError::Io {
        path: path.to_owned(),
        source: error.into(),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let lock = open(folder, flags, Mode::empty()).map_err(failed)?;
    // Any user who may read the folder can lock it for ever, so the wait for the lock has a limit.
    for _ in 0..TRIES {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::WOULDBLOCK | Errno::INTR) => thread::park_timeout(PAUSE),
            Err(error) => return Err(failed(error)),
        }
    }
    Err(SocketError::Busy {
        folder: folder.to_owned(),
    })
}

/// Number of attempts to replace the socket. With the pauses they last a second.
const TRIES: usize = 500;
const PAUSE: Duration = Duration::from_millis(2);
