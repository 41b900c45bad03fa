// The report's page: state, controls, tables. Charts are in charts.js. No network, no storage.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const METRICS = ['overall', 'head', 'medium', 'tail'];
const TITLES = {overall: 'Overall', head: 'Head', medium: 'Medium', tail: 'Tail'};
const TRACKS = {test_acc: 'Test accuracy (%)', train_loss: 'Training loss', head_acc: 'Head accuracy (%)',
  medium_acc: 'Medium accuracy (%)', tail_acc: 'Tail accuracy (%)', train_acc: 'Training accuracy (%)', test_loss: 'Test loss'};

const state = {
  series: new Set(data.series.map(s => s.name)),
  groups: new Set(METRICS),
  seeds: new Set(data.seeds),
  condition: data.conditions.length - 1,
  track: 'test_acc', effect: 'tail', paired: 'tail', zoom: null,
  sort: {column: 1, down: true}, filter: '',
};

const find = id => document.getElementById(id);
const shown = (value, digits = 2) => value === null || value === undefined || !isFinite(value) ? 'n/a' : value.toFixed(digits);
const signed = value => (value >= 0 ? '+' : '') + shown(value);
const mean = list => list.length ? list.reduce((a, b) => a + b, 0) / list.length : null;
function deviation(list) {
  const divisor = data.deviation === 'sample' ? list.length - 1 : list.length;
  if (divisor < 1) return null;
  const centre = mean(list);
  return Math.sqrt(list.reduce((sum, v) => sum + (v - centre) ** 2, 0) / divisor);
}

// The runs of a series in a condition whose seeds are switched on.
const runsOf = (series, condition) =>
  data.runs.filter(r => r.series === series && r.condition === condition && state.seeds.has(data.seeds[r.seed]));
function cell(series, condition, metric) {
  const values = runsOf(series, condition).map(r => r.result[metric]).filter(v => v !== null);
  return {mean: mean(values), std: values.length > 1 ? deviation(values) : null, n: values.length};
}

// ---- controls ----
function chips(id, items, pressed, toggle, radio) {
  const box = find(id);
  box.classList.toggle('radio', !!radio);
  for (const item of items) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.value = item.value;
    if (item.colour) {
      button.style.setProperty('--chip', item.colour);
      button.append(document.createElement('i'));
    }
    button.append(item.title);
    const press = () => { for (const b of box.children) b.setAttribute('aria-pressed', pressed(b.dataset.value)); };
    button.addEventListener('click', () => { toggle(item.value); press(); update(); });
    box.append(button);
    press();
  }
}
const flip = (set, value) => set.has(value) ? set.delete(value) : set.add(value);

function options(id, entries, value, change) {
  const select = find(id);
  for (const [key, title] of entries) select.add(new Option(title, key, false, key === value));
  select.addEventListener('change', () => { change(select.value); update(); });
}

function controls() {
  chips('pick-series', data.series.map(s => ({value: s.name, title: s.title, colour: s.colour})),
    v => state.series.has(v), v => flip(state.series, v));
  chips('pick-groups', METRICS.map(m => ({value: m, title: TITLES[m]})), v => state.groups.has(v), v => flip(state.groups, v));
  chips('pick-seeds', data.seeds.map(s => ({value: String(s), title: String(s)})),
    v => state.seeds.has(Number(v)), v => flip(state.seeds, Number(v)));
  chips('pick-condition', data.conditions.map((c, i) => ({value: String(i), title: c.title})),
    v => state.condition === Number(v), v => { state.condition = Number(v); }, true);
  const metrics = METRICS.map(m => [m, TITLES[m]]);
  const rare = data.runs.some(r => r.result.tail !== null) ? 'tail' : data.runs.some(r => r.result.medium !== null) ? 'medium' : 'overall';
  state.effect = state.paired = rare;
  options('pick-effect', metrics, rare, v => { state.effect = v; });
  options('pick-paired', metrics, rare, v => { state.paired = v; });
  options('pick-track', Object.entries(TRACKS), state.track, v => { state.track = v; });
  for (const id of ['zoom-from', 'zoom-to']) {
    find(id).max = data.epochs;
    find(id).addEventListener('change', () => {
      const a = Math.max(1, Number(find('zoom-from').value) || 1), b = Math.min(data.epochs, Number(find('zoom-to').value) || data.epochs);
      state.zoom = a < b ? [a, b] : null;
      update();
    });
  }
  find('zoom-reset').addEventListener('click', () => { state.zoom = null; update(); });
  for (const element of document.querySelectorAll('.baseline')) element.textContent = data.baseline_title;
}

