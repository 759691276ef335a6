//! The names that only one of two lists of voters has: the differences between two configurations.

use std::fmt::Write as _;

use crate::protocol::AgentId;

/// Names the voters that only one of two lists has, in alphabetical order and at most [`MOST`] of each side, so that a
/// refusal stays short even for long lists.
///
/// The text is empty in two cases: the lists are the same and only the quorums differ; or the names of one side are
/// not known.
pub(super) fn unshared(theirs: &[AgentId], mine: &[AgentId]) -> String {
    let mut text = String::new();
    if theirs.is_empty() || mine.is_empty() {
        return text; // an unknown list is not an empty list
    }
    for (whose, list, other) in [("group", theirs, mine), ("newcomer", mine, theirs)] {
        let mut names: Vec<&str> = list
            .iter()
            .filter(|name| !other.contains(name))
            .map(AgentId::as_str)
            .collect();
        names.sort_unstable();
        names.truncate(MOST);
        if !names.is_empty() {
            write!(text, "; only the {whose} names {}", names.join(", ")).ok();
        }
    }
    text
}

/// Largest number of names of each side in the text.
const MOST: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_that_one_side_lacks_are_said_and_no_more_than_five() {
        let names = |names: &[&str]| -> Vec<AgentId> {
            let ids = names.iter().map(|name| AgentId::new(name).unwrap());
            ids.collect()
        };
        let said = |one: &[&str], other: &[&str]| unshared(&names(one), &names(other));
        assert_eq!(
            said(&["a", "b", "c"], &["d", "c", "a"]),
            "; only the group names b; only the newcomer names d"
        );
        assert_eq!(
            said(&["a"], &["g", "f", "e", "d", "c", "b", "a"]),
            "; only the newcomer names b, c, d, e, f"
        );
        assert_eq!(said(&["a", "b"], &["b", "a"]), "");
        assert_eq!(said(&[], &["a"]), "");
    }
}
