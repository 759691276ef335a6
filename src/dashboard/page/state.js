'use strict';
// What the page knows: the newest moment, those before it, and what was said. Nothing here touches the document.

const MOMENTS = 4000; // so many are kept for the timeline
const ENTRIES = 2000; // so many entries of the log

const state = {
  head: null, now: null, received: 0, said: [], elections: [],
  past: [], // {at, moment}: the newest last
  shown: null, // a place in `past` while the timeline is moved; null: live
  chosen: null, // the key of the selected agent
  hidden: new Set(), // kinds of messages that are not drawn
  kinds: [], // kinds seen so far
  film: false, // whether a recording is shown, and nothing runs
};

const keyOf = (agent) => (agent.group ? agent.group + ' / ' : '') + agent.name;

function begin(snapshot) {
  if (!state.head || state.head.election !== snapshot.head.election) state.kinds = [];
  state.head = snapshot.head;
  state.now = snapshot.moment;
  state.said = snapshot.said;
  state.elections = snapshot.elections;
  state.past = [{ at: state.now.at_ms, moment: state.now, said: state.said.length }];
  state.shown = null;
  for (const entry of state.said) meet(entry);
}

// A moment is never changed, but replaced: those of the timeline stay as they were.
function advance(change) {
  const next = Object.assign({}, change.moment || state.now, { at_ms: change.at_ms });
  if (change.agents) {
    next.agents = state.now.agents.slice();
    for (const [place, agent] of change.agents) next.agents[place] = agent;
  }
  for (const key of ['cuts', 'peers', 'network', 'why', 'clock', 'scenario']) {
    if (key in change) next[key] = change[key];
  }
  state.now = next;
  const entry = { at: next.at_ms, moment: next, said: 0 };
  state.past.push(entry);
  // A recording has an end, so all of it is kept.
  if (state.past.length > MOMENTS && !state.film) {
    state.past.shift();
    if (state.shown !== null) state.shown = Math.max(0, state.shown - 1);
  }
  const said = change.said || [];
  for (const entry of said) {
    meet(entry);
    (entry.what === 'election' ? state.elections : state.said).push(entry);
  }
  entry.said = state.said.length;
  if (state.film) return said;
  if (state.said.length > ENTRIES) state.said.splice(0, state.said.length - ENTRIES);
  if (state.elections.length > ENTRIES) state.elections.splice(0, state.elections.length - ENTRIES);
  return said;
}

function meet(entry) {
  if (entry.what === 'sent' && !state.kinds.includes(entry.kind)) {
    state.kinds.push(entry.kind);
    // What is said again and again would hide everything else: it is drawn when it is asked for.
    if (/heartbeat|^ack$|^beat|^are_you/.test(entry.kind)) state.hidden.add(entry.kind);
  }
}

const moment = () => (state.shown === null ? state.now : state.past[state.shown].moment);
const isLive = () => state.shown === null && !state.film;

// The time of the agents, as far as can be told between two frames.
function clockNow() {
  const at = moment().at_ms, clock = state.now.clock;
  if (!isLive() || clock.paused) return at;
  return at + Math.min(performance.now() - state.received, 1500) * clock.speed;
}

function leaseLeft(agent) {
  if (agent.lease_until_ms === undefined) return agent.leads ? 'no end' : '';
  return Math.max(0, Math.round(agent.lease_until_ms - clockNow())) + ' ms';
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

function sentence(agent) {
  const parts = [keyOf(agent), wordOf(agent).toLowerCase()];
  if (agent.kind === 'observer') parts.push('observer');
  if (agent.term) parts.push('term ' + agent.term);
  if (agent.score !== null) parts.push('score ' + agent.score);
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
