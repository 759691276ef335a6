//! Senders and receivers under loss, delay, repetition, cuts, crashes, moves and changing leaders, by seeds.
//!
//! Promises: a message is delivered at most once, in the order of its sender, over all leaders. If several agents may
//! lead at once, the order holds for each leader. After the calm phase, each message was delivered, or its sender
//! learned that it is unknown, refused or undeliverable.

use super::{
    super::{exchange::Life, receiver::Receiver, sender::Sender},
    world::{AGENTS, World, bounds},
};

impl World {
    /// Ends the leader, unless it may have rivals, and elects another one. The new leader may begin before or after the
    /// other agents see it.
    fn elect(&mut self) {
        for agent in &mut self.agents {
            agent.leading = agent.leading.filter(|_| self.has_rivals);
        }
        self.term += 1;
        let (next, lag) = (self.rng.usize(..AGENTS), self.rng.u64(..40));
        self.coming = Some((self.now + lag, next, self.term));
        let seen = (next, self.term);
        for agent in 0..AGENTS {
            let at = self.now + self.rng.u64(..80);
            let seen = (self.rng.u8(..8) != 0 || self.is_calm).then_some(seen);
            self.views.push((at, agent, self.term, seen));
        }
    }

    /// Ends an agent by a crash, or by a move to another node, which has its own numbers of incarnations.
    fn end(&mut self, at: usize, moves: bool) {
        let lower = self.rng.u64(..2);
        let agent = &mut self.agents[at];
        let Life { node, incarnation } = &mut agent.life;
        if moves {
            node.0 += 1;
            incarnation.0 = incarnation.0.saturating_sub(lower).max(1);
        } else {
            incarnation.0 += 1;
        }
        let life = agent.life;
        let (buffer, flight) = agent.sender.drain();
        agent
            .lost
            .extend(buffer.iter().chain(&flight).map(|item| item.payload));
        agent.sender = Sender::new(bounds());
        agent.receiver = Receiver::default();
        (agent.leading, agent.view) = (None, None);
        if self.coming.is_some_and(|(_, next, _)| next == at) {
            self.coming = None;
        }
        agent.known[at] = life;
        for other in 0..AGENTS {
            if moves {
                // Messages on their way still arrive, and each other agent sees the move at a random time.
                let seen = self.now + self.rng.u64(..60);
                self.lives.push((seen, other, at, life));
                continue;
            }
            self.links[at * AGENTS + other].clear();
            self.links[other * AGENTS + at].clear();
            if other != at {
                self.learn(other, at, life);
            }
        }
        self.views.retain(|(_, agent, ..)| *agent != at);
    }

    fn disturb(&mut self) {
        match self.rng.u16(..1_000) {
            0..3 => self.elect(),
            3..5 => {
                let (one, other) = (self.rng.usize(..AGENTS), self.rng.usize(..AGENTS));
                self.links[one * AGENTS + other].clear();
                self.links[other * AGENTS + one].clear();
            }
            5..7 => {
                let (at, moves) = (self.rng.usize(..AGENTS), self.rng.bool());
                let was_leader = self.leader() == Some(at);
                self.end(at, moves);
                if was_leader {
                    self.elect();
                }
            }
            7..120 => {
                let at = self.rng.usize(..AGENTS);
                self.push(at);
            }
            _ => {}
        }
    }

    /// Returns a message that was not delivered after the calm phase, although its sender does not know of a loss.
    fn vanished(&self) -> Option<String> {
        self.agents.iter().enumerate().find_map(|(at, agent)| {
            let has = |message: &u64| {
                self.delivered.contains(&(at, *message))
                    || agent.excused.contains(message)
                    || agent.lost.contains(message)
            };
            let lost = (0..agent.next).find(|message| !has(message))?;
            Some(format!("a{at}: {lost} vanished"))
        })
    }

    fn play(seed: u64, has_rivals: bool) -> Result<usize, String> {
        let mut world = Self::new(seed, has_rivals);
        world.elect();
        for _ in 0..4_000 {
            world.disturb();
            world.step();
        }
        world.is_calm = true;
        // A new election tells every agent the leader, also those that missed an election.
        world.elect();
        for _ in 0..6_000 {
            world.step();
        }
        match world.broken.take().or_else(|| world.vanished()) {
            Some(fault) => Err(format!("seed {seed}: {fault}")),
            None => Ok(world.delivered.len()),
        }
    }
}

#[test]
fn each_message_is_delivered_at_most_once_in_order_and_none_is_lost_in_silence() {
    for has_rivals in [false, true] {
        let delivered = (0..100).map(|seed| World::play(seed, has_rivals).unwrap());
        let delivered: usize = delivered.sum();
        assert!(delivered > 20_000, "only {delivered} messages arrived");
    }
}
