// Puts it together: the stream in, commands out, and when what is drawn.

const nothing = () => ({ said: [], beside: [], anew: false });
let dirty = nothing();
let scheduled = false;

function schedule() {
  if (scheduled) return;
  scheduled = true;
  // A hidden page draws nothing until it is seen again; a timer keeps its state whole.
  (document.hidden ? (draw) => setTimeout(draw, 500) : requestAnimationFrame)(draw);
}

function draw() {
  scheduled = false;
  const { said, beside: other, anew } = dirty;
  dirty = nothing();
  if (!state.now) return;
  if (anew) {
    drawHead();
    drawLog();
    drawElections();
  }
  drawClock();
  drawStatus();
  drawTitle();
  drawGroups();
  drawConnection();
  showBeside(hasBeside());
  const flown = [fly(rings[0], said), hasBeside() && fly(rings[1], other)];
  // Arrows come first, then what they have done.
  if (flown.includes(true)) requestAnimationFrame(drawLanded);
  else { passed = false; drawRings(); }
  if (hasBeside()) drawBeside();
  drawWhy();
  drawTable();
  drawChosen();
  drawLegend();
  if (!anew) drawLog(said);
  if (said.some((entry) => entry.what === 'election')) { drawElections(); lookBefore(); }
  drawTimeline();
  drawFilm();
}

// Draws what arrows of the last frame have done. If this frame draws newer arrows, they come first, once in a row.
let passed = false;
function drawLanded() {
  passed = scheduled && !passed;
  if (!passed) drawRings();
}

function drawRings() {
  if (!state.now) return;
  drawRing(rings[0]);
  if (hasBeside()) drawRing(rings[1]);
}

// A page that draws nothing for long keeps no more than its log has.
function keepNewest(entries, more) {
  entries.push(...more);
  if (entries.length > ENTRIES) entries.splice(0, entries.length - ENTRIES);
}

function redraw() {
  dirty.anew = true;
  schedule();
}

// ---- the stream ------------------------------------------------------------------------------

let wire = null, visit = 0;

// One stream for all pages of this browser; where it has no such thing, one of this page, which ends while it is hidden.
function openWire() {
  if (!window.SharedWorker) return ownWire();
  const own = { createScriptURL: (url) => (url === 'stream.js' ? url : null) };
  const urls = window.trustedTypes ? trustedTypes.createPolicy('bully', own) : own;
  const worker = new SharedWorker(urls.createScriptURL('stream.js'), 'stream-1'), { port } = worker;
  port.onmessage = ({ data }) => { port.postMessage('took'); hear(data); };
  worker.onerror = () => { wire = ownWire(); wire.join(visit); };
  return { join: (number) => port.postMessage({ join: number }), leave: () => port.postMessage('leave') };
}

function ownWire() {
  let stream = null, joined = null;
  const close = () => { if (stream) stream.close(); stream = null; };
  const open = () => { close(); stream = openStream((name, data) => hear({ visit: joined, name, data, quiet: 0 })); };
  document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else if (joined !== null && !stream) open(); });
  return { join: (number) => { joined = number; open(); }, leave: () => { joined = null; close(); } };
}

function connect() {
  visit += 1;
  Object.assign(state, { link: 'connecting', heard: performance.now() });
  if (!wire) wire = openWire();
  wire.join(visit);
}

function disconnect() {
  visit += 1;
  if (wire) wire.leave();
}

// What was drawn of others is drawn no more.
function forget() {
  for (const ring of rings) ring.shape = '';
  panels.chosenKey = panels.rowsShape = '';
  by('legend').replaceChildren();
}

// An event of the stream; `quiet`: so long ago the server was heard.
function hear({ visit: of, name, data, quiet }) {
  if (of !== visit) return; // it was on its way when the page left
  if (name === 'refused') { state.refused = data; return answer(data); }
  // The reason of a refusal is over when the stream is admitted.
  if (name === 'open' && state.refused === by('answer').textContent) answer('');
  if (name === 'open' || name === 'lost') state.link = name;
  else state.heard = performance.now() - quiet;
  if (name === 'snapshot' || name === 'beside-snapshot') {
    begin(JSON.parse(data), name === 'snapshot' ? state : beside);
    forget();
    if (name === 'snapshot') { listSaved(); lookBefore(); }
    if (name === 'snapshot' && state.head.film) return openOwn();
    redraw();
  } else if (name === 'change') keepNewest(dirty.said, advance(JSON.parse(data)));
  else if (name === 'beside-change') keepNewest(dirty.beside, advance(JSON.parse(data), beside));
  else if (name === 'beat' && state.now) stay(JSON.parse(data).at_ms);
  // The timers of a hidden page are rare, and its title is seen.
  if (document.hidden && state.now) drawTitle();
  drawConnection();
  schedule();
}

// ---- commands --------------------------------------------------------------------------------

function answer(text) {
  by('answer').hidden = !text;
  write(by('answer'), text || '');
}

const command = (body) => post('commands', body);

// A command to a cluster, in the words of its scripts.
const words = (parts, ...values) => ({ command: String.raw({ raw: parts }, ...values) });

const UNANSWERED = 'The server has not answered the command for 5 s. It may still be carried out.';

