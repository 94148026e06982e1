'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const pageSize = 50;
  document.documentElement.classList.add('scripted');

  // Each case is a row of numbers: see case_table.h.
  let words = [], cases = [], red = new Set(), repro = '', shown = [], page = 0, at = {};

  const caseText = (c) => `${words[c[0]]}:${words[c[1]]}:${words[c[2]]}:${words[c[3]]}`;
  const parts = (c) => at[c[0]] || (at[c[0]] = split(words[c[0]]));
  function split(head) {  // op[-variant].relation/dtype
    const [, op, relation, dtype] = /^([^.-]*)[^.]*\.([^/]*)\/(.*)$/.exec(head) || [, head, '', ''];
    return {op, relation, dtype};
  }

  function element(tag, text, name) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }

  function copyButton(text, what) {
    const button = element('button', 'Copy repro', 'copy');
    button.type = 'button';
    button.dataset.copy = text;
    button.setAttribute('aria-label', `Copy the command that repeats ${what}`);
    return button;
  }

  function rowOf(c) {
    const row = element('tr'), name = caseText(c), {op, relation, dtype} = parts(c);
    row.append(element('td', words[c[4]], red.has(c[4]) ? 'red' : ''));
    row.append(element('td', op), element('td', relation), element('td', dtype));
    const seen = element('td');
    seen.append(element('code', name));
    const why = [words[c[5]], words[c[6]]].filter(Boolean).join(': ');
    if (why) seen.append(element('span', why, 'seen'));
    const again = element('td');
    again.append(copyButton(repro.replace('CASE', () => name), name));
    row.append(seen, again);
    return row;
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(shown.length / pageSize));
    page = Math.min(Math.max(page, 0), pages - 1);
    const rows = shown.slice(page * pageSize, (page + 1) * pageSize).map(rowOf);
    byId('case-rows').replaceChildren(...rows);
    byId('case-count').textContent =
      `${shown.length.toLocaleString('en')} of ${cases.length.toLocaleString('en')} cases`;
    byId('page').textContent = `Page ${page + 1} of ${pages}`;
    byId('previous').disabled = page === 0;
    byId('next').disabled = page === pages - 1;
  }

  // B=33 is the batch of the first trial, as failures write it.
  function termFits(term) {
    const batch = /^b=(\d+)$/.exec(term);
    return batch ? (text) => text.includes(`:b${batch[1]}@`) || text.includes(`:b${batch[1]}#`)
                 : (text) => text.includes(term);
  }

  function applyFilter() {
    const terms = byId('f-text').value.toLowerCase().split(/\s+/).filter(Boolean).map(termFits);
    const op = byId('f-op').value, dtype = byId('f-dtype').value, relation = byId('f-relation').value;
    const status = byId('f-status').value;
    const fits = (c) => {
      const p = parts(c);
      if ((op && p.op !== op) || (dtype && p.dtype !== dtype) || (relation && p.relation !== relation)) return false;
      if (status === 'red' ? !red.has(c[4]) : status && words[c[4]] !== status) return false;
      if (terms.length === 0) return true;
      const text = `${caseText(c)} ${words[c[4]]} ${words[c[5]]} ${words[c[6]]}`.toLowerCase();
      return terms.every((fitsText) => fitsText(text));
    };
    shown = cases.filter(fits);
    page = 0;
    draw();
  }

  function fill(id, values, first) {
    const options = [...new Set(values)].map((v) => new Option(v, v));
    byId(id).replaceChildren(new Option(first, ''), ...options);
  }

  function readCases() {
    const table = JSON.parse(byId('case-json').textContent);
    words = table.words;
    repro = table.repro;
    red = new Set(table.red);
    cases = table.cases.filter((c) => red.has(c[4])).concat(table.cases.filter((c) => !red.has(c[4])));
    const heads = [...new Set(cases.map((c) => c[0]))].map((h) => split(words[h]));
    fill('f-op', heads.map((h) => h.op).sort(), 'all');
    fill('f-dtype', heads.map((h) => h.dtype), 'all');
    fill('f-relation', heads.map((h) => h.relation), 'all');
    fill('f-status', cases.map((c) => words[c[4]]), 'all');
    if (cases.some((c) => red.has(c[4]))) byId('f-status').options[0].after(new Option('all that are red', 'red'));
    applyFilter();
  }

  function filterOps() {
    const terms = byId('op-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    const rows = byId('op-table').tBodies[0].rows;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !terms.every((term) => text.includes(term));
      left += !row.hidden;
    }
    byId('op-count').textContent = terms.length ? `${left} of ${rows.length} rows` : '';
  }

  async function copy(button) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = 'Copied';
    } catch {  // a browser may refuse it to a file
      button.textContent = button.dataset.copy;
      getSelection().selectAllChildren(button);
    }
  }

  let timer = 0;
  const later = (work) => () => { clearTimeout(timer); timer = setTimeout(work, 120); };
  byId('filter').addEventListener('input', later(applyFilter));
  byId('filter').addEventListener('reset', () => setTimeout(applyFilter));
  byId('filter').addEventListener('submit', (event) => { event.preventDefault(); applyFilter(); });
  byId('op-filter').addEventListener('input', filterOps);
  byId('previous').addEventListener('click', () => { --page; draw(); });
  byId('next').addEventListener('click', () => { ++page; draw(); });
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]'), link = event.target.closest('a.show');
    if (button) copy(button);
    if (!link) return;
    byId('filter').reset();
    byId('f-op').value = link.dataset.op;
    byId('f-dtype').value = link.dataset.dtype;
    applyFilter();
  });
  // What is folded away is printed too.
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  // After the first paint: nothing above needs the cases.
  requestAnimationFrame(() => setTimeout(readCases));
})();
