//! Messages that no agent sent, to agents of both elections of 1982: scenarios 23, 24 and 27.

use actix_bully::{
    protocol::Term,
    testkit::{cluster::Cluster, faults::Conditions},
};
use bully_classics::invitation::ElectionId;
use bully_core::protocol::{Election, PeerMessage, To};

use super::{MS, changes, leads, once, scenarios::Scenarios, wait};
pub(crate) use crate::strangers::{are_dropped, beliefs, id};

/// A message that the agent never sent, in its present incarnation.
pub(crate) fn forge<E: Election>(
    cluster: &Cluster<E>,
    from: u32,
    to: u32,
    message: impl Into<E::Message>,
) {
    let (from, to) = (id(from), To::One(id(to)));
    let members = cluster.group().members();
    let incarnation = members.get(&from).and_then(|member| member.incarnation);
    cluster
        .group()
        .deliver(&from, incarnation.unwrap(), &to, message.into());
}

/// How many messages of a kind were handled.
pub(crate) fn heard<E: Election>(cluster: &Cluster<E>, kind: &str) -> u64 {
    cluster.trace().count_of(kind).delivered
}

/// An election and what can be forged of it.
pub(crate) trait Forgeries: Scenarios {
    /// The kind that is counted among the stale answers, and that among the stale calls.
    const ANSWER: &'static str;
    const CALL: &'static str;

    /// What the elections of agent 5 can have made an agent answer, up to the present one.
    fn stale_answers(now: Term) -> Vec<Self::Message>;

    /// All that an agent below can say to that one of an election of its own; of the counted kind once.
    fn stale_calls(election: &ElectionId, to: u32) -> Vec<Self::Message>;

    /// The first call of an election above all others, with a score above all others.
    fn call(election: ElectionId) -> Self::Message;
}

/// Agent 5 has led, crashed, come back, and leads again; agent 4 has led in between.
async fn led_twice<E: Forgeries>(seed: u64) -> Cluster<E> {
    let network = Conditions::builder().delay(MS(1)..=MS(9)).build().unwrap();
    let builder = Cluster::with_config(E::agents(5).config);
    let builder = builder.agents(5).seed(seed).network(network);
    let mut cluster = builder.start().unwrap();
    leads(&cluster, "agent-5").await;
    cluster.crash("5").await.unwrap();
    leads(&cluster, "agent-4").await;
    cluster.restart("5").unwrap();
    leads(&cluster, "agent-5").await;
    cluster
}

fn term<E: Forgeries>(cluster: &Cluster<E>) -> Term {
    cluster.handle("5").unwrap().leader().unwrap().term
}

/// These messages to agents, from that one, are heard and change nothing.
async fn change_nothing<E: Forgeries>(
    cluster: &Cluster<E>,
    from: u32,
    forged: Vec<(u32, E::Message)>,
    counted: &str,
) {
    let (before, moment) = (beliefs(cluster), cluster.now());
    let heard_before = heard(cluster, counted);
    let all = forged.iter().filter(|(_, m)| m.kind() == counted).count();
    for (to, message) in forged {
        forge(cluster, from, to, message);
    }
    wait(MS(2_000)).await;
    let stale = heard(cluster, counted) - heard_before;
    assert_eq!(stale, u64::try_from(all).unwrap());
    assert!(stale > 0, "it was forged");
    leads(cluster, "agent-5").await;
    assert_eq!(changes(cluster, moment), 0);
    assert_eq!(beliefs(cluster), before);
}

pub(crate) fn s23_a_stale_answer_has_no_effect_on_a_standing_coordinator<E: Forgeries>() {
    for seed in 1..=5 {
        once(|| async move {
            let cluster = led_twice::<E>(seed).await;
            let answers = E::stale_answers(term(&cluster)).into_iter();
            let to_5 = answers.map(|answer| (5, answer)).collect();
            change_nothing(&cluster, 4, to_5, E::ANSWER).await;
        });
    }
}

pub(crate) fn s24_a_stale_call_from_below_has_no_effect<E: Forgeries>() {
    for seed in 1..=5 {
        once(|| async move {
            let cluster = led_twice::<E>(seed).await;
            let mut calls = Vec::new();
            for count in (1..=term(&cluster).0).map(Term) {
                let election = ElectionId { count, id: id(1) };
                for to in 2..=5 {
                    let said = E::stale_calls(&election, to).into_iter();
                    calls.extend(said.map(|call| (to, call)));
                }
            }
            change_nothing(&cluster, 1, calls, E::CALL).await;
        });
    }
}

pub(crate) fn s27_messages_from_strangers_and_former_incarnations_are_counted_and_dropped<
    E: Forgeries,
>() {
    once(|| async {
        let mut cluster = led_twice::<E>(1).await;
        let count = Term(99);
        let message = || E::call(ElectionId { count, id: id(4) });
        are_dropped(&mut cluster, message).await;
    });
}

/// The same of one election, as tests.
macro_rules! forgeries {
    ($election:ty: $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                $crate::seeds::forgeries::$name::<$election>();
            }
        )*
    };
    ($election:ty) => {
        $crate::seeds::forgeries::forgeries! { $election:
            s23_a_stale_answer_has_no_effect_on_a_standing_coordinator
            s24_a_stale_call_from_below_has_no_effect
            s27_messages_from_strangers_and_former_incarnations_are_counted_and_dropped
        }
    };
}

pub(crate) use forgeries;
