// Studies in which more than the strategy and the ratio varies: small multiples by any parameters, what differs
// between two series, and parallel coordinates.
'use strict';

const NONE = '(none)';
const MOST_VALUES = 12;  // of a parameter used for colour, rows or columns
const SVG = 'http://www.w3.org/2000/svg';
let parameters = [];  // [{key, values}], in the order of data.varying, the strategy first and the ratio second

// progressive:gamma=2 is the strategy progressive with gamma 2.
const settingsKept = new WeakMap();
function settingsOf(run) {
  if (!settingsKept.has(run)) settingsKept.set(run, readSettings(run));
  return settingsKept.get(run);
}
function readSettings(run) {
  const colon = run.strategy.indexOf(':'), nested = run.strategy.lastIndexOf(':') !== colon;
  const settings = {strategy: colon < 0 || nested ? run.strategy : run.strategy.slice(0, colon), rho: String(run.rho)};
  for (const part of colon < 0 || nested ? [] : run.strategy.slice(colon + 1).split(',')) {
    const [key, value] = part.split('=');
    settings[key] = value ?? '';
  }
  return {...settings, ...run.params};
}

function findParameters() {
  const values = new Map();
  for (const run of data.runs) {
    for (const [key, value] of Object.entries(settingsOf(run))) values.set(key, (values.get(key) || new Set()).add(value));
  }
  // A parameter that a run lacks counts as one more value.
  for (const run of data.runs) for (const key of values.keys()) if (!(key in settingsOf(run))) values.get(key).add('–');
  const inOrder = list => list.every(v => v !== '' && (v === '–' || isFinite(v))) ? list.sort((a, b) => (a === '–' ? -Infinity : a) - (b === '–' ? -Infinity : b)) : list;
  return [...values].filter(([, set]) => set.size > 1).map(([key, set]) => ({key, values: inOrder([...set])}));
}
const valueOf = (run, key) => key === NONE ? '' : settingsOf(run)[key] ?? '–';
const valuesOfParameter = key => key === NONE ? [''] : parameters.find(p => p.key === key).values;
const parameterTitle = key => ({strategy: 'strategy', rho: 'ρ'})[key] || key;
const strategyTitle = name => name.split('_').map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('-');
const valueTitle = (key, value) => key === 'strategy' ? strategyTitle(value) : key === NONE ? '' : parameterTitle(key) + ' = ' + value;

