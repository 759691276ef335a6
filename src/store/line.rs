//! A small file of text that is replaced as a whole: for a number that is not a record.
//!
//! Decided here: the same order of write, sync, rename and sync of the folder as for a store, so that
//! a crash leaves the former text or the new one. Unlike a store's, the file is not locked. Not
//! here: what the text means. Everything here blocks.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use super::files::{Clobber, Files};

/// The text of the file, of which `most` bytes are read at most; `None` if there is no file.
///
/// # Errors
/// Whatever the system says, and [`ErrorKind::InvalidData`] for what is not text.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
        Err(reason) => return Err(reason),
    };
    let mut text = String::new();
    file.take(most).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Puts a file with this text in the place of the present one, or where there is none. It is
/// durable when this returns.
///
/// # Errors
/// Whatever the system says. The file holds the former text, or the new one if only the sync of the
/// folder failed.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_by(&Files::default(), path, text)
}

fn replace_by(files: &Files, path: &Path, text: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    files.write(&mut file, text.as_bytes())?;
    files.sync(&file)?;
    files.rename(file, path, Clobber::Always)?;
    // A folder cannot be opened elsewhere; a rename is durable there with its file system's journal.
    if cfg!(unix) {
        files.sync_folder(folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::store::files::{CallHook, DiskCall};

    #[derive(Debug, Default)]
    struct Calls(Mutex<Vec<DiskCall>>);

    impl CallHook for Calls {
        fn see(&self, call: DiskCall) -> io::Result<()> {
            self.0.lock().unwrap().push(call);
            Ok(())
        }
    }

    #[test]
    fn a_text_is_synced_before_it_is_renamed_and_its_folder_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("line");
        assert_eq!(read(&path, 100).unwrap(), None);
        for text in ["one\n", "two\n"] {
            let calls = Arc::new(Calls::default());
            let files = Files {
                hook: Some(Arc::<Calls>::clone(&calls)),
            };
            replace_by(&files, &path, text).unwrap();
            assert_eq!(read(&path, 100).unwrap().as_deref(), Some(text));
            let calls = calls.0.lock().unwrap();
            let order = [
                DiskCall::Write,
                DiskCall::Sync,
                DiskCall::Rename,
                DiskCall::SyncFolder,
            ];
            assert_eq!(*calls, order[..if cfg!(unix) { 4 } else { 3 }]);
        }
        assert_eq!(read(&path, 2).unwrap().as_deref(), Some("tw"));
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
