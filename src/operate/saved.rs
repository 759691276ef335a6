//! Saves records without a request: when a leader is missing for too long, or when the leader changes too often.
//!
//! Decided here: the names of the files, their largest number and size, and when a record is saved. There is one file
//! for each time without a leader (vacancy), which is written again while the vacancy lasts, and one file after several
//! changes of the leader within a minute. No agent waits for the disk: a separate task checks once a second, and a
//! thread for blocking work writes the files. A failure to write logs a warning and changes nothing else. Not here: the
//! contents of a record and when it is kept ([`ElectionHandle::record`](crate::agent::ElectionHandle::record)), and how
//! the folder is read (`listed.rs`).

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use actix::clock::interval;
use tokio::task::spawn_blocking;
use tracing::warn;

use super::{Operated, agent::OperatedAgent};
use crate::{
    agent::{Lifecycle, has_timers},
    clock::{SystemWallClock, WallClock},
    record::RecordLimits,
    supervisor::contain,
};

/// A folder for the records of a node's agents. A record's file is `record-1764126720000-orders-api-1.jsonl`: the time
/// in milliseconds since 1970, the group and the agent. Other files in the folder are not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFolder {
    pub(super) path: PathBuf,
    files: usize,
    bytes: u64,
}

impl RecordFolder {
    /// Returns a folder of records, with a limit of 20 files and 64 MiB. A missing folder is created by
    /// [`Operated::save_records`]. The limits are chosen: 20 records of the default limit (1 MiB each) fit, or eight of
    /// the highest limit (8 MiB).
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            files: 20,
            bytes: 64 << 20,
        }
    }

    /// Sets the largest number of files, and the largest size of all files together in bytes. The oldest files are
    /// removed to make room for a new file.
    #[must_use]
    pub fn at_most(self, files: usize, bytes: u64) -> Self {
        Self {
            files,
            bytes,
            ..self
        }
    }
}

impl Operated {
    /// Saves the record of each agent of the node in two cases: the agent has missed a leader for so long that it logs
    /// a warning, or five leaderships of its group have begun within a minute. If the record of an agent is off, this
    /// call turns it on. Any page of the feature `dashboard` opens the files, and so does `cluster --show`. Call this
    /// function in a System. The task ends when all agents have ended.
    ///
    /// # Errors
    /// An error if the folder cannot be created, or outside of a System. Nothing was changed then.
    pub fn save_records(&self, folder: RecordFolder) -> io::Result<()> {
        if !has_timers() {
            let wrong = "records are saved by a task: call it in a System";
            return Err(io::Error::new(io::ErrorKind::Unsupported, wrong));
        }
        folder.make()?;
        for agent in &self.agents {
            if !agent.is_recording() {
                agent.record(Some(RecordLimits::default()));
            }
        }
        actix::spawn(save(self.clone(), folder));
        Ok(())
    }
}

async fn save(operated: Operated, folder: RecordFolder) {
    let mut beats = interval(EACH);
    let mut vacancies = vec![SavedVacancy::default(); operated.agents.len()];
    loop {
        beats.tick().await;
        let unix_ms = SystemWallClock.now().as_millis();
        for (agent, vacancy) in operated.agents.iter().zip(&mut vacancies) {
            let moves = agent
                .reader()
                .past()
                .book()
                .began_in(unix_ms.saturating_sub(60_000)..=unix_ms);
            if vacancy.flaps(moves) {
                agent
                    .reader()
                    .keep_record(format!("{moves} leaderships began within a minute"));
            }
            let has_leader = agent.status().leader.is_some();
            let Some(name) = vacancy.due(agent.kept_unix_ms(), has_leader, || name_of(&**agent))
            else {
                continue;
            };
            let Some(text) = agent.recorded(true) else {
                continue;
            };
            let folder = folder.clone();
            if let Err(reason) = apart(move || folder.write(&name, &text)).await {
                warn!(agent = %agent.id(), %reason, "record not saved");
            }
        }
        let is_over = |agent: &dyn OperatedAgent| agent.status().lifecycle == Lifecycle::Ended;
        if operated.agents.iter().all(|agent| is_over(&**agent)) {
            return;
        }
    }
}

