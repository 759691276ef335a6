// Everything beside the picture: what is said in words, in tables, and the timeline.

const by = (id) => document.getElementById(id);

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const name in properties || {}) {
    if (name === 'data' || name === 'class') element.setAttribute(name === 'data' ? 'data-id' : 'class', properties[name]);
    else element[name] = properties[name];
  }
  element.append(...children);
  return element;
}

const namesNow = () => (state.now ? state.now.agents.map((agent) => agent.name) : []);

const panels = { rows: new Map(), rowsShape: '', why: null, chosenKey: '', logged: 0, strip: 0 };

// A text is written only if it is another one: what is read aloud would be read again.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function drawHead() {
  const { head } = state, faults = head.controls === 'cluster';
  by('controls').hidden = by('hint').hidden = !faults;
  by('token-asked').hidden = !(head.token && head.controls !== 'none');
  const choice = (held) => (name) => make('option', { value: name, selected: name === held }, name);
  by('election').replaceChildren(...head.elections.map(choice(head.election)));
  const other = hasBeside() ? beside.head.election : null;
  by('beside').replaceChildren(make('option', { value: '', selected: other === null }, 'none'), ...head.elections.map(choice(other)));
  by('elections-label').hidden = by('beside-label').hidden = head.elections.length === 0;
  const button = ([name, says]) => make('button', { type: 'button', title: says, data: 'scenario:' + name, onclick: () => command({ scenario: name }) }, name.replaceAll('_', ' '));
  by('scenarios').replaceChildren(make('span', {}, 'Scenarios'), ...head.scenarios.map(button));
}

function drawClock() {
  const { clock, network, scenario } = state.now, { again } = clock;
  by('pause').textContent = clock.paused ? 'Go on' : 'Pause';
  for (const id of ['pause', 'step', 'speed']) by(id).disabled = !clock.is_virtual;
  const speed = by('speed');
  if (document.activeElement !== speed) speed.value = String(clock.speed);
  if (network) {
    const [min, max] = network.delay_ns.map((nanos) => Number((nanos / 1e6).toFixed(1)));
    if (document.activeElement !== by('delay')) by('delay').value = String((min + max) / 2);
    if (document.activeElement !== by('loss')) by('loss').value = String(network.loss / 10);
    by('delay-shown').textContent = `${min} to ${max} ms`;
    by('loss-shown').textContent = network.loss / 10 + ' %';
  }
  const played = state.head.scenarios.find(([name]) => name === scenario);
  // In tenths, because it is read aloud.
  const part = () => 10 * Math.floor((10 * again.at_ms) / Math.max(1, again.until_ms));
  const text = again ? `Playing the run again up to ${seconds(again.until_ms)}: ${part()} %` : played ? `Playing: ${played[1]}.` : '';
  write(by('plays'), text);
  by('plays').hidden = !text;
  for (const button of by('scenarios').querySelectorAll('button')) {
    const plays = button.getAttribute('data-id') === 'scenario:' + scenario;
    button.setAttribute('aria-pressed', String(plays));
  }
}

function drawStatus() {
  const now = moment(), broken = state.film ? film.broken.find((each) => each.at_ms === now.at_ms) : null;
  const silent = isLive() && isSilent();
  write(by('status'), (broken ? 'A promise is broken: ' + isolated(broken.text, namesNow()) + '. ' : '') + statusWords(now, silent, ranOut(state)));
  // What the page knew last is not what is.
  document.body.classList.toggle('silent', silent);
}

// The worst group by its name, in the heading and in the title of the tab.
function drawTitle() {
  const now = moment(), [worst] = now.groups, { head } = state;
  const held = head.election ? `${head.title}: ${head.election} election` : `Election: ${head.title}`;
  write(by('title'), worst && worst.name ? 'Election of ' + now.groups.slice(0, 3).map((group) => isolate(group.name)).join(', ') + (now.groups.length > 3 ? ', ..' : '') : held);
  const text = worst ? titled(worst, headline(worst, now, clockNow(), ranOut(state))) : held;
  const title = (isLive() && isSilent() ? connectionWords(state.link, quietFor()) + ' - ' : '') + text + (worst && !worst.name ? ' - ' + held : '');
  if (document.title !== title) document.title = title;
}

