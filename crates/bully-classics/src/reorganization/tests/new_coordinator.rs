//! `NewCoordinator`: `join-own-halter`.

use super::*;

#[test]
fn only_an_agent_that_this_election_halted_joins() {
    for (state, mut me) in Kit::states() {
        let said = me.hear(HIGH, new_coordinator(7, HIGH));
        match state {
            "observer" => assert_eq!(said, NOTHING),
            "halted" => {
                assert_eq!(said, ["set Watch 500", "high: new coordinator ack 7.high"]);
                assert_eq!(me.machine.status(), PaperStatus::Reorganization);
                assert_eq!(me.machine.coordinator(), Some(&id(HIGH)));
                assert_eq!(me.role(), Role::Waiting);
            }
            "joining" | "following" => {
                assert_eq!(said, ["high: new coordinator ack 7.high"], "again");
            }
            _ => {
                assert_eq!(said.lines().len(), 1, "{state}: {said:?}");
                assert!(
                    said.lines()[0].starts_with("high: new coordinator nack 7.high"),
                    "{state}"
                );
            }
        }
    }
}
