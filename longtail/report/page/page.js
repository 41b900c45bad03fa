// The report's page: state, controls, tables. Charts are in charts.js. No network, no storage.
'use strict';
let data = JSON.parse(document.getElementById('data').textContent);
const METRICS = ['overall', 'head', 'medium', 'tail'];
const TITLES = {overall: 'Overall', head: 'Head', medium: 'Medium', tail: 'Tail'};
const TRACKS = {test_acc: 'Test accuracy (%)', train_loss: 'Training loss', head_acc: 'Head accuracy (%)',
  medium_acc: 'Medium accuracy (%)', tail_acc: 'Tail accuracy (%)', train_acc: 'Training accuracy (%)', test_loss: 'Test loss'};

const state = {
  series: new Set(data.series.map(s => s.name)),
  groups: new Set(METRICS),
  seeds: new Set(data.seeds),
  condition: Math.max(0, data.conditions.length - 1),
  track: 'test_acc', effect: 'tail', paired: 'tail', zoom: null,
  sort: {column: 1, down: true}, filter: '', at: '',
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

// Standard error of the mean, always from the sample deviation, whatever the tables use.
function standardError(list) {
  const centre = mean(list);
  return list.length > 1 ? Math.sqrt(list.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (list.length - 1) / list.length) : null;
}
// 39.1 ± 0.2 (3): mean, standard error, number of values.
const meanWords = (list, digits = 1) => list.length ? shown(mean(list), digits) + (list.length > 1 ? ' ± ' + shown(standardError(list), digits) : '') + ' (' + list.length + ')' : 'n/a';

// The runs of a series in a condition whose seeds are switched on.
const runsOf = (series, condition) =>
  data.runs.filter(r => r.series === series && r.condition === condition && state.seeds.has(data.seeds[r.seed]));
const valuesOf = (series, condition, metric) => runsOf(series, condition).map(r => r.result[metric]).filter(v => v !== null);
function cell(series, condition, metric) {
  const values = valuesOf(series, condition, metric);
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
    button.addEventListener('click', () => { toggle(item.value); update(); });
    box.append(button);
  }
  showers.push(() => { for (const b of box.children) b.setAttribute('aria-pressed', pressed(b.dataset.value)); });
}
const flip = (set, value) => set.has(value) ? set.delete(value) : set.add(value);

const allowed = {};  // the possible values of each single choice
function options(id, entries, key) {
  const select = find(id);
  allowed[key] = entries.map(([value]) => value);
  for (const [value, title] of entries) select.add(new Option(title, value));
  select.addEventListener('change', () => { state[key] = select.value; update(); });
  showers.push(() => { select.value = state[key]; });
}

// Functions that make each control show the state, however it was set.
const showers = [];

function controls() {
  chips('pick-series', data.series.map(s => ({value: s.name, title: s.title, colour: s.colour})),
    v => state.series.has(v), v => flip(state.series, v));
  // The legend of every figure: the overall accuracy next to the name.
  for (const button of find('pick-series').children) button.append(document.createElement('small'));
  showers.push(() => {
    for (const button of find('pick-series').children) button.lastChild.textContent = meanWords(valuesOf(button.dataset.value, state.condition, 'overall'));
  });
  chips('pick-groups', METRICS.map(m => ({value: m, title: TITLES[m]})), v => state.groups.has(v), v => flip(state.groups, v));
  chips('pick-seeds', data.seeds.map(s => ({value: String(s), title: String(s)})),
    v => state.seeds.has(Number(v)), v => flip(state.seeds, Number(v)));
  chips('pick-condition', data.conditions.map((c, i) => ({value: String(i), title: c.title})),
    v => state.condition === Number(v), v => { state.condition = Number(v); }, true);
  const metrics = METRICS.map(m => [m, TITLES[m]]);
  state.effect = state.paired = data.runs.some(r => r.result.tail !== null) ? 'tail' : data.runs.some(r => r.result.medium !== null) ? 'medium' : 'overall';
  options('pick-effect', metrics, 'effect');
  options('pick-paired', metrics, 'paired');
  options('pick-track', Object.entries(TRACKS), 'track');
  for (const id of ['zoom-from', 'zoom-to']) {
    find(id).max = data.epochs;
    find(id).addEventListener('change', () => {
      const a = Math.max(1, Number(find('zoom-from').value) || 1), b = Math.min(data.epochs, Number(find('zoom-to').value) || data.epochs);
      state.zoom = a < b ? [a, b] : null;
      update();
    });
  }
  showers.push(() => {
    find('zoom-from').value = state.zoom ? state.zoom[0] : 1;
    find('zoom-to').value = state.zoom ? state.zoom[1] : data.epochs;
  });
  find('zoom-reset').addEventListener('click', () => { state.zoom = null; update(); });
  find('class-filter').addEventListener('input', event => { state.filter = event.target.value.toLowerCase(); showClasses(); });
  showers.push(() => { if (find('class-filter').value.toLowerCase() !== state.filter) find('class-filter').value = state.filter; });
  for (const element of document.querySelectorAll('.baseline')) element.textContent = data.baseline_title;
}

