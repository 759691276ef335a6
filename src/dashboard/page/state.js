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
});

const state = Object.assign(newModel(new Set()), { chosen: null }); // the key of the selected agent
// Another election on the same faults, if there are two.
const beside = newModel(state.hidden);
const hasBeside = () => !state.film && beside.now !== null && Boolean(beside.head.election);

const keyOf = (agent) => (agent.group ? agent.group + ' / ' : '') + agent.name;

function begin(snapshot, of = state) {
  if (!of.head || of.head.election !== snapshot.head.election) of.kinds = [];
  of.head = snapshot.head;
  of.now = snapshot.moment;
  of.said = snapshot.said;
  of.elections = snapshot.elections;
  of.past = [{ at: of.now.at_ms, moment: of.now, said: of.said.length }];
  of.shown = null;
  of.received = performance.now();
  for (const entry of of.said) meet(entry, of);
}

// A moment is never changed, but replaced: those of the timeline stay as they were.
function advance(change, of = state) {
  const next = Object.assign({}, change.moment || of.now, { at_ms: change.at_ms });
  if (change.agents) {
    next.agents = of.now.agents.slice();
    for (const [place, agent] of change.agents) next.agents[place] = agent;
  }
  for (const key of ['cuts', 'voters', 'peers', 'network', 'why', 'clock', 'scenario']) {
    if (key in change) next[key] = change[key];
  }
  of.now = next;
  const entry = { at: next.at_ms, moment: next, said: 0 };
  of.past.push(entry);
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

function meet(entry, of) {
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

// The time of the agents, as far as can be told between two frames.
function clockNow(of = state) {
  const at = moment(of).at_ms, clock = of.now.clock;
  if (!isLive(of) || clock.paused) return at;
  return at + Math.min(performance.now() - of.received, 1500) * clock.speed;
}

function leaseLeft(agent, of = state) {
  if (agent.lease_until_ms === undefined) return agent.leads ? 'no end' : '';
  return Math.max(0, Math.round(agent.lease_until_ms - clockNow(of))) + ' ms';
}

// One word for what an agent is: it is written as well as coloured.
function wordOf(agent) {
  switch (agent.state) {
    case 'hung': return 'hangs';
    case 'down': case 'restarting': return agent.state;
    case 'suspect': return 'suspect';
    case 'unseen': return 'unseen';
    default: return agent.leads ? (agent.draining ? 'DRAINS' : 'LEADER') : agent.role || 'member';
  }
}

function classOf(agent) {
  if (agent.state === 'hung') return 'hung';
  if (agent.state !== 'up') return 'gone';
  return agent.leads ? 'leader' : agent.role || 'follower';
}

// Its score, or what keeps it from being elected. An observer with a score is a learner: it can be made a voter.
function rating(agent) {
  if (agent.kind === 'observer') return agent.score === null ? 'observer' : 'learner';
  return agent.score === null ? 'none' : agent.score;
}

function sentence(agent) {
  const parts = [keyOf(agent), wordOf(agent).toLowerCase()];
  if (agent.kind === 'observer') parts.push(rating(agent));
  if (agent.term) parts.push('term ' + agent.term);
  if (agent.kind === 'voter' && agent.score !== null) parts.push('score ' + agent.score);
  if (agent.leader && !agent.leads) parts.push('follows ' + agent.leader);
  if (agent.isolated) parts.push('isolated');
  return parts.join(', ');
}

function summary(moment) {
  const leaders = moment.agents.filter((agent) => agent.leads).map(keyOf);
  const away = moment.agents.filter((agent) => agent.state !== 'up').length;
  const rest = away ? `; ${away} of ${moment.agent_count} not up` : '';
  if (!leaders.length) return 'No agent leads' + rest;
  if (leaders.length === 1) {
    const leader = moment.agents.find((agent) => agent.leads);
    return `${leaders[0]} leads${leader.term ? ' in term ' + leader.term : ''}${rest}`;
  }
  return `${leaders.length} agents consider themselves leader: ${leaders.slice(0, 8).join(', ')}${rest}`;
}

// A running node says by the clock of its host when it was.
const moments = (ms) => (film.began === null || !state.film ? seconds(ms) : new Date(film.began + ms).toLocaleTimeString([], { hour12: false, fractionalSecondDigits: 3 }));
const seconds = (ms) => (ms / 1000).toFixed(3) + ' s';
const span = (ms) => (ms >= 1000 ? (ms / 1000).toFixed(2) + ' s' : Number(ms.toFixed(1)) + ' ms');

// The well-known kinds have their colours; others share the rest.
const COLOURS = { elect: 0, probe: 0, ok: 3, object: 3, elected: 2, coordinator: 2, yield: 4, consent: 4, heartbeat: 7, resign: 1, claim: 5, ack: 6 };
function colourOf(kind) {
  const word = kind.toLowerCase();
  if (word in COLOURS) return COLOURS[word];
  let sum = 0;
  for (const letter of word) sum = (sum * 31 + letter.charCodeAt(0)) % 7;
  return sum;
}
