//! The groups of a moment, the worst group first, each with its trouble and the time at which the trouble began.
//!
//! Decided here: the order of troubles; a group has one trouble at a time; and which reasons are shown: all reasons of
//! the worst group, and as many reasons of the other groups as fit. Not here: the sources of the facts (`running.rs`,
//! `stage/facts.rs`, `film/`), and the sentences of the page (`page/words.js`).

use std::{collections::BTreeSet, time::Duration};

use super::moment::{AgentFacts, AgentState, GroupFacts, PageMoment, Reason, Trouble};

impl PageMoment {
    /// Judges each group, and puts the worst group first. If a group has the same trouble as in `before`, the trouble
    /// keeps its start.
    pub(crate) fn judged(mut self, before: &Self) -> Self {
        let mut groups = std::mem::take(&mut self.groups);
        if groups.is_empty() && !self.agents.is_empty() {
            groups.push(GroupFacts::default());
        }
        let is_alone = groups.len() == 1;
        // If too much time has passed since the last sample, a trouble in the last sample may have ended and begun
        // again meanwhile.
        let runs = !self.clock.is_virtual && !self.clock.paused;
        let is_gap = runs && self.at.saturating_sub(before.at) > LONGEST_GAP;
        for group in &mut groups {
            let agents = self.agents.iter();
            let own = |agent: &&AgentFacts| is_alone || agent.group == group.name;
            let trouble = group.trouble.min(trouble_of(agents.filter(own)));
            let former = before.groups.iter().find(|each| each.name == group.name);
            let former = former.filter(|_| !is_gap);
            group.since = group.began(trouble, former, self.at);
            group.trouble = trouble;
        }
        groups.sort_by_key(|group| group.trouble);
        let place = |reason: &Reason| groups.iter().position(|each| each.name == reason.group);
        self.why
            .sort_by_key(|reason| place(reason).unwrap_or_default());
        self.groups = groups;
        self
    }
}

impl GroupFacts {
    /// Returns the time at which this trouble began. The time `since`, which an agent reports, is used only for the
    /// trouble that no agent leads.
    fn began(&self, trouble: Trouble, former: Option<&Self>, at: Duration) -> Option<Duration> {
        let told = self.since.filter(|_| trouble == Trouble::NoLeader);
        let is_new = former.is_some_and(|former| former.trouble != trouble);
        let known = match former {
            _ if trouble == Trouble::None => return None,
            Some(_) if is_new => Some(at),
            former => former.and_then(|former| former.since),
        };
        match (told, known) {
            // `told` is the time of this moment minus an age that the agent measured a little earlier, so it varies. A
            // small difference is not a new beginning.
            (Some(told), Some(known)) if told.abs_diff(known) < APART => Some(known),
            (told, known) => told.or(known),
        }
    }
}

fn trouble_of<'a>(agents: impl Iterator<Item = &'a AgentFacts>) -> Trouble {
    let (mut leaders, mut is_away) = (0_usize, false);
    for agent in agents {
        leaders += usize::from(agent.leads);
        is_away |= agent.state != AgentState::Up || agent.isolated;
    }
    match leaders {
        0 => Trouble::NoLeader,
        1 if is_away => Trouble::Away,
        1 => Trouble::None,
        _ => Trouble::SeveralLeaders,
    }
}

/// Removes from each text the lines that an earlier text of the same group already has, because hundreds of agents of
/// one node have the same findings. A text without a line left is dropped, unless it is the first of its group.
pub(crate) fn unrepeated(reasons: impl Iterator<Item = Reason>) -> Vec<Reason> {
    let mut said: BTreeSet<(String, String)> = BTreeSet::new();
    let mut groups: BTreeSet<String> = BTreeSet::new();
    let fresh = reasons.filter_map(|reason| {
        let is_first = groups.insert(reason.group.clone());
        let mut lines = reason.text.lines();
        let head = lines.next().unwrap_or_default();
        let found = lines.filter(|line| said.insert((reason.group.clone(), (*line).to_owned())));
        let lines: Vec<&str> = std::iter::once(head).chain(found).collect();
        let text = lines.join("\n");
        (is_first || lines.len() > 1).then_some(Reason { text, ..reason })
    });
    fresh.collect()
}