// ---- files to save ----
function save(name, content, type) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// The logs as packed: a .tar.gz.
const packedLogs = () => Uint8Array.from(atob(data.logs.packed), letter => letter.charCodeAt(0));

function fileButtons(box, id) {
  const files = data.files[id];
  box.replaceChildren();
  for (const [ending, title] of files ? [['csv', 'CSV'], ['tex', 'LaTeX'], ['md', 'Markdown']] : []) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = title;
    button.setAttribute('aria-label', title + ' of this table');
    button.addEventListener('click', () => save(id + '.' + ending, files[ending], 'text/plain'));
    box.append(button);
  }
}

function tableFiles() {
  for (const figure of document.querySelectorAll('figure.table')) {
    const box = document.createElement('div');
    box.className = 'files';
    fileButtons(box, figure.id.slice('table-'.length));
    figure.append(box);
  }
}

// Tables wider than the screen show that they scroll.
function scrollHints() {
  for (const box of document.querySelectorAll('.scroll:not([tabindex])')) {
    box.tabIndex = 0;
    const hint = document.createElement('p');
    hint.className = 'hint';
    hint.textContent = 'Scroll sideways for more →';
    box.before(hint);
    const look = () => {
      const hidden = box.scrollWidth - box.clientWidth;
      hint.hidden = hidden < 2;
      box.classList.toggle('more', hidden - box.scrollLeft > 2);
    };
    box.addEventListener('scroll', look, {passive: true});
    new ResizeObserver(look).observe(box);
    new ResizeObserver(look).observe(box.firstElementChild);
  }
}

function update() {
  for (const element of document.querySelectorAll('.at-condition')) element.textContent = data.conditions[state.condition].title;
  for (const show of showers) show();
  drawCharts();
  classTable();
  drawGrid();
  writeView();
}

function start() {
  Object.assign(data, {has_live: !!data.live, has_runs: data.runs.length > 0});
  for (const element of document.querySelectorAll('[data-needs]')) {
    if (!data['has_' + element.dataset.needs]) element.hidden = true;
  }
  startLive();
  if (!data.has_runs) {  // a study that has just begun
    scrollHints();
    return;
  }
  if (!data.has_ratios) find('figure-groups').classList.add('wide');
  controls();
  gridControls();
  tableFiles();
  scrollHints();
  if (find('save-logs')) find('save-logs').addEventListener('click', () => save(data.logs.name, packedLogs(), 'application/gzip'));
  makeCharts();
  startView();
  update();
  showPlace();
  const redraw = () => { themeCharts(); update(); };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  let open = [];
  addEventListener('beforeprint', () => {
    open = [...document.querySelectorAll('details[open]')];
    for (const d of document.querySelectorAll('details')) d.open = true;
    redraw();
  });
  addEventListener('afterprint', () => {
    for (const d of document.querySelectorAll('details')) d.open = open.includes(d);
    redraw();
  });
}
window.longtail = {get data() { return data; }, state, charts: {}, update, packedLogs};
start();
