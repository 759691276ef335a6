//! Findings about lists of voters, and about changes of them.

use super::*;

const ABC: &[&str] = &["a", "b", "c"];

pub(super) fn play(scenes: &mut Scenes) {
    names(scenes);
    peers(scenes);
    away_peer(scenes);
    one_process(scenes);
    configured(scenes);
    changes(scenes);
}

fn names(scenes: &mut Scenes) {
    scenes.add("a list of three", listed(4, ABC), |_| ());
    scenes.add(
        "a list without this agent",
        listed(4, &["a", "c", "x"]),
        |_| (),
    );
    scenes.add("a list of two", listed(4, &["b", "c"]), |_| ());
}

fn peers(scenes: &mut Scenes) {
    let mut add = |what: &str, epoch, node: Option<&str>, change: fn(&mut PeerReport)| {
        scenes.add(what, listed(4, ABC), |it| {
            let mut peer = PeerReport {
                epoch,
                ..peer("host-c")
            };
            change(&mut peer);
            it.peers = vec![peer];
            it.members[2].node = node.map(Into::into);
        });
    };
    add("a peer that names no epoch", None, None, |_| ());
    add(
        "a peer of an earlier epoch, without an agent",
        Some(3),
        None,
        |_| (),
    );
    let elsewhere = Some("host-d");
    add(
        "an earlier epoch, and an agent elsewhere",
        Some(3),
        elsewhere,
        |_| (),
    );
    let there = Some("host-c");
    add(
        "a peer of an earlier epoch, with an agent",
        Some(3),
        there,
        |_| (),
    );
    add(
        "a peer of the same epoch, with an agent",
        Some(4),
        there,
        |_| (),
    );
    add("a peer of a later epoch", Some(5), None, |_| ());
    add(
        "a peer of a later epoch, without a link",
        Some(5),
        None,
        |peer| {
            peer.unlinked_for = Some(MS(100));
        },
    );
    add(
        "a peer of a later epoch, with other rules",
        Some(5),
        None,
        |peer| {
            peer.mismatch = Some(("theirs".to_owned(), "mine".to_owned()));
        },
    );
}

fn away_peer(scenes: &mut Scenes) {
    scenes.add(
        "a peer of an earlier epoch, whose agent is away",
        listed(4, ABC),
        |it| {
            it.peers = vec![PeerReport {
                epoch: Some(3),
                ..peer("host-c")
            }];
            it.members[2].node = Some("host-c".into());
            away(it, &["c"]);
        },
    );
}

/// The group follows the latest list, which does not contain b.
fn one_process(scenes: &mut Scenes) {
    for (epochs, gone) in [
        ([5, 5, 5], &[][..]),
        ([4, 4, 5], &[]),
        ([3, 5, 4], &[]),
        ([3, 5, 5], &["a"]),
    ] {
        let what = format!("a, b and c of one process have the epochs {epochs:?}, away: {gone:?}");
        scenes.add(&what, listed(5, &["a", "c", "d"]), |it| {
            it.configured = Some(["a", "b", "c"].map(id).into());
            for (known, epoch) in it.members.iter_mut().zip(epochs) {
                known.epoch = Some(epoch);
            }
            away(it, gone);
        });
    }
}

fn configured(scenes: &mut Scenes) {
    let with = |names: &[&str], list: &[&str]| Facts {
        configured: Some(names.iter().map(|name| id(name)).collect()),
        ..listed(4, list)
    };
    for names in [
        &["c", "a", "b"][..],
        &["a", "b", "d"],
        &["a", "b"],
        &["a", "b", "c", "d"],
    ] {
        let what = format!("a configuration of {names:?}");
        scenes.add(&what, with(names, ABC), |_| ());
    }
    // A voter that was removed while its links were refused still has the old list.
    let old = || with(&["a", "b"], ABC);
    scenes.add(
        "another configuration, and two of three there",
        old(),
        |it| {
            away(it, &["a"]);
        },
    );
    scenes.add(
        "another configuration, and one of three there",
        old(),
        |it| {
            away(it, &["a", "c"]);
        },
    );
}

fn changes(scenes: &mut Scenes) {
    let mut add = |what, seen: Option<u64>, asked: Option<(u64, Option<ChangeError>)>| {
        scenes.add(what, listed(4, ABC), |it| {
            it.signs.prospects.edit().next_epoch = seen.map(|_| 5);
            it.signs.changing_since = seen.map(|at| Box::new(Time::from_millis(at)));
            it.signs.asked = asked.map(|(since, refused)| {
                Box::new(AskedSigns {
                    since: Time::from_millis(since),
                    callers: 1,
                    refused,
                })
            });
        });
    };
    add("a change is seen", Some(59_700), None);
    add("a change is asked for", None, Some((59_500, None)));
    add(
        "a change is asked for and seen",
        Some(59_700),
        Some((59_500, None)),
    );
    let not_seen = Some(ChangeError::NotSeen { id: id("d") });
    add("a change is refused", None, Some((50_000, not_seen)));
}
