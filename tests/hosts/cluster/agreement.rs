//! What the nodes agree on: waiting for a leader, or for none.

use std::time::{Duration, Instant};

use super::{Cluster, Place, SOON, name};
use crate::{
    Wrong,
    log::{Line, leads},
};

/// How long to wait before one looks again.
const TURN: Duration = Duration::from_millis(100);

impl<P: Place> Cluster<P> {
    /// Waits until all that run say that the same one of them leads; returns it.
    ///
    /// # Errors
    /// The leader that each follows, when they do not agree in time.
    pub(crate) fn agree(&mut self) -> Result<usize, Wrong> {
        let running = self.running();
        self.agree_among(&running)
    }

    /// Waits until all follow the one of the highest rank: no node takes over from it any more.
    ///
    /// # Errors
    /// As [`agree`](Self::agree).
    pub(crate) fn highest_leads(&mut self) -> Result<usize, Wrong> {
        let highest = self.all().last().copied().unwrap_or_default();
        for _ in 0..50 {
            if self.agree()? == highest {
                return Ok(highest);
            }
            self.log.wait(TURN, |_| None::<()>);
        }
        Err(Wrong(format!("{} does not lead", name(highest))))
    }

    /// Waits until these say that the same one of them leads, and it does.
    ///
    /// # Errors
    /// As [`agree`](Self::agree).
    pub(crate) fn agree_among(&self, some: &[usize]) -> Result<usize, Wrong> {
        self.agree_on(some, |leader| some.contains(&leader))
    }

    /// Waits until these follow one leader that is such a leader. On a busy machine another one may lead before it, for
    /// a moment.
    ///
    /// # Errors
    /// The leader that each of them follows.
    pub(crate) fn agree_on(
        &self,
        some: &[usize],
        is_such: impl Fn(usize) -> bool,
    ) -> Result<usize, Wrong> {
        let newest: Vec<u32> = self.nodes.iter().map(|node| node.incarnation).collect();
        let agreed = self.log.wait(SOON, |lines| {
            let first = self.follows(lines, *some.first()?, &newest)?;
            let agrees = |host: &usize| self.follows(lines, *host, &newest) == Some(first);
            (is_such(first.0) && some.iter().all(agrees) && leads(lines, first, &newest))
                .then_some(first.0)
        });
        agreed.ok_or_else(|| {
            let lines = self.log.lines();
            let said = some.iter().map(|host| {
                let followed = self.follows(&lines, *host, &newest);
                format!("{} follows {followed:?}", name(*host))
            });
            Wrong(said.collect::<Vec<_>>().join(", "))
        })
    }

    /// Waits until none of these says that it leads, for so long as a leader would have shown.
    ///
    /// # Errors
    /// The nodes that do.
    pub(crate) fn none_leads(&self, some: &[usize], after: Duration) -> Result<(), Wrong> {
        let pause = self.pulses_pause(some, after);
        if pause {
            return Ok(());
        }
        let names: Vec<_> = some.iter().map(|host| name(*host)).collect();
        Err(Wrong(format!("one of {} still leads", names.join(", "))))
    }

    /// Waits for `after` without a pulse of these hosts.
    fn pulses_pause(&self, some: &[usize], after: Duration) -> bool {
        let works = |line: &&Line| line.event == "works" && some.contains(&line.host);
        let mut seen = None;
        let mut since = Instant::now();
        let quiet = self.log.wait(SOON, |lines| {
            let last = lines.iter().rposition(|line| works(&line));
            if last != seen {
                (seen, since) = (last, Instant::now());
            }
            (since.elapsed() >= after).then_some(())
        });
        quiet.is_some()
    }

    /// The leader that a node follows at last, and in which term.
    fn follows(&self, lines: &[Line], host: usize, newest: &[u32]) -> Option<(usize, u64)> {
        let last = lines.iter().rev().find(|line| {
            line.host == host
                && Some(&line.incarnation) == newest.get(host)
                && ["leader", "no_leader"].contains(&line.event.as_str())
        })?;
        let leader = last.leader()?;
        let host = self
            .all()
            .into_iter()
            .find(|host| self.called(*host) == leader)?;
        Some((host, last.term()?))
    }
}
