//! Writes the results of a run: its recording, drawings, its commands, and a test that repeats it.

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter},
    path::Path,
};

use actix_bully::{protocol::Time, record::Recording};
use bully_core::record::RecordedClock;

use crate::{args::Args, session::Wrong};

/// Reads a recording.
pub(crate) fn read(file: &Path) -> Result<Recording, Wrong> {
    let opened = File::open(file).map_err(|wrong| named(file, &wrong))?;
    let recording = Recording::read(BufReader::new(opened));
    recording.map_err(|wrong| named(file, &wrong))
}

/// Writes the files that the arguments ask for.
pub(crate) fn write(args: &Args, mut recording: Recording) -> Result<(), Wrong> {
    if args.real_time {
        recording.header_mut().clock = RecordedClock::Real;
    }
    if let Some(file) = &args.record {
        let opened = File::create(file).map_err(|wrong| named(file, &wrong))?;
        let written = recording.write(BufWriter::new(opened));
        written.map_err(|wrong| named(file, &wrong))?;
    }
    if let Some(file) = &args.mermaid {
        let mut diagram = recording.to_mermaid();
        if file.extension().is_some_and(|extension| extension == "md") {
            diagram = format!("```mermaid\n{diagram}```\n");
        }
        save(file, &diagram)?;
    }
    if let Some(file) = &args.svg {
        let at = args
            .at
            .map_or_else(|| recording.ended(), |at| Time::ZERO.after(at));
        save(file, &recording.to_svg(at))?;
    }
    if let Some(file) = &args.commands {
        save(file, &recording.to_script()?)?;
    }
    if let Some(file) = &args.rust_test {
        save(file, &recording.to_rust_test()?)?;
    }
    Ok(())
}

fn save(file: &Path, text: &str) -> Result<(), Wrong> {
    fs::write(file, text).map_err(|wrong| named(file, &wrong))
}

fn named(file: &Path, wrong: &dyn std::error::Error) -> Wrong {
    format!("{}: {wrong}", file.display()).into()
}
