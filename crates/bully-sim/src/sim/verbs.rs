//! Verbs: the actions on the agents and on the network between them.
//!
//! Decided here: what a crash loses, and what a restart restores. The verbs of the network are the verbs of
//! [`Network`](crate::faults::Network).

use super::{
    Detection, Participant, Trap, World,
    node::{Node, NodeIndex, RunningTimer, may_be},
    updates::MemberChange,
    world::Scheduled,
};
use crate::{
    faults::{Conditions, ConditionsError},
    trace::Happening,
};
use bully_core::protocol::{After, AgentId, Election, Incarnation, Input, Member, Score};

/// Actions on agents.
impl<E: Election> World<E> {
    /// Ends an agent's incarnation without warning. The agent's durable record remains.
    pub fn crash(&mut self, agent: impl AsRef<str>) -> bool {
        let alive = self.alive(agent.as_ref());
        alive.map(|at| self.crash_at(at)).is_some()
    }

    /// Begins the next incarnation of a crashed agent, if the record on its disk allows it.
    pub fn restart(&mut self, agent: impl AsRef<str>) -> bool {
        let Some(at) = self.transit.directory.find(agent.as_ref()) else {
            return false;
        };
        let Some(node) = self.nodes.get_mut(at.0) else {
            return false;
        };
        if node.is_alive() || !node.is_member || !node.has_started {
            return false;
        }
        if let Some(why) = self
            .transit
            .directory
            .name(at)
            .and_then(|id| node.refusal(id))
        {
            return self.refuse(at, why);
        }
        let last = self.last(at);
        if let Some(node) = self.nodes.get_mut(at.0) {
            node.incarnation = last.next();
        }
        self.start(at, Happening::Restarted);
        true
    }

    /// Sets the parameters with which a crashed agent's next incarnation takes part.
    pub fn reconfigure(&mut self, agent: impl AsRef<str>, config: E::Config) -> bool {
        let Some(at) = self.transit.directory.find(agent.as_ref()) else {
            return false;
        };
        let id = self.transit.directory.name(at);
        let node = self.nodes.get_mut(at.0).filter(|node| !node.is_alive());
        let (Some(id), Some(node)) = (id, node) else {
            return false;
        };
        node.requirements = E::requirements(&config, id, node.kind).ok();
        node.config = config;
        true
    }

    /// Makes an agent hang: the agent handles nothing, and no other agent is informed.
    pub fn pause(&mut self, agent: impl AsRef<str>) -> bool {
        let running = self.is_running(agent.as_ref());
        if let Some(at) = self.alive(agent.as_ref()) {
            self.pause_at(at);
        }
        running
    }

    /// Ends the hang of an agent. The agent handles the inputs that waited: in the order of their arrival, or first
    /// the messages and then the timers, as the seed decides.
    pub fn resume(&mut self, agent: impl AsRef<str>) -> bool {
        let Some(at) = self.alive(agent.as_ref()) else {
            return false;
        };
        let Some(node) = self.nodes.get_mut(at.0) else {
            return false;
        };
        if node.saving.is_some() {
            return false; // because it goes on when its record is written
        }
        let Some(mut waiting) = node.hanging.take() else {
            return false;
        };
        if self.random.chance(500) {
            waiting.sort_by_key(|due| matches!(due, Scheduled::Timer { .. }));
        }
        self.driver.shifted();
        self.happened(at, Happening::Resumed);
        self.release(at, waiting);
        true
    }