const GRID_COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#8a6d1a', '#666666'];
function colourOfValue(value) {
  const known = state.colour === 'strategy' && data.series.find(s => s.name.split(/[ :(]/)[0] === value);
  return known ? colourOf(known) : GRID_COLOURS[Math.max(0, valuesOfParameter(state.colour).indexOf(value)) % GRID_COLOURS.length];
}

function draw(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
const element = (name, text, className) => Object.assign(document.createElement(name), text === undefined ? {} : {textContent: text}, className ? {className} : {});

const gridRuns = () => data.runs.filter(r => state.series.has(r.series) && state.seeds.has(data.seeds[r.seed]) && r.result[state.measure] !== null);

// ---- small multiples: a panel for each value of rows and columns, a line for each value of the colour ----
function panel(runs, reach) {
  const values = valuesOfParameter(state.colour), height = 20 * values.length + 4, width = 250;
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({viewBox: `0 0 ${width} ${height}`, width, height, class: 'panel', role: 'img'})) svg.setAttribute(key, value);
  const x = v => 6 + 130 * (v - reach[0]) / (reach[1] - reach[0]), said = [];
  values.forEach((value, i) => {
    const y = 12 + 20 * i, mine = runs.filter(r => valueOf(r, state.colour) === value).map(r => r.result[state.measure]);
    draw('line', {x1: 6, x2: 136, y1: y, y2: y, stroke: 'currentColor', 'stroke-opacity': .12}, svg);
    if (!mine.length) return;
    const colour = colourOfValue(value), error = standardError(mine) || 0, centre = mean(mine);
    for (const one of mine) draw('circle', {cx: x(one), cy: y, r: 2.6, fill: colour, 'fill-opacity': .35}, svg);
    draw('line', {x1: x(centre - error), x2: x(centre + error), y1: y, y2: y, stroke: colour, 'stroke-width': 2}, svg);
    draw('line', {x1: x(centre), x2: x(centre), y1: y - 6, y2: y + 6, stroke: colour, 'stroke-width': 3}, svg);
    draw('text', {x: 144, y: y + 4, 'font-size': 11.5, fill: 'currentColor'}, svg, meanWords(mine));
    said.push(valueTitle(state.colour, value) + ' ' + meanWords(mine));
  });
  svg.setAttribute('aria-label', said.join('; ') || 'no run');
  return svg;
}

function drawPanels() {
  const runs = gridRuns(), all = runs.map(r => r.result[state.measure]), table = find('grid-table');
  const reach = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  if (reach[0] === reach[1]) { reach[0] -= 1; reach[1] += 1; }
  const rows = valuesOfParameter(state.rows), columns = valuesOfParameter(state.columns);
  const head = element('tr');
  head.append(element('th', ''), ...columns.map(c => element('th', valueTitle(state.columns, c), 'left')));
  const body = rows.map(r => {
    const tr = element('tr');
    tr.append(element('th', valueTitle(state.rows, r), 'left'));
    for (const c of columns) {
      const td = element('td', undefined, 'left');
      td.append(panel(runs.filter(run => valueOf(run, state.rows) === r && valueOf(run, state.columns) === c), reach));
      tr.append(td);
    }
    return tr;
  });
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...body);
  find('grid-legend').replaceChildren(...(state.colour === NONE ? [] : valuesOfParameter(state.colour).map(value => {
    const item = element('span'), mark = element('i');
    mark.style.background = colourOfValue(value);
    item.append(mark, valueTitle(state.colour, value));
    return item;
  })));
  find('grid-scale').textContent = TITLES[state.measure] + ' accuracy from ' + shown(reach[0], 1) + ' to ' + shown(reach[1], 1) + ' percent in every panel. A dot is a run, the bar the mean, the line one standard error; beside it mean ± standard error (runs).';
}

// ---- what differs between two series ----
function drawComparer() {
  const sides = [state.left, state.right], table = find('compare-table');
  const settings = sides.map(name => { const run = data.runs.find(r => r.series === name); return run ? settingsOf(run) : {}; });
  const keys = parameters.map(p => p.key).filter(key => key !== 'rho' && (settings[0][key] ?? '–') !== (settings[1][key] ?? '–'));
  const line = (title, cells, name) => {
    const tr = element('tr', undefined, name);
    tr.append(element('td', title, 'left'), ...cells.map(c => element('td', c)));
    return tr;
  };
  const head = element('tr');
  head.append(element('th', '', 'left'), ...sides.map(name => element('th', data.series.find(s => s.name === name).title)), element('th', 'Difference by seed'));
  const rows = keys.map(key => line(parameterTitle(key), [...settings.map(s => s[key] ?? '–'), ''], 'setting'));
  for (const metric of METRICS) {
    const [a, b] = sides.map(name => runsOf(name, state.condition)), pairs = [];
    for (const ours of a) {
      const theirs = b.find(r => r.seed === ours.seed);
      if (theirs && ours.result[metric] !== null && theirs.result[metric] !== null) pairs.push(theirs.result[metric] - ours.result[metric]);
    }
    const difference = pairs.length ? (mean(pairs) >= 0 ? '+' : '') + meanWords(pairs, 2) : 'n/a';
    rows.push(line(TITLES[metric] + ' (%)', [...sides.map(name => meanWords(valuesOf(name, state.condition, metric), 2)), difference]));
  }
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows);
  find('compare-note').textContent = (keys.length ? 'Parameters that are not listed are the same in both.' : 'The two have the same parameters.') + ' Mean ± standard error (seeds), ' + data.conditions[state.condition].title + '.';
}

