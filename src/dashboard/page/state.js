'use strict';
// What the page knows: the newest moment, those before it, and what was said. Nothing here touches the document.

const MOMENTS = 4000; // so many are kept for the timeline
const ENTRIES = 2000; // so many entries of the log

// The election of one group of agents.
const newModel = (hidden) => ({
  head: null, now: null, received: 0, said: [], elections: [],
  past: [], // {at, moment}: the newest last
  shown: null, // a place in `past` while the timeline is moved; null: live
  hidden, // kinds of messages that are not drawn
  kinds: [], // kinds seen so far
  film: false, // whether a recording is shown, and nothing runs
  kept: null, // {past, after}: moments of a recording from which a run goes on, which comes after the run of that number
});

// `chosen`: the key of the selected agent; `link`, `heard`: the connection, and when the server was heard last.
const state = Object.assign(newModel(new Set()), { chosen: null, link: 'connecting', heard: 0 });
// Another election on the same faults, if there are two.
const beside = newModel(state.hidden);
const hasBeside = () => !state.film && beside.now !== null && Boolean(beside.head.election);

// The same for people.
const isolatedKey = (agent) => (agent.group ? isolate(agent.group) + ' / ' : '') + isolate(agent.name);
const keyOf = (agent) => (agent.group ? agent.group + ' / ' : '') + agent.name;

function begin(snapshot, of = state) {
  // A run that goes on from a moment of another has the past of that one.
  const { from, run } = snapshot.head, kept = of.kept && run > of.kept.after ? of.kept.past : null;
  const one = !from ? [] : from.run === 0 ? kept || [] : of.head && of.head.run === from.run ? of.past : [];
  const before = one.filter(({ at }) => at < from.at_ms).slice(1 - MOMENTS);
  if (kept && from) of.kept = null; // agents that are begun for it are shown before it is played again
  if (!of.head || of.head.election !== snapshot.head.election) of.kinds = [];
  of.head = snapshot.head;
  of.now = snapshot.moment;
  of.said = snapshot.said;
  of.elections = snapshot.elections;
  of.past = [...before, { at: of.now.at_ms, moment: of.now, said: of.said.length }];
  of.shown = null;
  of.received = performance.now();
  for (const entry of [...of.said, ...of.elections]) meet(entry, of);
}

// A moment is never changed, but replaced: those of the timeline stay as they were.
function advance(change, of = state) {
  const next = Object.assign({}, change.moment || of.now, { at_ms: change.at_ms });
  if (change.agents) {
    next.agents = of.now.agents.slice();
    for (const [place, agent] of change.agents) next.agents[place] = agent;
  }
  for (const key of ['cuts', 'voters', 'peers', 'network', 'why', 'groups', 'began_unix_ms', 'clock', 'scenario', 'given']) {
    if (key in change) next[key] = change[key];
  }
  of.now = next;
  const entry = { at: next.at_ms, moment: next, said: 0 };
  // While a run is played again, its new moments are not shown.
  if (!next.clock.again) of.past.push(entry);
  // A recording has an end, so all of it is kept.
  if (of.past.length > MOMENTS && !of.film) {
    of.past.shift();
    if (of.shown !== null) of.shown = Math.max(0, of.shown - 1);
  }
  of.received = performance.now();
  const said = change.said || [];
  for (const entry of said) {
    meet(entry, of);
    (entry.what === 'election' ? of.elections : of.said).push(entry);
  }
  entry.said = of.said.length;
  if (of.film) return said;
  if (of.said.length > ENTRIES) of.said.splice(0, of.said.length - ENTRIES);
  if (of.elections.length > ENTRIES) of.elections.splice(0, of.elections.length - ENTRIES);
  return said;
}

// Nothing is new, but time goes on.
function stay(at, of = state) {
  of.now = Object.assign({}, of.now, { at_ms: at });
  of.received = performance.now();
}

function meet(entry, of) {
  // A clock that jumps later on does not change when it was.
  if (entry.began === undefined) entry.began = of.now.began_unix_ms;
  if (entry.what === 'sent' && !of.kinds.includes(entry.kind)) {
    of.kinds.push(entry.kind);
    // What is said again and again would hide everything else: it is drawn when it is asked for.
    if (/heartbeat|^ack$|^beat|^are_you/.test(entry.kind)) of.hidden.add(entry.kind);
  }
}

