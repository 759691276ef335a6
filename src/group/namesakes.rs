//! Several groups of one name in one process.
//!
//! Decided here: a second group of the same name may not have agents. The two groups would not know each other, and
//! each would silently elect a leader of its own. Several hosts may be simulated in one process: their groups are
//! opened to a bridge, or go through a wire of a test.

use std::{
    any::{Any, TypeId},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use actix::System;

use crate::protocol::PeerMessage;

use super::{Group, GroupState};

/// The groups of this process that had agents. Dropped groups are removed at the next look.
static GROUPS: Mutex<Vec<KnownGroup>> = Mutex::new(Vec::new());

struct KnownGroup {
    name: String,
    /// The id of the actix System. A System counts as a process here.
    system: usize,
    messages: TypeId,
    group: Weak<dyn Any + Send + Sync>,
}

impl<M: PeerMessage> Group<M> {
    /// Notes that agents are about to join. Returns whether the group may have agents: no other group with its name in
    /// this System may have agents, unless both groups were opened to other hosts, and so belong to two hosts.
    pub(crate) fn is_alone(&self) -> bool {
        let Some(system) = System::try_current() else {
            return true; // as on a host of a simulated network
        };
        if self.0.delivery.wire.is_some() {
            return true; // the wire is a network of a test, whose groups may belong to several hosts
        }
        let (system, messages) = (system.id(), TypeId::of::<M>());
        let was_opened = self.registry().was_opened();
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|known| known.group.strong_count() > 0);
        let mut is_known = false;
        for known in groups.iter() {
            let is_like =
                known.name == self.name() && (known.system, known.messages) == (system, messages);
            // Other groups are not upgraded, because dropping a last reference would drop its group under the lock.
            let other = is_like.then(|| known.group.upgrade()).flatten();
            let Some(Ok(other)) = other.map(Arc::downcast::<GroupState<M>>) else {
                continue;
            };
            let other = Self(other);
            if Arc::ptr_eq(&other.0, &self.0) {
                is_known = true;
                continue;
            }
            let theirs = other.registry();
            if theirs.has_agents() && !(was_opened && theirs.was_opened()) {
                return false;
            }
        }
        if !is_known {
            let group: Arc<dyn Any + Send + Sync> = Arc::<GroupState<M>>::clone(&self.0);
            groups.push(KnownGroup {
                name: self.name().to_owned(),
                system,
                messages,
                group: Arc::downgrade(&group),
            });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        elections::AnyMessage,
        protocol::{AgentId, Incarnation, Requirements, Rules},
    };

    #[test]
    fn two_groups_of_one_name_may_have_agents_only_if_both_are_open_to_other_hosts() {
        let name = "two_groups_of_one_name";
        System::new().block_on(async {
            let [first, second] = [(); 2].map(|()| Group::<AnyMessage>::new(name).unwrap());
            let open = |group: &Group<_>| group.open("host", Incarnation(1)).unwrap();
            let agent = AgentId::new("a").unwrap();
            assert!(first.is_alone());
            let rules = Requirements::new(Rules::new("test"));
            let begun = first.reserve(&agent, rules.clone()).unwrap();
            assert!(!second.is_alone());
            open(&second);
            assert!(!second.is_alone(), "the first one is of this host");
            first.leave(&agent, begun);
            open(&first);
            first.reserve(&agent, rules).unwrap();
            assert!(second.is_alone(), "two hosts of a simulated network");
        });
    }

    #[test]
    fn a_group_that_is_gone_is_known_no_longer() {
        let name = "a_group_that_is_gone_is_known_no_longer";
        System::new().block_on(async {
            for _ in 0..2 {
                let group = Group::<AnyMessage>::new(name).unwrap();
                assert!(group.is_alone());
                let groups = GROUPS.lock().unwrap();
                let known = groups.iter().filter(|known| known.name == name);
                assert_eq!(known.count(), 1);
            }
        });
    }
}
