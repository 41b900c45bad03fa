// The page's charts, drawn by Chart.js 3. Every chart reads `state` and shows what is switched on.
'use strict';

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const fade = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, '0');
const DASHES = {1: [], 2: [7, 4], 3: [2, 3], 4: [9, 3, 2, 3], 5: [12, 4]};
const POINTS = {7: 'circle', 5: 'rect', 9: 'triangle', 13: 'rectRot', 6: 'circle', 4: 'rect', 8: 'triangle', 12: 'rectRot'};
// Black is for paper; on a dark page it becomes the colour of the text.
const colourOf = s => s.colour === '#000000' ? css('--ink') : s.colour;

// One tooltip for all charts, in the page itself: readable, selectable by tests, never cut off by a canvas.
function tooltip(context) {
  const box = document.getElementById('tooltip'), tip = context.tooltip;
  if (tip.opacity === 0) { box.hidden = true; return; }
  box.replaceChildren();
  const title = document.createElement('b');
  title.textContent = tip.title.join(' ');
  box.append(title);
  tip.body.forEach((part, i) => {
    for (const line of part.lines) {
      const row = document.createElement('div');
      row.className = 'row';
      const [name, value] = line.split('\t');
      const left = document.createElement('span'), mark = document.createElement('i');
      mark.style.background = tip.labelColors[i].borderColor;
      left.append(mark, name);
      const right = document.createElement('span');
      right.textContent = value ?? '';
      row.append(left, right);
      box.append(row);
    }
  });
  box.hidden = false;
  const canvas = context.chart.canvas.getBoundingClientRect(), width = box.offsetWidth;
  const left = Math.min(Math.max(8, canvas.left + tip.caretX + 14), document.documentElement.clientWidth - width - 8);
  box.style.left = left + scrollX + 'px';
  box.style.top = canvas.top + tip.caretY + 14 + scrollY + 'px';
}

// Whiskers of one standard deviation, for datasets of percentages that carry `errors`. A whisker that would
// leave 0 to 100 ends there, without a cap.
const whiskerEnds = (value, error) => [{at: Math.max(0, value - error), cut: value - error < 0}, {at: Math.min(100, value + error), cut: value + error > 100}];
const whiskers = {
  id: 'whiskers',
  afterDatasetsDraw(chart) {
    const ctx = chart.ctx;
    chart.data.datasets.forEach((set, i) => {
      if (!set.errors || !chart.isDatasetVisible(i)) return;
      ctx.save();
      ctx.strokeStyle = set.type === 'line' || chart.config.type === 'line' ? set.borderColor : css('--ink');
      ctx.lineWidth = 1.3;
      chart.getDatasetMeta(i).data.forEach((point, j) => {
        const error = set.errors[j], value = set.data[j] && set.data[j].y !== undefined ? set.data[j].y : set.data[j];
        if (!error || value === null || value === undefined) return;
        const {x} = point.getProps(['x'], true);
        const ends = whiskerEnds(value, error).map(end => ({...end, y: chart.scales.y.getPixelForValue(end.at)}));
        ctx.beginPath();
        ctx.moveTo(x, ends[0].y); ctx.lineTo(x, ends[1].y);
        for (const end of ends) if (!end.cut) { ctx.moveTo(x - 4, end.y); ctx.lineTo(x + 4, end.y); }
        ctx.stroke();
      });
      ctx.restore();
    });
  },
};

// Straight lines at values of an axis: milestones, thresholds, zero.
const rules = {
  id: 'rules',
  beforeDatasetsDraw(chart, _, settings) {
    const {ctx, chartArea: area} = chart;
    ctx.save();
    ctx.strokeStyle = css('--soft');
    ctx.setLineDash(settings.solid ? [] : [2, 3]);
    for (const value of settings.x || []) {
      const x = chart.scales.x.getPixelForValue(value);
      if (x < area.left || x > area.right) continue;
      ctx.beginPath(); ctx.moveTo(x, area.top); ctx.lineTo(x, area.bottom); ctx.stroke();
    }
    for (const value of settings.y || []) {
      const y = chart.scales.y.getPixelForValue(value);
      ctx.beginPath(); ctx.moveTo(area.left, y); ctx.lineTo(area.right, y); ctx.stroke();
    }
    ctx.restore();
  },
};

