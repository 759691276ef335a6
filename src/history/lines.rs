//! The file of a group's history, in the format JSON Lines.
//!
//! ```text
//! {"history":1,"group":"orders"}
//! {"leadership":{"leader":"api-1","term":"7","from_unix_ms":1764126720000,..}}
//! {"finding":{"agent":"api-2","kind":"no_leader",..}}
//! ```
//!
//! Decided here: the form of a line, and that a wrong line is ignored, so that a file that was cut off loses only its
//! last line. Not here: which entries are kept ([`history`](super)).

use serde::{Deserialize, Serialize};

use super::{GroupHistory, Leadership, PastFinding};

#[derive(Serialize, Deserialize)]
struct FileHead {
    /// The version of this format.
    history: u32,
    group: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HistoryLine {
    Leadership(Leadership),
    Finding(PastFinding),
}

pub(super) fn write(history: &GroupHistory) -> String {
    let mut text = String::new();
    let mut push = |line: serde_json::Result<String>| {
        // An error is not possible: a line has only names, numbers and texts.
        if let Ok(line) = line {
            text.push_str(&line);
            text.push('\n');
        }
    };
    push(serde_json::to_string(&FileHead {
        history: 1,
        group: history.group.clone(),
    }));
    for one in &history.leaderships {
        push(serde_json::to_string(&HistoryLine::Leadership(one.clone())));
    }
    for one in &history.findings {
        push(serde_json::to_string(&HistoryLine::Finding(one.clone())));
    }
    text
}

/// Reads the history of `group` from a text. Returns the history, and the number of wrong lines. In the text of another
/// group all lines are wrong.
pub(super) fn read(group: &str, text: &str) -> (GroupHistory, usize) {
    let mut history = GroupHistory {
        group: group.to_owned(),
        leaderships: Vec::new(),
        findings: Vec::new(),
    };
    let mut lines = text.lines();
    let head = lines.next().map(serde_json::from_str::<FileHead>);
    match head {
        None => return (history, 0),
        Some(Ok(head)) if head.history == 1 && head.group == group => {}
        Some(_) => return (history, text.lines().count()),
    }
    let mut wrong = 0;
    for line in lines {
        match serde_json::from_str(line) {
            Ok(HistoryLine::Leadership(one)) => history.leaderships.push(one),
            Ok(HistoryLine::Finding(one)) => history.findings.push(one),
            Err(_) => wrong += 1,
        }
    }
    (history, wrong)
}
