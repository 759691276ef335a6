//! The machine makes progress after any input in any role. The files of the inputs show the effects of each cell.

use super::*;

/// One arbitrary input comes first. Then the agent hears no other agent.
#[test]
fn an_agent_that_hears_no_other_leads_in_the_end() {
    for (role, me) in Kit::roles() {
        if role == "observer" {
            continue;
        }
        for input in inputs(&me) {
            let mut me = me.clone();
            me.step(input).whatever();
            me.set_score(5).whatever();
            for _ in 0..40 {
                let next = me.contract.armed().into_iter().min_by_key(|(_, due)| *due);
                let Some((timer, due)) = next else { break };
                me.now = me.now.max(due);
                me.fire(timer).whatever();
                if me.role() == Role::Leader {
                    break;
                }
            }
            let core = &me.machine.core;
            let may_not = core.highest_term == Term(u64::MAX) || core.me.is_disowned();
            assert!(
                may_not || me.role() == Role::Leader,
                "{role}: {:?}",
                me.machine
            );
        }
    }
}
