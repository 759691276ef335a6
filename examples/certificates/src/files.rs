//! The paths of the files, the users who may read them, and the check that none is overwritten.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{error::CertificateError, issue::Made};

/// The folder of one authority: `NAME.pem` and `NAME.key` for each node.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Name of the authority's files.
    pub const AUTHORITY: &str = "ca";

    /// Opens the folder, and makes it if it is missing.
    pub fn open(path: &Path) -> Result<Self, CertificateError> {
        fs::create_dir_all(path).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Returns the paths of the certificate and the key of this name.
    pub fn paths(&self, name: &str) -> (PathBuf, PathBuf) {
        let file = |kind| self.path.join(format!("{name}.{kind}"));
        (file("pem"), file("key"))
    }

    /// Fails if a file of this name exists.
    pub fn check_free(&self, name: &str) -> Result<(), CertificateError> {
        let (certificate, key) = self.paths(name);
        for path in [certificate, key] {
            if is_there(&path)? {
                return Err(CertificateError::Exists { path });
            }
        }
        Ok(())
    }

    /// Returns the key of the authority that an earlier run made.
    pub fn authority_key(&self) -> Result<Option<String>, CertificateError> {
        let (certificate, key) = self.paths(Self::AUTHORITY);
        match (is_there(&certificate)?, is_there(&key)?) {
            (false, false) => Ok(None),
            (true, true) => read(&key).map(Some),
            _ => Err(CertificateError::HalfAnAuthority { certificate, key }),
        }
    }

    /// Writes both files; the key first, so that a certificate never exists without its key.
    pub fn keep(&self, name: &str, made: &Made) -> Result<(PathBuf, PathBuf), CertificateError> {
        let (certificate, key) = self.paths(name);
        write(&key, &made.key, 0o600)?;
        write(&certificate, &made.certificate, 0o644)?;
        Ok((certificate, key))
    }
}

fn is_there(path: &Path) -> Result<bool, CertificateError> {
    // A broken symbolic link exists as well.
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(path, error)),
    }
}

fn read(path: &Path) -> Result<String, CertificateError> {
    fs::read_to_string(path).map_err(|source| failed(path, source))
}

/// Writes a new file. The file has its mode before it has its contents, and must not exist before.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), CertificateError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    restrict(&mut options, mode);
    let mut file = options.open(path).map_err(|source| failed(path, source))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|source| failed(path, source))
}

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, mode: u32) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(mode);
}

/// On other systems the permissions of the folder count.
#[cfg(not(unix))]
const fn restrict(_: &mut OpenOptions, _: u32) {}

fn failed(path: &Path, source: io::Error) -> CertificateError {
    let path = path.to_owned();
    if source.kind() == io::ErrorKind::AlreadyExists {
        return CertificateError::Exists { path };
    }
    CertificateError::File { path, source }
}
