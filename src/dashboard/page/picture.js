// The picture: agents as a ring, what is cut, and messages as they travel.

const SVG = 'http://www.w3.org/2000/svg';
const FLIGHTS = 400; // so many messages are drawn at once
const calm = matchMedia('(prefers-reduced-motion: reduce)');

// A picture of one model; its agents are marked by what their `data-id` begins with.
const newRing = (of, mark) => ({ of, mark, svg: null, layers: {}, nodes: new Map(), places: [], flights: [], focused: null, shape: '' });
const rings = [newRing(state, 'agent:'), newRing(beside, 'beside:')];

function shape(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  return element;
}

// How large everything is: few agents are circles with words, many are dots. A unit is a pixel of the page, so that text
// grows with its zoom.
const LINE = 16;
function measure(ring, count) {
  const width = Math.max(220, Math.round(ring.svg.clientWidth)), height = Math.max(220, Math.round(ring.svg.clientHeight)), small = width < 620;
  const round = (dot, beside, above) => Math.max(48, Math.min(width / 2 - dot - beside, height / 2 - dot - above));
  const chord = (radius) => (count < 3 ? width : 2 * radius * Math.sin(Math.PI / count));
  const large = Math.min(44, Math.max(28, Math.min(width, height) / (count <= 8 ? 16 : 20)));
  const wide = small ? round(large, 30, 2 * LINE + 4) : round(large, 150, 3 * LINE + 6);
  const words = count <= 16 && chord(wide) >= 2 * large + (small ? 10 : 6), names = count <= 40;
  const radius = words ? wide : round(12, small ? 70 : 110, names ? 90 : 30);
  const dot = words ? large : Math.min(12, Math.max(2.5, chord(radius) / 2 - 0.5));
  return { small, tight: small && radius < 110, width, height, x: width / 2, y: height / 2, radius, dot, words, names };
}

// Sides of a partition stand apart from each other, with a gap between them.
function place(now, size) {
  const order = now.agents.map((agent, index) => index).sort((a, b) => now.agents[a].side - now.agents[b].side || a - b);
  const sides = [];
  for (const index of order) {
    const side = now.agents[index].side, last = sides[sides.length - 1];
    if (last && last.side === side) last.members.push(index);
    else sides.push({ side, members: [index] });
  }
  const gap = sides.length > 1 ? Math.min(0.5, 2.4 / sides.length) : 0;
  const share = (2 * Math.PI - gap * sides.length) / Math.max(1, order.length);
  const places = [];
  let angle = -Math.PI / 2 - (sides.length > 1 ? (share * sides[0].members.length) / 2 : share / 2);
  for (const one of sides) {
    one.from = angle;
    for (const index of one.members) {
      const at = angle + share / 2;
      places[index] = { angle: at, x: size.x + size.radius * Math.cos(at), y: size.y + size.radius * Math.sin(at) };
      angle += share;
    }
    one.to = angle;
    angle += gap;
  }
  return { places, sides, gap };
}

// Where the agents stand. `drawRing` draws what they are.
function placeAgents(ring) {
  const now = moment(ring.of), size = measure(ring, now.agents.length);
  const key = [size.width, size.height, now.agents.length, now.agents.map((agent) => keyOf(agent) + '\n' + agent.side).join('\n')].join('|');
  if (key !== ring.shape) {
    layOut(ring, now, size, key);
    // The tab key leads to one of the new ones, too.
    focusable(ring, Math.max(0, now.agents.findIndex((agent) => keyOf(agent) === ring.focused)));
  }
}

function drawRing(ring) {
  const now = moment(ring.of);
  placeAgents(ring);
  now.agents.forEach((agent, index) => drawAgent(ring, agent, index));
  drawFollows(ring, now);
  drawLinks(ring, now);
  drawCuts(ring, now);
}

