//! The properties of the merged lines of all nodes, whatever faults happened.

use std::collections::BTreeMap;

use serde_json::Value;

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

/// Checks the promise of a change of voters: no two nodes know different lists with the number of the same epoch.
///
/// # Errors
/// The two lists.
pub(crate) fn one_list(lines: &[Line]) -> Result<(), Wrong> {
    let mut lists = BTreeMap::new();
    for line in lines {
        let epoch = line.rest.get("epoch").and_then(Value::as_u64);
        let Some((epoch, list)) = epoch.zip(line.rest.get("voters")) else {
            continue;
        };
        let first = lists.entry(epoch).or_insert(list);
        if *first != list {
            return Err(Wrong(format!("epoch {epoch} has {first} and {list}")));
        }
    }
    Ok(())
}

/// Returns for how long two or more processes led at once, in microseconds.
pub(crate) fn contested(lines: &[Line]) -> u64 {
    let mut edges: Vec<(u64, i32)> = Vec::new();
    for belief in beliefs(lines) {
        edges.extend([(belief.from, 1), (belief.until, -1)]);
    }
    edges.sort_unstable();
    let (mut sum, mut leaders, mut since) = (0, 0, 0);
    for (at, change) in edges {
        if leaders > 1 {
            sum += at - since;
        }
        (leaders, since) = (leaders + change, at);
    }
    sum
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
        for (leads, is_fine, both) in [
            (&in_turn[..], true, 0),
            (&at_once, false, 5),
            (&of_one_term, false, 0),
        ] {
            let lines = leads.iter().map(|(host, term, t)| works(*host, *term, *t));
            let lines: Vec<_> = lines.collect();
            let found = (one_leader(&lines).is_ok(), contested(&lines));
            assert_eq!(found, (is_fine, both), "{leads:?}");
        }
    }

    #[test]
    fn two_lists_by_one_number_are_found() {
        let voters = |epoch: u64, names: &[&str]| Line {
            t: 1,
            host: 0,
            incarnation: 1,
            event: String::from("voters"),
            rest: json!({ "epoch": epoch, "voters": names }),
        };
        let [old, new, other] = [
            voters(1, &["a", "b"]),
            voters(2, &["a", "c"]),
            voters(2, &["a", "b"]),
        ];
        assert!(one_list(&[old.clone(), new.clone(), old.clone(), new.clone()]).is_ok());
        assert!(one_list(&[old, new, other]).is_err());
    }
}