// ---- the class explorer ----
function classRows() {
  const condition = data.conditions[state.condition];
  const series = data.series.filter(s => state.series.has(s.name));
  return (condition.counts || []).map((count, k) => {
    const values = series.map(s => mean(runsOf(s.name, state.condition).map(r => r.classes ? r.classes[k] : null).filter(v => v !== null)));
    return {name: condition.names[k] || 'class ' + k, count, group: condition.groups[k], values};
  });
}

function classTable() {
  if (!data.has_classes) return;
  const series = data.series.filter(s => state.series.has(s.name));
  const head = find('class-table').tHead, body = find('class-table').tBodies[0];
  const titles = ['Class', 'Images', 'Group', ...series.map(s => s.title)];
  const row = document.createElement('tr');
  titles.forEach((title, c) => {
    const th = document.createElement('th');
    th.scope = 'col';
    if (c === 0 || c === 2) th.className = 'left';
    if (state.sort.column === c) th.setAttribute('aria-sort', state.sort.down ? 'descending' : 'ascending');
    const button = document.createElement('button');
    button.textContent = title + (state.sort.column === c ? (state.sort.down ? ' ↓' : ' ↑') : '');
    button.addEventListener('click', () => {
      state.sort = {column: c, down: state.sort.column === c ? !state.sort.down : c !== 0};
      classTable();
    });
    th.append(button);
    row.append(th);
  });
  head.replaceChildren(row);
  const key = r => [r.name, r.count, r.group, ...r.values][Math.min(state.sort.column, 2 + series.length)];
  const rows = classRows().filter(r => r.name.toLowerCase().includes(state.filter));
  rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (state.sort.down ? -1 : 1));
  body.replaceChildren(...rows.map(r => {
    const tr = document.createElement('tr');
    const add = (text, left) => {
      const td = document.createElement('td');
      td.textContent = text;
      if (left) td.className = 'left';
      tr.append(td);
      return td;
    };
    add(r.name, true);
    add(String(r.count));
    add(r.group, true);
    r.values.forEach((value, s) => {
      const td = add(shown(value, 1));
      td.classList.add('bar');
      td.style.setProperty('--chip', series[s].colour);
      td.style.setProperty('--fill', (value || 0) + '%');
    });
    return tr;
  }));
  find('class-count').textContent = rows.length + ' classes, mean accuracy over the seeds switched on';
}

// ---- tables as files ----
function tableFiles() {
  for (const figure of document.querySelectorAll('figure.table')) {
    const id = figure.id.slice('table-'.length), files = data.files[id];
    if (!files) continue;
    const box = document.createElement('div');
    box.className = 'files';
    for (const [ending, title] of [['csv', 'CSV'], ['tex', 'LaTeX'], ['md', 'Markdown']]) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = title;
      button.setAttribute('aria-label', title + ' of this table');
      button.addEventListener('click', () => {
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([files[ending]], {type: 'text/plain'}));
        link.download = id + '.' + ending;
        link.click();
        URL.revokeObjectURL(link.href);
      });
      box.append(button);
    }
    figure.append(box);
  }
}

function update() {
  for (const element of document.querySelectorAll('.at-condition')) element.textContent = data.conditions[state.condition].title;
  find('zoom-from').value = state.zoom ? state.zoom[0] : 1;
  find('zoom-to').value = state.zoom ? state.zoom[1] : data.epochs;
  drawCharts();
  classTable();
}

function start() {
  for (const element of document.querySelectorAll('[data-needs]')) {
    if (!data['has_' + element.dataset.needs]) element.hidden = true;
  }
  if (!data.has_ratios) find('figure-groups').classList.add('wide');
  controls();
  tableFiles();
  find('class-filter').addEventListener('input', event => { state.filter = event.target.value.toLowerCase(); classTable(); });
  makeCharts();
  update();
  const redraw = () => { themeCharts(); update(); };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details')) d.open = true; redraw(); });
  addEventListener('afterprint', redraw);
}
window.longtail = {data, state, charts: {}, update};
start();
