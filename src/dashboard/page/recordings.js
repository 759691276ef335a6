// Runs in and out: copies of what is shown, and recordings that are opened and stepped through.

const LARGEST = 16 * 1024 * 1024; // a server opens no larger one
const film = { name: '', broken: [], timer: null, file: null, unrepeatable: null, server: null, after: 0 };

// ---- out -------------------------------------------------------------------------------------

function said(text) {
  write(by('copy-said'), text);
}

// The text of a copy, or null when the server says why there is none.
async function copyOf(file) {
  const second = hasBeside() && by('of').value === 'beside', query = '?' + new URLSearchParams(Object.assign(
    file === 'moment.svg' ? { at_ms: moment(second ? beside : state).at_ms } : {}, second ? { beside: true } : {}));
  try {
    const response = await fetch('copies/' + file + query);
    if (response.ok) return await response.text();
    answer((await response.json()).message);
  } catch {
    answer('The server did not answer: is it still running?');
  }
  return null;
}

async function copyOut() {
  const text = await copyOf(by('form').value);
  if (text === null) return;
  answer('');
  by('copied').value = text;
  by('copied').hidden = false;
  try {
    await navigator.clipboard.writeText(text);
    said('Copied.');
  } catch {
    by('copied').select();
    said('The browser does not let the page copy: the text below is selected.');
  }
}

async function download() {
  const file = by('form').value, text = await copyOf(file);
  if (text === null) return;
  answer('');
  const link = make('a', { href: URL.createObjectURL(new Blob([text])), download: file });
  link.click();
  URL.revokeObjectURL(link.href);
  said(file + ' is downloaded.');
}

async function switchRecord(on) {
  const told = await post('record', on ? { on: {} } : 'off');
  if (told) said(on ? 'The record is on: what the agents of this node say and hear is written down.' : 'The record is off; what was written stays.');
}

// ---- in --------------------------------------------------------------------------------------

async function open(file) {
  if (file.size > LARGEST) return answer(`${file.name} has ${file.size} bytes, and ${LARGEST} at most are opened here: use --replay ${file.name}`);
  try {
    const response = await fetch('film', { method: 'POST', headers: { 'X-Bully-Dashboard': '1' }, body: file });
    const told = await response.json();
    if (!response.ok) return answer(`${file.name}: ${told.message}`);
    answer('');
    play(told, file.name, file);
  } catch {
    answer('The recording did not reach the server: is it still running?');
  }
}

// Whether a record was saved meanwhile: a page that is seen looks by itself.
const SAVED_EACH = 10_000;
// A look that takes longer is given up: a browser has six connections to a host.
const PATIENCE = 10_000;

// The records that the node saved by itself. Names are text, whatever is in them.
async function listSaved(isAsked = false) {
  const has = Boolean(state.head && state.head.records);
  by('saved').hidden = !has;
  if (!has) return;
  try {
    const response = await fetch('records', { signal: AbortSignal.timeout(PATIENCE) }), told = await response.json();
    if (!response.ok) return isAsked && answer(told.message);
    const when = (each) => (each.unix_ms === null ? '' : stamp(each.unix_ms) + '  ');
    const size = (each) => `  (${Math.max(1, Math.round(each.bytes / 1024))} KiB)`;
    const line = (each) => make('li', {}, make('button', { type: 'button', data: 'saved:' + each.file, onclick: () => openSaved(each) }, when(each) + each.of + size(each)), each.reason ? ' ' + each.reason : '');
    const key = JSON.stringify(told);
    if (panels.saved === key && by('saved-list').childElementCount) return;
    panels.saved = key;
    by('saved-list').replaceChildren(...(told.length ? told.map(line) : [make('li', {}, 'None is saved.')]));
  } catch {
    // What nobody has asked for is said by the connection.
    if (isAsked) answer('The server did not answer: is it still running?');
  }
}

async function openSaved({ file }) {
  try {
    const response = await fetch('records/' + encodeURIComponent(file)), told = await response.json();
    if (!response.ok) return answer(`${file}: ${told.message}`);
    answer('');
    play(told, file);
  } catch {
    answer('The server did not answer: is it still running?');
  }
}

// A page of a recording: it is fetched, because it is too long for the stream.
async function openOwn() {
  try {
    const response = await fetch('film');
    play(await response.json(), '');
  } catch {
    answer('The server did not answer: is it still running?');
  }
}

