//! A history that the simulator failed, as the example `simulate` writes it down.

use actix_bully::{record::Recording, testkit::trace::Trace};
use clap::Parser;

use args::Args;

#[allow(dead_code, reason = "the example uses the other parts")]
#[path = "../../../examples/simulate/args.rs"]
mod args;
#[allow(dead_code, reason = "the example uses the other parts")]
#[path = "../../../examples/simulate/history.rs"]
mod history;

/// The first history of a quorum in which a rule that is broken on purpose is found, and what is said of it.
pub fn failed() -> (Recording, String) {
    let failed = |seed: u32| {
        let words =
            format!("simulate --protocol quorum --nodes 4 --planted HalfIsAQuorum --seed {seed}");
        let args = Args::try_parse_from(words.split(' ')).expect("its words");
        let plan = args.plan(seed.into());
        let outcome = plan.run(Trace::new()).expect("a history");
        let violation = outcome.report.violation.as_ref()?.to_string();
        Some((plan.recording(&outcome), violation))
    };
    (0..200).find_map(failed).expect("a history finds it")
}
