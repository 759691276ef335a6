//! The state of an agent for other programs.
//!
//! Decided here: the names of the fields, and which fields are text. Not in `status.rs`, because a checker of
//! interleavings runs that file without this crate's dependencies (`tests/heavy/cells`). The types here repeat the
//! fields and variants of that file for serde; the compiler reports a missing field.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    protocol::{About, Incarnation, Leader, Role, Term},
    shown,
};

use super::{Lifecycle, Status};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Status")]
struct StatusJson {
    lifecycle: Lifecycle,
    #[serde(with = "shown::text")]
    incarnation: Incarnation,
    role: Role,
    #[serde(with = "shown::text")]
    term: Term,
    #[serde(with = "shown::optional_leader")]
    leader: Option<Leader>,
    #[serde(default)]
    leader_about: Option<About>,
    #[serde(with = "shown::optional_text")]
    leading: Option<Term>,
    draining: bool,
    work_panics: u32,
    work_stalls: u32,
    tie_broken: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Lifecycle", rename_all = "snake_case")]
enum LifecycleJson {
    Running,
    Down,
    Ended,
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        StatusJson::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        StatusJson::deserialize(from)
    }
}

impl Serialize for Lifecycle {
    /// As text: `running`, `down`, `ended`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        LifecycleJson::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Lifecycle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        LifecycleJson::deserialize(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_as_json() {
        let status = Status {
            lifecycle: Lifecycle::Running,
            incarnation: Incarnation(115_964_116_992_000_001),
            role: Role::Leader,
            term: Term(9_007_199_254_740_993),
            leader: Some(Leader {
                id: "x".parse().unwrap(),
                incarnation: Incarnation(115_964_116_992_000_001),
                term: Term(9_007_199_254_740_993),
            }),
            leader_about: About::new("http://\"x\"").ok(),
            leading: Some(Term(9_007_199_254_740_993)),
            draining: false,
            work_panics: 1,
            work_stalls: 2,
            tie_broken: false,
        };
        assert_eq!(
            serde_json::to_string(&status).unwrap(),
            concat!(
                r#"{"lifecycle":"running","incarnation":"115964116992000001","role":"leader","#,
                r#""term":"9007199254740993","leader":{"id":"x","incarnation":"115964116992000001","#,
                r#""term":"9007199254740993"},"leader_about":"http://\"x\"","leading":"9007199254740993","draining":false,"#,
                r#""work_panics":1,"work_stalls":2,"tie_broken":false}"#
            )
        );
        let lifecycles = [Lifecycle::Running, Lifecycle::Down, Lifecycle::Ended];
        let roles = [Role::Follower, Role::Candidate, Role::Waiting, Role::Leader];
        assert_eq!(
            serde_json::to_string(&(lifecycles, roles)).unwrap(),
            r#"[["running","down","ended"],["follower","candidate","waiting","leader"]]"#
        );
    }
}
