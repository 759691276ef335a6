//! The history of a node's groups, for an operator: how it is read, and how it is kept in files.
//!
//! Decided here: how often agents are asked for findings, and when a file is written: within a second of a change, so
//! that a crash loses little, and once a minute while there are findings, because the time of a finding goes on without
//! a change. No agent waits for the disk: a separate task checks for changes, and a
//! thread for blocking work writes the files. A failure to write logs one warning and changes nothing else. Not here:
//! the contents of a history ([`history`](crate::history)).

use std::{
    fmt::Write as _,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use actix::clock::interval;
use serde_json::Value;
use tracing::warn;

use super::{Operated, agent::OperatedAgent, saved};
use crate::{
    agent::{Finding, Lifecycle, has_timers},
    clock::{SystemWallClock, WallClock},
    history::{GroupHistory, KeptHistory, MOST_OF_FILE},
};

impl Operated {
    /// Returns the history of each group of the node: each leadership with its end and the reason for that end, and the
    /// findings of the last half hour.
    ///
    /// Leaderships are always kept. Findings are kept after a call of [`keep_history`](Self::keep_history), or after
    /// the start of a node from a configuration.
    pub fn history(&self) -> Vec<GroupHistory> {
        let groups = self.groups().into_iter();
        groups
            .map(|(agent, past)| past.book().read(agent.group()))
            .collect()
    }

    /// Keeps the findings of each agent's diagnosis. With a folder, the history of each group is kept in a file as
    /// well, `history-GROUP@AGENT.jsonl`, which is written within a second after a change. The history then begins with
    /// the entries that an earlier process left in this file. Call this in a System. The task ends with all agents.
    ///
    /// # Errors
    /// An error if the folder cannot be created, or outside of a System; then nothing was changed. If a file cannot be
    /// read, a warning is logged and a new file replaces it.
    pub fn keep_history(&self, folder: Option<&Path>) -> io::Result<()> {
        if !has_timers() {
            let wrong = "the history is kept by a task: call it in a System";
            return Err(io::Error::new(io::ErrorKind::Unsupported, wrong));
        }
        let mut files = Vec::new();
        if let Some(folder) = folder {
            fs::create_dir_all(folder)?;
            for (agent, past) in self.groups() {
                let (group, name) = (
                    in_file_name(agent.group()),
                    in_file_name(agent.id().as_str()),
                );
                let file = folder.join(format!("history-{group}@{name}.jsonl"));
                // If another task already keeps this history in a file, there is nothing to do.
                if !past.book().keep(true) {
                    restore(agent.group(), &file, &past);
                    files.push(HistoryFile::of_claimed(agent.group(), file, past));
                }
            }
        }
        actix::spawn(keep(self.clone(), files));
        Ok(())
    }

    /// Returns one agent of each group, with the history of the group.
    fn groups(&self) -> Vec<(&dyn OperatedAgent, Arc<KeptHistory>)> {
        let mut groups: Vec<(&dyn OperatedAgent, Arc<KeptHistory>)> = Vec::new();
        for agent in &self.agents {
            let past = agent.reader().past();
            if !groups.iter().any(|(_, known)| Arc::ptr_eq(known, &past)) {
                groups.push((&**agent, past));
            }
        }
        groups
    }

    fn note_findings(&self) {
        let unix_ms = SystemWallClock.now().as_millis();
        for agent in &self.agents {
            let findings = agent.diagnosis().findings;
            let named: Vec<_> = findings.iter().map(named).collect();
            let named = named.iter().map(|(kind, text)| (&**kind, &**text));
            agent
                .reader()
                .past()
                .book()
                .found(agent.id(), unix_ms, named);
        }
    }
}

/// Returns the name of a finding, as in the finding's JSON, and its text.
fn named(found: &Finding) -> (String, String) {
    let json = serde_json::to_value(found).unwrap_or_default();
    let kind = json.get("kind").and_then(Value::as_str);
    (kind.unwrap_or_default().to_owned(), found.to_string())
}

/// The file of a group.
#[derive(Debug)]
struct HistoryFile {
    group: String,
    path: PathBuf,
    past: Arc<KeptHistory>,
    /// The revision of the history that the file contains; `None` if the file has to be written at the next check.
    written: Option<u64>,
    /// Number of checks (one a second) since the file was last written.
    age: u32,
    has_failed: bool,
}

impl HistoryFile {
    /// Makes the writer of a history's file. The caller has claimed the file before (see `HistoryBook::keep`), so that no
    /// other task writes it.
    fn of_claimed(group: &str, path: PathBuf, past: Arc<KeptHistory>) -> Self {
        Self {
            group: group.to_owned(),
            path,
            past,
            written: None,
            age: 0,
            has_failed: false,
        }
    }

    /// Returns the text that has to be written now, if there is any.
    fn due(&mut self) -> Option<String> {
        self.age = self.age.saturating_add(1);
        let revision = self.past.book().revision();
        if self.written == Some(revision) && self.age < MINUTE {
            return None;
        }
        let history = self.past.book().read(&self.group);
        let is_new = self.written != Some(revision);
        (self.written, self.age) = (Some(revision), 0);
        (is_new || !history.findings.is_empty()).then(|| history.to_lines())
    }

    async fn save(&mut self) {
        let Some(text) = self.due() else {
            return;
        };
        let path = self.path.clone();
        let unfinished = path.with_extension("unfinished");
        let written = saved::apart(move || saved::write_whole(&unfinished, &path, &text)).await;
        let file = self.path.display();
        match written {
            Ok(()) => self.has_failed = false,
            Err(reason) => {
                self.written = None; // so the next beat tries again
                if !self.has_failed {
                    warn!(%file, %reason, "history not saved");
                }
                self.has_failed = true;
            }
        }
    }
}

impl Drop for HistoryFile {
    fn drop(&mut self) {
        self.past.book().keep(false);
    }
}

async fn keep(operated: Operated, mut files: Vec<HistoryFile>) {
    let mut beats = interval(EACH);
    let mut number = 0_u32;
    loop {
        beats.tick().await;
        let is_over = |agent: &dyn OperatedAgent| agent.status().lifecycle == Lifecycle::Ended;
        let is_last = operated.agents.iter().all(|agent| is_over(&**agent));
        if number.is_multiple_of(FINDINGS) {
            operated.note_findings();
        }
        number = number.wrapping_add(1);
        for file in &mut files {
            file.save().await;
        }
        if is_last {
            return;
        }
    }
}

/// Adds the entries of the file to the beginning of the history, unless the entries of a file were added before.
fn restore(group: &str, file: &Path, past: &KeptHistory) {
    let shown = file.display();
    let text = read_bounded(file).unwrap_or_else(|reason| {
        if reason.kind() != io::ErrorKind::NotFound {
            warn!(file = %shown, %reason, "the history cannot be read: it begins empty");
        }
        String::new()
    });
    let wrong = past.restore(group, &text);
    if let Some(wrong @ 1..) = wrong {
        warn!(file = %shown, wrong, "lines of the history left out: they are not of this group");
    }
}

/// Returns a name in a form that is safe in a file name. Two names get the same form only if they begin with the same
/// characters, about a hundred.
fn in_file_name(name: &str) -> String {
    let mut safe = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            safe.push(char::from(byte));
        } else {
            write!(safe, "%{byte:02x}").ok();
        }
    }
    safe.truncate(LONGEST);
    safe
}