// A header for each group. They are as many as there is room for, the worst first.
const HEADERS = 12;
function drawGroups() {
  const now = moment(), at = isLive() ? clockNow() : now.at_ms, shown = now.groups.slice(0, HEADERS), more = now.groups.length - shown.length;
  const key = shown.map((group) => group.name + '|' + group.trouble).join('\n') + more;
  if (panels.groups !== key) {
    panels.groups = key;
    const one = (group) => make('div', { class: 'group ' + group.trouble, data: 'group:' + group.name }, make('h2', {}, make('bdi', {}, group.name || 'The group')), make('p', {}));
    by('group-list').replaceChildren(...shown.map(one), ...(more ? [make('p', { data: 'more-groups' })] : []));
  }
  shown.forEach((group, place) => write(by('group-list').children[place].lastChild, headline(group, now, at, ranOut(state))));
  const bad = now.groups.slice(HEADERS).filter((group) => group.trouble !== 'none').length;
  if (more) write(by('group-list').lastChild, `${more} more groups, ${bad ? bad + ' of them with trouble' : 'each with its leader'}`);
  const silent = isLive() && isSilent(), began = now.began_unix_ms;
  by('clock').hidden = began === undefined;
  if (began !== undefined) write(by('clock'), (silent ? 'last heard at ' : '') + stamp(began + (silent ? now.at_ms : at), false));
}

function drawConnection() {
  if (state.film) return;
  const quiet = quietFor();
  by('connection').className = state.link === 'lost' || quiet >= SILENT ? 'lost' : '';
  write(by('connection'), connectionWords(state.link, quiet));
}

function drawWhy() {
  const { why, peers } = moment();
  if (panels.why === why && panels.peers === peers) return;
  Object.assign(panels, { why, peers });
  const texts = why.length ? why : ['Nothing is known yet.'];
  by('reason-title').textContent = state.film ? 'Last done or found' : 'Why';
  by('why').replaceChildren(...texts.map((text) => make('p', {}, isolated(text, namesNow()))));
  by('peers').hidden = peers.length === 0;
  by('peers').replaceChildren(...peers.map((peer) => make('li', { data: 'peer:' + peer.node }, `host ${peer.node}: ${peer.link}${peer.error ? ', ' + isolate(peer.error) : ''}`)));
}

const cells = (agent) => [isolatedKey(agent), rating(agent),
  agent.state + (agent.isolated ? ', isolated' : ''), agent.role || '', agent.term ? spokenTerm(agent.term) : '', agent.incarnation || '', agent.leader ? isolate(agent.leader) : '', leaseLeft(agent)];

function drawTable() {
  const { agents } = moment(), shape = agents.map(keyOf).join('\n');
  if (shape !== panels.rowsShape) {
    panels.rowsShape = shape;
    panels.rows.clear();
    by('table').replaceChildren(...agents.map((agent) => {
      const row = make('tr', { data: 'row:' + keyOf(agent), onclick: () => choose(keyOf(agent)) }, ...cells(agent).map(() => make('td')));
      row.firstChild.append(make('button', { type: 'button' }));
      panels.rows.set(keyOf(agent), { row, drawn: null });
      return row;
    }));
  }
  for (const agent of agents) {
    const kept = panels.rows.get(keyOf(agent));
    const ticks = agent.lease_until_ms !== undefined && agent.leads;
    kept.row.firstChild.firstChild.setAttribute('aria-pressed', String(state.chosen === keyOf(agent)));
    if (kept.drawn === agent && !ticks) continue;
    kept.drawn = agent;
    const out = ranOut(state)(agent);
    kept.row.className = (agent.leads && !out ? 'leads ' : '') + (agent.state === 'up' && !out ? '' : 'gone');
    cells(agent).forEach((text, place) => {
      const cell = kept.row.children[place];
      write(place ? cell : cell.firstChild, text);
    });
  }
}

