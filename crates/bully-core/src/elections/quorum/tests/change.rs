//! Commands to change the voters: the voters that may be added, the refusals, and the way of the answer.

use super::{epochs::*, *};
use crate::elections::message::AskChange;
use crate::protocol::{ChangeError, Changed, Contact, Decree, NewVoter, Storage, VoterChange};

/// Returns the only voter of a group, which leads. The quorums are this number, if it is given.
fn alone(quorum: Option<usize>) -> Kit {
    let config = QuorumConfig {
        vote_quorum: quorum,
        lease_quorum: quorum,
        ..QuorumConfig::new([id(ME)])
    };
    let mut me = Kit::known(valid(config), Some(5));
    me.fire(BullyTimer::Election).whatever();
    me
}

/// Returns a command to add EYE, whose node has a name of this length.
fn add_far(len: usize) -> VoterChange {
    let (node, address) = ("n".repeat(len), "10.0.0.9:7400".to_owned());
    VoterChange::Add(NewVoter {
        contact: Some(Contact { node, address }),
        ..voter(EYE)
    })
}

#[test]
fn a_leader_refuses_a_change_with_its_reason() {
    let replace = |old, new| VoterChange::Replace {
        old: id(old),
        new: voter(new),
    };
    let enlisted = |me: Kit| {
        let term = me.view().term.0;
        me.after(EYE, enlist(term))
    };
    let mut leaving = Kit::heard();
    leaving.step_down(None).whatever();
    for (mut me, asked, reason) in [
        (
            Kit::heard(),
            replace("new", "newer"),
            ChangeError::NotAVoter { id: id("new") },
        ),
        (
            Kit::heard(),
            replace(LOW, HIGH),
            ChangeError::AlreadyAVoter { id: id(HIGH) },
        ),
        (leaving, remove(LOW), ChangeError::UnderWay),
        (
            Kit::heard().after(HIGH, nack(MINE + 5)), // it raises its term
            remove(LOW),
            ChangeError::UnderWay,
        ),
        (alone(None), remove(ME), ChangeError::LastVoter),
        (
            enlisted(alone(Some(1))),
            add(EYE),
            ChangeError::Quorums { voters: 2 },
        ),
    ] {
        me.change(asked.clone())
            .notified(answered(asked, Err(reason)))
            .nothing_else_happened();
    }
}

#[test]
fn a_contact_that_is_too_long_is_refused_with_its_length_and_limit() {
    for (len, fits) in [(256, true), (257, false)] {
        let effects = Kit::heard().after(EYE, enlist(MINE)).change(add_far(len));
        let is_refused = effects.lines()[0].contains("has 257 bytes, and the limit is 256");
        assert_eq!(is_refused, !fits, "{effects:?}");
    }
}

/// Returns a list of 60 voters with quorums. The names of their hosts are this letter, 200 times.
fn list_of(letter: &str) -> Decree {
    Decree {
        epoch: 1,
        voters: (0..60)
            .map(|n| NewVoter {
                id: id(&format!("v{n:02}")),
                contact: Some(Contact {
                    node: letter.repeat(200),
                    address: String::new(),
                }),
            })
            .collect(),
        vote_quorum: Some(40),
        lease_quorum: Some(31),
    }
}

#[test]
fn a_list_brings_its_quorums() {
    let next = QuorumConfig::new([ME, LOW].map(id)).of(&list_of("n"));
    let quorums = (next.vote_quorum, next.lease_quorum);
    assert_eq!((next.voters.len(), quorums), (60, (Some(40), Some(31))));
}

/// The limit counts the bytes in the record, which may be more than the bytes in memory.
#[test]
fn a_list_that_no_record_has_room_for_is_refused() {
    let check = |letter| QuorumConfig::new([ME, LOW].map(id)).check_decree(&list_of(letter));
    assert_eq!(check("n"), Ok(()));
    let refused = check("\u{1}").map_err(|e| e.to_string()).unwrap_err();
    assert!(refused.contains("and the limit is 24000"), "{refused}");
}

#[test]
fn an_observer_gets_a_refusal_from_the_leader_and_no_answer_from_others() {
    let unentitled = AskChange {
        is_unentitled: true,
        ..ask(MINE, remove(HIGH))
    };
    Kit::following()
        .hear(EYE, unentitled.clone())
        .nothing_else_happened();
    Kit::heard()
        .hear(EYE, unentitled)
        .sent(EYE, refusal(MINE, remove(HIGH), ChangeError::NotAllowed))
        .nothing_else_happened();
}

#[test]
fn a_voter_that_is_not_listed_is_refused_unless_it_is_a_learner() {
    let voters = valid(QuorumConfig::new([LOW, HIGH, "other"].map(id)));
    let learner = QuorumConfig {
        learner: true,
        ..voters.clone()
    };
    let diskless = QuorumConfig {
        diskless: Some(crate::elections::quorum::Diskless::default()),
        ..learner.clone()
    };
    for (config, kind, needs) in [
        (&voters, MemberKind::Voter, None),
        (&learner, MemberKind::Voter, Some(Storage::Record)),
        (&learner, MemberKind::Observer, Some(Storage::Nothing)),
        (&diskless, MemberKind::Voter, None),
    ] {
        let asks = QuorumBully::requirements(&Arc::new(config.clone()), &id(ME), kind);
        assert_eq!(asks.ok().map(|asks| asks.storage), needs);
    }
}

