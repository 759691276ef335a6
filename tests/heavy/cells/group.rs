//! A membership that changes while a bridge looks at it.

use loom::{
    model,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use bell::Bell;

#[path = "../../../src/group/bell.rs"]
mod bell;
mod sync {
    pub(super) use crate::sync::*;
}

#[test]
fn a_change_is_seen_or_rings_again() {
    model(|| {
        let is_due = Arc::new(AtomicBool::new(false));
        let ring = {
            let is_due = Arc::clone(&is_due);
            Box::new(move || is_due.store(true, Ordering::Relaxed))
        };
        let bell = Arc::new(Bell::new(ring));
        let members = Arc::new(Mutex::new(0));
        bell.ring(); // somebody is about to look
        let registry = thread::spawn({
            let (bell, members) = (Arc::clone(&bell), Arc::clone(&members));
            move || {
                for _ in 0..2 {
                    let mut members = members.lock().expect("never poisoned");
                    *members += 1;
                    bell.ring();
                }
            }
        });
        is_due.store(false, Ordering::Relaxed);
        bell.expect();
        let seen = *members.lock().expect("never poisoned");
        registry.join().expect("the registry's thread");
        assert!(
            seen == 2 || is_due.load(Ordering::Relaxed),
            "a change that nobody hears of"
        );
    });
}