function layOut(ring, now, size, key) {
  ring.shape = key;
  ring.size = size;
  Object.assign(ring, place(now, size));
  ring.svg.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`);
  ring.svg.classList.toggle('small', size.small);
  ring.svg.classList.toggle('many', !size.words);
  const held = document.activeElement && document.activeElement.closest('.agent'), kept = held && held.getAttribute('data-id');
  ring.nodes.clear();
  ring.flights = [];
  for (const name of ['sides', 'follows', 'links', 'cuts', 'agents', 'flights']) {
    ring.layers[name] = shape('g', { class: 'layer-' + name });
  }
  ring.svg.replaceChildren(...Object.values(ring.layers));
  now.agents.forEach((agent, index) => ring.layers.agents.append(newAgent(ring, agent, index, size)));
  drawSides(ring);
  const again = kept && ring.svg.querySelector(`[data-id="${CSS.escape(kept)}"] [role=button]`);
  if (again) again.focus();
}

function newAgent(ring, agent, index, size) {
  const at = ring.places[index], key = keyOf(agent);
  const group = shape('g', { class: 'agent', role: 'none', 'data-id': ring.mark + key, 'data-index': index });
  const parts = {
    button: shape('g', { role: 'button', tabindex: '-1', 'aria-pressed': 'false' }),
    halo: shape('circle', { class: 'halo', cx: at.x, cy: at.y, r: size.dot + 6 }),
    circle: shape('circle', { cx: at.x, cy: at.y, r: size.dot }),
    title: shape('title', {}), word: null, name: null, more: null, last: null,
  };
  // A dot is hard to hit: what is around it counts as well.
  if (size.dot < 12) parts.circle.setAttribute('stroke-width', 1);
  parts.button.append(parts.halo, parts.circle);
  group.append(parts.title, parts.button);
  const out = size.dot + 12, cos = Math.cos(at.angle), sin = Math.sin(at.angle);
  const anchor = size.small || Math.abs(cos) < 0.35 ? 'middle' : cos > 0 ? 'start' : 'end';
  const line = LINE;
  if (size.words) {
    parts.word = shape('text', { class: 'word', x: at.x, y: at.y + 4 });
    const x = anchor === 'middle' ? at.x : at.x + Math.sign(cos) * out;
    const y = anchor === 'middle' ? (sin > 0 || size.small ? at.y + size.dot + line : at.y - size.dot - 2 * line - 4) : at.y - 12;
    parts.name = shape('text', { x, y, 'text-anchor': anchor });
    parts.more = shape('text', { class: 'more', x, y: y + line, 'text-anchor': anchor });
    parts.last = shape('text', { class: 'more', x, y: y + 2 * line, 'text-anchor': anchor });
    group.append(parts.word, parts.name, parts.more, parts.last);
  } else {
    const x = at.x + out * cos, y = at.y + out * sin;
    const turned = cos < 0 ? at.angle + Math.PI : at.angle;
    // Many names stand like spokes; a few of very many stand level.
    const spoke = size.names ? { 'text-anchor': cos < 0 ? 'end' : 'start', transform: `rotate(${(turned * 180) / Math.PI} ${x} ${y})` } : { 'text-anchor': anchor };
    parts.name = shape('text', Object.assign({ class: 'more', x, y: y + (size.names || Math.abs(sin) < 0.9 ? 5 : 12 * Math.sign(sin)) }, spoke));
    group.append(parts.name);
  }
  // The name of the button says all of it.
  for (const part of [parts.word, parts.name, parts.more, parts.last]) if (part) part.setAttribute('aria-hidden', 'true');
  ring.nodes.set(key, { group, parts, drawn: null, text: '' });
  return group;
}

const clip = (name, most) => { const letters = [...name]; return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : name; };

function drawAgent(ring, agent, index) {
  const node = ring.nodes.get(keyOf(agent)), chosen = state.chosen === keyOf(agent);
  const lease = ring.size.words && agent.lease_until_ms !== undefined && agent.leads ? ' · lease ' + leaseLeft(agent, ring.of) : '';
  const out = ranOut(ring.of)(agent), text = chosen + lease + out;
  if (node.drawn === agent && node.text === text) return;
  node.text = text;
  const { group, parts } = node, { words, names, small } = ring.size;
  if (node.drawn !== agent || node.chosen !== chosen || node.out !== out) {
    node.drawn = agent;
    node.out = out;
    node.chosen = chosen;
    group.setAttribute('class', `agent ${classOf(agent, out)}${agent.isolated ? ' isolated' : ''}${chosen ? ' chosen' : ''}`);
    group.setAttribute('data-state', wordOf(agent, out).toLowerCase());
    group.setAttribute('data-side', agent.side);
    parts.button.setAttribute('aria-pressed', String(chosen));
    parts.button.setAttribute('aria-label', sentence(agent, out));
    parts.title.textContent = sentence(agent, out);
    if (words) {
      parts.word.textContent = wordOf(agent, out);
      parts.name.textContent = isolate(clip(keyOf(agent), small ? 11 : 22));
    } else {
      parts.circle.setAttribute('r', agent.leads ? ring.size.dot * 1.8 : ring.size.dot);
      const shown = names || agent.leads || chosen;
      parts.name.textContent = shown ? isolate(clip(keyOf(agent), small ? 12 : 22)) + (agent.leads ? ' LEADER' : '') : '';
    }
  }
  if (words) {
    const facts = [];
    if (agent.term) facts.push('term ' + spokenTerm(agent.term));
    const rest = [];
    if (!small) {
      facts.push(agent.kind === 'observer' ? rating(agent) : agent.score === null ? 'no score' : 'score ' + agent.score);
      if (agent.incarnation) rest.push('inc. ' + (agent.incarnation.length > 6 ? '…' + agent.incarnation.slice(-4) : agent.incarnation));
    }
    if (agent.isolated) facts.push('isolated');
    // Where names stand close together, the table has the rest.
    parts.more.textContent = ring.size.tight ? '' : facts.join(' · ');
    parts.last.textContent = rest.join(' · ') + (small ? '' : lease);
  }
}

function drawSides(ring) {
  const { x, y, radius, dot } = ring.size, out = radius + dot + (ring.size.words ? 66 : 78);
  const parts = [];
  if (ring.sides.length > 1) {
    ring.sides.forEach((side, number) => {
      const wall = side.to + ring.gap / 2;
      parts.push(shape('line', { class: 'wall', 'data-id': 'wall', x1: x, y1: y, x2: x + out * Math.cos(wall), y2: y + out * Math.sin(wall) }));
      const middle = (side.from + side.to) / 2, near = radius * 0.62;
      parts.push(shape('text', { class: 'side-word', 'data-id': 'side', x: x + near * Math.cos(middle), y: y + near * Math.sin(middle) }, 'side ' + (number + 1)));
    });
  }
  ring.layers.sides.replaceChildren(...parts);
}

function drawFollows(ring, now) {
  const places = new Map(now.agents.map((agent, index) => [keyOf(agent), index]));
  const lines = [], key = [];
  now.agents.forEach((agent, index) => {
    if (agent.state !== 'up' || !agent.leader || agent.leads) return;
    const leader = places.get((agent.group ? agent.group + ' / ' : '') + agent.leader);
    if (leader !== undefined && leader !== index) key.push(index + '>' + leader);
  });
  const joined = ring.shape.length + ':' + key.join();
  if (ring.followsKey === joined && ring.layers.follows.childElementCount) return;
  ring.followsKey = joined;
  for (const pair of key) {
    const [from, to] = pair.split('>').map((index) => ring.places[index]);
    lines.push(shape('line', { class: 'follows', x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
  }
  ring.layers.follows.replaceChildren(...lines);
}

// The links of this host with others: from the middle of the picture to where the agents of the other host stand.
function drawLinks(ring, now) {
  const key = ring.shape + now.peers.map((peer) => peer.node + '\n' + peer.link).join('\n') + now.agents.map((agent) => agent.host || '').join('\n');
  if (ring.linksKey === key) return;
  ring.linksKey = key;
  const { x, y, radius, dot } = ring.size, parts = [];
  for (const peer of now.peers) {
    const there = ring.places.filter((_, index) => now.agents[index].host === peer.node);
    if (!there.length) continue;
    const angle = Math.atan2(there.reduce((sum, at) => sum + Math.sin(at.angle), 0), there.reduce((sum, at) => sum + Math.cos(at.angle), 0));
    const long = Math.max(20, radius - dot - 14), end = { x: x + long * Math.cos(angle), y: y + long * Math.sin(angle) };
    parts.push(shape('line', { class: 'link ' + peer.link, 'data-id': 'link:' + peer.node, 'data-link': peer.link, x1: x, y1: y, x2: end.x, y2: end.y }));
    parts.push(shape('text', { class: 'link-word', x: x + long * 0.6 * Math.cos(angle), y: y + long * 0.6 * Math.sin(angle) }, `${isolate(clip(peer.node, 16))}: ${peer.link}`));
  }
  if (parts.length) parts.push(shape('text', { class: 'link-word', x, y: y + 5 }, 'this host'));
  ring.layers.links.replaceChildren(...parts);
}

function drawCuts(ring, now) {
  if (ring.cutsOf === now.cuts && ring.cutsShape === ring.shape) return;
  Object.assign(ring, { cutsOf: now.cuts, cutsShape: ring.shape });
  const ways = new Set(now.cuts.map(([from, to]) => from + '>' + to));
  const few = now.cuts.length <= 24, parts = [];
  for (const [from, to] of now.cuts) {
    const both = ways.has(to + '>' + from);
    if (both && from > to) continue;
    const a = ring.places[from], b = ring.places[to];
    const word = both ? 'cut' : 'one way cut';
    const line = shape('line', { class: 'cut', 'data-id': 'cut', 'data-ways': both ? 2 : 1, x1: a.x, y1: a.y, x2: b.x, y2: b.y });
    line.append(shape('title', {}, `${keyOf(now.agents[from])} ${both ? 'and' : 'to'} ${keyOf(now.agents[to])}: ${word}`));
    parts.push(line);
    const part = both ? 0.5 : 0.62, x = a.x + (b.x - a.x) * part, y = a.y + (b.y - a.y) * part;
    if (!both) parts.push(tip(x, y, Math.atan2(b.y - a.y, b.x - a.x), 'cut-tip'));
    if (few) parts.push(shape('text', { class: 'cut-word', x, y: y - 8 }, word));
  }
  ring.layers.cuts.replaceChildren(...parts);
}

const tip = (x, y, angle, name) => shape('path', { class: name, d: 'M9 0L-6 6L-3 0L-6 -6Z', transform: `translate(${x} ${y}) rotate(${(angle * 180) / Math.PI})` });

// ---- messages --------------------------------------------------------------------------------

// Returns whether an arrow has arrived that was not drawn there before: its effect is drawn with the next frame.
function fly(ring, said) {
  if (!isLive(ring.of) || document.hidden) return false;
  placeAgents(ring);
  const now = moment(ring.of), places = new Map(now.agents.map((agent, index) => [agent.name, index]));
  const pace = Math.max(0.001, now.clock.speed), begun = performance.now();
  // What has arrived by this moment is there, however late the moment came.
  for (const flight of ring.flights) if (flight.arrives <= now.at_ms) flight.takes = Math.min(flight.takes, Math.max(1, begun - flight.start));
  for (const entry of said) {
    if (entry.what !== 'sent' || ring.of.hidden.has(entry.kind)) continue;
    if (ring.flights.length >= FLIGHTS) break;
    const from = ring.places[places.get(entry.from)], to = ring.places[places.get(entry.to)];
    if (!from || !to) continue;
    const arrives = entry.arrives_ms.length ? entry.arrives_ms[0] : entry.at_ms;
    // It arrives before its effect is drawn, at every speed, and stays for a while, so that a quick one is seen.
    const takes = Math.max(1, (0.9 * (arrives - entry.at_ms)) / pace), start = begun - (now.at_ms - entry.at_ms) / pace;
    const until = Math.max(start + takes, begun + 600);
    ring.flights.push({ from, to, start, takes, until, arrives, kind: entry.kind, lost: Boolean(entry.lost), drawn: null, landed: false, ended: false });
  }
  const landed = ring.flights.filter((flight) => !flight.landed && flight.arrives <= now.at_ms);
  for (const flight of landed) {
    flight.landed = true;
    drawFlight(ring, flight, flight.start + flight.takes);
  }
  wake();
  return landed.length > 0;
}

function drawFlight(ring, flight, now) {
  const { from, to, lost, kind } = flight;
  const angle = Math.atan2(to.y - from.y, to.x - from.x), room = ring.size.dot + 4;
  const long = Math.hypot(to.x - from.x, to.y - from.y) - 2 * room;
  const end = lost ? 0.55 : 1;
  const done = calm.matches || flight.landed ? end : Math.min(1, Math.max(0, (now - flight.start) / flight.takes)) * end;
  flight.ended = done === end;
  const at = (part) => ({ x: from.x + (room + long * part) * Math.cos(angle), y: from.y + (room + long * part) * Math.sin(angle) });
  if (!flight.drawn) {
    const start = at(0);
    const group = shape('g', { class: `flight k${colourOf(kind)}${lost ? ' lost' : ''}` });
    const line = shape('line', { class: 'way', x1: start.x, y1: start.y, x2: start.x, y2: start.y });
    const head = lost ? shape('path', { class: 'tip', d: 'M-7 -5L-5 -7L0 -2L5 -7L7 -5L2 0L7 5L5 7L0 2L-5 7L-7 5L-2 0Z' }) : shape('path', { class: 'tip', d: 'M9 0L-6 6L-3 0L-6 -6Z' });
    const word = ring.size.words && ring.flights.length <= 30 ? shape('text', { class: 'tip-word' }, kind + (lost ? ' lost' : '')) : null;
    group.append(line, head);
    if (word) group.append(word);
    ring.layers.flights.append(group);
    flight.drawn = { group, line, head, word };
  }
  const tipAt = at(done), { line, head, word } = flight.drawn;
  line.setAttribute('x2', tipAt.x);
  line.setAttribute('y2', tipAt.y);
  head.setAttribute('transform', `translate(${tipAt.x} ${tipAt.y}) rotate(${(angle * 180) / Math.PI})`);
  if (word) { word.setAttribute('x', tipAt.x); word.setAttribute('y', tipAt.y - 11); }
}

let awake = false;
function wake() {
  if (awake) return;
  awake = true;
  requestAnimationFrame(tick);
}

function tick(now) {
  const linger = calm.matches ? 700 : 120;
  for (const ring of rings) {
    ring.flights = ring.flights.filter((flight) => {
      if (now < flight.start) return true;
      if (now > flight.until + linger) {
        if (flight.ended) {
          flight.drawn.group.remove();
          return false;
        }
        flight.until = now; // a busy browser has skipped the frames in which it arrives
      }
      drawFlight(ring, flight, now);
      return true;
    });
  }
  awake = rings.some((ring) => ring.flights.length > 0);
  if (awake) requestAnimationFrame(tick);
}

function groundFlights(ring) {
  for (const flight of ring.flights) if (flight.drawn) flight.drawn.group.remove();
  ring.flights = [];
}

// What was under way at that moment, where it was: for the timeline.
function drawStill(ring, at) {
  groundFlights(ring);
  const places = new Map(moment(ring.of).agents.map((agent, index) => [agent.name, index]));
  for (const entry of ring.of.said) {
    if (entry.what !== 'sent' || ring.of.hidden.has(entry.kind) || entry.at_ms > at || ring.flights.length >= FLIGHTS) continue;
    // Where it is not known when it arrived, it is drawn half-way at the moment at which it left.
    const known = entry.arrives_ms.length > 0, arrives = known ? entry.arrives_ms[0] : entry.at_ms;
    const from = ring.places[places.get(entry.from)], to = ring.places[places.get(entry.to)];
    if (arrives < at || !from || !to) continue;
    const takes = Math.max(1, arrives - entry.at_ms);
    const flight = { from, to, start: 0, takes: 1, until: 0, kind: entry.kind, lost: Boolean(entry.lost), drawn: null };
    ring.flights.push(flight);
    drawFlight(ring, flight, known ? (at - entry.at_ms) / takes : 0.5);
    flight.ended = true; // it flies no further
  }
}

// ---- hands -----------------------------------------------------------------------------------

function focusable(ring, index) {
  const agent = moment(ring.of).agents[index];
  if (!agent) return;
  const before = ring.nodes.get(ring.focused);
  if (before) before.parts.button.setAttribute('tabindex', '-1');
  ring.focused = keyOf(agent);
  ring.nodes.get(ring.focused).parts.button.setAttribute('tabindex', '0');
}

function armRing(ring, id, choose, cut) {
  ring.svg = document.getElementById(id);
  const indexOf = (target) => { const group = target.closest && target.closest('.agent'); return group ? Number(group.getAttribute('data-index')) : null; };
  const key = (index) => keyOf(moment(ring.of).agents[index]);
  ring.svg.addEventListener('focusin', (event) => { const index = indexOf(event.target); if (index !== null) focusable(ring, index); });
  ring.svg.addEventListener('keydown', (event) => {
    const index = indexOf(event.target), count = moment(ring.of).agents.length;
    if (index === null) return;
    const turn = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = turn ? (index + turn + count) % count : event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 : null;
    if (next !== null) ring.nodes.get(key(next)).parts.button.focus();
    else if (event.key === 'Enter' || event.key === ' ') choose(key(index));
    else return;
    event.preventDefault();
  });
  let from = null, line = null;
  const end = () => { if (line) line.remove(); from = line = null; };
  ring.svg.addEventListener('pointerdown', (event) => { from = indexOf(event.target); });
  ring.svg.addEventListener('pointermove', (event) => {
    if (from === null || !event.buttons) return end();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(ring.svg.getScreenCTM().inverse());
    const begin = ring.places[from];
    if (!line && Math.hypot(at.x - begin.x, at.y - begin.y) < ring.size.dot) return;
    if (!line) ring.layers.flights.append((line = shape('line', { class: 'drag', x1: begin.x, y1: begin.y })));
    line.setAttribute('x2', at.x);
    line.setAttribute('y2', at.y);
  });
  let dragged = false;
  ring.svg.addEventListener('pointerup', (event) => {
    const under = document.elementFromPoint(event.clientX, event.clientY), to = under ? indexOf(under) : null, begin = from;
    dragged = line !== null;
    end();
    if (dragged && begin !== null && to !== null && begin !== to) cut(key(begin), key(to), event.shiftKey);
  });
  // Assistive technology sends a click, and nothing of a pointer before it.
  ring.svg.addEventListener('click', (event) => {
    const index = indexOf(event.target);
    if (index !== null && !dragged) choose(key(index));
    dragged = false;
  });
  ring.svg.addEventListener('pointerleave', end);
}