// ---- the selected agent ----------------------------------------------------------------------

function drawChosen() {
  const agent = moment().agents.find((agent) => keyOf(agent) === state.chosen);
  if (!agent) return;
  const names = moment().agents.map(keyOf);
  const key = [agent.name, state.head.controls, names.length, agent.state, agent.leads, agent.isolated, agent.kind, listOf() && listOf().voters].join('|');
  if (key !== panels.chosenKey) {
    panels.chosenKey = key;
    const before = document.activeElement && document.activeElement.getAttribute('data-id');
    const other = by('other') && by('other').value;
    by('chosen').replaceChildren(make('h3', {}, sentence(agent, ranOut(state)(agent))), make('dl', { id: 'facts' }), ...actions(agent, names, other));
    const again = before && by('chosen').querySelector(`[data-id="${CSS.escape(before)}"]`);
    if (again && document.activeElement === document.body) (again.disabled ? by('chosen').querySelector('button:not(:disabled)') : again).focus();
  }
  write(by('chosen').firstChild, sentence(agent, ranOut(state)(agent)));
  const labels = ['Agent', 'Score', 'State', 'Role', 'Term', 'Incarnation', 'Follows', 'Lease left'];
  const facts = cells(agent).map((text, place) => [labels[place], text]).filter(([, text]) => text);
  if (agent.about) facts.push(['Says of itself', isolate(agent.about)]);
  const same = hasBeside() && moment(beside).agents.find((other) => keyOf(other) === state.chosen);
  if (same) facts.push([`In the ${beside.head.election} election`, sentence(same)]);
  const now = facts.map(([, text]) => text).join('|');
  if (panels.facts === now && by('facts').childElementCount) return;
  panels.facts = now;
  by('facts').replaceChildren(...facts.flatMap(([label, text]) => [make('dt', {}, label), make('dd', {}, text)]));
}

function actions(agent, names, other) {
  const { controls } = state.head, name = agent.name;
  const button = (label, body, can, says) => make('button', { type: 'button', disabled: !can, title: says || '', data: 'do:' + label.toLowerCase().replaceAll(' ', '-'), onclick: () => command(body) }, label);
  if (controls === 'operate') {
    if (agent.remote) return [make('p', {}, 'It is on another host: command it there.')];
    const order = { command: { step_down: { to: null } }, agent: name };
    if (agent.group) order.group = agent.group;
    return [button('Step down', order, agent.leads)];
  }
  if (controls !== 'cluster') return [];
  const up = agent.state === 'up', hung = agent.state === 'hung', lives = up || hung;
  const own = make('div', { class: 'row' },
    button('Crash', words`crash ${name}`, lives, 'it panics'), button('Stop', words`stop ${name}`, up, 'it ends at once, without handing over'),
    hung ? button('Resume', words`resume ${name}`, true) : button('Hang', words`hang ${name}`, up, 'it handles nothing any more'),
    button('Restart', words`restart ${name}`, agent.state === 'down'), button('Step down', words`step-down ${name}`, up && agent.leads),
    button('Campaign', words`campaign ${name}`, up, 'it holds an election'),
    agent.isolated ? button('Rejoin', words`rejoin ${name}`, true, 'its isolation ends') : button('Isolate', words`isolate ${name}`, true, 'all its links are cut'));
  own.append(...voterActions(name, button));
  const others = names.filter((each) => each !== name);
  if (!others.length) return [own];
  const select = make('select', { id: 'other' }, ...others.map((each) => make('option', { value: each, selected: each === other }, each)));
  select.setAttribute('data-id', 'other');
  const link = (label, body) => make('button', { type: 'button', data: 'do:' + label.toLowerCase().replaceAll(' ', '-'), onclick: () => command(body(select.value)) }, label);
  return [own, make('div', { class: 'row' }, make('label', {}, 'Link with ', select),
    link('Cut', (to) => words`cut ${name} ${to}`), link('Cut one way', (to) => words`cut ${name} > ${to}`),
    link('Mend', (to) => words`mend ${name} ${to}`))];
}