function play(told, name, file = null) {
  disconnect();
  // A recording that is opened from another one is still of the same server.
  const { run = 0, controls = 'none', unrepeatable = null } = state.head || {};
  if (!state.film) Object.assign(film, { after: run, server: controls === 'cluster' ? unrepeatable : 'only the page of a stage that takes commands begins one' });
  Object.assign(film, { name, file, broken: told.broken, unrepeatable: told.unrepeatable });
  state.film = true;
  // The list of saved records is of the server, whatever is played.
  told.snapshot.head.records = Boolean(state.head && state.head.records);
  begin(told.snapshot);
  lookBefore();
  for (const frame of told.frames) advance(frame);
  forget();
  const first = film.broken.length ? placeOf(film.broken[0].at_ms) : 0;
  const left = told.skipped ? `, without its ${told.skipped} oldest entries` : '';
  by('connection').className = '';
  by('connection').textContent = 'recording' + (name ? ' ' + name : '') + left;
  redraw();
  look(first);
}

function leave() {
  stand();
  Object.assign(state, { film: false, now: null, kept: null });
  connect();
}

// A new run, with what was done by the moment that is shown; later commands are dropped.
async function goOnFromHere() {
  if (isLive() || notFromHere()) return;
  stand();
  const place = state.shown === null ? state.past.length - 1 : state.shown, past = state.past.slice(0, place + 1), { at } = past[place];
  const done = await (state.film ? post('go_on?at_ms=' + at, film.file) : command({ go_on_from: { at_ms: at, given: moment().given } }));
  if (!done) return;
  if (state.film) { leave(); state.kept = { past, after: film.after }; }
  by('scrub').focus();
}

function go(steps) {
  const last = state.past.length - 1;
  look(Math.min(last, Math.max(0, (state.shown === null ? last : state.shown) + steps)));
}

function stand() {
  clearTimeout(film.timer);
  film.timer = null;
}

// Plays on: the pauses between two moments as they were, at a fifth of the speed, and none longer than a second.
function run() {
  const at = state.shown === null ? state.past.length - 1 : state.shown;
  if (at >= state.past.length - 1) return stand(), drawFilm();
  const pause = Math.min(1000, 5 * (state.past[at + 1].at - state.past[at].at));
  film.timer = setTimeout(() => { go(1); run(); }, Math.max(40, pause));
  drawFilm();
}

function drawFilm() {
  const { film: shown } = state, last = state.past.length - 1, at = state.shown === null ? last : state.shown;
  by('film').hidden = !shown;
  by('back').disabled = at <= 0;
  by('forward').disabled = at >= last;
  by('run').textContent = film.timer === null ? 'Play' : 'Pause';
  by('run').disabled = film.timer === null && at >= last;
  by('broken').hidden = !film.broken.length;
  by('leave').hidden = !shown || !film.name;
  by('live').hidden = shown;
  by('copying').hidden = shown && Boolean(film.name);
  const { controls } = state.head;
  by('record-on').hidden = by('record-off').hidden = controls !== 'operate';
}

function armRecordings() {
  by('saved-again').addEventListener('click', () => listSaved(true));
  setInterval(() => { if (!document.hidden && !isSilent()) listSaved(); }, SAVED_EACH);
  by('copy').addEventListener('click', copyOut);
  by('download').addEventListener('click', download);
  by('record-on').addEventListener('click', () => switchRecord(true));
  by('record-off').addEventListener('click', () => switchRecord(false));
  by('open').addEventListener('change', () => {
    const [file] = by('open').files;
    // The same file may be chosen again.
    if (file) open(file).then(() => { by('open').value = ''; });
  });
  by('back').addEventListener('click', () => { stand(); go(-1); });
  by('forward').addEventListener('click', () => { stand(); go(1); });
  by('run').addEventListener('click', () => { if (film.timer === null) run(); else { stand(); drawFilm(); } });
  by('broken').addEventListener('click', () => {
    stand();
    const now = moment().at_ms, next = film.broken.find((each) => each.at_ms > now) || film.broken[0];
    look(placeOf(next.at_ms));
  });
  by('leave').addEventListener('click', leave);
  by('here').addEventListener('click', goOnFromHere);
}
