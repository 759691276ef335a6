//! Plays a recording again, and compares the new run with it.
//!
//! Decided here: which recordings are refused before anything runs, and what the new run records, so that both can be
//! compared line by line. Not here: whether a recording has all its commands ([`Recording::can_be_repeated`]).

use actix_bully::record::Recording;
use bully_core::record::{Header, What};
use bully_sim::trace::Trace;

use crate::{args::Args, session::Wrong};

/// Sets the arguments so that the run begins as the recorded run did.
pub(crate) fn begin_as(args: &mut Args, recording: &Recording) -> Result<(), Wrong> {
    recording.can_be_repeated()?;
    let header = recording.header();
    args.protocol = header.protocol.parse()?;
    args.agents = u32::try_from(header.agents.len())?;
    args.seed = header.seed;
    args.header = Some(header.clone());
    args.trace = Some(trace_of(recording));
    Ok(())
}

/// Returns a trace that keeps the same messages as the recording.
fn trace_of(recording: &Recording) -> Trace {
    let mut trace = Trace::new();
    if recording.header().repeated {
        trace = trace.with_repeated();
    }
    let mut entries = recording.entries().iter();
    if entries.any(|entry| matches!(entry.what, What::Delivered(_))) {
        trace = trace.with_deliveries();
    }
    trace
}

/// Checks that a cluster of this example begins as the recorded one did.
pub(crate) fn must_begin_as(own: &Header, recorded: &Header) -> Result<(), Wrong> {
    if own.writer != recorded.writer {
        let (theirs, ours) = (&recorded.writer, &own.writer);
        let wrong = format!(
            "it was recorded by {theirs}, and this is {ours}: play it again by the release that recorded it"
        );
        return Err(wrong.into());
    }
    if own.timings_ns != recorded.timings_ns {
        return Err(
            "its agents have other timings than the agents of this example: play it again in the program \
             that recorded it"
                .into(),
        );
    }
    Ok(())
}
