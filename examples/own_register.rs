//! A register of your own, and the suite that tests it: `cargo run --example own_register`.
//!
//! Any store with compare-and-swap can keep a lease. This one is a folder: each version of a value is a file, whose
//! name is the number. A hard link makes the next number, and fails if another process was first. This is the whole
//! comparison.
//!
//! The suite of `actix_bully::register::conformance` then plays several processes on it, loses their answers, and
//! delivers their writes late. The register passes. The same register with a renaming instead of the link does not:
//! `rename` replaces an existing file, so two processes can both believe that they wrote the next version.
//!
//! Not for production: files are not synced, old versions stay for ever, and calls block the thread. `FileRegister`
//! avoids all of that.
//!
//! Try next: give it to agents as in `lease.rs`, instead of `FileRegister`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use actix_bully::register::{
    Entry, MOST_BYTES, Register, RegisterError, RegisterKey, RegisterReading, Swap, Swapping,
    Version, conformance::check,
};

/// A folder in which each version of a value is a file.
#[derive(Clone, Debug)]
struct Links {
    name: Arc<str>,
    folder: PathBuf,
    publish: Publish,
}

/// The way in which a written file gets the name of the next version.
#[derive(Clone, Copy, Debug)]
enum Publish {
    Link,
    /// Wrong: it replaces an existing version.
    Rename,
}

impl Links {
    fn open(folder: &Path, publish: Publish) -> Self {
        Self {
            name: format!("links {}", folder.display()).into(),
            folder: folder.to_owned(),
            publish,
        }
    }

    /// Returns the folder of a key. Its bytes are written as digits, so that no file system confuses two keys.
    fn versions(&self, key: &RegisterKey) -> PathBuf {
        let digits: Vec<_> = key
            .as_str()
            .bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let parts = digits
            .chunks(100)
            .map(|part| format!("key-{}", part.concat()));
        parts.fold(self.folder.clone(), |path, part| path.join(part))
    }

    /// Returns the newest version; 0 if there is none.
    fn newest(versions: &Path) -> io::Result<u64> {
        let files = match fs::read_dir(versions) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            files => files?,
        };
        let mut newest = 0;
        for file in files {
            let name = file?.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            newest = newest.max(number.unwrap_or(0));
        }
        Ok(newest)
    }

    fn look(&self, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
        let versions = self.versions(key);
        match Self::newest(&versions).map_err(RegisterError::unreachable)? {
            0 => Ok(None),
            newest => {
                let value = fs::read(versions.join(newest.to_string()));
                let value = value.map_err(RegisterError::unreachable)?;
                Entry::new(key, Version::from(newest), value).map(Some)
            }
        }
    }

    fn write(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, RegisterError> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        if value.len() > MOST_BYTES {
            return Err(RegisterError::TooLarge { len: value.len() });
        }
        let there = self.look(key)?;
        if there.as_ref() != expected {
            return Ok(Swap::Conflict(there));
        }
        let versions = self.versions(key);
        let next = Self::newest_of(there.as_ref()) + 1;
        let beside = format!(
            "{}-{}.new",
            std::process::id(),
            WRITTEN.fetch_add(1, Relaxed)
        );
        let beside = versions.join(beside);
        // The store does not change until the file has its number.
        fs::create_dir_all(&versions).map_err(RegisterError::unreachable)?;
        fs::write(&beside, value).map_err(RegisterError::unreachable)?;
        let published = match self.publish {
            Publish::Link => fs::hard_link(&beside, versions.join(next.to_string())),
            Publish::Rename => fs::rename(&beside, versions.join(next.to_string())),
        };
        fs::remove_file(&beside).ok();
        match published {
            Ok(()) => Ok(Swap::Done(Version::from(next))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Ok(Swap::Conflict(self.look(key)?))
            }
            // The file system may have made the link.
            Err(error) => Err(RegisterError::unknown(error)),
        }
    }

    fn newest_of(entry: Option<&Entry>) -> u64 {
        entry
            .and_then(|entry| entry.version.as_str().parse().ok())
            .unwrap_or(0)
    }
}

impl Register for Links {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (register, key) = (self.clone(), key.clone());
        Box::pin(async move { register.look(&key) })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (register, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move { register.write(&key, expected.as_ref(), &value) })
    }
}

#[actix::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    println!("by a link:");
    let right = folder.path().join("right");
    println!("{}", check(|| Links::open(&right, Publish::Link)).await?);

    println!("by a renaming:");
    let wrong = folder.path().join("wrong");
    match check(|| Links::open(&wrong, Publish::Rename)).await {
        Ok(_) => println!("it passes"),
        Err(broken) => println!("{broken}"),
    }
    Ok(())
}