// Drag across a chart to choose a range of x; double-click for all of it.
function zoomable(chart, choose) {
  const canvas = chart.canvas;
  let from = null, shade = null;
  const inside = event => {
    const box = canvas.getBoundingClientRect(), area = chart.chartArea;
    return Math.min(Math.max(event.clientX - box.left, area.left), area.right);
  };
  canvas.addEventListener('pointerdown', event => {
    if (event.pointerType === 'touch') return;  // a finger scrolls the page; the number fields zoom
    from = inside(event);
    shade = document.createElement('div');
    shade.style.cssText = `position:absolute;pointer-events:none;top:${chart.chartArea.top}px;height:${chart.chartArea.bottom - chart.chartArea.top}px;background:${fade('#888888', .25)}`;
    canvas.parentElement.append(shade);
  });
  addEventListener('pointermove', event => {
    if (from === null) return;
    const to = inside(event);
    shade.style.left = Math.min(from, to) + 'px';
    shade.style.width = Math.abs(to - from) + 'px';
  });
  addEventListener('pointerup', event => {
    if (from === null) return;
    const to = inside(event), scale = chart.scales.x;
    shade.remove();
    const range = [scale.getValueForPixel(Math.min(from, to)), scale.getValueForPixel(Math.max(from, to))].map(Math.round);
    const far = Math.abs(to - from) > 8 && range[0] < range[1];
    from = null;
    if (far) choose([Math.max(1, range[0]), range[1]]);
  });
  canvas.addEventListener('dblclick', () => choose(null));
}

function axis(title, extra = {}) {
  return {title: {display: !!title, text: title, color: css('--soft')}, ticks: {color: css('--soft'), ...extra.ticks},
    grid: {color: css('--line'), borderColor: css('--line'), ...extra.grid}, ...Object.fromEntries(Object.entries(extra).filter(([k]) => k !== 'ticks' && k !== 'grid'))};
}

function base(type, scales, extra = {}) {
  return {type, data: {labels: [], datasets: []}, plugins: [whiskers, rules], options: {
    responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
    interaction: extra.interaction || {mode: 'nearest', intersect: true},
    scales, plugins: {legend: {display: !!extra.legend, labels: {color: css('--soft'), boxWidth: 26, boxHeight: 0}}, rules: {}, tooltip: {enabled: false, external: tooltip, callbacks: extra.callbacks || {}}},
  }};
}

const visibleSeries = () => data.series.filter(s => state.series.has(s.name));
const withSpread = (m, s) => shown(m) + (s === null || s === undefined ? '' : ' ± ' + shown(s));