/// The saved record of one agent, for the present vacancy (time without a leader) or series of leaders.
#[derive(Clone, Debug, Default)]
struct SavedVacancy {
    /// The time of the record that was written to a file last: a record with another time is a new record.
    saved: Option<u64>,
    /// The file for the present vacancy; `None` if there is a leader.
    file: Option<String>,
    /// Whether the record was saved for the present series of leaders. A minute with at most one new leader ends the
    /// series.
    has_flapped: bool,
}

impl SavedVacancy {
    /// Returns whether `moves` leaderships in a minute begin a new series: then the record has to be saved.
    fn flaps(&mut self, moves: usize) -> bool {
        let is_new = moves >= FLAPS && !self.has_flapped;
        self.has_flapped = moves >= FLAPS || (self.has_flapped && moves > 1);
        is_new
    }

    /// Returns the file into which the record has to be written now; `None` if it is already written.
    fn due(
        &mut self,
        kept: Option<u64>,
        has_leader: bool,
        name: impl FnOnce() -> String,
    ) -> Option<String> {
        let is_new = kept.is_some() && kept != self.saved;
        let due = is_new.then(|| {
            self.saved = kept;
            let at = kept.unwrap_or_default();
            let file = self.file.take();
            file.unwrap_or_else(|| format!("{PREFIX}{at:013}-{}{SUFFIX}", name()))
        });
        if has_leader {
            self.file = None;
        } else if due.is_some() {
            self.file.clone_from(&due);
        }
        due
    }
}

fn name_of(agent: &dyn OperatedAgent) -> String {
    let name = format!("{}-{}", agent.group(), agent.id());
    // A name may contain `/` or be too long, so it is made safe for a file name.
    let safe = |c: char| {
        if c.is_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    name.chars().map(safe).take(LONGEST).collect()
}

impl RecordFolder {
    pub(crate) fn make(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path)
    }

    /// Writes a file, completely or not at all.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let len = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let Some(superfluous) = self.superfluous(self.present()?, name, len) else {
            let wrong = format!("it has {len} bytes, which exceeds the limit of the folder");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, wrong));
        };
        for old in superfluous {
            fs::remove_file(self.path.join(old))?;
        }
        write_whole(&self.path.join(UNFINISHED), &self.path.join(name), text)
    }

    /// Returns the records in the folder, with their lengths. Symbolic links are left out, because they may lead out of
    /// the folder.
    pub(super) fn present(&self) -> io::Result<Vec<(String, u64)>> {
        let mut present = Vec::new();
        for file in fs::read_dir(&self.path)? {
            let file = file?;
            let (name, metadata) = (file.file_name(), file.metadata()?);
            let name = name.to_str().filter(|name| is_record(name));
            if let Some(name) = name.filter(|_| metadata.is_file()) {
                present.push((name.to_owned(), metadata.len()));
            }
        }
        Ok(present)
    }

    /// Returns the files that have to be removed for a new file of length `len`; `None` if the new file alone exceeds
    /// the limit.
    fn superfluous(
        &self,
        mut present: Vec<(String, u64)>,
        name: &str,
        len: u64,
    ) -> Option<Vec<String>> {
        if self.files == 0 || len > self.bytes {
            return None;
        }
        // The new file replaces a file of the same name, which then does not count.
        present.retain(|(other, _)| other != name);
        // The names of the files are in the order of their times.
        present.sort_unstable();
        let mut bytes: u64 = present.iter().map(|(_, len)| *len).sum();
        let mut files = present.len();
        let gone = present.into_iter().map_while(|(old, freed)| {
            let is_room = files < self.files && bytes.saturating_add(len) <= self.bytes;
            bytes = bytes.saturating_sub(freed);
            files = files.saturating_sub(1);
            (!is_room).then_some(old)
        });
        Some(gone.collect())
    }
}

/// Writes the whole file or nothing: if the process is killed while it writes, the earlier file remains.
pub(super) fn write_whole(unfinished: &Path, path: &Path, text: &str) -> io::Result<()> {
    fs::write(unfinished, text)?;
    fs::rename(unfinished, path)
}

