// The past of a node's groups: it is there whether or not this page was.

const BEFORE_EACH = 30000; // ms between two looks; a change of the leader is looked at sooner
const endWords = { handed_over: 'handed over', down: 'its process or agent ended', gone: 'was not heard any more', replaced: 'another agent took over', renewed: 'led on in a higher term', unseen: 'out of sight of this process' };
const endOf = ({ end }) => (end === null ? 'leads' : end.lost ? end.lost.replaceAll('_', ' ') : endWords[end] || String(end));

// The last leadership first, as in all lists of this page.
function beforeRows(group) {
  return group.leaderships.slice().reverse().map((one) => [stamp(one.from_unix_ms, false), isolate(one.leader), spokenTerm(one.term),
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

const looks = { under: false, again: false };

// One look at a time: an election that flaps asks for many.
async function lookBefore() {
  const has = () => Boolean(state.head && state.head.history) && !state.film;
  by('before').hidden = !has();
  if (!has()) return;
  if (looks.under) { looks.again = true; return; }
  looks.under = true;
  try {
    const response = await fetch('history', { signal: AbortSignal.timeout(PATIENCE) });
    // A recording may have been opened meanwhile.
    if (response.ok && has()) drawBefore(await response.json());
  } catch { /* the connection says so by itself */ }
  looks.under = false;
  if (!looks.again) return;
  looks.again = false;
  lookBefore();
}

function armBefore() {
  setInterval(() => { if (!document.hidden && !isSilent()) lookBefore(); }, BEFORE_EACH);
}
