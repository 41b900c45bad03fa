// The view in the address: what is switched on, zoomed into and opened stands behind the #, so that a link
// shows others the same view. Only differences from the page as it opens are written; unknown entries are
// ignored.
'use strict';

const SINGLE = ['condition', 'zoom', 'sort', 'filter', 'at'];
let plain = {};  // the state of the page as it opens
const detailsWithId = () => [...document.querySelectorAll('details[id]')];

// Lists whose entries are all switched on at first.
const lists = () => [['series', data.series.map(s => s.name), state.series], ['groups', METRICS, state.groups], ['seeds', data.seeds, state.seeds]];

function viewText() {
  const view = new URLSearchParams();
  for (const [key, all, on] of lists()) {
    const chosen = all.filter(value => on.has(value));
    if (chosen.length === all.length) continue;
    if (!chosen.length) view.append(key, '');
    for (const value of chosen) view.append(key, value);
  }
  if (state.condition !== plain.condition) view.set('at', data.conditions[state.condition].name);
  for (const key of Object.keys(allowed)) if (state[key] !== plain[key]) view.set(key, state[key]);
  if (state.zoom) view.set('zoom', state.zoom.join('-'));
  if (state.sort.column !== plain.sort.column || state.sort.down !== plain.sort.down) view.set('sort', state.sort.column + (state.sort.down ? 'down' : 'up'));
  if (state.filter) view.set('class', state.filter);
  for (const d of detailsWithId()) if (d.open) view.append('open', d.id);
  if (state.at) view.set('place', state.at);
  return view.toString();
}

function applyView(view) {
  Object.assign(state, plain);
  for (const [key, all, on] of lists()) {
    const wanted = view.has(key) ? new Set(view.getAll(key)) : null;
    on.clear();
    for (const value of all) if (!wanted || wanted.has(String(value))) on.add(value);
  }
  const condition = data.conditions.findIndex(c => c.name === view.get('at'));
  if (condition >= 0) state.condition = condition;
  for (const [key, values] of Object.entries(allowed)) if (values.includes(view.get(key))) state[key] = view.get(key);
  const zoom = (/^([0-9]+)-([0-9]+)$/.exec(view.get('zoom')) || []).slice(1).map(Number);
  if (zoom[0] >= 1 && zoom[0] < zoom[1] && zoom[1] <= data.epochs) state.zoom = zoom;
  const sort = /^([0-9]+)(down|up)$/.exec(view.get('sort'));
  if (sort) state.sort = {column: Number(sort[1]), down: sort[2] === 'down'};
  state.filter = (view.get('class') || '').toLowerCase();
  state.at = view.get('place') || '';
  const open = new Set(view.getAll('open'));
  for (const d of detailsWithId()) d.open = open.has(d.id);
}

// An address that is a view has a `=`; one that is only the name of a section has none and stays as it is.
const addressed = () => location.hash.includes('=') ? new URLSearchParams(location.hash.slice(1)) : null;

function writeView() {
  const text = viewText(), onlyPlace = state.at && text === new URLSearchParams({place: state.at}).toString();
  const hash = onlyPlace ? '#' + state.at : text ? '#' + text : addressed() ? '#' : location.hash;
  if (location.hash !== hash) history.replaceState(null, '', hash);
}

function showPlace() {
  const section = state.at && document.getElementById(state.at);
  if (section) section.scrollIntoView();
}

function startView() {
  plain = Object.fromEntries([...SINGLE, ...Object.keys(allowed)].map(key => [key, state[key]]));
  const follow = () => addressed() ? applyView(addressed()) : void (state.at = location.hash.slice(1));
  follow();
  addEventListener('hashchange', () => { follow(); update(); });
  document.addEventListener('toggle', writeView, true);
}
