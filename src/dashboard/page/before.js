// The past of a node's groups: it is there whether or not this page was.

const BEFORE_EACH = 30000; // ms between two looks; a change of the leader is looked at sooner
const endWords = { down: 'crashed, or was stopped', gone: 'stepped down, or was not heard', replaced: 'replaced at once', renewed: 'led on in a higher term', unseen: 'this process ended before' };
const endOf = ({ end }) => (end === null ? 'leads' : end.lost ? end.lost.replaceAll('_', ' ') : endWords[end] || String(end));

// The last leadership first, as in all lists of this page.
function beforeRows(group) {
  return group.leaderships.slice().reverse().map((one) => [stamp(one.from_unix_ms, false), isolate(one.leader), one.term,
    one.until_unix_ms === null ? '' : age(one.until_unix_ms - one.from_unix_ms), one.without_ms === null ? 'not known' : span(one.without_ms), endOf(one)]);
}

function drawBefore(groups) {
  const key = JSON.stringify(groups);
  if (panels.before === key) return;
  panels.before = key;
  const row = (cells) => make('tr', {}, ...cells.map((cell) => make('td', {}, cell)));
  const names = () => ['From', 'Leader', 'Term', 'Led for', 'No leader before', 'End'].map((name) => make('th', { scope: 'col' }, name));
  const found = (one) => make('li', {}, `${stamp(one.from_unix_ms, false)} to ${stamp(one.until_unix_ms, false)}: ${isolate(one.agent)} found: ${isolate(one.text)}`);
  const part = (group) => make('div', { data: 'before:' + group.group }, make('h3', {}, make('bdi', {}, group.group)),
    make('table', {}, make('thead', {}, make('tr', {}, ...names())), make('tbody', {}, ...beforeRows(group).map(row))),
    ...(group.findings.length ? [make('h4', {}, 'Found in the last half an hour'), make('ul', {}, ...group.findings.slice().reverse().map(found))] : []));
  by('before-groups').replaceChildren(...groups.map(part));
}

async function lookBefore() {
  // A stage has none: its agents are no node's. Neither has a recording.
  const has = Boolean(state.head) && state.head.controls !== 'cluster' && !state.head.film && !state.film;
  by('before').hidden = !has;
  if (!has) return;
  try {
    const response = await fetch('history'), told = await response.json();
    if (response.ok) drawBefore(told);
    else answer(told.message);
  } catch {
    // The connection says so by itself.
  }
}

function armBefore() {
  setInterval(() => { if (!document.hidden && !isSilent()) lookBefore(); }, BEFORE_EACH);
}
