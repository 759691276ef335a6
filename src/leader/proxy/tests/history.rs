//! Senders and receivers under loss, delay, repetition, cuts, crashes, moves and changing leaders, by seeds.
//!
//! Held: a message is delivered at most once, in the order of its sender, to whichever leaders; and after
//! everything has calmed down, each message that its sender was not told to be unknown, dropped or
//! undeliverable was delivered.

use super::{
    super::{exchange::Life, receiver::Receiver, sender::Sender},
    world::{AGENTS, World, bounds},
};

impl World {
    /// The leader ends, and another one begins: maybe before the others see it, maybe after.
    fn elect(&mut self) {
        for agent in &mut self.agents {
            agent.leading = None;
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

    /// A crash, or a move to another node, which numbers incarnations for itself.
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
                // What is on its way still comes, and the others see it whenever they do.
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

    /// What went wrong, if anything.
    fn fault(&self) -> Option<String> {
        for (at, delivered) in self.delivered.iter().enumerate() {
            if let Some(pair) = delivered.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Some(format!("a{at}: not in order: {pair:?}"));
            }
            if !self.is_calm {
                continue;
            }
            let agent = &self.agents[at];
            let has = |message: &u64| {
                delivered.binary_search(message).is_ok()
                    || agent.excused.contains(message)
                    || agent.lost.contains(message)
            };
            if let Some(lost) = (0..agent.next).find(|message| !has(message)) {
                return Some(format!("a{at}: {lost} vanished"));
            }
        }
        None
    }

    fn play(seed: u64) -> Result<usize, String> {
        let mut world = Self::new(seed);
        world.elect();
        for _ in 0..4_000 {
            world.disturb();
            world.step();
        }
        let early = world.fault();
        world.is_calm = true;
        // Whatever was left out is told again.
        world.elect();
        for _ in 0..6_000 {
            world.step();
        }
        match early.or_else(|| world.fault()) {
            Some(fault) => Err(format!("seed {seed}: {fault}")),
            None => Ok(world.delivered.iter().map(Vec::len).sum()),
        }
    }
}

#[test]
fn each_message_is_delivered_at_most_once_in_order_and_none_is_lost_in_silence() {
    let mut delivered = 0;
    for seed in 0..100 {
        delivered += World::play(seed).unwrap();
    }
    assert!(delivered > 20_000, "only {delivered} messages arrived");
}
