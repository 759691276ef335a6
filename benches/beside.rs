//! Ends of leaders beside those of etcd, in turn, so that both meet the same machine.
//!
//! Decided here: the pairs, and the times of etcd with which ours are compared. A ratio below 1 means that ours was
//! faster. Not here: how an end is measured (`processes.rs`, `etcd.rs`).
//!
//! After a `kill -9` with the timings `lan`, our nodes wait for the lease of the leader. etcd has no such lease: two of
//! its members may believe for a time that they lead. With a sentinel our nodes hear of the end, and do not wait.

use std::{path::Path, time::Duration};

use tempfile::TempDir;

use super::{End, Gap, Row, Took, Wrong, etcd, print_head, row, spread::Spread};

const PAIRS: [(Row, etcd::End); 4] = [
    (row(End::Killed, true, "lan", 1), etcd::End::Killed),
    (row(End::ToldOnDisk, true, "lan", 1), etcd::End::Killed),
    (row(End::HandsOver, true, "lan", 1), etcd::End::Terminated),
    (row(End::HandsOver, true, "lan", 1), etcd::End::Moved),
];

/// Time after which a member of etcd that was started again follows, and has written its messages.
const ETCD_RESTS: Duration = Duration::from_millis(700);

/// Measures the pairs of the requested rows, and prints their times and ratios.
pub(super) fn compare(
    node: &Path,
    rounds: usize,
    is_asked: impl Fn(&Row) -> bool,
) -> Result<(), Wrong> {
    print_head();
    for (row, end) in PAIRS.iter().filter(|(row, _)| is_asked(row)) {
        let secret = TempDir::new()?;
        let mut cluster = row.cluster(node, &secret)?;
        let mut group = etcd::Group::start()?;
        let (mut ours, mut theirs) = (Took::default(), Took::default());
        let mut pairs = Vec::new();
        for round in 0..rounds {
            let their_gap = |group: &mut etcd::Group| group.end_leader(*end);
            cluster.log.wait(ETCD_RESTS, |_| None::<()>);
            // The two groups take turns in going first.
            let (our, their) = if round % 2 == 0 {
                let our = row.end_leader(&mut cluster)?;
                (our, their_gap(&mut group)?)
            } else {
                let their = their_gap(&mut group)?;
                (row.end_leader(&mut cluster)?, their)
            };
            pairs.push((our, their));
            ours.add(our);
            theirs.add(their);
        }
        cluster.verdict()?;
        ours.print(row.name(), row.timings, "quorum", None);
        theirs.print(end.name(), "20/200", "store", None);
        print_ratio("ratio", &pairs, |gap| Some(gap.known));
        print_ratio("· no leader", &pairs, |gap| gap.alone);
    }
    Ok(())
}

fn print_ratio(name: &str, pairs: &[(Gap, Gap)], time: impl Fn(&Gap) -> Option<Duration>) {
    let ratio =
        |(ours, theirs): &(Gap, Gap)| Some(time(ours)?.as_secs_f64() / time(theirs)?.as_secs_f64());
    let ratios: Vec<f64> = pairs.iter().filter_map(ratio).collect();
    if ratios.is_empty() {
        return;
    }
    let count = ratios.len();
    let Spread { median, from, to } = Spread::of(ratios);
    println!("{name:<11} {count:>28} {median:>8.2}  95 % interval {from:.2} to {to:.2}");
}
