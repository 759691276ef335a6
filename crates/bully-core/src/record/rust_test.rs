//! A run as a test in Rust: the same commands at the same times, and the leaders that the run found.
//!
//! Decided here: the text compiles (names and commands are string literals), and it asserts the leaders each time when
//! the recording has found them settled. Not here: the words of a command (`words.rs`). A test of the crate compares
//! such a text with a file that is compiled and run.

use super::{
    NetworkRecord, RecordedAgent, RecordedCommand, Recording, TooLong, TraceEntry, Untold, What,
    lines::{MOST_WRITTEN, append},
    script::{agents, can_be_told, told},
};
use crate::protocol::{AgentId, MemberKind, Score, Time};

pub(super) fn to_rust_test(recording: &Recording) -> Result<String, Untold> {
    can_be_told(recording)?;
    let body = body(recording)?;
    let head = imports(&body);
    Ok(format!(
        "//! A recorded run, repeated: the same commands at the same times, and the same leaders whenever it was settled.\n\
         //!\n\
         //! Written by `Recording::to_rust_test` of actix-bully, whose feature `testkit` it needs.\n\n\
         {head}\n\
         #[test]\n\
         fn the_recorded_run_repeats() -> Result<(), Box<dyn Error>> {{\n    \
         virtual_system().block_on(async {{\n{body}        Ok(())\n    }})\n}}\n"
    ))
}

/// Returns the imports for the names that the body of the test uses.
fn imports(body: &str) -> String {
    let std = [
        ("Error", "std::error::Error"),
        ("Arc::", "std::sync::Arc"),
        ("Duration::", "std::time::Duration"),
    ];
    let ours = [
        (
            "Ballot>",
            "actix_bully::elections::ballot::{Ballot, BallotConfig}",
        ),
        (
            "InvitationConfig",
            "actix_bully::elections::invitation::{InvitationConfig, InvitationElection}",
        ),
        (
            "ReorganizationConfig",
            "actix_bully::elections::reorganization::{Reorganization, ReorganizationConfig}",
        ),
        (
            "RingConfig",
            "actix_bully::elections::ring::{Ring, RingConfig}",
        ),
        ("Time::", "actix_bully::protocol::Time"),
        ("Cluster", "actix_bully::testkit::cluster::Cluster"),
        ("Conditions::", "actix_bully::testkit::faults::Conditions"),
        ("", "actix_bully::testkit::virtual_system"),
    ];
    let named = |list: &[(&str, &str)]| {
        let mut lines = String::new();
        for (word, path) in list {
            if *word == "Error" || body.contains(word) {
                append(&mut lines, format_args!("use {path};\n"));
            }
        }
        lines
    };
    format!("{}\n{}", named(&std), named(&ours))
}

fn body(recording: &Recording) -> Result<String, Untold> {
    let mut out = String::new();
    begin(&mut out, recording);
    let mut reached = Time::ZERO;
    let mut entries = recording.entries().iter();
    while let Some(TraceEntry { at, what }) = entries.next() {
        if *at > reached && matches!(what, What::Command(_) | What::Ended) {
            wait(&mut out, *at);
        }
        if let What::Command(command) = what {
            if *command == RecordedCommand::Settle {
                settle(&mut out, entries.clone());
            } else {
                let text = told(*at, command)?;
                // Longer chains are broken into lines, because `rustfmt` breaks them, too.
                let then = if text.len() > 26 {
                    "\n            "
                } else {
                    ""
                };
                let call =
                    format_args!("        cluster{then}.apply(&{text:?}.parse()?){then}.await?;\n");
                append(&mut out, call);
            }
        }
        if matches!(what, What::Command(_) | What::Settled { .. }) {
            reached = *at;
        }
        // A check after each entry is enough: an entry is at most one line of a recording, and lines are limited.
        if out.len() > MOST_WRITTEN {
            let most = MOST_WRITTEN;
            return Err(TooLong { most }.into());
        }
    }
    Ok(out)
}

fn wait(out: &mut String, until: Time) {
    let nanos = until.as_nanos();
    let time = if nanos.is_multiple_of(1_000_000) {
        format!("Time::from_millis({})", digits(nanos / 1_000_000))
    } else {
        format!("Time::from_nanos({})", digits(nanos))
    };
    append(
        out,
        format_args!("        cluster.wait_until({time}).await;\n"),
    );
}

/// Writes the wait until it is settled which agents lead, and the check of the outcome.
fn settle<'a>(out: &mut String, rest: impl Iterator<Item = &'a TraceEntry>) {
    let outcome = rest
        .take_while(|entry| !matches!(entry.what, What::Command(_)))
        .find_map(TraceEntry::leaders);
    match outcome {
        None => out.push_str("        assert!(cluster.settle().await.is_err());\n"),
        Some(leaders) => {
            let check = match leaders.as_slice() {
                [] => "assert_eq!(settled.leaders().next(), None);".to_owned(),
                names => {
                    let names = list(names);
                    // `rustfmt` breaks longer arguments into lines.
                    let (begin, then, end) = if names.len() > 21 {
                        ("\n            ", "\n            ", "\n        ")
                    } else {
                        ("", " ", "")
                    };
                    format!(
                        "assert_eq!({begin}settled.leaders().collect::<Vec<_>>(),{then}{names}{end});"
                    )
                }
            };
            append(
                out,
                format_args!("        let settled = cluster.settle().await?;\n        {check}\n"),
            );
        }
    }
}

