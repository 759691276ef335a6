// The stream of events of the server, and who is told of it.

const DEAD = 10_000; // a stream that says nothing for so long is opened anew: a server says something each second
const EVENTS = ['snapshot', 'change', 'beside-snapshot', 'beside-change', 'beat'];

// Opens the stream, and tells each of its events by name, with the text that came.
function openStream(tell) {
  let source = null, heard = performance.now();
  function open() {
    if (source) source.close();
    const ours = new EventSource('events'), hear = (name) => (event) => { if (source === ours) { heard = performance.now(); tell(name, event.data); } };
    source = ours;
    heard = performance.now();
    ours.addEventListener('open', hear('open'));
    for (const name of EVENTS) ours.addEventListener(name, hear(name));
    ours.addEventListener('error', () => {
      if (source !== ours) return;
      tell('lost');
      if (ours.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      explain(tell);
      setTimeout(() => { if (source === ours) open(); }, 5000);
    });
  }
  const watch = setInterval(() => { if (performance.now() - heard > DEAD) open(); }, 1000);
  open();
  return { close: () => { clearInterval(watch); source.close(); source = null; } };
}

// A refused stream says nothing to its page: the reason is asked for once more.
async function explain(tell) {
  const stop = new AbortController();
  try {
    const response = await fetch('events', { signal: stop.signal });
    if (!response.ok) tell('refused', (await response.json()).message);
    stop.abort();
  } catch { /* the server is gone, which the page says already */ }
}

// Keeps what a page has to know to begin.
function follow(models, name, text) {
  const beside = name.startsWith('beside-'), of = beside ? models.beside : models.first, data = JSON.parse(text);
  if (name.endsWith('snapshot')) begin(data, of);
  else if (name.endsWith('change')) advance(data, of);
  else if (of.now) of.now = Object.assign({}, of.now, { at_ms: data.at_ms });
  of.past.length = 0;
}

const snapshotOf = (of) => JSON.stringify({ head: of.head, moment: of.now, said: of.said.slice(-300), elections: of.elections.slice(-300) });