    /// Makes a new agent take part, or an agent that left take part again with its record, if its configuration fits
    /// the record.
    pub fn join(&mut self, participant: Participant<E>) -> bool {
        let id = participant.id.clone();
        let at = self.transit.directory.enter(&id);
        let mut node = Node::new(participant, self.now, self.registry.clone());
        node.store = self.stored(None, node.keeps_record());
        // The last incarnation of the name counts, because a second process may have begun since the agent left.
        let next = self.last(at).next();
        match self.nodes.get_mut(at.0) {
            Some(old) if old.is_member => return false,
            Some(old) => {
                node.incarnation = next;
                (node.durable, node.clock) = (old.durable.take(), old.clock);
                (node.store, node.write_time) = (old.store, old.write_time);
                node.is_wiped = old.is_wiped;
                if let Some(why) = node.refusal(&id) {
                    (old.durable, old.clock) = (node.durable.take(), node.clock);
                    return self.refuse(at, why);
                }
                node.events = std::mem::take(&mut old.events);
                *old = node;
            }
            None => self.nodes.push(node),
        }
        let Some(node) = self.nodes.get(at.0) else {
            return false;
        };
        let member = Member {
            store: node.store,
            ..Member::up(id, node.kind, node.score, node.incarnation)
        };
        self.enter(|members| {
            members.join([member]);
            true
        });
        self.report(at, MemberChange::Membership);
        self.links_changed();
        self.start(at, Happening::Joined);
        true
    }

    /// Stops an agent, and ends its membership. A leader should step down before this: the core's `protocol/input.rs`
    /// has the inputs of an agent that leaves.
    pub fn leave(&mut self, agent: impl AsRef<str>) -> bool {
        let Some(at) = self.transit.directory.find(agent.as_ref()) else {
            return false;
        };
        let Some(node) = self.nodes.get_mut(at.0).filter(|node| node.is_member) else {
            return false;
        };
        node.is_member = false;
        self.end(at);
        self.happened(at, Happening::Left);
        if let Some(id) = self.transit.directory.name(at).cloned() {
            self.enter(|members| members.leave(&id));
        }
        self.report(at, MemberChange::Membership);
        true
    }

    /// Changes an agent's score. The other agents learn the new score in the same way as other changes.
    pub fn set_score(&mut self, agent: impl AsRef<str>, score: Option<Score>) -> bool {
        let Some(at) = self.alive(agent.as_ref()) else {
            return false;
        };
        if let Some(node) = self.nodes.get_mut(at.0) {
            node.score = score;
            node.may_be = node.may_be.max(may_be(node.kind, score));
            self.driver.shifted();
        }
        self.transit.trace.mark(self.now, || match score {
            Some(score) => format!("score of {} is {score}", agent.as_ref()),
            None => format!("{} cannot be elected", agent.as_ref()),
        });
        self.report(at, MemberChange::Score);
        self.command(at, Input::SetScore(score));
        true
    }

    /// Tells an agent to hold an election.
    pub fn campaign(&mut self, agent: impl AsRef<str>) -> bool {
        let alive = self.alive(agent.as_ref());
        alive.map(|at| self.command(at, Input::Campaign)).is_some()
    }

    /// Tells an agent to hand the leadership over.
    pub fn step_down(&mut self, agent: impl AsRef<str>, to: Option<AgentId>) -> bool {
        let alive = self.alive(agent.as_ref());
        alive
            .map(|at| self.command(at, Input::StepDown { to }))
            .is_some()
    }

    /// Informs an agent that its work has ended. The call is needed only if the work does not end by itself.
    pub fn drained(&mut self, agent: impl AsRef<str>) -> bool {
        let alive = self.alive(agent.as_ref());
        alive.map(|at| self.command(at, Input::Drained)).is_some()
    }

    /// Sets the rate of an agent's clock: `ppm` parts in a million too fast. At -1,000,000 the clock stops.
    pub fn set_clock_rate(&mut self, agent: impl AsRef<str>, ppm: i32) -> bool {
        let Some(at) = self.transit.directory.find(agent.as_ref()) else {
            return false;
        };
        let Some(node) = self.nodes.get_mut(at.0) else {
            return false;
        };
        node.clock.set_rate(self.now, ppm);
        for running in &mut node.timers {
            // The timer is queued again, because a faster clock reaches the time earlier.
            let fires = node.clock.when(running.due).max(self.now);
            let (timer, setting) = (running.timer, self.transit.queue.reserve());
            *running = RunningTimer::new(timer, running.due, fires, setting);
            let due = Scheduled::Timer { at, timer, setting };
            self.transit.queue.push_as(fires, setting, due);
        }
        true
    }