// The moment of the election whose list of voters can be changed, if there is one.
const listOf = () => [state, ...(hasBeside() ? [beside] : [])].map((of) => moment(of)).find((now) => now.voters !== null);

function voterActions(name, button) {
  const list = listOf(), agent = list && list.agents.find((each) => each.name === name);
  if (!agent || agent.score === null) return [];
  if (agent.kind === 'observer') return [button('Make it a voter', words`add-voter ${name}`, true, 'it is heard as a learner')];
  const learners = list.agents.filter((each) => each.kind === 'observer' && each.score !== null && each.state === 'up');
  return [button('Remove from the voters', words`remove-voter ${name}`, true, 'it only follows from then on'),
    ...learners.slice(0, 3).map((each) => button('Replace by ' + each.name, words`replace-voter ${name} ${each.name}`, true, 'as one decision'))];
}

// ---- elections and events --------------------------------------------------------------------

function drawElections() {
  const row = (each) => make('tr', { data: 'election' }, ...[moments(each.at_ms, each.began), isolated(each.cause, namesNow()), each.leaders.map(isolate).join(', ') || 'none', span(each.took_ms), String(each.messages)].map((text, place) => make('td', { class: place === 1 || place === 2 ? 'long' : '' }, text)));
  by('elections').replaceChildren(...state.elections.slice(-60).reverse().map(row));
}

const sortOf = (entry) => (entry.what === 'sent' ? 'message' : entry.what);
function textOf(entry) {
  const names = namesNow();
  if (entry.what === 'sent') return `${isolate(entry.from)} → ${isolate(entry.to)}  ${isolated(entry.text, names)}${entry.lost ? '  lost: ' + isolate(entry.lost) : ''}`;
  return entry.what === 'agent' ? `${isolate(entry.agent)} ${isolated(entry.text, names)}` : isolated(entry.text, names);
}

function isWanted(entry) {
  const sort = by('sort').value, words = by('filter').value.trim().toLowerCase();
  if (entry.what === 'sent' && state.hidden.has(entry.kind)) return false;
  return (sort === 'all' || sort === sortOf(entry)) && (!words || textOf(entry).toLowerCase().includes(words));
}

const SHOWN = 250;
function lineOf(entry) {
  const tone = entry.what === 'sent' ? `message k${colourOf(entry.kind)}${entry.lost ? ' lost' : ''}` : entry.what === 'agent' ? entry.tone : 'mark';
  const line = make('li', { class: tone, data: 'event' }, make('time', {}, moments(entry.at_ms, entry.began)), textOf(entry));
  line.at = entry.at_ms;
  return line;
}

function drawLog(said) {
  const log = by('log');
  if (said === undefined) {
    // Of a recording, what has happened by the moment that is shown.
    const until = state.film ? state.past[state.shown === null ? state.past.length - 1 : state.shown].said : state.said.length;
    const wanted = [];
    for (let place = until - 1; place >= 0 && wanted.length < SHOWN; place -= 1) {
      if (isWanted(state.said[place])) wanted.push(state.said[place]);
    }
    log.replaceChildren(...wanted.map(lineOf));
    return;
  }
  const fresh = said.filter((entry) => entry.what !== 'election' && isWanted(entry)).slice(-SHOWN);
  if (!fresh.length) return;
  log.prepend(...fresh.reverse().map(lineOf));
  while (log.childElementCount > SHOWN) log.lastChild.remove();
}

function drawLegend() {
  const kinds = [...new Set([...state.kinds, ...(hasBeside() ? beside.kinds : [])])];
  if (by('legend').childElementCount === kinds.length) return;
  by('legend').replaceChildren(...kinds.map((kind) => {
    const box = make('input', { type: 'checkbox', checked: !state.hidden.has(kind), data: 'kind:' + kind });
    box.addEventListener('change', () => { box.checked ? state.hidden.delete(kind) : state.hidden.add(kind); drawLog(); });
    return make('li', { class: 'k' + colourOf(kind) }, make('label', {}, box, make('i'), kind));
  }));
}

