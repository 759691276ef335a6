//! The findings of a diagnosis for given facts, and their text.
//!
//! `scenes.txt` has each scene with the sentences of its findings, the worst first. `BLESS=1` writes the file.

mod findings;
#[path = "../../../../tests/support/golden.rs"]
mod golden;
mod leading;
mod lists;
mod slow;
mod voters;
mod written;

use std::{fmt::Write as _, sync::Arc, time::Duration};

use super::{Facts, Finding};
use crate::{
    agent::{
        ElectionMode, Lifecycle, Status, assumptions::Assumptions, vitals::VitalSigns,
        voters::AskedSigns,
    },
    group::{PeerReport, ReachableMember},
    protocol::{
        AgentId, ChangeError, Electorate, Incarnation, Leader, Leaders, Member, MemberKind,
        Requirements, Role, Rules, Term, Time, Timings,
    },
};

const MS: fn(u64) -> Duration = Duration::from_millis;
const NOW: Time = Time::from_millis(60_000);

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn leader(name: &str) -> Leader {
    Leader {
        id: id(name),
        incarnation: Incarnation(1),
        term: Term(7),
    }
}

fn member(name: &str, score: Option<i32>) -> ReachableMember {
    let score = score.map(Into::into);
    ReachableMember {
        member: Member::up(id(name), MemberKind::Voter, score, Incarnation(1)),
        node: None,
        is_reachable: true,
        epoch: None,
    }
}

/// Returns the facts of agent b. Its group has the members a, b and c with the scores 1, 2 and 3. It has had no leader
/// for a second, and nothing hinders an election.
fn vacant() -> Facts {
    Facts {
        id: id("b"),
        now: NOW,
        status: Status {
            lifecycle: Lifecycle::Running,
            incarnation: Incarnation(1),
            role: Role::Follower,
            term: Term(6),
            leader: None,
            leader_about: None,
            leading: None,
            draining: false,
            work_panics: 0,
            work_stalls: 0,
            tie_broken: false,
        },
        score: Some(2.into()),
        assumed: Assumptions::new(MemberKind::Voter, Some(&Timings::lan()), None),
        signs: VitalSigns {
            leaderless_since: Some(Time::from_millis(59_000)),
            ..VitalSigns::default()
        },
        last_step: Some(NOW),
        requirements: Some(Requirements::new(Rules::new("available"))),
        configured: None,
        members: [("a", 1), ("b", 2), ("c", 3)]
            .map(|(name, score)| member(name, Some(score)))
            .into(),
        peers: Vec::new(),
        offers: ElectionMode::Quorum.offers(true),
        register: None,
    }
}

/// Returns the same facts in quorum mode, where two of three voters elect.
fn quorum() -> Facts {
    let names = ["a", "b", "c"].map(id);
    Facts {
        requirements: Some(Requirements {
            leaders: Leaders::PerTerm,
            voters: Some(Electorate::new(&names, 2, 2)),
            names: Some(Arc::from(names)),
            ..Requirements::new(Rules::new("quorum"))
        }),
        ..vacant()
    }
}

/// Returns the same facts with the leader `name`.
fn led_by(name: &str) -> Facts {
    let mut facts = vacant();
    facts.status.leader = Some(leader(name));
    facts.signs.leaderless_since = None;
    facts
}

fn peer(node: &str) -> PeerReport {
    PeerReport {
        node: node.to_owned(),
        address: Some("10.0.0.2:7400".to_owned()),
        ..PeerReport::default()
    }
}

fn with_peer(peer: PeerReport) -> Facts {
    Facts {
        peers: vec![peer],
        ..vacant()
    }
}

/// Returns the facts of a quorum group with this list of voters and its epoch.
fn listed(epoch: u64, names: &[&str]) -> Facts {
    let names: Vec<_> = names.iter().map(|name| id(name)).collect();
    let requirements = Requirements {
        epoch,
        voters: Some(Electorate::new(&names, 2, 2)),
        names: Some(names.into()),
        ..quorum().requirements.unwrap()
    };
    Facts {
        requirements: Some(requirements),
        ..quorum()
    }
}

/// Makes the voters with these names unreachable.
fn away(facts: &mut Facts, names: &[&str]) {
    for known in &mut facts.members {
        known.is_reachable &= !names.contains(&known.member.id.as_str());
    }
}

/// The text of the scenes.
#[derive(Default)]
struct Scenes(String);

impl Scenes {
    /// Adds a scene: these facts after a change.
    fn add(&mut self, what: &str, mut facts: Facts, change: impl FnOnce(&mut Facts)) {
        change(&mut facts);
        self.tell(what, &facts.judge());
    }

    /// Adds the findings. Asserts that each one is a line of text, and has a kind in its JSON.
    fn tell(&mut self, what: &str, findings: &[Finding]) {
        writeln!(self.0, "{what}").unwrap();
        for finding in findings {
            let text = finding.to_string();
            assert!(!text.contains('\n') && !text.is_empty(), "{text}");
            let json = serde_json::to_value(finding).unwrap();
            assert!(json["kind"].is_string(), "{json}");
            writeln!(self.0, "  {text}").unwrap();
        }
        if findings.is_empty() {
            self.0 += "  nothing\n";
        }
    }
}

#[test]
fn a_member_that_the_list_of_voters_does_not_name_makes_no_majority() {
    let mut facts = quorum();
    facts.members.push(member("d", Some(9)));
    let voters = facts.voters().unwrap();
    assert_eq!((voters.reachable, voters.all, voters.needed), (3, 3, 2));
}

#[test]
fn each_scene_has_the_findings_that_were_reviewed() {
    let mut scenes = Scenes::default();
    findings::play(&mut scenes);
    voters::play(&mut scenes);
    lists::play(&mut scenes);
    leading::play(&mut scenes);
    slow::play(&mut scenes);
    golden::golden("src/agent/diagnosis/tests/scenes.txt", &scenes.0);
}