    /// Sets how late a timer may fire if it is set from now on. No timer fires early.
    pub fn set_lateness(&mut self, range: impl Into<After>) {
        self.driver.lateness = range.into();
    }

    /// Sets a trap for an agent that sends a certain message. A trap springs only once.
    pub fn arm(&mut self, trap: &Trap) -> bool {
        let by = match &trap.by {
            Some(id) => match self.transit.directory.find(id.as_str()) {
                None => return false,
                found => found,
            },
            None => None,
        };
        self.transit.traps.arm(by, trap);
        true
    }

    /// Removes all traps.
    pub fn disarm(&mut self) {
        self.transit.traps.disarm();
    }

    pub(super) fn crash_at(&mut self, at: NodeIndex) {
        let node = self.nodes.get(at.0);
        let incarnation = node.map_or(Incarnation(0), |node| node.incarnation);
        self.end(at);
        self.happened(at, Happening::Crashed);
        match self.detection {
            // If a second process has the name, only another process can report the end of this process.
            Detection::Certain(_) if self.is_doubled(at) => {
                self.report(at, MemberChange::EndTold(incarnation));
            }
            Detection::Certain(_) => self.report(at, MemberChange::Down(incarnation)),
            Detection::Suspect(_) => self.report(at, MemberChange::Sight),
            Detection::Told(_) if Detection::has_sentinel(at, incarnation) => {
                self.report(at, MemberChange::EndTold(incarnation));
            }
            Detection::Told(_) | Detection::Silent(_) => {}
        }
    }

    pub(super) fn pause_at(&mut self, at: NodeIndex) {
        if let Some(node) = self.nodes.get_mut(at.0).filter(|n| n.is_running()) {
            node.hanging = Some(Vec::new());
            self.driver.shifted();
            self.happened(at, Happening::Paused);
        }
    }

    /// Reports a new incarnation to the other agents, if the detection reports such events.
    pub(super) fn report_return(&mut self, at: NodeIndex, how: Happening) {
        let told = matches!(
            self.detection,
            Detection::Certain(_) | Detection::Suspect(_)
        );
        // After a join nothing is reported, because the agent was reported as a member already.
        if told && how != Happening::Joined {
            self.report(at, MemberChange::Sight);
        }
    }

    /// Notes that an incarnation does not begin.
    fn refuse(&mut self, at: NodeIndex, why: &str) -> bool {
        let directory = &self.transit.directory;
        self.transit.trace.mark(self.now, || {
            let name = directory.name(at).map_or("", AgentId::as_str);
            format!("{name} does not start: {why}")
        });
        false
    }

    pub(super) fn end(&mut self, at: NodeIndex) {
        let Some(node) = self.nodes.get_mut(at.0) else {
            return;
        };
        node.machine = None;
        self.driver.shifted();
        self.driver.shrinks(&mut node.published);
        node.timers.clear();
        if let Some(saving) = node.saving.take() {
            node.durable = Some(saving.record); // because the system ends the write that its process began
        }
        let waiting = node.hanging.take().unwrap_or_default();
        self.pass_over(waiting);
    }

    pub(super) fn alive(&self, name: &str) -> Option<NodeIndex> {
        let at = self.transit.directory.find(name)?;
        self.nodes.get(at.0).filter(|n| n.is_alive()).map(|_| at)
    }

    pub(super) fn happened(&mut self, at: NodeIndex, what: Happening) {
        if let Some(id) = self.transit.directory.name(at) {
            self.transit.trace.happened(self.now, id, what);
        }
    }
}

/// Actions on the network. Names of agents that do not exist are ignored.
impl<E: Election> World<E> {
    /// Separates the agents into sides. Agents that are in no side form one more side.
    pub fn partition<S, N>(&mut self, sides: impl IntoIterator<Item = S>)
    where
        S: IntoIterator<Item = N>,
        N: AsRef<str>,
    {
        let directory = &self.transit.directory;
        let sides: Vec<Vec<NodeIndex>> = sides
            .into_iter()
            .map(|side| {
                side.into_iter()
                    .filter_map(|n| directory.find(n.as_ref()))
                    .collect()
            })
            .collect();
        self.transit
            .network
            .partition(sides.iter().map(|side| side.iter().copied()));
        let directory = &self.transit.directory;
        self.transit.trace.mark(self.now, || {
            let name = |at: &NodeIndex| directory.name(*at).map_or("", AgentId::as_str);
            let side = |side: &Vec<NodeIndex>| side.iter().map(name).collect::<Vec<_>>().join(" ");
            let sides: Vec<String> = sides.iter().map(side).collect();
            format!("partition {}", sides.join(" | "))
        });
        self.links_changed();
    }

