//! A history that failed in the simulator, as the example `simulate` writes it.

use actix_bully::record::Recording;
use actix_bully_oracles::QuorumScenario;
use bully_sim::trace::Trace;
use clap::Parser;

use args::Args;

#[allow(dead_code, reason = "the example uses the other parts")]
#[path = "../../../examples/simulate/args.rs"]
mod args;
#[allow(dead_code, reason = "the example uses the other parts")]
#[path = "../../../examples/simulate/history.rs"]
mod history;

/// Returns the first history of four voters with two leaders, and the text of the violation. Two votes are wrongly
/// enough for an election in these histories.
pub fn failed() -> (Recording, String) {
    let failed = |seed: u32| {
        let words = format!("simulate --protocol quorum --nodes 4 --seed {seed}");
        let args = Args::try_parse_from(words.split(' ')).expect("its words");
        let plan = args.plan(seed.into());
        let sound = QuorumScenario::drawn(seed.into(), 4).expect("there are voters");
        let sound = sound.sound().clone();
        let mut half = sound.clone();
        (half.vote_quorum, half.lease_quorum) = (Some(2), Some(2));
        let mut scenario = QuorumScenario::unsound(half, sound);
        let outcome = plan.run_in(Trace::new(), &mut scenario);
        let violation = outcome.report.violation.as_ref()?.to_string();
        Some((plan.recording(&outcome), violation))
    };
    (0..200).find_map(failed).expect("a history finds it")
}
