//! A membership that changes while a bridge looks at it.

use loom::{
    model,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use signal::Signal;

#[path = "../../../src/group/signal.rs"]
mod signal;
mod sync {
    pub(super) use crate::sync::*;
}

#[test]
fn a_change_is_seen_or_signalled_again() {
    model(|| {
        let is_due = Arc::new(AtomicBool::new(false));
        let call = {
            let is_due = Arc::clone(&is_due);
            Box::new(move || is_due.store(true, Ordering::Relaxed))
        };
        let signal = Arc::new(Signal::new(call));
        let members = Arc::new(Mutex::new(0));
        signal.give(); // the bridge is about to look
        let registry = thread::spawn({
            let (signal, members) = (Arc::clone(&signal), Arc::clone(&members));
            move || {
                for _ in 0..2 {
                    let mut members = members.lock().expect("never poisoned");
                    *members += 1;
                    signal.give();
                }
            }
        });
        is_due.store(false, Ordering::Relaxed);
        signal.arm();
        let seen = *members.lock().expect("never poisoned");
        registry.join().expect("the registry's thread");
        assert!(
            seen == 2 || is_due.load(Ordering::Relaxed),
            "the bridge never sees a change"
        );
    });
}
