// What is said of a moment and of its groups. Nothing here touches the document, or reads a clock: times are given.

const SILENT = 3000; // after so many milliseconds without a word of the server, what is shown counts as old

// What is said of the connection; `quiet`: so many milliseconds nothing was heard.
function connectionWords(link, quiet) {
  if (quiet >= SILENT) return link === 'connecting' ? `no answer for ${age(quiet)}` : `last heard ${age(quiet)} ago`;
  return link === 'lost' ? 'no connection: what is shown is old' : link === 'open' ? 'live' : 'connecting';
}

// Where there is one group, agents do not name it.
const membersOf = (group, moment) => (moment.groups.length < 2 ? moment.agents : moment.agents.filter((agent) => agent.group === group.name));
const titled = (group, text) => (group.name ? isolate(group.name) + ': ' + text : text);

// What is written from right to left must not turn what stands beside it, and no character of a text turns the page.
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
function isolate(text) {
  const plain = text.replace(TURNS, '\ufffd');
  return TURNED.test(plain) ? `\u2068${plain}\u2069` : plain;
}

// A sentence of the server: the names in it are isolated from its words, the longest first.
function isolated(text, names) {
  const plain = text.replace(TURNS, '\ufffd');
  if (!TURNED.test(plain)) return plain;
  const turned = names.filter((name) => TURNED.test(name)).sort((a, b) => b.length - a.length);
  if (!turned.length) return isolate(plain);
  const any = new RegExp(turned.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'gu');
  return plain.replace(any, (name) => isolate(name));
}

function restOf(members) {
  const lost = members.filter((agent) => agent.state === 'unreachable').length, away = members.filter((agent) => agent.state !== 'up').length - lost;
  return (away ? `; ${away} of ${members.length} not up` : '') + (lost ? `; ${lost} of ${members.length} cannot be reached` : '');
}

// A page shows a thousand agents at most: the leader of a group may be none of them.
const unseen = (group) => (group.trouble === 'no_leader' || group.trouble === 'none' ? '' : 'its leader is not among the agents shown');

// Who leads, and what is wrong, in a text that stays as long as that does. `out`: whether a leader's lease has run out.
function stateOf(group, moment, out = () => false) {
  const members = membersOf(group, moment), leaders = members.filter((agent) => agent.leads), rest = restOf(members);
  if (!leaders.length) return (unseen(group) || 'No agent leads') + rest;
  if (leaders.length > 1) return `${leaders.length} agents consider themselves leader: ${leaders.slice(0, 8).map((agent) => isolate(agent.name)).join(', ')}${rest}`;
  const [leader] = leaders, term = leader.term ? ' in term ' + spokenTerm(leader.term) : '', few = group.trouble === 'few_voters' ? '; too few voters can be reached' : '';
  return out(leader) ? `${isolate(leader.name)} led${term} when last heard, and its lease has run out${few}${rest}` : `${isolate(leader.name)} leads${term}${few}${rest}`;
}

// The same in a few words, with the age of the trouble.
function headline(group, moment, at, out = () => false) {
  const lasts = group.since_ms === undefined ? '' : ' for ' + age(at - group.since_ms);
  const members = membersOf(group, moment), leaders = members.filter((agent) => agent.leads), [leader] = leaders;
  const led = leader ? isolate(leader.name) + (out(leader) ? ' led, its lease has run out' : ' leads') : unseen(group);
  switch (group.trouble) {
    case 'no_leader': return 'no leader' + lasts;
    case 'several_leaders': return `${leaders.length} leaders${lasts}`;
    case 'few_voters': return `${led ? led + ', but ' : ''}too few voters${lasts}`;
    case 'away': return `${led}; ${restOf(members).slice(2) || 'a member is cut off'}${lasts}`;
    default: return led || 'nothing is known yet';
  }
}

// The worst group, and how many others have a trouble.
function summary(moment, out) {
  if (!moment.groups.length) return 'No agent leads';
  const [worst, ...others] = moment.groups, more = others.filter((group) => group.trouble !== 'none').length;
  return titled(worst, stateOf(worst, moment, out)) + (more ? `; ${more} more group${more > 1 ? 's have' : ' has'} trouble` : '');
}

// What a screen reader is told: it stays the same while nothing happens.
function statusWords(moment, silent, out) {
  const [worst] = moment.groups, began = moment.began_unix_ms;
  const since = worst && worst.trouble !== 'none' && worst.since_ms !== undefined && began !== undefined ? ', since ' + stamp(began + worst.since_ms, false) : '';
  const heard = began === undefined ? '' : ' since ' + stamp(began + moment.at_ms, false);
  return (silent ? `Nothing is heard from the server${heard}. When last heard: ` : '') + summary(moment, out) + since;
}