    /// Cuts an agent off from all other agents.
    pub fn isolate(&mut self, agent: impl AsRef<str>) {
        if let Some(at) = self.transit.directory.find(agent.as_ref()) {
            self.transit.network.isolate(&at);
            self.mark(|| format!("isolate {}", agent.as_ref()));
        }
    }

    /// Cuts the link between two agents in both directions.
    pub fn cut(&mut self, one: impl AsRef<str>, other: impl AsRef<str>) {
        if let Some((a, b)) = self.pair(one.as_ref(), other.as_ref()) {
            self.transit.network.cut(&a, &b);
            self.mark(|| format!("cut {} {}", one.as_ref(), other.as_ref()));
        }
    }

    /// Cuts the direction from one agent to another. The other direction does not change.
    pub fn cut_one_way(&mut self, from: impl AsRef<str>, to: impl AsRef<str>) {
        if let Some((a, b)) = self.pair(from.as_ref(), to.as_ref()) {
            self.transit.network.cut_one_way(&a, &b);
            self.mark(|| format!("cut {} -> {}", from.as_ref(), to.as_ref()));
        }
    }

    /// Restores the link between two agents in both directions.
    pub fn mend(&mut self, one: impl AsRef<str>, other: impl AsRef<str>) {
        if let Some((a, b)) = self.pair(one.as_ref(), other.as_ref()) {
            self.transit.network.mend(&a, &b);
            self.mark(|| format!("mend {} {}", one.as_ref(), other.as_ref()));
        }
    }

    /// Ends every cut, isolation and partition.
    pub fn heal(&mut self) {
        self.transit.network.heal();
        self.mark(|| String::from("heal"));
    }

    /// Ends every cut, isolation and partition, and every special treatment of a link or of a kind of message.
    pub fn recover(&mut self) {
        self.transit.network.recover();
        self.mark(|| String::from("recover"));
    }

    /// Loses this share of the messages from one agent to another.
    ///
    /// # Errors
    /// [`ConditionsError::Loss`] above 1000 per mille; then nothing has changed.
    pub fn drop(
        &mut self,
        from: impl AsRef<str>,
        to: impl AsRef<str>,
        per_mille: u16,
    ) -> Result<(), ConditionsError> {
        if let Some((a, b)) = self.pair(from.as_ref(), to.as_ref()) {
            self.transit.network.drop(&a, &b, per_mille)?;
            self.mark(|| format!("drop {per_mille} {} -> {}", from.as_ref(), to.as_ref()));
        }
        Ok(())
    }

    /// Loses every message of this kind.
    pub fn ignore(&mut self, kind: &'static str) {
        self.transit.network.ignore(kind);
        self.mark(|| format!("ignore {kind}"));
    }

    /// Gives the direction from one agent to another its own conditions; `None`: the common conditions.
    pub fn set_link(
        &mut self,
        from: impl AsRef<str>,
        to: impl AsRef<str>,
        conditions: Option<Conditions>,
    ) {
        if let Some((a, b)) = self.pair(from.as_ref(), to.as_ref()) {
            self.transit.network.set_link(&a, &b, conditions);
        }
    }

    /// Replaces the common conditions, which apply to every link without its own conditions.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.transit.network.set_conditions(conditions);
    }

    fn pair(&self, one: &str, other: &str) -> Option<(NodeIndex, NodeIndex)> {
        let directory = &self.transit.directory;
        directory.find(one).zip(directory.find(other))
    }

    fn mark(&mut self, text: impl FnOnce() -> String) {
        self.transit.trace.mark(self.now, text);
        self.links_changed();
    }
}
