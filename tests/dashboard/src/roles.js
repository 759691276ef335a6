// Gives what a screen reader would miss on the page.
const found = [], all = (css) => [...document.querySelectorAll(css)], seen = (one) => !one.closest('[hidden]');
const need = (holds, what) => { if (!holds) found.push(what); };
need(document.documentElement.lang === 'en', 'the page says its language');
need(document.title !== '', 'the page has a title');
need(all('main').length === 1 && all('h1').length === 1, 'one main part and one first heading');
for (const list of all('[aria-labelledby]')) for (const id of list.getAttribute('aria-labelledby').split(' ')) need(document.getElementById(id), `${id} is there to name something`);
for (const section of all('section').filter(seen)) need(section.getAttribute('aria-label') || section.getAttribute('aria-labelledby'), `a section has a name: ${section.id}`);
const ids = all('[id]').map((one) => one.id);
need(new Set(ids).size === ids.length, 'each id is there once');
need(all('[tabindex]').every((one) => one.tabIndex <= 0), 'the order of the tab key is that of the page');
let level = 0;
for (const heading of all('h1, h2, h3, h4').filter(seen)) { const now = Number(heading.tagName[1]); need(now <= level + 1, `no level is left out before ${heading.textContent}`); level = now; }
const name = (one) => one.getAttribute('aria-label') || one.textContent.trim() || (one.labels && one.labels.length ? one.labels[0].textContent.trim() : '');
for (const one of all('button, input, select, textarea, a, [role=button]').filter(seen)) need(name(one), `it has a name: ${one.id || one.outerHTML.slice(0, 80)}`);
for (const head of all('th')) need(head.scope, `a head of a table says what it is the head of: ${head.textContent}`);
for (const agent of all('#ring .agent')) need(agent.querySelector('[role=button][aria-pressed]'), 'an agent is a button that is pressed or not');
need(all('#ring .agent [tabindex="0"]').length === 1, 'one agent is reached by the tab key, the others by arrows');
need(all('[role=status]').length >= 2 && all('[role=alert]').length === 1, 'what changes is told');
for (const scroll of all('.scroll')) need(scroll.tabIndex === 0 && (scroll.getAttribute('aria-label') || scroll.getAttribute('aria-labelledby')), 'what scrolls is reached by the tab key, and has a name');
return found;
