// One stream for all pages of a browser, which gives one host six connections. It runs beside the pages, and ends with the last.

const BACKLOG = 256; // so many messages a page may leave unread; then it begins anew when it reads again
const pages = new Map(); // of each port: the number of its visit, messages that it has not taken, whether it is behind
const models = { first: newModel(new Set()), beside: newModel(new Set()) };
let stream = null, link = 'connecting', quietSince = null;

const quiet = () => (quietSince === null ? 0 : performance.now() - quietSince);

function send(port, page, name, data) {
  if (page.behind) return;
  page.behind = page.owed >= BACKLOG;
  if (page.behind) return;
  page.owed += 1;
  port.postMessage({ visit: page.visit, name, data, quiet: quiet() });
}

// Everything that a page has to know that comes later than others.
function greet(port, page) {
  if (models.first.now) send(port, page, 'snapshot', snapshotOf(models.first));
  if (models.beside.now) send(port, page, 'beside-snapshot', snapshotOf(models.beside));
  if (link !== 'connecting') send(port, page, link);
}

function tell(name, data) {
  if (name === 'open' || name === 'lost') link = name;
  else if (name !== 'refused') {
    quietSince = performance.now();
    follow(models, name, data);
  }
  for (const [port, page] of pages) send(port, page, name, data);
}

function leave(port) {
  pages.delete(port);
  if (pages.size || !stream) return;
  stream.close();
  stream = null;
  link = 'connecting';
  models.first.now = models.beside.now = null;
}

addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    const page = pages.get(port);
    if (data === 'leave') leave(port);
    else if (data !== 'took') {
      const joined = { visit: data.join, owed: 0, behind: false };
      pages.set(port, joined);
      if (stream) greet(port, joined);
      else stream = openStream(tell);
    } else if (page) {
      page.owed = Math.max(0, page.owed - 1);
      if (!page.behind || page.owed) return;
      page.behind = false;
      greet(port, page);
    }
  };
});
