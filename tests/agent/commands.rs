//! Commands that a handle refuses to send to its agent, with the reasons.

use actix::Actor;
use actix_bully::{
    agent::{BullyAgent, CommandError, Notice},
    group::Group,
};

use crate::stage::{Log, MS, Scribe, id, play, settle};

#[test]
fn a_leader_is_not_asked_to_hand_over_to_a_member_that_cannot_take_over() {
    play(async {
        let group = Group::new("g").unwrap();
        let agent = |name| BullyAgent::builder(name).join(&group);
        let leader = agent("c").score(3).start().unwrap();
        let eye = agent("eye").observer().start().unwrap();
        let next = agent("b").score(2).start().unwrap();
        settle().await;
        assert!(leader.is_leader());
        let unknown = CommandError::NoMember { id: id("x") };
        assert_eq!(leader.step_down(Some(id("x"))), Err(unknown));
        for name in [leader.id(), eye.id()] {
            let id = name.clone();
            let refused = leader.step_down(Some(id.clone()));
            assert_eq!(refused, Err(CommandError::NoSuccessor { id }));
        }
        settle().await;
        assert!(leader.is_leader(), "nothing was changed");
        assert_eq!(leader.step_down(Some(id("b"))), Ok(()));
        settle().await;
        assert!(next.is_leader());
    });
}

#[test]
fn an_agent_that_has_ended_is_asked_for_nothing() {
    play(async {
        let group = Group::new("g").unwrap();
        let agent = BullyAgent::builder("a").join(&group).start().unwrap();
        let scribe = Scribe(Log::default()).start();
        let to = || scribe.clone().recipient::<Notice>();
        let token = agent.subscribe_draining(to()).unwrap();
        agent.leave(MS(10_000)).await.unwrap();
        settle().await;
        let refused = [
            agent.campaign(),
            agent.set_score(1),
            agent.withdraw_score(),
            agent.step_down(None),
            agent.subscribe(to()),
            agent.subscribe_draining(to()).map(drop),
            agent.drained(),
            token.drained(),
        ];
        assert_eq!(refused, [const { Err(CommandError::Ended) }; 8]);
    });
}