const builders = {
  groups: () => base('bar', {x: axis('', {grid: {display: false}}), y: axis('Test accuracy (%)', {beginAtZero: true})},
    {interaction: {mode: 'nearest', intersect: false, axis: 'xy'},
     callbacks: {title: items => items[0].label, label: i => i.dataset.label + '\t' + withSpread(i.raw, i.dataset.errors[i.dataIndex])}}),
  effect: () => base('line', {x: axis('Imbalance ratio ρ', {offset: true}), y: axis('Test accuracy (%)')},
    {interaction: {mode: 'nearest', intersect: false},
     callbacks: {title: items => items[0].label, label: i => i.dataset.label + '\t' + withSpread(i.raw, i.dataset.errors[i.dataIndex])}}),
  curves: () => base('line', {x: axis('Epoch', {type: 'linear', ticks: {precision: 0}}), y: axis('')},
    {interaction: {mode: 'index', intersect: false},
     callbacks: {title: items => items.length ? 'Epoch ' + items[0].raw.x : '', label: i => i.dataset.band || i.dataset.seed !== undefined ? [] : i.dataset.label + '\t' + withSpread(i.raw.y, i.raw.s)}}),
  paired: () => base('scatter', {x: axis('Difference (percentage points)', {beginAtZero: true}), y: axis('', {ticks: {autoSkip: false}, grid: {display: false}})},
    {callbacks: {title: items => items[0].raw.row, label: i => i.raw.what + '\t' + signed(i.raw.x)}}),
  schedule: () => base('line', {x: axis('Epoch', {type: 'linear', ticks: {precision: 0}}), y: axis('Learning rate', {type: 'logarithmic'}),
    lambda: axis('λ', {position: 'right', min: 0, max: 1, grid: {drawOnChartArea: false}})},
    {legend: true, interaction: {mode: 'index', intersect: false},
     callbacks: {title: items => 'Epoch ' + items[0].raw.x, label: i => i.dataset.label + '\t' + Number(i.raw.y.toPrecision(4))}}),
  sizes: () => base('line', {x: axis('Class, most frequent first', {type: 'linear', min: 1, ticks: {precision: 0}}), y: axis('Training images', {type: 'logarithmic'})},
    {legend: true, interaction: {mode: 'index', intersect: false}, callbacks: {title: items => 'Class ' + items[0].raw.x, label: i => i.dataset.label + '\t' + i.raw.y}}),
  classes: () => base('scatter', {x: axis('Training images of the class', {type: 'logarithmic'}), y: axis('Test accuracy (%)', {min: 0, max: 100})},
    {callbacks: {title: items => items[0].raw.name + ', ' + items[0].raw.x + ' images', label: i => i.dataset.label + '\t' + shown(i.raw.y, 1)}}),
};

// Ticks of a logarithmic axis, at round numbers.
const isStep = (value, steps) => steps.some(d => Math.abs(Math.log10(value / d) - Math.round(Math.log10(value / d))) < 1e-9);
const steps = list => value => isStep(value, list) ? String(Number(value.toPrecision(3))) : null;

// The axis reaches as far as the whiskers do.
function roomForWhiskers(chart) {
  let low = Infinity, high = -Infinity;
  for (const set of chart.data.datasets) {
    if (set.hidden) continue;
    set.data.forEach((value, i) => {
      if (value === null) return;
      low = Math.min(low, value - (set.errors[i] || 0));
      high = Math.max(high, value + (set.errors[i] || 0));
    });
  }
  Object.assign(chart.options.scales.y, isFinite(low) ? {suggestedMin: Math.max(0, low), suggestedMax: Math.min(100, high)} : {});
}

