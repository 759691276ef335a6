// Gives each text of the page that is too faint to be read: WCAG 2.2, level AA, asks for 4.5 to 1 whatever its size.
const LEAST = 4.5;
const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
const isSeen = (colour) => { const [, , , alpha] = numbers(colour); return colour !== 'none' && (alpha === undefined || alpha > 0); };
const light = (colour) => {
  const parts = numbers(colour).slice(0, 3).map((part) => { const share = part / 255; return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const ratio = (one, other) => { const [high, low] = [light(one), light(other)].sort((a, b) => b - a); return (high + 0.05) / (low + 0.05); };
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at);
    if (isSeen(backgroundColor)) return backgroundColor;
  }
  return 'rgb(255, 255, 255)';
}
const found = [];
function judge(what, colour, back) {
  const is = ratio(colour, back);
  if (is < LEAST) found.push(`${what}: ${is.toFixed(2)} to 1, ${colour} on ${back}`);
}
function judgeText(element, text) {
  const style = getComputedStyle(element), { ownerSVGElement: svg } = element;
  if (!svg) return judge(text, style.color, ground(element));
  const circle = element.classList.contains('word') && element.parentElement.querySelector('circle:not(.halo)');
  judge(text, style.fill, circle ? getComputedStyle(circle).fill : ground(svg));
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let count = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
  // What cannot be used may be faint.
  if (!text || element.closest('script, noscript, title, option, button:disabled') || !element.getClientRects().length) continue;
  count += 1;
  judgeText(element, text.slice(0, 40));
}
for (const input of document.querySelectorAll('[placeholder]')) judge('a placeholder', getComputedStyle(input, '::placeholder').color, ground(input));
// What an agent may become, also where none is that now.
const agent = document.querySelector('#ring .agent'), word = agent.querySelector('.word'), before = agent.getAttribute('class');
for (const name of ['leader', 'follower', 'candidate', 'waiting', 'gone', 'hung']) {
  agent.setAttribute('class', 'agent ' + name);
  judgeText(word, 'an agent that is ' + name);
}
agent.setAttribute('class', before);
// And what a message may say in the picture.
for (let kind = 0; kind < 8; kind += 1) {
  const group = document.createElementNS('http://www.w3.org/2000/svg', 'g'), text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
  group.setAttribute('class', 'flight k' + kind);
  text.setAttribute('class', 'tip-word');
  group.append(text);
  document.querySelector('#ring').append(group);
  judgeText(text, 'a message of kind ' + kind);
  group.remove();
}
return count < 40 ? [`only ${count} texts were looked at`] : found;