/// Longest time between two samples of a running node. After a longer gap the events in between are unknown.
const LONGEST_GAP: Duration = Duration::from_secs(2);
/// Largest difference between two clocks' readings of one moment.
const APART: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::moment::cut;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn agent(group: &str, name: &str, leads: bool) -> AgentFacts {
        AgentFacts {
            group: group.to_owned(),
            leads,
            ..AgentFacts::named(name.parse().unwrap())
        }
    }

    fn moment(seconds: u64, agents: Vec<AgentFacts>) -> PageMoment {
        let names: BTreeSet<&str> = agents.iter().map(|agent| agent.group.as_str()).collect();
        let group = |name: &&str| GroupFacts {
            name: (*name).to_owned(),
            ..GroupFacts::default()
        };
        PageMoment {
            at: at(seconds),
            groups: names.iter().map(group).collect(),
            agents,
            ..PageMoment::default()
        }
    }

    fn troubles(moment: &PageMoment) -> Vec<(&str, Trouble, Option<Duration>)> {
        let groups = moment.groups.iter();
        groups
            .map(|group| (group.name.as_str(), group.trouble, group.since))
            .collect()
    }

    #[test]
    fn several_groups_with_a_leader_each_have_no_trouble() {
        let led = moment(1, vec![agent("a", "x", true), agent("b", "x", true)]);
        let none = [("a", Trouble::None, None), ("b", Trouble::None, None)];
        assert_eq!(troubles(&led.judged(&PageMoment::default())), none);
    }

    #[test]
    fn the_worst_group_comes_first() {
        let mut agents = vec![
            agent("a", "x", true),
            agent("b", "x", true),
            agent("c", "x", true),
            agent("c", "y", true),
            agent("d", "x", false),
        ];
        agents[1].isolated = true;
        let judged = moment(1, agents).judged(&PageMoment::default());
        let names: Vec<&str> = judged
            .groups
            .iter()
            .map(|each| each.name.as_str())
            .collect();
        assert_eq!(names, ["d", "c", "b", "a"]);
        assert_eq!(judged.groups[0].trouble, Trouble::NoLeader);
        assert_eq!(judged.groups[1].trouble, Trouble::SeveralLeaders);
        assert_eq!(judged.groups[2].trouble, Trouble::Away);
    }

    #[test]
    fn a_trouble_is_as_old_as_the_moment_in_which_it_was_seen_first() {
        let led = moment(1, vec![agent("a", "x", true)]).judged(&PageMoment::default());
        let lost = |seconds| moment(seconds, vec![agent("a", "x", false)]);
        let first = lost(2).judged(&led);
        assert_eq!(troubles(&first), [("a", Trouble::NoLeader, Some(at(2)))]);
        let later = lost(3).judged(&first);
        assert_eq!(later.groups[0].since, Some(at(2)));
        // After a gap the trouble may have begun anew.
        assert_eq!(lost(60).judged(&later).groups[0].since, None);
        let mut paused = lost(60);
        paused.clock.paused = true;
        assert_eq!(paused.judged(&later).groups[0].since, Some(at(2)));
        // The time before the first moment is unknown.
        assert_eq!(lost(3).judged(&PageMoment::default()).groups[0].since, None);
    }

    #[test]
    fn an_agent_knows_best_since_when_it_knows_no_leader() {
        let lost = |told| {
            let mut moment = moment(20, vec![agent("a", "x", false)]);
            moment.groups[0].since = Some(Duration::from_millis(told));
            moment
        };
        let first = lost(1_000).judged(&PageMoment::default());
        assert_eq!(first.groups[0].since, Some(at(1)));
        let later = lost(1_004).judged(&first);
        assert_eq!(later.groups[0].since, Some(at(1)), "no change");
        assert_eq!(lost(9_000).judged(&first).groups[0].since, Some(at(9)));
    }

    #[test]
    fn reasons_of_the_worst_group_are_never_cut() {
        let reason = |group: &str, text: &str| Reason {
            group: group.to_owned(),
            text: text.to_owned(),
        };
        let mut moment = moment(1, vec![agent("a", "x", true), agent("b", "x", false)]);
        moment.why = (0..20).map(|_| reason("a", "fine")).collect();
        moment
            .why
            .extend((0..20).map(|n| reason("b", &n.to_string())));
        let mut why = moment.judged(&PageMoment::default()).why;
        cut(&mut why, 8);
        assert_eq!(why.len(), 20);
        assert!(why.iter().all(|each| each.group == "b"));
        why.insert(0, reason("c", "worse"));
        cut(&mut why, 8);
        assert_eq!(why.len(), 8);
    }

    #[test]
    fn a_finding_is_told_once_for_each_group() {
        let reason = |group: &str, text: &str| Reason {
            group: group.to_owned(),
            text: text.to_owned(),
        };
        let reasons = [
            reason("a", "x follows z\n- slow"),
            reason("a", "y follows z\n- slow"),
            reason("a", "v follows z\n- slow\n- hangs"),
            reason("b", "x follows z\n- slow"),
        ];
        let told = unrepeated(reasons.into_iter());
        let texts: Vec<&str> = told.iter().map(|each| each.text.as_str()).collect();
        let expected = [
            "x follows z\n- slow",
            "v follows z\n- hangs",
            "x follows z\n- slow",
        ];
        assert_eq!(texts, expected);
    }
}
