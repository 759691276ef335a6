//! A hostile peer that publishes texts about its agents, also about agents of former incarnations. `breaches` tests
//! texts that break the rules, and `members` tests texts about agents of other nodes.

use actix_bully::{
    protocol::{About, Incarnation, MemberKind, Presence},
    remote::MayBe,
};
use bully_core::protocol::Member;

use super::{
    kit::{Raw, Scene, id, patient, play, roster},
    members::{announcing, may_be},
};

/// Returns the member `x1` in this incarnation, with this text.
fn member(incarnation: u64, about: Option<&str>) -> Member {
    let incarnation = Incarnation(incarnation);
    Member {
        about: about.map(|text| About::new(text).unwrap()),
        ..Member::up(id("x1"), MemberKind::Observer, None, incarnation)
    }
}

#[test]
fn a_text_of_a_former_incarnation_is_not_shown() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Observer)).await;
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let before = scene.counts();
        let suspect = |incarnation| Member {
            presence: Presence::Suspect,
            ..member(incarnation, Some("former"))
        };
        // Each step has the announced member, and the incarnation and text that the group must show afterwards.
        for (step, (said, incarnation, about)) in [
            (member(9, Some("now")), 9, Some("now")),
            (member(8, Some("former")), 9, Some("now")),
            (suspect(8), 9, Some("now")),
            (member(10, None), 10, None),
            (member(9, Some("now")), 10, None),
            (suspect(9), 10, None),
            (member(10, Some("next")), 10, Some("next")),
        ]
        .into_iter()
        .enumerate()
        {
            let opens = (step == 0).then_some("g");
            let bytes = roster(raw.next(), 0, opens, &announcing(vec![(0, said)]));
            raw.say(&bytes).await;
            raw.has_been_read().await;
            let members = scene.group().members();
            let shown = members.get(&id("x1")).map(|member| {
                let text = member.about.as_ref().map(ToString::to_string);
                (member.incarnation, text)
            });
            let due = (Some(Incarnation(incarnation)), about.map(str::to_owned));
            assert_eq!(shown, Some(due), "step {step}");
        }
        assert_eq!(scene.since(&before), [], "a late report is no breach");
        scene.is_unhurt().await;
    });
}
