//! The due times of each agent: from a rule, or from the agent's own stream.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    super::super::{
        due::{DueTimes, Every},
        interface::Rule,
        window::DueWindow,
    },
    DAWN, INTERVAL, Setup, Source, World, id,
};
use crate::clock::WallTime;

/// A window of due times. The rule of a machine and the stream share it.
#[derive(Clone)]
pub(super) struct SharedWindow {
    window: Arc<Mutex<DueWindow>>,
    /// Time up to which the stream has reported due times.
    told: WallTime,
}

impl SharedWindow {
    pub(super) fn lock(&self) -> MutexGuard<'_, DueWindow> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DueTimes for SharedWindow {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        self.lock().times().next_after(time)
    }
}

pub(in super::super) fn every() -> Every {
    Every::new(INTERVAL).unwrap()
}

impl Setup {
    /// Returns the rule of an agent that starts, and the window of its stream if it has one.
    pub(super) fn rule(self) -> (&'static Rule, Option<SharedWindow>) {
        let window = (self.source == Source::Stream).then(|| SharedWindow {
            window: Arc::default(),
            // Some clocks are behind.
            told: WallTime::from_millis(DAWN - 60_000),
        });
        let times: Box<dyn DueTimes> = match &window {
            Some(window) => Box::new(window.clone()),
            None => Box::new(every()),
        };
        // Machines borrow the rule, and live as long as the world.
        let rule = Box::leak(Box::new(Rule {
            name: id(0),
            times,
            misfire: self.misfire,
        }));
        (rule, window)
    }
}

impl World {
    /// Reports due times up to three seconds ahead, or half a second late. Some are reported twice.
    pub(super) fn tell(&mut self, host: usize) {
        let wall = self.wall(host);
        let ahead = u64::try_from(host).unwrap() * 1_000;
        let until = WallTime::from_millis((wall.as_millis() + ahead).saturating_sub(500));
        let misfire = self.setup.misfire;
        let life = self.hosts[host].life.as_mut();
        let Some(stream) = life.and_then(|life| life.window.as_mut()) else {
            return;
        };
        let mut window = stream.window.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = stream.told;
        while let Some(due) = every().next_after(told).filter(|due| *due <= until) {
            if !window.has_room(misfire, wall) {
                break;
            }
            window.offer(due);
            if due.as_millis().is_multiple_of(7) {
                window.offer(due);
            }
            told = due;
        }
        drop(window);
        stream.told = told;
    }
}
