//! The change from one moment to the next, as one frame of the stream.
//!
//! Decided here: a frame contains only the agents that changed, by their positions in the list; if the list of agents
//! or its order changes, a new snapshot is needed; and a difference in time alone makes no frame. Not here: the
//! contents of a moment (`moment.rs`).

use std::time::Duration;

use serde::Serialize;

use super::{
    moment::{AgentFacts, ClockFacts, GroupFacts, PageMoment, PeerFacts, Reason, is_zero},
    said::Said,
};
use crate::record::NetworkRecord;

/// The difference between a moment and the moment before it.
#[derive(Debug, PartialEq)]
pub(crate) enum MomentStep<'a> {
    /// Only the time differs.
    Same,
    /// The contained facts differ.
    Change(Box<MomentChange<'a>>),
    /// The list of agents differs, so a page needs a new snapshot.
    Anew,
}

/// The facts that differ from the last moment. A key that is missing in the JSON means no change.
#[expect(
    clippy::option_option,
    reason = "a key that is missing, null, and one with a value are three things to a page"
)]
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct MomentChange<'a> {
    at_ms: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<(usize, &'a AgentFacts)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cuts: Option<&'a [(usize, usize)]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peers: Option<&'a [PeerFacts]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    voters: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Option<NetworkRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a [Reason]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a [GroupFacts]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    began_unix_ms: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scenario: Option<Option<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<&'a [u64]>,
    /// Log entries since the last frame.
    #[serde(skip_serializing_if = "<[Said]>::is_empty")]
    said: &'a [Said],
    /// Number of messages since the last frame that have no entry.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

impl<'a> MomentChange<'a> {
    /// Makes a change that has only log entries.
    pub(crate) fn of_said(at: Duration, said: &'a [Said], more: u64) -> Self {
        Self {
            at_ms: crate::shown::in_millis(at),
            said,
            more,
            ..Self::default()
        }
    }
}

/// Returns the change from one moment to the next, with the log entries in between.
pub(crate) fn step<'a>(
    old: &PageMoment,
    new: &'a PageMoment,
    said: &'a [Said],
    more: u64,
) -> MomentStep<'a> {
    let names = |moment: &'a PageMoment| {
        moment
            .agents
            .iter()
            .map(|agent| (&agent.group, &agent.name))
    };
    let is_same_ring = old.agents.len() == new.agents.len()
        && names(new).eq(old.agents.iter().map(|agent| (&agent.group, &agent.name)));
    if !is_same_ring || old.agent_count != new.agent_count {
        return MomentStep::Anew;
    }
    let agents = old.agents.iter().zip(&new.agents).enumerate();
    let change = MomentChange {
        at_ms: crate::shown::in_millis(new.at),
        agents: agents
            .filter(|(_, (before, now))| before != now)
            .map(|(at, (_, now))| (at, now))
            .collect(),
        cuts: (old.cuts != new.cuts).then_some(&*new.cuts),
        peers: (old.peers != new.peers).then_some(&*new.peers),
        voters: (old.voters != new.voters).then_some(new.voters),
        network: (old.network != new.network).then_some(new.network),
        why: (old.why != new.why).then_some(&*new.why),
        groups: (old.groups != new.groups).then_some(&*new.groups),
        began_unix_ms: (old.began_unix_ms != new.began_unix_ms).then_some(new.began_unix_ms),
        clock: (old.clock != new.clock).then_some(new.clock),
        scenario: (old.scenario != new.scenario).then_some(new.scenario),
        given: (old.given != new.given).then_some(&*new.given),
        said,
        more,
    };
    let nothing = MomentChange {
        at_ms: change.at_ms,
        ..MomentChange::default()
    };
    if change == nothing {
        MomentStep::Same
    } else {
        MomentStep::Change(Box::new(change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(names: &[&str]) -> PageMoment {
        let agents = names
            .iter()
            .map(|name| AgentFacts::named(name.parse().unwrap()));
        PageMoment {
            agents: agents.collect(),
            ..PageMoment::default()
        }
        .bounded()
    }

    fn json(step: &MomentStep<'_>) -> serde_json::Value {
        let MomentStep::Change(change) = step else {
            unreachable!("{step:?}")
        };
        serde_json::to_value(change).unwrap()
    }

    #[test]
    fn time_alone_is_no_change() {
        let old = moment(&["a", "b"]);
        let mut new = old.clone();
        new.at = Duration::from_secs(1);
        assert_eq!(step(&old, &new, &[], 0), MomentStep::Same);
    }

    #[test]
    fn only_what_differs_is_sent() {
        let old = moment(&["a", "b", "c"]);
        let mut new = old.clone();
        new.at = Duration::from_millis(5);
        new.agents[1].leads = true;
        let step = step(&old, &new, &[], 0);
        let sent = json(&step);
        assert_eq!(sent["at_ms"], 5.0);
        assert_eq!(sent["agents"][0][0], 1);
        assert_eq!(sent["agents"][0][1]["leads"], true);
        assert_eq!(sent.as_object().unwrap().len(), 2, "{sent}");
    }

    #[test]
    fn a_removed_field_is_sent_too() {
        let mut old = moment(&["a"]);
        old.scenario = Some("chain");
        old.cuts = vec![(0, 0)];
        let mut new = moment(&["a"]);
        new.clock.paused = true;
        let step = step(&old, &new, &[], 3);
        let sent = json(&step);
        assert!(sent["scenario"].is_null() && sent.as_object().unwrap().contains_key("scenario"));
        assert_eq!(sent["cuts"], serde_json::json!([]));
        assert_eq!(sent["clock"]["paused"], true);
        assert_eq!(sent["more"], 3);
    }

    #[test]
    fn other_agents_need_a_snapshot() {
        let old = moment(&["a", "b"]);
        for names in [&["a"][..], &["b", "a"], &["a", "b", "c"]] {
            assert_eq!(
                step(&old, &moment(names), &[], 0),
                MomentStep::Anew,
                "{names:?}"
            );
        }
    }
}
