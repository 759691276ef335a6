//! Passwords in files, read again at each login.
//!
//! Decided here: the longest size of such a file. A file that other users can read or change is refused, like the file
//! of a cluster's secret, because the password in it may be known to them. Not here: the meaning of the text, which
//! each store decides.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The reason why a password cannot be taken from a file.
#[derive(thiserror::Error)]
pub enum PasswordFileError {
    /// The file cannot be read.
    #[error("the password in {path:?} cannot be read: is the file there, and readable? ({source})")]
    Unreadable { path: PathBuf, source: io::Error },
    /// The file exceeds the size limit, so it is probably another file.
    #[error("the password file {path:?} is longer than {MOST} bytes: is it the right file?")]
    TooLong { path: PathBuf },
    /// Other users may read or change the file.
    #[error(
        "other users can read or change the password in {path:?}: call `chmod 600`, then write a new password into the file"
    )]
    OpenToOthers { path: PathBuf },
}

debug_is_text!(PasswordFileError);

/// The text of a file, and whether other users can read or change it.
#[derive(Debug)]
pub struct PasswordFile {
    pub text: String,
    is_open: bool,
}

impl PasswordFile {
    /// Reads the present content of the file.
    pub fn read(path: &Path) -> Result<Self, PasswordFileError> {
        let unreadable = |source| PasswordFileError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(unreadable)?;
        // Checks the opened file, not the path, which may lead to another file by now.
        let is_open = is_open_to_others(&file).map_err(unreadable)?;
        let mut text = String::new();
        let mut some = file.take(MOST.saturating_add(1));
        some.read_to_string(&mut text).map_err(unreadable)?;
        if u64::try_from(text.len()).is_ok_and(|len| len > MOST) {
            let path = path.to_owned();
            return Err(PasswordFileError::TooLong { path });
        }
        Ok(Self { text, is_open })
    }

    /// Refuses a file that users other than the owner can read or change.
    pub fn check(&self, path: &Path) -> Result<(), PasswordFileError> {
        if self.is_open {
            let path = path.to_owned();
            return Err(PasswordFileError::OpenToOthers { path });
        }
        Ok(())
    }
}

/// Returns whether users other than its owner may read or change a file.
#[cfg(unix)]
pub fn is_open_to_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

/// Returns `false`, because this system has no such permissions.
#[cfg(not(unix))]
pub fn is_open_to_others(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Length of the longest file, in bytes.
const MOST: u64 = 65_536;

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_that_others_can_read_or_that_is_too_long_is_refused_without_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login");
        for (mode, is_refused) in [(0o600, false), (0o400, false), (0o640, true), (0o602, true)] {
            fs::write(&path, "jobs:sesame").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let file = PasswordFile::read(&path).unwrap();
            assert_eq!(file.text, "jobs:sesame");
            let checked = file.check(&path);
            assert_eq!(checked.is_err(), is_refused, "{mode:o}");
            let words = checked.err().map(|refused| refused.to_string());
            assert!(words.is_none_or(|words| words.contains("chmod") && !words.contains("sesame")));
            fs::remove_file(&path).unwrap();
        }
        fs::write(&path, "x".repeat(65_536)).unwrap();
        assert!(PasswordFile::read(&path).is_ok());
        fs::write(&path, "x".repeat(65_537)).unwrap();
        let long = PasswordFile::read(&path);
        assert!(
            matches!(long, Err(PasswordFileError::TooLong { .. })),
            "{long:?}"
        );
        let missing = PasswordFile::read(&folder.path().join("missing"));
        assert!(matches!(missing, Err(PasswordFileError::Unreadable { .. })));
    }
}
