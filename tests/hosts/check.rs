//! The properties of the merged lines of all nodes, whatever faults happened.

use std::collections::BTreeMap;

use crate::{Wrong, log::Line};

/// A leadership, from the first to the last moment at which a process found that it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Belief {
    /// The host.
    pub(crate) host: usize,
    /// The incarnation of its process.
    pub(crate) incarnation: u32,
    pub(crate) term: u64,
    /// The first moment at which it found that it leads, in microseconds.
    pub(crate) from: u64,
    /// The last moment, in microseconds.
    pub(crate) until: u64,
}

/// Returns the leaderships in the order of their beginning.
///
/// A process that leads prints a time before its check. Between two checks in one term it led all the time.
pub(crate) fn beliefs(lines: &[Line]) -> Vec<Belief> {
    let mut found: BTreeMap<(usize, u32, u64), (u64, u64)> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.event == "works") {
        let Some(term) = line.term() else { continue };
        let span = found
            .entry((line.host, line.incarnation, term))
            .or_insert((line.t, line.t));
        *span = (span.0.min(line.t), span.1.max(line.t));
    }
    let belief = |((host, incarnation, term), (from, until))| Belief {
        host,
        incarnation,
        term,
        from,
        until,
    };
    let mut found: Vec<Belief> = found.into_iter().map(belief).collect();
    found.sort_by_key(|belief| belief.from);
    found
}

/// Checks the promise of the quorum mode: at any moment at most one process leads, and each later leadership has a
/// higher term.
///
/// # Errors
/// The two leaderships that break it.
pub(crate) fn one_leader(lines: &[Line]) -> Result<(), Wrong> {
    let found = beliefs(lines);
    for pair in found.windows(2) {
        let [former, later] = pair else { continue };
        let same = (former.host, former.incarnation) == (later.host, later.incarnation);
        if !same && later.from <= former.until {
            return Err(Wrong(format!("two led at once: {former:?} and {later:?}")));
        }
        if later.term <= former.term {
            return Err(Wrong(format!("a term went back: {former:?}, {later:?}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn works(host: usize, term: u64, t: u64) -> Line {
        Line {
            t,
            host,
            incarnation: 1,
            event: String::from("works"),
            rest: json!({ "term": term }),
        }
    }

    #[test]
    fn two_leaders_at_once_and_one_term_for_two_leaders_are_found() {
        let in_turn = [(0, 1, 10), (0, 1, 20), (1, 2, 21), (1, 2, 30)];
        let at_once = [(0, 1, 10), (1, 2, 15), (0, 1, 20), (1, 2, 30)];
        let of_one_term = [(0, 1, 10), (1, 1, 20)];
        for (leads, is_fine) in [
            (&in_turn[..], true),
            (&at_once, false),
            (&of_one_term, false),
        ] {
            let lines = leads.iter().map(|(host, term, t)| works(*host, *term, *t));
            let lines: Vec<_> = lines.collect();
            assert_eq!(one_leader(&lines).is_ok(), is_fine, "{leads:?}");
        }
    }
}