fn read_bounded(file: &Path) -> io::Result<String> {
    let most = u64::try_from(MOST_OF_FILE).unwrap_or(u64::MAX);
    let mut text = String::new();
    fs::File::open(file)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// Time between two checks of the files, here called a beat.
const EACH: Duration = Duration::from_secs(1);

/// Number of beats between two requests for findings.
const FINDINGS: u32 = 5;

/// Longest part of a name in a file name, in bytes.
const LONGEST: usize = 100;

/// Number of beats in a minute.
const MINUTE: u32 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_after_each_change_and_while_there_are_findings_each_minute() {
        let past = Arc::new(KeptHistory::default());
        let mut file = HistoryFile::of_claimed("jobs", PathBuf::new(), Arc::clone(&past));
        let mut written = |seconds| (0..seconds).filter(|_| file.due().is_some()).count();
        assert_eq!([written(1), written(600)], [1, 0], "nothing is found");
        let found = |unix_ms| {
            let found = [("no_leader", "start a")].into_iter();
            past.book().found(&"a".parse().unwrap(), unix_ms, found);
        };
        found(1_000);
        assert_eq!(written(1), 1, "it is new");
        found(6_000);
        let each = [written(59), written(1), written(59), written(1)];
        assert_eq!(each, [0, 1, 0, 1], "it lasts");
    }

    #[test]
    fn two_names_are_two_files() {
        assert_eq!(in_file_name("api-1.example_x"), "api-1.example_x");
        assert_eq!(in_file_name("a@b/c ä"), "a%40b%2fc%20%c3%a4");
        assert_eq!(in_file_name(&"x".repeat(256)).len(), 100);
    }
}