// ---- the timeline ----------------------------------------------------------------------------

function drawTimeline() {
  const scrub = by('scrub'), last = state.past.length - 1, at = state.shown === null ? last : state.shown;
  const shown = state.past[at];
  // The slider and the strip above it have the time of the agents as their scale.
  Object.assign(scrub, { min: String(state.past[0].at), max: String(Math.max(state.past[last].at, state.past[0].at + 1)) });
  scrub.value = String(shown.at);
  scaleStrip();
  const { began_unix_ms: began } = shown.moment;
  scrub.setAttribute('aria-valuetext', `${moments(shown.at, began)}, ${summary(shown.moment)}`);
  write(by('when'), moments(isLive() && !isSilent() ? clockNow() : shown.at, began));
  by('live').disabled = isLive();
  drawHere();
  by('log').classList.toggle('heard', !isLive());
  if (!isLive()) for (const line of by('log').children) line.classList.toggle('later', line.at > shown.at);
}

// Why no run goes on live from the moment that is shown; empty where one can.
function notFromHere() {
  if (state.film) return film.unrepeatable || film.server || (film.file ? '' : 'open the file of this recording');
  return state.head.unrepeatable || (state.head.controls === 'cluster' ? '' : 'this page takes no commands');
}

function drawHere() {
  const why = notFromHere(), { from } = state.head, differs = from && from.differs ? ` It is not the same run: ${isolated(from.differs, namesNow())}` : '';
  const text = isLive() ? (from ? `Live from ${seconds(from.at_ms)} on, as a new run.${differs}` : '')
    : why ? `No run goes on live from here: ${why}.` : 'The button, or Enter on the timeline, begins a new run with what was done by this moment. What came later is dropped.';
  by('here').hidden = Boolean(why);
  by('here').disabled = isLive();
  write(by('here-said'), text);
  by('here-said').hidden = !text;
}

// Who led when, as a strip: a change of the colour is a change of a leader. Colours stand at different heights.
// In the time of the agents, so that its scale is that of the slider whenever time goes on.
function scaleStrip() {
  const strip = by('strip'), begin = state.past[0].at, total = Math.max(1, state.past[state.past.length - 1].at - begin);
  strip.setAttribute('viewBox', `${begin} 0 ${total} 14`);
  const last = strip.querySelector('.last');
  if (last) last.setAttribute('width', Math.max(total / 500, begin + total - last.getAttribute('x')));
}

const STRIPS = { unled: [8, 6], torn: [4, 6], led: [0, 14] };
function drawStrip() {
  const last = state.past.length - 1, parts = [];
  let from = 0, odd = false;
  const of = (place) => state.past[place].moment.agents.filter((agent) => agent.leads).map(keyOf).join('\n');
  const worst = (place) => { const [group] = state.past[place].moment.groups; return group ? group.trouble : 'no_leader'; };
  const total = Math.max(1, state.past[last].at - state.past[0].at);
  const leaders = state.past.map((_, place) => worst(place) + '\n' + of(place));
  for (let place = 1; place <= last + 1; place += 1) {
    if (place <= last && leaders[place] === leaders[from]) continue;
    const trouble = worst(from), kind = trouble === 'no_leader' ? 'unled' : trouble === 'several_leaders' ? 'torn' : 'led';
    const name = kind + (kind === 'led' && odd ? ' odd' : '') + (place > last ? ' last' : ''), [y, height] = STRIPS[kind];
    if (kind === 'led') odd = !odd;
    const x = state.past[from].at, end = state.past[Math.min(place, last)].at;
    parts.push(shape('rect', { class: name, x, y, width: Math.max(total / 500, end - x), height }));
    from = place;
  }
  const marks = state.film ? film.broken.map((each) => shape('rect', { class: 'broke', x: each.at_ms - total / 333, y: 0, width: total / 167, height: 14 })) : [];
  by('strip').replaceChildren(...parts.slice(-200), ...marks);
  scaleStrip();
}