// Says whether it was done.
async function post(path, body) {
  const headers = { 'Content-Type': 'application/json', 'X-Bully-Dashboard': '1' };
  const token = by('token').value.trim();
  if (token) headers.Authorization = 'Bearer ' + token;
  const late = setTimeout(() => answer(UNANSWERED), 5000);
  try {
    const response = await fetch(path, { method: 'POST', headers, body: body instanceof Blob ? body : JSON.stringify(body) });
    const told = await response.json();
    answer(response.ok ? told.note : told.message);
    return response.ok;
  } catch {
    answer('The server did not answer: is it still running?');
    return false;
  } finally {
    clearTimeout(late);
  }
}

function choose(key) {
  state.chosen = key;
  panels.chosenKey = '';
  schedule();
}

function cut(from, to, oneWay) {
  choose(from);
  if (state.head.controls === 'cluster') command(oneWay ? words`cut ${from} > ${to}` : words`cut ${from} ${to}`);
}

function look(place) {
  const last = state.past.length - 1;
  // The last moment of what runs is the present one, that of a recording is a moment like others.
  state.shown = place === null || (place >= last && !state.film) ? null : Math.min(last, Math.max(0, place));
  // Both elections at the same moment.
  beside.shown = state.shown === null || !hasBeside() ? null : placeOf(state.past[state.shown].at, beside);
  rings.forEach(groundFlights);
  if (state.film) drawLog();
  schedule();
  if (isLive()) return;
  requestAnimationFrame(() => {
    for (const ring of hasBeside() ? rings : rings.slice(0, 1)) drawStill(ring, moment().at_ms);
  });
}

const THEMES = ['auto', 'light', 'dark'], THEME_WORDS = { auto: 'as the system', light: 'light', dark: 'dark' };
function setTheme(theme) {
  const root = document.documentElement;
  if (theme === 'auto') root.removeAttribute('data-theme');
  else root.setAttribute('data-theme', theme);
  const dark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.toggleAttribute('data-dark', dark);
  by('theme').textContent = 'Theme: ' + THEME_WORDS[theme];
  by('theme').value = theme;
  try { localStorage.setItem('bully-theme', theme); } catch { /* it is forgotten with the page */ }
}

function arm() {
  armRing(rings[0], 'ring', choose, cut);
  armRing(rings[1], 'beside-ring', choose, cut);
  armRecordings();
  armBefore();
  by('pause').addEventListener('click', () => command(state.now.clock.paused ? 'play' : 'pause'));
  by('step').addEventListener('click', () => command('step'));
  by('speed').addEventListener('change', () => command({ speed: Number(by('speed').value) }));
  by('election').addEventListener('change', () => command({ election: by('election').value }));
  by('beside').addEventListener('change', () => command({ beside: by('beside').value || null }));
  by('join').addEventListener('click', () => {
    const names = new Set(state.now.agents.map((agent) => agent.name));
    let number = names.size + 1;
    while (names.has('agent-' + number)) number += 1;
    command(words`join agent-${number}`);
  });
  by('heal').addEventListener('click', () => command(words`heal`));
  by('halve').addEventListener('click', () => {
    const names = state.now.agents.map((agent) => agent.name);
    command(words`partition ${names.slice(0, Math.floor(names.length / 2)).join(' ')}`);
  });
  const network = () => {
    const half = Number(by('delay').value) / 2, loss = by('loss').value;
    // What the page has no control for stays.
    const { duplication, slow, slow_by_ns: by_ns, any_order: any } = state.now.network;
    command(words`network delay ${half}ms..${half * 3}ms loss ${loss}% duplicate ${duplication / 10}% slow ${slow / 10}% ${by_ns[0]}ns..${by_ns[1]}ns ${any ? 'any-order' : ''}`);
  };
  for (const id of ['delay', 'loss']) by(id).addEventListener('change', network);
  for (const id of ['sort', 'filter']) by(id).addEventListener('input', () => drawLog());
  by('scrub').addEventListener('input', () => { stand(); look(Number(by('scrub').value) >= Number(by('scrub').max) ? state.past.length - 1 : placeOf(Number(by('scrub').value))); });
  // A key is a step, from one moment to the next.
  by('scrub').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') return goOnFromHere();
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity }[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    stand();
    go(steps);
  });
  // The token stays in its field: nothing is ever sent by a form.
  by('token-form').addEventListener('submit', (event) => event.preventDefault());
  by('live').addEventListener('click', () => { look(null); by('scrub').focus(); });
  by('theme').addEventListener('click', () => setTheme(THEMES[(THEMES.indexOf(by('theme').value) + 1) % 3]));
  let kept = 'auto';
  try { kept = localStorage.getItem('bully-theme') || 'auto'; } catch { /* the system's */ }
  setTheme(THEMES.includes(kept) ? kept : 'auto');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTheme(by('theme').value));
  new ResizeObserver(schedule).observe(rings[0].svg);
  // Leases run, and the clock goes on, between two frames.
  setInterval(() => { if (state.now && isLive() && !document.hidden) schedule(); }, 200);
  setInterval(() => { if (state.now && !document.hidden) drawStrip(); }, 1000);
  setInterval(() => { drawConnection(); if (document.hidden && state.now) drawTitle(); }, 500);
  // A frame that was asked for before the page was hidden does not come.
  document.addEventListener('visibilitychange', () => { scheduled = false; schedule(); });
  addEventListener('pagehide', disconnect);
  addEventListener('pageshow', (event) => { if (event.persisted && !state.film) connect(); });
  connect();
}

arm();