#[test]
fn only_a_learner_that_was_heard_of_late_is_made_a_voter() {
    let mut long_ago = Kit::heard().after(EYE, enlist(MINE));
    for _ in 0..6 {
        long_ago.later(H).acked(LOW, 1).whatever();
    }
    for mut me in [
        Kit::heard(),
        Kit::heard().after(EYE, enlist(MINE - 1)),
        long_ago,
    ] {
        let reason = ChangeError::NotSeen { id: id(EYE) };
        me.change(add(EYE))
            .notified(answered(add(EYE), Err(reason)))
            .nothing_else_happened();
    }
    let mut late = Kit::heard().after(EYE, enlist(MINE));
    late.change(add(EYE)).drained(MINE, None).whatever();
}

#[test]
fn one_change_at_a_time_and_the_same_one_asked_for_again_does_no_harm() {
    let mut me = Kit::heard();
    me.change(remove(LOW)).drained(MINE, None).whatever();
    me.change(remove(LOW)).nothing_else_happened();
    me.change(remove(HIGH))
        .notified(answered(remove(HIGH), Err(ChangeError::UnderWay)))
        .nothing_else_happened();
    me.step_down(Some(HIGH)).nothing_else_happened();
    me.set_score(None).nothing_else_happened();
    me.step(Input::Drained)
        .lost(MINE, LostReason::VotersChange)
        .whatever();
}

/// A leader must not seal in a term that it has only claimed.
#[test]
fn a_leader_that_has_to_raise_its_term_meanwhile_resigns_and_seals_nothing() {
    let mut me = Kit::heard();
    me.change(remove(LOW)).whatever();
    me.hear(HIGH, nack(MINE + 5)).whatever();
    let effects = me.step(Input::Drained).lost(MINE, LostReason::Resigned);
    assert!(matches!(effects.messages()[..], [QuorumMessage::Resign(_)]));
    assert_eq!(record(&me).seal(), None);
}

/// The only voter of a group decides alone. Then it needs the vote of the second one.
#[test]
fn a_group_of_one_grows_to_two() {
    let mut me = alone(None);
    let led = me.view().term.0;
    me.hear(EYE, enlist(led)).nothing_else_happened();
    me.change(add(EYE)).whatever();
    me.step(Input::Drained)
        .lost(led, LostReason::VotersChange)
        .whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, EYE])));
    assert_eq!(me.view().leading, None, "it has one vote of two");
    me.hear(EYE, grants(NEXT + 1)).whatever();
    let echo = me.now;
    me.hear(EYE, ack(NEXT + 1, echo, 9)).whatever();
    assert_eq!(me.view().leading, Some(Term(NEXT + 1)));
}

#[test]
fn a_follower_passes_a_change_on_and_gets_the_outcome() {
    let mut me = Kit::following();
    me.change(remove(LOW))
        .sent(HIGH, ask(OLD, remove(LOW)))
        .nothing_else_happened();
    let refused = |name| refusal(OLD, remove(name), ChangeError::UnderWay);
    me.hear(HIGH, refused(HIGH)).nothing_else_happened();
    me.hear(HIGH, refused(LOW))
        .notified(answered(remove(LOW), Err(ChangeError::UnderWay)))
        .nothing_else_happened();
    me.hear(HIGH, refused(LOW)).nothing_else_happened();

    me.change(remove(LOW)).whatever();
    let heard = me.hear(HIGH, install(1, &[ME, HIGH]));
    let done = Changed {
        epoch: 1,
        voters: [HIGH, ME].map(id).into(),
        already: false,
    };
    assert!(heard.events().contains(&&answered(remove(LOW), Ok(done))));
}

/// HIGH may be up, and its acknowledgement may still be on its way.
#[test]
fn a_leader_that_is_new_refuses_nothing_for_voters_that_it_has_not_heard_yet() {
    let mut me = Kit::leading();
    me.change(remove(LOW)).nothing_else_happened();
    me.acked(HIGH, 3).whatever();
    me.change(remove(LOW)).drained(MINE, None).whatever();
}

/// The network can connect to the new voter's host before the command is repeated.
#[test]
fn a_leader_that_has_not_heard_a_new_voter_says_where_it_is_found_if_it_was_told() {
    let not_seen = |asked| answered(asked, Err(ChangeError::NotSeen { id: id(EYE) }));
    let effects = Kit::heard().change(add_far(1));
    assert!(effects.tells(|told| matches!(told, VotersEvent::Wanted(_))));
    assert_eq!(effects.events()[1], &not_seen(add_far(1)));
    // No other agent asks the new voter to enlist, so only a leader reports its contact.
    Kit::vacant().change(add_far(1)).nothing_else_happened();
}