const moment = (of = state) => (of.shown === null ? of.now : of.past[of.shown].moment);
const isLive = (of = state) => of.shown === null && !of.film;

// The last moment that is not later than this time.
function placeOf(at, of = state) {
  let low = 0, high = of.past.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (of.past[middle].at <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

// How long nothing was heard of the server.
const quietFor = () => (state.film || !state.heard ? 0 : performance.now() - state.heard);
const isSilent = () => quietFor() >= SILENT;

// The time of the agents, as far as can be told between two frames.
function clockNow(of = state) {
  const at = moment(of).at_ms, clock = of.now.clock;
  if (!isLive(of) || clock.paused) return at;
  // Virtual time stands still with its stage; a lease in real time runs out whether or not the server is heard.
  const passed = performance.now() - of.received;
  return at + (clock.is_virtual ? Math.min(passed, 1500) : passed) * clock.speed;
}

function leaseLeft(agent, of = state) {
  // What its host knows of its end is not known here.
  if (agent.lease_until_ms === undefined) return !agent.leads ? '' : agent.remote ? 'known to its host' : 'no end';
  const left = Math.round(agent.lease_until_ms - clockNow(of));
  return left > 0 ? left + ' ms' : 'run out';
}

// Whether a lease has run out, as far as the page knows: of a leader elsewhere its followers on this host know it, and a page that hears nothing any more counts by itself.
const ranOut = (of) => (agent) => agent.leads && (agent.lease_out || (isLive(of) && isSilent() && agent.lease_until_ms !== undefined && agent.lease_until_ms <= clockNow(of)));

// One word for what an agent is: it is written as well as coloured.
function wordOf(agent, out = false) {
  if (out) return 'RAN OUT';
  switch (agent.state) {
    case 'hung': return 'hangs';
    case 'down': case 'restarting': return agent.state;
    case 'suspect': return 'suspect';
    case 'unseen': return 'unseen';
    case 'unreachable': return 'no link';
    default: return agent.leads ? (agent.draining ? 'DRAINS' : 'LEADER') : agent.role || 'member';
  }
}

function classOf(agent, out = false) {
  if (out) return 'gone';
  if (agent.state === 'hung') return 'hung';
  if (agent.state !== 'up') return 'gone';
  return agent.leads ? 'leader' : agent.role || 'follower';
}

// Its score, or what keeps it from being elected. An observer with a score is a learner: it can be made a voter.
function rating(agent) {
  if (agent.kind === 'observer') return agent.score === null ? 'observer' : 'learner';
  return agent.score === null ? 'none' : agent.score;
}

// A term, and after a change of the voters its epoch: the bits above the lower 40 are the number of the list of voters.
function spokenTerm(term) {
  const whole = BigInt(term), epoch = whole >> 40n;
  return epoch === 0n ? String(term) : `${whole - (epoch << 40n)} of epoch ${epoch}`;
}

function sentence(agent, out = false) {
  const parts = [isolatedKey(agent), out ? 'led, lease run out' : wordOf(agent).toLowerCase()];
  if (agent.kind === 'observer') parts.push(rating(agent));
  if (agent.term) parts.push('term ' + spokenTerm(agent.term));
  if (agent.kind === 'voter' && agent.score !== null) parts.push('score ' + agent.score);
  if (agent.leader && !agent.leads) parts.push('follows ' + isolate(agent.leader));
  if (agent.host) parts.push('on host ' + agent.host);
  if (agent.isolated) parts.push('isolated');
  return parts.join(', ');
}

// The well-known kinds have their colours; others share the rest.
const COLOURS = { elect: 0, probe: 0, ok: 3, object: 3, elected: 2, coordinator: 2, yield: 4, consent: 4, heartbeat: 7, resign: 1, claim: 5, ack: 6 };
function colourOf(kind) {
  const word = kind.toLowerCase();
  if (word in COLOURS) return COLOURS[word];
  let sum = 0;
  for (const letter of word) sum = (sum * 31 + letter.charCodeAt(0)) % 7;
  return sum;
}
