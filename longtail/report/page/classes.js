// The class explorer: a table of all classes that can be sorted and searched.
'use strict';

function classRows() {
  const condition = data.conditions[state.condition];
  const series = data.series.filter(s => state.series.has(s.name));
  return (condition.counts || []).map((count, k) => {
    const lists = series.map(s => runsOf(s.name, state.condition).map(r => r.classes ? r.classes[k] : null).filter(v => v !== null));
    return {name: condition.names[k] || 'class ' + k, count, group: condition.groups[k], lists, values: lists.map(mean)};
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
      showClasses();
    });
    th.append(button);
    row.append(th);
  });
  head.replaceChildren(row);
  // Equal columns for the strategies, so that a bar's length means the same in each.
  const columns = document.createElement('colgroup');
  titles.forEach((_, c) => columns.append(Object.assign(document.createElement('col'), {className: ['name', 'count', 'group'][c] || ''})));
  find('class-table').querySelector('colgroup').replaceWith(columns);
  find('class-table').style.minWidth = 20 + 9 * series.length + 'em';
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
      const td = add(meanWords(r.lists[s]));
      td.classList.add('bar');
      td.style.setProperty('--chip', series[s].colour);
      td.style.setProperty('--fill', (value || 0) + '%');
    });
    return tr;
  }));
  fileButtons(find('class-files'), 'every_class_' + data.conditions[state.condition].slug);
  find('class-count').textContent = rows.length + ' classes; mean accuracy ± standard error (number of seeds switched on)';
}

// After a change that only the table shows.
function showClasses() {
  classTable();
  writeView();
}