// ---- parallel coordinates: one line for each series and condition ----
function drawParallel() {
  const box = find('parallel'), axes = [...parameters.map(p => p.key), 'accuracy'], height = 300, gap = 150, width = 60 + gap * axes.length;
  box.replaceChildren();
  const svg = draw('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'Parallel coordinates of parameters and accuracy'}, box);
  const lines = draw('g', {}, svg), groups = new Map();  // the words are drawn above the lines
  for (const run of gridRuns()) {
    const key = run.series + '|' + run.condition;
    groups.set(key, [...(groups.get(key) || []), run]);
  }
  const means = [...groups.values()].map(runs => mean(runs.map(r => r.result[state.measure])));
  let [low, high] = means.length ? [Math.min(...means), Math.max(...means)] : [0, 1];
  if (low === high) { low -= 1; high += 1; }
  const x = i => 50 + gap * i, at = (index, count) => count < 2 ? 150 : 40 + 220 * (1 - index / (count - 1));
  axes.forEach((key, i) => {
    draw('line', {x1: x(i), x2: x(i), y1: 34, y2: 266, stroke: 'currentColor', 'stroke-opacity': .35}, svg);
    draw('text', {x: x(i), y: 20, 'text-anchor': 'middle', 'font-size': 12.5, 'font-weight': 600, fill: 'currentColor'}, svg, i < axes.length - 1 ? parameterTitle(key) : TITLES[state.measure] + ' (%)');
    const ticks = i < axes.length - 1 ? valuesOfParameter(key).map((v, k, all) => [at(k, all.length), key === 'strategy' ? strategyTitle(v) : v]) : [0, .5, 1].map(p => [at(p * 2, 3), shown(low + p * (high - low), 1)]);
    for (const [y, words] of ticks) draw('text', {x: x(i) + 6, y: y + 4, 'font-size': 11, fill: 'currentColor', 'fill-opacity': .75}, svg, words);
  });
  [...groups.values()].forEach((runs, g) => {
    const points = axes.map((key, i) => {
      if (i === axes.length - 1) return [x(i), 40 + 220 * (1 - (means[g] - low) / (high - low))];
      const values = valuesOfParameter(key);
      return [x(i), at(values.indexOf(valueOf(runs[0], key)), values.length)];
    });
    const line = draw('polyline', {points: points.map(p => p.join(',')).join(' '), fill: 'none', stroke: state.colour === NONE ? 'currentColor' : colourOfValue(valueOf(runs[0], state.colour)), 'stroke-width': 2, 'stroke-opacity': .6}, lines);
    draw('title', {}, line, data.series.find(s => s.name === runs[0].series).title + ', ' + data.conditions[runs[0].condition].title + ': ' + meanWords(runs.map(r => r.result[state.measure])));
  });
}

function gridControls() {
  parameters = findParameters();
  const few = parameters.filter(p => p.values.length <= MOST_VALUES), further = few.filter(p => p.key !== 'strategy' && p.key !== 'rho');
  const choices = [NONE, ...few.map(p => p.key)].map(key => [key, key === NONE ? key : parameterTitle(key)]);
  const known = key => few.some(p => p.key === key) ? key : NONE;
  state.colour = known('strategy');
  state.columns = further.length ? further[0].key : known('rho');
  state.rows = further.length > 1 ? further[1].key : state.columns === 'rho' ? NONE : known('rho');
  Object.assign(state, {measure: 'overall', left: data.baseline, right: (data.series.find(s => s.name !== data.baseline) || data.series[0]).name});
  find('grid').hidden = further.length === 0;
  find('parallel-figure').hidden = further.length === 0 || parameters.length < 3;
  find('compare').hidden = data.series.length < 2;
  options('pick-colour', choices, 'colour');
  options('pick-rows', choices, 'rows');
  options('pick-columns', choices, 'columns');
  options('pick-measure', METRICS.map(m => [m, TITLES[m]]), 'measure');
  for (const side of ['left', 'right']) options('pick-' + side, data.series.map(s => [s.name, s.title]), side);
}

function drawGrid() {
  if (!find('grid').hidden) drawPanels();
  if (!find('parallel-figure').hidden) drawParallel();
  if (!find('compare').hidden) drawComparer();
}