const fillers = {
  groups(chart) {
    const metrics = METRICS.filter(m => state.groups.has(m));
    chart.data.labels = metrics.map(m => TITLES[m]);
    chart.data.datasets = data.series.map(s => {
      const cells = metrics.map(m => cell(s.name, state.condition, m));
      return {label: s.title, series: s.name, hidden: !state.series.has(s.name), data: cells.map(c => c.mean), errors: cells.map(c => c.std),
        backgroundColor: fade(s.colour, .75), borderColor: colourOf(s), borderWidth: 1.5, categoryPercentage: .8, barPercentage: .9};
    });
    roomForWhiskers(chart);
  },
  effect(chart) {
    chart.data.labels = data.conditions.map(c => c.title);
    chart.data.datasets = data.series.map(s => {
      const cells = data.conditions.map((_, c) => cell(s.name, c, state.effect));
      return {label: s.title, series: s.name, hidden: !state.series.has(s.name), data: cells.map(c => c.mean), errors: cells.map(c => c.std),
        borderColor: colourOf(s), backgroundColor: colourOf(s), borderDash: DASHES[s.dash], pointStyle: POINTS[s.point], pointRadius: 5, borderWidth: 2, spanGaps: false};
    });
    chart.options.scales.y.title.text = TITLES[state.effect] + ' accuracy (%)';
    roomForWhiskers(chart);
  },
  curves(chart) {
    // Losses fall by orders of magnitude: on a linear axis all but the first epochs would be one line.
    const logarithmic = state.track === 'train_loss', drawn = [];
    let least = Infinity;
    for (const s of data.series) {
      const runs = runsOf(s.name, state.condition).filter(r => r.curves), finished = runs.filter(r => !r.under_way), points = [];
      for (let e = 0; e < (finished.length ? data.epochs : 0); ++e) {
        const values = finished.map(r => r.curves[state.track][e]).filter(v => v !== null && v !== undefined);
        if (values.length) points.push({x: e + 1, y: mean(values), s: values.length > 1 ? deviation(values) : null});
      }
      const seen = state.series.has(s.name) ? [...points.map(p => p.y), ...runs.flatMap(r => r.curves[state.track])] : [];
      for (const y of seen) if (y > 0) least = Math.min(least, y);
      drawn.push({s, runs, finished, points});
    }
    const floor = logarithmic && isFinite(least) ? .8 * least : 0;
    chart.data.datasets = [];
    for (const {s, runs, finished, points} of drawn) {
      const common = {label: s.title, series: s.name, hidden: !state.series.has(s.name), pointRadius: 0, borderColor: colourOf(s), backgroundColor: colourOf(s)};
      chart.data.datasets.push({...common, data: points, borderWidth: 2, borderDash: DASHES[s.dash], pointHitRadius: 6, pointHoverRadius: 4});
      const edge = (k, fill) => ({...common, band: true, data: points.map(p => ({x: p.x, y: Math.max(floor, p.y + k * (p.s || 0))})), borderWidth: 0, fill, backgroundColor: fade(s.colour, .18)});
      chart.data.datasets.push(edge(1, false), edge(-1, '-1'));
      for (const run of runs.filter(r => r.under_way || finished.length > 1)) {
        chart.data.datasets.push({...common, seed: data.seeds[run.seed], borderWidth: run.under_way ? 1.6 : .8, borderColor: fade(s.colour, run.under_way ? .8 : .4), pointHitRadius: 0,
          data: run.curves[state.track].map((y, e) => ({x: e + 1, y})).filter(p => p.y !== null)});
      }
    }
    const [from, to] = state.zoom || [1, Math.max(2, data.epochs)];
    Object.assign(chart.options.scales.x, {min: from, max: to});
    chart.options.scales.y = logarithmic ? axis(TRACKS[state.track], {type: 'logarithmic', min: floor || undefined, ticks: {callback: steps([1, 2, 5])}}) : axis(TRACKS[state.track]);
    chart.options.plugins.rules.x = data.conditions[state.condition].milestones;
  },
  paired(chart) {
    const rows = [];
    for (const s of data.series) {
      if (s.name === data.baseline || !state.series.has(s.name)) continue;
      data.conditions.forEach((c, i) => {
        const label = s.title + (data.conditions.length > 1 ? ', ' + c.title : ''), theirs = runsOf(data.baseline, i), points = [];
        for (const ours of theirs.length ? runsOf(s.name, i) : []) {
          const other = theirs.find(r => r.seed === ours.seed), a = ours.result[state.paired], b = other ? other.result[state.paired] : null;
          if (a !== null && b !== null) points.push({x: a - b, row: label, what: 'seed ' + data.seeds[ours.seed]});
        }
        if (points.length) rows.push({s, label, points});
      });
    }
    rows.reverse();
    chart.data.datasets = rows.map((row, y) => {
      const points = row.points.map(p => ({...p, y}));
      const average = mean(points.map(p => p.x));
      const all = average === null ? points : [...points, {x: average, y, row: row.label, what: 'mean of ' + points.length}];
      return {label: row.label, series: row.s.name, data: all, borderColor: colourOf(row.s), pointHitRadius: 6,
        backgroundColor: all.map((_, i) => i < points.length ? fade(row.s.colour, .45) : colourOf(row.s)),
        pointStyle: all.map((_, i) => i < points.length ? 'circle' : 'rectRot'), pointRadius: all.map((_, i) => i < points.length ? 4.5 : 7)};
    });
    const box = document.getElementById('box-paired');
    box.style.height = Math.max(150, 80 + 30 * rows.length) + 'px';
    const narrow = chart.canvas.parentElement.clientWidth < 520;
    Object.assign(chart.options.scales.y, {min: -.6, max: rows.length - .4, afterBuildTicks: scale => { scale.ticks = rows.map((_, value) => ({value})); }});
    chart.options.scales.y.ticks.callback = value => rows[value] ? (narrow ? rows[value].label.split(', ') : rows[value].label) : '';
    Object.assign(chart.options.plugins.rules, {x: [0], solid: true});
  },
  schedule(chart) {
    chart.data.datasets = [{label: 'Learning rate', data: data.rate.map((y, e) => ({x: e + 1, y})), stepped: true, pointRadius: 0, borderWidth: 2, borderColor: css('--ink'), backgroundColor: css('--ink')}];
    for (const l of data.lambda) {
      const s = data.series.find(one => one.name === l.series);
      chart.data.datasets.push({label: 'λ, ' + s.title, series: s.name, hidden: !state.series.has(s.name), yAxisID: 'lambda', data: l.values.map((y, e) => ({x: e + 1, y})),
        pointRadius: 0, borderWidth: 2, borderDash: DASHES[2], borderColor: colourOf(s), backgroundColor: colourOf(s)});
    }
    Object.assign(chart.options.scales.x, {min: 1, max: Math.max(2, data.epochs)});
    chart.options.scales.lambda.display = data.lambda.length > 0;
    chart.options.scales.y.ticks.callback = steps([1]);
    chart.options.plugins.rules.x = data.conditions[state.condition].milestones;
  },
  sizes(chart) {
    const colours = [css('--ink'), '#E69F00', '#56B4E9', '#009E73', '#D55E00'];
    chart.data.datasets = data.conditions.map((c, i) => ({label: c.title, data: [...(c.counts || [])].sort((a, b) => b - a).map((y, k) => ({x: k + 1, y})),
      pointRadius: 0, borderWidth: i === state.condition ? 3 : 1.6, borderDash: DASHES[i % 5 + 1], borderColor: colours[i % 5], backgroundColor: colours[i % 5]}));
    chart.options.scales.y.ticks.callback = steps([1, 2, 5]);
    chart.options.plugins.rules.y = data.conditions[state.condition].thresholds;
  },
  classes(chart) {
    const condition = data.conditions[state.condition], groups = condition.groups || [];
    chart.data.datasets = data.series.map(s => {
      const runs = runsOf(s.name, state.condition).filter(r => r.classes);
      const points = (runs.length ? condition.counts : []).map((x, k) => ({x, y: mean(runs.map(r => r.classes[k]).filter(v => v !== null)), name: condition.names[k] || 'class ' + k, k}))
        .filter(p => p.x > 0 && p.y !== null && state.groups.has(groups[p.k]));
      return {label: s.title, series: s.name, hidden: !state.series.has(s.name), data: points, borderColor: colourOf(s), backgroundColor: fade(s.colour, .55), pointStyle: POINTS[s.point], pointRadius: 4, pointHoverRadius: 7};
    });
    chart.options.scales.x.ticks.callback = steps([1, 2, 5]);
    chart.options.plugins.rules.x = condition.thresholds;
  },
};

function makeCharts() {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  for (const name of Object.keys(builders)) {
    const canvas = document.getElementById('chart-' + name);
    if (canvas.closest('[hidden]')) continue;
    window.longtail.charts[name] = new Chart(canvas, builders[name]());
  }
  const curves = window.longtail.charts.curves;
  if (curves) zoomable(curves, range => { state.zoom = range; update(); });
}

function themeCharts() {
  for (const [name, chart] of Object.entries(window.longtail.charts)) {
    const fresh = builders[name]().options;
    chart.options.scales = fresh.scales;
    chart.options.plugins.legend = fresh.plugins.legend;
  }
}

function drawCharts() {
  for (const [name, chart] of Object.entries(window.longtail.charts)) {
    fillers[name](chart);
    chart.update('none');
  }
}