impl TraceEntry {
    /// Returns the agents that lead, if the entry reports them.
    fn leaders(&self) -> Option<Vec<AgentId>> {
        let What::Settled { sides, .. } = &self.what else {
            return None;
        };
        let leaders = sides.iter().filter_map(|side| side.leader.clone());
        Some(leaders.collect())
    }
}

/// Writes the cluster as it was at the beginning.
fn begin(out: &mut String, recording: &Recording) {
    let header = recording.header();
    if let Some(network) = header.network {
        append(
            out,
            format_args!("        let network = {};\n", conditions(network)),
        );
    }
    let (first, mut rest) = builder(out, recording);
    append(out, format_args!("        let mut cluster = {first}\n"));
    for agent in agents(recording) {
        append(out, format_args!("            {}\n", added(agent)));
    }
    if header.network.is_some() {
        rest.push(".network(network)");
    }
    for call in rest {
        append(out, format_args!("            {call}\n"));
    }
    append(
        out,
        format_args!(
            "            .seed({})\n            .start()?;\n",
            digits(header.seed)
        ),
    );
}

/// Writes the builder of the cluster. Returns the call of the constructor, and the calls that follow the calls for the
/// agents.
fn builder(out: &mut String, recording: &Recording) -> (String, Vec<&'static str>) {
    let usual = || String::from("Cluster::builder()");
    match recording.header().protocol.as_str() {
        "astra" => (usual(), vec![".astra()"]),
        "quorum" => (usual(), vec![".quorum()"]),
        "lease" => (String::from("Cluster::around_register(|_| {})"), vec![]),
        "ballot" => {
            let voters = recording
                .agents()
                .filter(|agent| agent.kind == MemberKind::Voter);
            let names: Vec<_> = voters
                .map(|agent| format!("{}.parse()?", literal(&agent.name)))
                .collect();
            let names = names.join(", ");
            append(
                out,
                format_args!(
                    "        let rules = BallotConfig::new([{names}]);\n        \
                     let majority = rules.majority();\n"
                ),
            );
            (
                String::from("Cluster::<Ballot>::with_config(Arc::new(rules))"),
                vec![".needs_voters(majority)"],
            )
        }
        "ring" => with_rules(out, "RingConfig", "Cluster::<Ring>"),
        "reorganization" => with_rules(out, "ReorganizationConfig", "Cluster::<Reorganization>"),
        "invitation" => with_rules(out, "InvitationConfig", "Cluster::<InvitationElection>"),
        _ => (usual(), vec![]),
    }
}

fn with_rules(out: &mut String, config: &str, cluster: &str) -> (String, Vec<&'static str>) {
    append(
        out,
        format_args!("        let rules = {config}::default();\n"),
    );
    let made = format!("{cluster}::with_config(Arc::new(rules))");
    (made, Vec::new())
}

fn added(agent: &RecordedAgent) -> String {
    let name = agent.name.as_str();
    match (agent.kind, agent.score) {
        (MemberKind::Observer, _) => format!(".observer({name:?})"),
        (MemberKind::Voter, None) => format!(".witness({name:?})"),
        (MemberKind::Voter, Some(score)) => format!(".agent({name:?}, {})", rating(score)),
    }
}

fn conditions(network: NetworkRecord) -> String {
    let mut text = String::from("Conditions::builder()");
    let NetworkRecord {
        delay_ns,
        loss,
        duplication,
        slow,
        slow_by_ns,
        any_order,
    } = network;
    let mut add = |call: String| append(&mut text, format_args!("\n            {call}"));
    add(format!(".delay({})", range(delay_ns)));
    if loss > 0 {
        add(format!(".loss({loss})"));
    }
    if duplication > 0 {
        add(format!(".duplication({duplication})"));
    }
    if slow > 0 {
        add(format!(".slow({slow}, {})", range(slow_by_ns)));
    }
    if any_order {
        add(".in_any_order()".to_owned());
    }
    add(".build()?".to_owned());
    text
}

fn range((min, max): (u64, u64)) -> String {
    format!("{}..={}", span(min), span(max))
}

fn span(nanos: u64) -> String {
    if nanos.is_multiple_of(1_000_000) {
        format!("Duration::from_millis({})", digits(nanos / 1_000_000))
    } else {
        format!("Duration::from_nanos({})", digits(nanos))
    }
}

/// Writes a score as an integer or a tuple, because only integers and tuples convert into a score.
fn rating(score: Score) -> String {
    let part = |part: i64| {
        if i32::try_from(part).is_ok() {
            part.to_string()
        } else {
            format!("{part}_i64")
        }
    };
    let [a, b, c, d] = score.parts().map(part);
    match score.parts() {
        [_, 0, 0, 0] => a,
        [_, _, 0, 0] => format!("({a}, {b})"),
        [_, _, _, 0] => format!("({a}, {b}, {c})"),
        _ => format!("({a}, {b}, {c}, {d})"),
    }
}

fn list(agents: &[AgentId]) -> String {
    let names: Vec<_> = agents.iter().map(literal).collect();
    format!("[{}]", names.join(", "))
}

/// Returns a name with any characters as a Rust literal.
fn literal(agent: &AgentId) -> String {
    format!("{:?}", agent.as_str())
}

/// Writes long numbers in groups of three digits, as lints demand.
fn digits(number: u64) -> String {
    let plain = number.to_string();
    if plain.len() < 6 {
        return plain;
    }
    let mut grouped = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at).is_multiple_of(3) {
            grouped.push('_');
        }
        grouped.push(digit);
    }
    grouped
}
