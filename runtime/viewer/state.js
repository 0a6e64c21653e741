// What the layers of a host hold at an event, which cells it changed; and the source, with the lines that ran.

// By object: its cells, after the call that the event is of; of an object that has ended, the event by which.
function state_at(event, host) {
  const raw = event.run.raw, objects = new Map();
  const call = event.run.call(event);
  const until = call && call.host === host ? Math.max(event.index, call.index) : event.index;
  for (let at = 0; at <= until; at++) {
    const one = event.run.events[at];
    if (one.event === "crashes" && one.host === host) objects.clear();
    if (one.host !== host || !one.did || !one.did.changes) continue;
    for (const [object, life, cells] of one.did.changes) {
      if (life < 0) { objects.set(object, Object.assign(new Map(), { ended: one })); continue; }
      if (life > 0 || !objects.has(object) || objects.get(object).ended) objects.set(object, new Map());
      const known = objects.get(object);
      for (const [cell, from, to] of cells) known.set(cell, { from, to, by: one, name: raw.cells[cell] });
    }
  }
  return objects;
}

let state_host = null;

function state_pane(event) {
  const run = event.run;
  if (!run.has_steps) return [made("p", "The record does not say what layers hold: the interpreter does, with `--steps`.", "dim")];
  const hosts = run.head.hosts.map(host => host.name);
  const host = hosts.includes(state_host) ? state_host : event.host || hosts[0];
  const choice = made("p", undefined, "files");
  for (const name of hosts) {
    const one = made("button", name, name === host ? "on" : "");
    one.onclick = () => { state_host = state_host === name ? null : name; panes(); };
    choice.append(one, " ");
  }
  const call = run.call(event);
  const groups = [...state_at(event, host)].map(([object, cells]) => ({ object: run.raw.objects[object], cells }));
  groups.sort((a, b) => a.object[0].localeCompare(b.object[0]) || a.object[1].localeCompare(b.object[1]) || a.object[2] - b.object[2]);
  const parts = [choice];
  for (const { object: [layer, kind, number], cells } of groups) {
    const name = layer + (kind === "entity" ? "" : " " + kind + " " + number);
    if (is_layer_hidden(layer)) continue;
    if (cells.ended && cells.ended === call) parts.push(made("h3", name + " ends", "changed"));
    if (cells.size === 0) continue;
    parts.push(made("h3", name));
    const table = made("table");
    for (const cell of cells.values()) {
      // Of what a place held, only the event that took it away tells.
      const is_changed = cell.by === call;
      if (cell.to === null && cell.name[2] !== null && !(is_changed && cell.from !== null)) continue;
      table.append(cell_row(cell, is_changed));
    }
    parts.push(table);
  }
  return parts;
}

function cell_row({ name: [name, kind, at], from, to, by }, is_changed) {
  const row = made("tr", undefined, "cell" + (is_changed ? " changed" : ""));
  const write = text => text === null ? (kind === "timer" ? "idle" : "nothing") : kind === "timer" ? "rings at " + time(text) : text;
  row.append(made("td", name + (at === null ? "" : "[" + at + "]")));
  row.append(made("td", is_changed && from !== null ? write(from) + " → " + write(to) : write(to)));
  row.title = "since " + time(by.at) + ", " + line(by);
  row.onclick = () => choose(by);
  return row;
}

// ---- the source ----

let source_file = null, source_line = null, source_step = null;

function source_pane(event) {
  const run = event.run;
  if (!run.sources.size) return [made("p", "The record has no source: the interpreter says which lines run, with `--steps`.", "dim")];
  const call = run.call(event), way = call ? run.way(call) : [];
  const ran = new Map();
  way.forEach(([, , lines], at) => {
    if (source_step !== null && source_step !== at) return;
    lines.forEach(([file, all]) => ran.set(file, new Set([...(ran.get(file) || []), ...all])));
  });
  const wanted = step => is_layer_hidden(step[0]);
  const steps = made("p", undefined, "steps");
  way.forEach((step, at) => {
    if (wanted(step)) return;
    const one = made("a", step[0] + "." + step[1], source_step === at ? "on" : "");
    one.onclick = () => { source_step = source_step === at ? null : at; source_file = source_line = null; panes(); };
    steps.append(one);
  });
  const last = [...way].reverse().find((step, at) => step[2].length && (source_step === null || way.length - 1 - at === source_step) && !wanted(step));
  const file = run.sources.has(source_file) ? source_file : last ? last[2][0][0] : [...run.sources.keys()][0];
  const files = made("p", undefined, "files");
  for (const name of run.sources.keys()) {
    const one = made("button", name.split("/").pop() + (ran.has(name) ? " ●" : ""), name === file ? "on" : "");
    one.title = name;
    one.onclick = () => { source_file = name; source_line = null; panes(); };
    files.append(one, " ");
  }
  const lines = ran.get(file) || new Set();
  const body = made("div");
  run.sources.get(file).forEach((text, at) => {
    const number = at + 1;
    const row = made("span", undefined, "line" + (lines.has(number) ? " ran" : "") + (source_line === number ? " marked" : ""));
    row.dataset.line = number;
    row.append(made("i", String(number)), text);
    row.onclick = () => next_run_of(event, file, number);
    body.append(row);
  });
  return [made("p", call ? "what ran in " + time(call.at) + " " + call.host + " " + line(call) : "No call of a stack is of this event.", "dim"), steps, files, body];
}

// The next call in which a line ran, the first again behind the last.
function next_run_of(event, file, number) {
  const run = event.run;
  const has_it = one => one.did && run.way(one).some(([, , ran]) => ran.some(([name, lines]) => name === file && lines.includes(number)));
  const all = run.events.filter(has_it);
  const call = run.call(event);
  const from = call ? call.index : event.index;
  const next = all.find(one => one.index > from) || all[0];
  [source_file, source_line, source_step] = [file, number, null];
  if (next) choose(next, true); else panes();
}

// `file:line` of what an event says.
function show_line(place) {
  mark_line(place);
  panes();
}

function mark_line(place) {
  const at = place.lastIndexOf(":");
  [source_file, source_line, source_step] = [place.slice(0, at), Number(place.slice(at + 1)), null];
}

// The statement that an event names: of several that which ran.
function mark_statement(event) {
  const places = event.places || (event.event === "reports" ? [event.place] : []);
  const ran = places.length > 1 ? lines_of(event) : new Set();
  const place = places.find(place => ran.has(place)) || places[0];
  if (place) mark_line(place); else source_file = source_line = source_step = null;
}

function scroll_source() {
  const pane = element("source");
  const target = pane.querySelector(".line.marked") || pane.querySelector(".line.ran");
  if (target) pane.scrollTop = target.offsetTop - pane.clientHeight / 3;
}
