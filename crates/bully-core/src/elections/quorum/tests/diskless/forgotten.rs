//! Five machines without a network: the voters could forget a leader's term although a majority remembers it at every
//! moment.
//!
//! HIGH's clock is ahead, so the clocks of the other voters do not reach the forgotten term.

use super::*;

/// Messages on their way: sender, incarnation of the sender, receiver, message.
type Mail = VecDeque<(usize, Incarnation, usize, QuorumMessage)>;

const NAMES: [&str; 5] = [HIGH, LOW, ME, "v4", "v5"];
const LEADER: usize = 0;

const TIMERS: [BullyTimer; 3] = [BullyTimer::Recover, BullyTimer::Election, BullyTimer::Round];

struct Five {
    kits: Vec<Kit>,
    mail: Mail,
}

fn is_claim(message: &QuorumMessage) -> bool {
    matches!(message, QuorumMessage::Claim(_))
}

fn is_announcement(message: &QuorumMessage) -> bool {
    matches!(message, QuorumMessage::Elected(_))
}

impl Five {
    fn new(config: &QuorumConfig) -> Self {
        let kit = |at: usize| {
            let mut config = config.clone();
            if at == LEADER {
                config.diskless.as_mut().unwrap().wall_at_zero += 9_000;
            }
            let mut kit = Kit::voter(&Arc::new(config));
            let up = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(1));
            kit.members.join(["v4", "v5"].map(up));
            kit
        };
        let mut all = Self {
            kits: (0..NAMES.len()).map(kit).collect(),
            mail: Mail::new(),
        };
        (0..NAMES.len()).for_each(|at| all.begin(at, 1));
        all
    }

    /// Starts an incarnation without memory.
    fn begin(&mut self, at: usize, incarnation: u64) {
        let kit = &mut self.kits[at];
        let score = if at == LEADER { 9 } else { 1 };
        let identity = Identity {
            id: id(NAMES[at]),
            incarnation: Incarnation(incarnation),
            score: Some(score.into()),
            ..kit.machine.core.me.identity()
        };
        let config = Arc::clone(&kit.machine.core.config);
        *kit = Kit {
            machine: QuorumBully::new(identity, &config, None),
            now: kit.now,
            members: kit.members.clone(),
            ..Kit::voter(&config)
        };
        let effects = kit.start();
        self.post(at, effects);
        self.fire(at, BullyTimer::Recover);
    }

    fn fire(&mut self, at: usize, timer: BullyTimer) {
        let effects = self.kits[at].fire(timer);
        self.post(at, effects);
    }

    fn post(&mut self, from: usize, effects: StepEffects) {
        let incarnation = self.kits[from].machine.core.me.incarnation;
        for effect in effects.0 {
            let Effect::Send { to, message } = effect else {
                continue;
            };
            let hears = |at: &usize| match &to {
                To::One(one) => *one == NAMES[*at],
                To::All => true,
                To::Set(some) => some.contains(&id(NAMES[*at])),
            };
            let others = (0..NAMES.len()).filter(|at| *at != from);
            let new = others
                .filter(hears)
                .map(|at| (from, incarnation, at, message.clone()));
            self.mail.extend(new);
        }
    }

    /// Delivers the chosen messages between these agents, and the messages that follow from them. Other messages wait.
    fn deliver(&mut self, among: &[usize], which: impl Fn(&QuorumMessage) -> bool) {
        let reaches = |(from, _, to, message): &(usize, _, usize, QuorumMessage)| {
            among.contains(from) && among.contains(to) && which(message)
        };
        while let Some(next) = self.mail.iter().position(&reaches) {
            let (from, incarnation, to, message) = self.mail.remove(next).unwrap();
            let said = self.kits[to].hear_incarnation(NAMES[from], incarnation.0, message);
            self.post(to, said);
        }
    }

    /// Lets this number of milliseconds pass. Only the agents `among` fire these timers. They hear each other at once,
    /// and other messages are lost.
    fn pass(&mut self, millis: u64, among: &[usize], timers: &[BullyTimer]) {
        for _ in 0..millis {
            for kit in &mut self.kits {
                kit.later(1);
            }
            for at in among {
                for timer in timers {
                    self.fire(*at, *timer);
                }
            }
            self.deliver(among, |_| true);
            self.mail.clear();
        }
    }

    /// Returns the highest term in which one of these agents leads.
    fn led(&self, among: &[usize]) -> Option<u64> {
        let led = among.iter().filter_map(|at| self.kits[*at].view().leading);
        led.map(|term| term.0).max()
    }
}

/// `ask-after-the-claims`
///
/// LOW and ME vote for HIGH and restart. v4 and v5 answer them before they hear of the election. Then v4 acknowledges,
/// so that HIGH leads. Then v4 restarts too.
#[test]
fn a_leaders_term_is_not_forgotten_one_voter_after_the_other() {
    assert!(!forgets_a_term(&five()));
}

fn forgets_a_term(config: &QuorumConfig) -> bool {
    let everybody = [0, 1, 2, 3, 4];
    let mut all = Five::new(config);
    all.pass(ABSTAINS + 40, &everybody, &TIMERS);
    let first = all.led(&everybody).unwrap();
    for kit in &mut all.kits {
        kit.later(P); // the leader is not heard; its lease and all promises end
    }
    all.mail.clear();
    all.fire(LEADER, BullyTimer::Lease);
    all.kits[LEADER].later(2 * W);
    all.kits[1..]
        .iter_mut()
        .for_each(|kit| _ = kit.later(2 * W));
    all.fire(LEADER, BullyTimer::Election);
    all.deliver(&[LEADER, 1, 2], |message| !is_claim(message));
    assert!(
        all.mail.iter().any(|(.., message)| is_claim(message)),
        "it claims"
    );

    all.deliver(&[LEADER, 1], |_| true); // LOW votes
    all.begin(1, 2);
    all.deliver(&[1, 2, 3, 4], |_| true); // and asks, if it asks early
    all.deliver(&[LEADER, 2], |message| !is_announcement(message)); // ME votes: elected
    all.deliver(&[LEADER, 2], |_| true); // ME acknowledges
    assert_eq!(all.led(&everybody), None);
    all.begin(2, 2);
    all.deliver(&[1, 2, 3, 4], |_| true);
    all.deliver(&[LEADER, 3], |message| !is_claim(message)); // v4 acknowledges: HIGH leads
    let second = all.led(&everybody).unwrap();
    assert!(second > first + 1, "by its clock");

    let others = [1, 2, 3, 4]; // HIGH is cut off for ever
    all.mail.clear();
    all.pass(2 * ABSTAINS, &others, &[BullyTimer::Recover]); // v4 does not report the term
    all.begin(3, 2);
    all.deliver(&others, |_| true);
    all.pass(3 * ABSTAINS, &others, &TIMERS);
    // If LOW and ME ask late enough, they wait for HIGH. When three of five voters recover, they may continue, in a
    // term above all answers.
    let third = all.led(&others).expect("a leader");
    third < second
}
