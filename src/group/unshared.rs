//! The names that only one of two lists of voters has: the differences between two configurations.

use std::fmt;

use crate::protocol::AgentId;

/// The names that only one of two lists of voters has, in alphabetical order and at most `MOST` of each side, so that a
/// refusal stays short even for long lists.
///
/// Both sides are empty in two cases: the lists are the same and only the quorums differ; or the names of one side are
/// not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unshared {
    /// Voters in the lists of the members that are not in the list of the agent.
    pub theirs: Vec<AgentId>,
    /// Voters in the list of the agent that are not in the lists of the members.
    pub mine: Vec<AgentId>,
}

impl Unshared {
    for_tests! {
        /// Largest number of names that are kept of each side.
        const MOST: usize = 5;
    }

    pub(super) fn between(theirs: &[AgentId], mine: &[AgentId]) -> Self {
        if theirs.is_empty() || mine.is_empty() {
            return Self::default(); // an unknown list is not an empty list
        }
        Self {
            theirs: lacking(theirs, mine),
            mine: lacking(mine, theirs),
        }
    }
}

/// Returns the first names of one list that the other list lacks.
fn lacking(list: &[AgentId], other: &[AgentId]) -> Vec<AgentId> {
    let mut names: Vec<&AgentId> = list.iter().filter(|name| !other.contains(name)).collect();
    names.sort();
    names.truncate(Unshared::MOST);
    names.into_iter().cloned().collect()
}

impl fmt::Display for Unshared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (whose, names) in [("group", &self.theirs), ("newcomer", &self.mine)] {
            let mut names = names.iter();
            if let Some(first) = names.next() {
                write!(f, "; only the {whose} names {first}")?;
                names.try_for_each(|name| write!(f, ", {name}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<AgentId> {
        let ids = names.iter().map(|name| AgentId::new(name).unwrap());
        ids.collect()
    }

    #[test]
    fn the_names_that_one_side_lacks_are_said_and_no_more_than_five() {
        let between = |one: &[&str], other: &[&str]| Unshared::between(&names(one), &names(other));
        let some = between(&["a", "b", "c"], &["d", "c", "a"]);
        assert_eq!(
            (some.theirs.clone(), some.mine.clone()),
            (names(&["b"]), names(&["d"]))
        );
        let text = "; only the group names b; only the newcomer names d";
        assert_eq!(some.to_string(), text);
        let many = between(&["a"], &["g", "f", "e", "d", "c", "b", "a"]);
        let text = "; only the newcomer names b, c, d, e, f";
        assert_eq!(many.to_string(), text);
        for none in [between(&["a", "b"], &["b", "a"]), between(&[], &["a"])] {
            assert_eq!(
                (none.clone(), none.to_string().as_str()),
                (Unshared::default(), "")
            );
        }
    }
}