/// Writes on a thread for blocking work.
pub(super) async fn apart(
    write: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    // `spawn_blocking` panics if the system has no thread left, so the panic is contained.
    match contain(|| spawn_blocking(write)) {
        Ok(writing) => writing
            .await
            .unwrap_or_else(|ended| Err(io::Error::other(ended))),
        Err(reason) => Err(io::Error::other(reason)),
    }
}

fn is_record(name: &str) -> bool {
    name.starts_with(PREFIX)
        && Path::new(name)
            .extension()
            .is_some_and(|kind| kind == "jsonl")
}

/// Number of leaderships within a minute that causes a save. A restart of three nodes causes three leaderships.
const FLAPS: usize = 5;
const EACH: Duration = Duration::from_secs(1);
pub(super) const PREFIX: &str = "record-";
pub(super) const SUFFIX: &str = ".jsonl";
const UNFINISHED: &str = ".record-unfinished";
/// Longest part of the group's and the agent's name in a file name, in characters.
const LONGEST: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    fn due(vacancy: &mut SavedVacancy, kept: Option<u64>, has_leader: bool) -> Option<String> {
        vacancy.due(kept, has_leader, || "g-a".to_owned())
    }

    #[test]
    fn one_vacancy_is_one_file() {
        let mut vacancy = SavedVacancy::default();
        assert_eq!(due(&mut vacancy, None, false), None);
        let first = Some("record-0000000000007-g-a.jsonl".to_owned());
        assert_eq!(due(&mut vacancy, Some(7), false), first);
        assert_eq!(due(&mut vacancy, Some(7), false), None, "it is saved");
        assert_eq!(due(&mut vacancy, Some(9), false), first, "it lasts");
        assert_eq!(due(&mut vacancy, Some(9), true), None);
        let next = Some("record-0000000000011-g-a.jsonl".to_owned());
        assert_eq!(due(&mut vacancy, Some(11), false), next, "another one");
        // It was over before it was looked at.
        assert!(due(&mut vacancy, Some(12), true).is_some());
        let later = Some("record-0000000000020-g-a.jsonl".to_owned());
        assert_eq!(due(&mut vacancy, Some(20), false), later);
    }

    #[test]
    fn a_leadership_that_moves_again_and_again_is_saved_once_until_it_stays() {
        let mut vacancy = SavedVacancy::default();
        let saved = [1, 4, 5, 6, 3, 5, 1, 4, 5].map(|moves| vacancy.flaps(moves));
        assert_eq!(
            saved,
            [false, false, true, false, false, false, false, false, true]
        );
    }

    #[test]
    fn the_oldest_files_make_room() {
        let folder = RecordFolder::new("x").at_most(3, 100);
        let present = |files: &[(&str, u64)]| {
            let files = files.iter().map(|(name, len)| ((*name).to_owned(), *len));
            files.collect::<Vec<_>>()
        };
        let three = || present(&[("c", 30), ("a", 30), ("b", 30)]);
        assert_eq!(folder.superfluous(three(), "d", 10).unwrap(), ["a"]);
        assert_eq!(folder.superfluous(three(), "d", 70).unwrap(), ["a", "b"]);
        assert_eq!(folder.superfluous(three(), "c", 10).unwrap(), [""; 0]);
        assert_eq!(folder.superfluous(three(), "d", 100).unwrap().len(), 3);
        assert_eq!(folder.superfluous(three(), "d", 101), None);
        let none = RecordFolder::new("x").at_most(0, 100);
        assert_eq!(none.superfluous(Vec::new(), "d", 1), None);
    }

    #[test]
    fn only_records_are_counted_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let records = RecordFolder::new(folder.path()).at_most(1, 1_000);
        let others = ["notes.jsonl", "notes.txt", "record-0-a.txt"];
        for name in others {
            fs::write(folder.path().join(name), "mine").unwrap();
        }
        records.write("record-1-a.jsonl", "one").unwrap();
        records.write("record-2-a.jsonl", "two").unwrap();
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names.pop().unwrap(), "record-2-a.jsonl");
        assert_eq!(names, others);
        let wrong = records
            .write("record-3-a.jsonl", &"x".repeat(1_001))
            .unwrap_err();
        assert_eq!(wrong.kind(), io::ErrorKind::FileTooLarge);
        assert!(folder.path().join("record-2-a.jsonl").exists(), "kept");
    }
}
