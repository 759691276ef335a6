//! The records of a node's agents: turns the records on and off, and saves a record into a file.
//!
//! Decided here: which agent's record is saved, and the text about it. A file is written only if the record has
//! entries.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write as _},
};

use actix_bully::{
    operate::{AgentRecording, RecordRequest},
    record::RecordLimits,
};

use crate::{
    args::{RecordAction, RecordSave},
    failure::Failure,
    node::Node,
    show,
};

/// Carries out the action; returns the text to print.
pub(crate) fn run(node: &Node, action: &RecordAction, is_json: bool) -> Result<String, Failure> {
    let save = match action {
        RecordAction::On => {
            let on = RecordRequest::On(RecordLimits::default());
            return Ok(said(&node.record(on)?, is_json));
        }
        RecordAction::Off => return Ok(said(&node.record(RecordRequest::Off)?, is_json)),
        RecordAction::Save(save) => save,
    };
    let request = if save.kept {
        RecordRequest::ReadKept
    } else {
        RecordRequest::Read
    };
    let recordings = node.record(request)?;
    let recording = chosen(&recordings, save)?;
    let Some(text) = &recording.jsonl else {
        return Err(Failure::Usage(if save.kept {
            "the node kept no record, because a leader was known all the time since the record began: leave out --kept"
        } else {
            "the agent has no record: begin one with `record on`"
        }));
    };
    let made = fs::File::create_new(&save.file);
    let mut file = made.map_err(|reason| match reason.kind() {
        io::ErrorKind::AlreadyExists => Failure::Usage(
            "the file exists already, and no record is saved over it: name another file",
        ),
        _ => Failure::Output(reason),
    })?;
    file.write_all(text.as_bytes()).map_err(Failure::Output)?;
    let entries = text.lines().count().saturating_sub(2);
    let (agent, file) = (show::clean(recording.agent.as_str()), save.file.display());
    Ok(format!("{entries} entries of {agent} are in {file}\n"))
}

/// Returns the only agent that the arguments select.
fn chosen<'a>(
    recordings: &'a [AgentRecording],
    save: &RecordSave,
) -> Result<&'a AgentRecording, Failure> {
    let is_meant = |one: &&AgentRecording| {
        save.group.as_ref().is_none_or(|group| one.group == *group)
            && save.agent.as_ref().is_none_or(|agent| one.agent == *agent)
    };
    let mut meant = recordings.iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Failure::Usage(
            "no agent of the node fits --agent and --group: see `bullyctl status`",
        )),
        (Some(_), Some(_)) => Err(Failure::Usage(
            "the node has several agents: name one by --agent, --group or both",
        )),
    }
}

fn said(recordings: &[AgentRecording], is_json: bool) -> String {
    if is_json {
        return show::json(&recordings);
    }
    let mut text = String::new();
    for recording in recordings {
        let (agent, group) = (
            show::clean(recording.agent.as_str()),
            show::clean(&recording.group),
        );
        let state = if recording.is_on { "on" } else { "off" };
        writeln!(text, "the record of {agent} in {group} is {state}").ok();
    }
    text
}
