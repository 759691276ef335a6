//! The messages of a run that a receiver accepts.

use super::{
    super::receiver::{Arrival, Judgement, Receiver},
    life,
};
use crate::protocol::AgentId;

/// Gives messages to the receiver. Returns the number of messages that it had accepted before, or its refusal. It
/// accepts all other messages.
fn judge(
    receiver: &mut Receiver,
    incarnation: u64,
    run: u64,
    first: u64,
    count: u64,
) -> Result<u64, Option<u64>> {
    let arrival = Arrival {
        from: life(1, incarnation),
        run,
        first,
        count,
    };
    match receiver.judge(&AgentId::new("a").unwrap(), arrival) {
        Judgement::Take { session, skip } => {
            (skip..count).for_each(|_| session.deliver());
            Ok(skip)
        }
        Judgement::Refuse { next } => Err(next),
        Judgement::Ignore => Err(Some(u64::MAX)),
    }
}

const IGNORED: Result<u64, Option<u64>> = Err(Some(u64::MAX));

#[test]
fn of_a_sender_that_may_have_been_forgotten_nothing_is_known() {
    let mut receiver = Receiver::default();
    assert_eq!(
        judge(&mut receiver, 1, 7, 4, 1),
        Err(Some(0)),
        "the first messages were lost"
    );
    for other in 0..5_000 {
        let arrival = Arrival {
            from: life(1, 1),
            run: 1,
            first: 0,
            count: 1,
        };
        let id = AgentId::new(&format!("b{other}")).unwrap();
        receiver.judge(&id, arrival);
        receiver.forget(|id, _| id.as_str() == "b7");
    }
    assert_eq!(judge(&mut receiver, 1, 7, 4, 1), Err(None));
    assert_eq!(judge(&mut receiver, 1, 7, 5, 1), Err(None));
    assert_eq!(judge(&mut receiver, 1, 8, 0, 1), Ok(0));
    assert_eq!(
        judge(&mut receiver, 2, 1, 1, 1),
        Err(Some(0)),
        "another incarnation"
    );
    assert_eq!(judge(&mut receiver, 1, 9, 0, 1), IGNORED, "a former one");
    assert_eq!(judge(&mut receiver, 2, 2, 0, 1), Ok(0));
}

#[test]
fn a_message_that_waits_for_the_actor_counts_as_arrived_and_ends_with_its_run() {
    let (mut receiver, from) = (Receiver::default(), AgentId::new("a").unwrap());
    assert_eq!(judge(&mut receiver, 1, 1, 0, 2), Ok(0));
    let session = receiver.open(&from, life(1, 1), 1).unwrap();
    session.wait();
    session.wait();
    assert_eq!(session.next(), Some(2));
    assert_eq!(judge(&mut receiver, 1, 1, 2, 2), Ok(2), "they have come");
    let session = receiver.open(&from, life(1, 1), 1).unwrap();
    session.deliver_waiting();
    assert_eq!(session.next(), Some(3));
    assert_eq!(judge(&mut receiver, 1, 1, 9, 1), Err(Some(3)), "a gap");
    assert!(
        receiver.open(&from, life(1, 1), 1).is_none(),
        "no message of the run is delivered later"
    );
    assert_eq!(judge(&mut receiver, 1, 2, 0, 1), Ok(0));
    assert!(receiver.open(&from, life(1, 1), 1).is_none());
    assert!(receiver.open(&from, life(1, 1), 2).is_some());
}

/// The sender has given up the former run after its patience, or has restarted.
#[test]
fn waiting_messages_of_a_former_run_do_not_count_for_the_next_run() {
    for (incarnation, run) in [(1, 2), (2, 1)] {
        let (mut receiver, from) = (Receiver::default(), AgentId::new("a").unwrap());
        assert_eq!(judge(&mut receiver, 1, 1, 0, 0), Ok(0));
        receiver.open(&from, life(1, 1), 1).unwrap().wait();
        assert_eq!(judge(&mut receiver, incarnation, run, 0, 2), Ok(0));
    }
}
