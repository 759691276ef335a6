//! What happens when a timer is due (B2, B5, C2, C5, C6), and when this agent itself was late.
//!
//! A timer is a hint: each deadline is checked again. An agent that was itself stalled for longer
//! than the delay bound discards its suspicion once: it was the one that slept.

use super::{
    Bully, Defect, Heartbeat, Out, Timer,
    state::{Asked, Path, Patience, Seat, State},
};
use crate::elections::shared::Due;
use crate::protocol::{After, LostReason, Time};

impl Bully {
    pub(super) fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Out) {
        match timer {
            Timer::Heartbeat => self.on_heartbeat_due(now, out),
            Timer::Detect => self.on_detect(now, out),
            Timer::Campaign => self.on_turn(now, out),
            Timer::Widen | Timer::Deadline => self.on_candidate_due(now, timer, out),
            Timer::Victory => self.on_victory_due(now, out),
            Timer::Drain => self.on_drain_due(now, out),
            Timer::Preempt => self.on_preempt_due(now, out),
            Timer::Rest => self.on_rest_over(now, out),
            Timer::Election | Timer::Round | Timer::Lease => {
                self.ignore("a timer of the other mode");
            }
        }
    }

    fn on_heartbeat_due(&mut self, now: Time, out: &mut Out) {
        let Some(detector) = self.config.timings.detector() else {
            return;
        };
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("no heartbeat from who does not lead");
        };
        if now < reign.beat {
            return out.set_timer(Timer::Heartbeat, reign.beat.since(now));
        }
        if now.since(reign.beat) > detector.detection {
            return self.wake_from_stall(now, out);
        }
        reign.beat = now.after(detector.heartbeat);
        out.send_all(Heartbeat {
            term: reign.term,
            score: reign.score,
            sent_at: None,
        });
        out.set_timer(Timer::Heartbeat, detector.heartbeat);
    }

    /// A leader that slept for longer than others wait may have a successor already.
    fn wake_from_stall(&mut self, now: Time, out: &mut Out) {
        if self.reign().is_some_and(|r| r.handover.is_some()) {
            return self.on_drained(now, out); // it was leaving anyway, and shall not come back
        }
        self.lose(LostReason::Stalled, out);
        self.take_turn(now, Path::Ask, None, out);
    }

    fn on_detect(&mut self, now: Time, out: &mut Out) {
        let late = self.config.timings.delay_bound();
        let (Some(detector), State::Follower(Seat::Taken(followed))) =
            (self.config.timings.detector(), &mut self.state)
        else {
            return self.ignore("nobody is watched");
        };
        if now < followed.due {
            let rest = followed.due.since(now);
            return out.set_timer(
                Timer::Detect,
                After::jittered(rest, self.config.timings.jitter()),
            );
        }
        if now.since(followed.due) > late.saturating_add(self.config.timings.jitter())
            && followed.patience == Patience::Fresh
        {
            followed.patience = Patience::Spent;
            followed.due = now.after(detector.detection);
            let after = After::jittered(detector.detection, self.config.timings.jitter());
            return out.set_timer(Timer::Detect, after);
        }
        if !self.config.has(Defect::SilenceUnnoticed) {
            self.leader_gone(now, out);
        }
    }

    fn on_turn(&mut self, now: Time, out: &mut Out) {
        let State::Follower(Seat::Vacant(Some(turn))) = self.state else {
            return self.ignore("there is no vacant seat to wait for");
        };
        if now < turn.due {
            return out.set_timer(Timer::Campaign, turn.due.since(now));
        }
        let patience = self.config.timings.delay_bound();
        let late = now.since(turn.due) > patience.saturating_add(self.config.timings.jitter());
        self.cooldown.end(Timer::Rest, out); // all who do not rest had their turns
        match turn.path {
            Path::Announce if !late => self.lead(now, out),
            Path::Announce | Path::Ask => self.campaign(now, out), // it slept: others may lead
        }
    }

    fn on_candidate_due(&mut self, now: Time, timer: Timer, out: &mut Out) {
        let State::Candidate(candidacy) = &mut self.state else {
            return self.ignore("no election is held");
        };
        if timer != candidacy.timer() {
            return self.ignore("left over from an earlier question");
        }
        if now < candidacy.due {
            return out.set_timer(timer, candidacy.due.since(now));
        }
        let late = now.since(candidacy.due) > self.config.timings.delay_bound()
            && candidacy.patience == Patience::Fresh;
        match candidacy.asked {
            Asked::Leader { .. } => self.widen(now, out),
            Asked::Voters if late => self.ask_again(now, out),
            Asked::Voters => self.lead(now, out),
        }
    }

    fn on_victory_due(&mut self, now: Time, out: &mut Out) {
        let State::Waiting(wait) = &mut self.state else {
            return self.ignore("no announcement is awaited");
        };
        if now < wait.due {
            return out.set_timer(Timer::Victory, wait.due.since(now));
        }
        let late = now.since(wait.due) > self.config.timings.delay_bound();
        if late && wait.patience == Patience::Fresh {
            (wait.patience, wait.path) = (Patience::Spent, Path::Ask);
            wait.due = now.after(self.config.timings.victory_wait());
            return out.set_timer(Timer::Victory, self.config.timings.victory_wait());
        }
        let (on, path) = (wait.on.clone(), wait.path);
        self.state = State::Follower(Seat::Vacant(None));
        self.take_turn(now, path, Some(&on), out);
    }

    fn on_rest_over(&mut self, now: Time, out: &mut Out) {
        match self.cooldown.on_due(now) {
            Some(Due::In(left)) => out.set_timer(Timer::Rest, left),
            Some(Due::Now) => self.stand_again(now, out),
            None => self.ignore("it does not rest"),
        }
    }
}
