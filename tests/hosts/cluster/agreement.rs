//! The waits for a leader, or for none.

use std::time::{Duration, Instant};

use super::{Cluster, Place, SOON, name};
use crate::{
    Wrong,
    log::{Line, leads},
};

/// Time between two looks at the lines.
const TURN: Duration = Duration::from_millis(100);

impl<P: Place> Cluster<P> {
    /// Waits until all running nodes say that the same one of them leads. Returns it.
    ///
    /// # Errors
    /// The leader that each node follows, if they do not agree in time.
    pub(crate) fn agree(&mut self) -> Result<usize, Wrong> {
        let running = self.running();
        self.agree_among(&running)
    }

    /// Waits until all follow the highest-ranked node, so that no other node takes over any more.
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

    /// Waits until the nodes `some` say that the same one of them leads, and it does. Returns it.
    pub(crate) fn agree_among(&self, some: &[usize]) -> Result<usize, Wrong> {
        self.agree_on(some, |leader| some.contains(&leader))
    }

    /// Waits until the nodes `some` follow one leader for which `is_such` holds. On a busy machine another node may
    /// lead before it for a moment.
    ///
    /// # Errors
    /// The leader that each of the nodes follows.
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

    /// Waits until no node of `some` has printed for `after` that it leads.
    ///
    /// # Errors
    /// The nodes, if one of them still leads.
    pub(crate) fn none_leads(&self, some: &[usize], after: Duration) -> Result<(), Wrong> {
        let works = |line: &Line| line.event == "works" && some.contains(&line.host);
        let (mut seen, mut since) = (None, Instant::now());
        let paused = self.log.wait(SOON, |lines| {
            let last = lines.iter().rposition(works);
            if last != seen {
                (seen, since) = (last, Instant::now());
            }
            (since.elapsed() >= after).then_some(())
        });
        paused.ok_or_else(|| Wrong(format!("one of the hosts {some:?} still leads")))
    }

    /// Returns the leader that a node followed last, and the term.
    fn follows(&self, lines: &[Line], host: usize, newest: &[u32]) -> Option<(usize, u64)> {
        let last = lines.iter().rev().find(|line| {
            line.host == host
                && Some(&line.incarnation) == newest.get(host)
                && ["leader", "no_leader"].contains(&line.event.as_str())
        })?;
        let leader = last.leader()?;
        let host = self.all().into_iter().find(|host| name(*host) == leader)?;
        Some((host, last.term()?))
    }
}
