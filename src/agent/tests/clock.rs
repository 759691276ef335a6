//! The choice of an agent's clock.

use std::sync::Arc;

use crate::{
    agent::{StartError, start::choose_clock},
    clock::Clock,
    protocol::{ClockKind, Time},
};

#[derive(Debug)]
struct NamedClock {
    counts_suspend: bool,
}

impl Clock for NamedClock {
    fn now(&self) -> Time {
        Time::from_millis(5)
    }

    fn counts_suspend(&self) -> bool {
        self.counts_suspend
    }
}

#[test]
fn a_clock_that_is_named_is_taken_unless_a_suspend_has_to_count_and_it_does_not_count_one() {
    for counts_suspend in [false, true] {
        for required in [ClockKind::Any, ClockKind::CountsSuspend] {
            let chosen = choose_clock(Some(Arc::new(NamedClock { counts_suspend })), required);
            if required == ClockKind::CountsSuspend && !counts_suspend {
                assert!(matches!(chosen, Err(StartError::SleepyClock)));
            } else {
                let clock = chosen.expect("it will do");
                assert_eq!(clock.now(), Time::from_millis(5), "the given clock is used");
            }
        }
    }
}
