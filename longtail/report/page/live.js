// The page over a running study (longtail study watch --serve): the program says that something has changed,
// and the page asks for what is new. An archived page has none of this.
'use strict';

// What a page is built around; if that changes, the page is built again.
const structureOf = d => JSON.stringify([d.series.map(s => s.name), d.conditions.map(c => c.name), d.seeds, d.epochs,
  Object.keys(d).filter(key => key.startsWith('has_')).map(key => d[key])]);

function liveWords(words, alive) {
  const box = find('live-status');
  box.textContent = words;
  box.classList.toggle('lost', !alive);
}

const clockWords = () => new Date().toLocaleTimeString([], {hour: '2-digit', minute: '2-digit', second: '2-digit'});

async function refresh() {
  const answer = await fetch('state', {cache: 'no-store'});
  if (!answer.ok) throw new Error(await answer.text());
  const fresh = await answer.json();
  if (fresh.data.version === data.version) return;
  Object.assign(fresh.data, {has_live: true, has_runs: fresh.data.runs.length > 0});
  if (structureOf(fresh.data) !== structureOf(data)) {
    location.reload();
    return;
  }
  const open = new Set(detailsWithId().filter(d => d.open).map(d => d.id));
  data = fresh.data;
  for (const [id, html] of Object.entries(fresh.parts)) find(id).innerHTML = html;  // made and quoted by the program
  for (const d of detailsWithId()) d.open = open.has(d.id);
  tableFiles();
  scrollHints();
  if (data.runs.length) update();
  liveWords('Live. Last change ' + clockWords(), true);
}

function startLive() {
  if (!data.live) return;
  let waiting = Promise.resolve();
  const soon = () => {
    waiting = waiting.then(refresh).catch(() => liveWords('The program that serves this page does not answer. Last seen ' + clockWords(), false));
  };
  const source = new EventSource('events');
  source.addEventListener('change', soon);
  source.addEventListener('open', () => { liveWords('Live. Last change ' + clockWords(), true); soon(); });
  source.addEventListener('error', () => liveWords('The program that serves this page has ended or cannot be reached. Last seen ' + clockWords(), false));
}
