// Two elections side by side: the second picture, and what the same faults cost each of them.

const title = (of) => of.head.election + ' election';

// What was agreed last, and all that was agreed here.
function cost(of) {
  const leaders = moment(of).agents.filter((agent) => agent.leads).map(isolatedKey), last = of.elections[of.elections.length - 1];
  const all = of.elections.reduce((sum, each) => sum + each.messages, 0);
  const told = (say, none) => (last ? say(last) : none);
  return [
    ['Leads now', leaders.join(', ') || 'none'],
    ['Last agreement', told((each) => moments(each.at_ms, each.began), 'none yet')],
    ['After', told((each) => isolated(each.cause, namesNow()) || 'the beginning', '')],
    ['Time until agreement', told((each) => span(each.took_ms), '')],
    ['Messages until agreement', told((each) => String(each.messages), '')],
    ['Agreements so far', String(of.elections.length)],
    ['Their messages', String(all)],
  ];
}

// Before the second ring is laid out, which needs its width.
function showBeside(shown) {
  by('rings').classList.toggle('two', shown);
  by('other-ring').hidden = by('versus').hidden = by('ring-name').hidden = by('run-of').hidden = !shown;
}

function drawBeside() {
  by('ring-name').textContent = title(state);
  by('beside-name').textContent = title(beside);
  write(by('beside-status'), summary(moment(beside)));
  const first = cost(state), second = cost(beside);
  const key = JSON.stringify([first, second, title(state), title(beside)]);
  if (panels.versus === key) return;
  panels.versus = key;
  const head = (text) => make('th', { scope: 'col' }, text);
  by('versus-head').replaceChildren(head('On the same faults'), head(title(state)), head(title(beside)));
  by('versus-rows').replaceChildren(...first.map(([label, text], row) => make('tr', { data: 'versus:' + label },
    make('th', { scope: 'row' }, label), make('td', { class: 'long' }, text), make('td', { class: 'long' }, second[row][1]))));
}
