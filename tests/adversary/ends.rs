//! A peer within its rights that announces members, and their ends, in as many frames as it can. Every other task on
//! the bridge's thread has a turn after each roster, however fast the rosters come.
//!
//! The test counts the cost of a turn in members, and reads no clock. A lease lasts much longer than a bridge needs
//! to merge one roster into a group with all the agents that a peer may have.

use std::{cell::Cell, future::poll_fn, rc::Rc, task::Poll};

use actix_bully::{
    Group,
    protocol::{MemberKind, Presence},
    remote::{Peer, internals::wire::RosterContent},
};
use bully_core::protocol::Member;

use super::kit::{INCARNATION, Raw, Scene, id, patient, play, roster, until};

/// Nearly as many agents as a peer may have by the default limits; fewer in a debug build, which is slow.
const ALL: u32 = if cfg!(debug_assertions) {
    4_000
} else {
    16_000
};

/// Waits until the other tasks on this thread were polled. A yield of the runtime would wait for more than one turn.
async fn next_turn() {
    let mut is_next = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_next, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Watches the group in each turn of a task. Returns the most members that came, and the most that ended, between two
/// turns.
fn watch(group: &Group) -> Rc<Cell<(usize, usize)>> {
    let most = Rc::<Cell<_>>::default();
    let (group, cell) = (group.clone(), Rc::clone(&most));
    actix::spawn(async move {
        let (mut members, mut ended) = count(&group);
        while Rc::strong_count(&cell) > 1 {
            next_turn().await;
            let now = count(&group);
            let (came, went): (usize, usize) = cell.get();
            let more = (now.0.saturating_sub(members), now.1.saturating_sub(ended));
            cell.set((came.max(more.0), went.max(more.1)));
            (members, ended) = now;
        }
    });
    most
}

/// Returns the number of members, and the number of members that have certainly ended.
fn count(group: &Group) -> (usize, usize) {
    let members = group.members();
    let ended = members.iter().filter(|m| m.presence == Presence::Down);
    (members.len(), ended.count())
}

/// Announces `agents` agents, or their ends, in rosters of `each` agents.
async fn announced(raw: &mut Raw, agents: u32, each: usize, is_first: bool) {
    let numbered: Vec<(u32, Member)> = (0..agents)
        .map(|number| {
            let id = id(&format!("x-{number:05}"));
            let mut member = Member::up(id, MemberKind::Observer, None, INCARNATION);
            if !is_first {
                member.presence = Presence::Down;
                member.ends = [INCARNATION].into_iter().collect();
            }
            (number, member)
        })
        .collect();
    let mut bytes = Vec::new();
    for (at, members) in numbered.chunks(each).enumerate() {
        let opens = (is_first && at == 0).then_some("g");
        let content = RosterContent {
            members: members.to_vec(),
            ..RosterContent::default()
        };
        bytes.extend(roster(raw.next(), 0, opens, &content));
    }
    assert!(raw.say(&bytes).await);
}

#[test]
fn others_have_a_turn_after_each_roster_of_a_peer_with_thousands_of_agents() {
    play(async {
        // The first case has about as many agents as the peer may have by default, in rosters like those of a real
        // bridge. The second case has the smallest rosters, so it has the most frames.
        for (agents, each) in [(ALL, 256), (500, 1)] {
            let peers = vec![Peer::inbound("x")];
            let mut scene = Scene::set(&patient(), peers).await;
            let (before, ended) = count(scene.group());
            assert_eq!(ended, 0);
            let most = watch(scene.group());
            let mut raw = Raw::dial(scene.at()).await.greet("x").await;
            let all = usize::try_from(agents).unwrap();
            announced(&mut raw, agents, each, true).await;
            let group = scene.group().clone();
            until("all are members", || count(&group).0 == before + all).await;
            announced(&mut raw, agents, each, false).await;
            until("all have ended", || count(&group).1 == all).await;
            assert_eq!(most.get(), (each, each), "{agents} agents");
            scene.is_unhurt().await;
        }
    });
}
