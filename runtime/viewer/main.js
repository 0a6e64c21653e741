// What is chosen, and what leads to it.

let chosen = null, lists = [];

function active() { return lists.find(list => chosen && list.run === chosen.run) || lists[0]; }

// `keeps`: the line of the source that was asked for stays.
function choose(event, keeps) {
  if (!keeps) mark_statement(event);
  chosen = event;
  const at = runs.indexOf(event.run);
  history.replaceState(null, "", "#" + (at ? at + 1 + "." : "") + event.id);
  for (const list of lists) {
    list.view.classList.toggle("active", lists.length > 1 && list === active());
    if (list === active()) list.show(event); else list.show(other_of(event, list.run));
    list.draw();
  }
  steps();
  panes();
}

// The event of the other run that stands beside it: of the same place, or of the same time behind where they part.
function other_of(event, run) {
  const same = run.events[event.index];
  if (same && String(same.at) === String(event.at)) return same;
  return run.events.find(one => BigInt(one.at) >= BigInt(event.at)) || run.events[run.events.length - 1];
}

function panes() {
  if (!chosen) return;
  const fill = (name, parts) => element(name).lastElementChild.replaceChildren(...parts);
  fill("why", why_pane(chosen));
  fill("packet", packet_pane(chosen));
  fill("state", state_pane(chosen));
  fill("source", source_pane(chosen));
  scroll_source();
}

function steps() {
  const list = active(), at = chosen ? list.near(chosen) : 0;
  element("scrub").max = Math.max(list.rows.length - 1, 0);
  element("scrub").value = at;
  element("now").textContent = chosen ? time(chosen.at) : "";
  element("cause").disabled = !chosen || !back_of(chosen);
  element("effect").disabled = !chosen || !chosen.run.effects_of(chosen).length;
}

function back_of(event) {
  const armed = event.run.cause(event) ? undefined : arming(event);
  return event.run.cause(event) || armed && armed.length && armed[0].event;
}

function step(by) {
  const list = active();
  let at = chosen ? list.near(chosen) : -1;
  // Of an event without a row the nearest row is a step already.
  if (chosen && !list.row_of.has(chosen) && by > 0) at -= 1;
  const next = list.rows[Math.min(list.rows.length - 1, Math.max(0, at + by))];
  if (next) choose(next);
}

function go(event) { if (event) choose(event); }

const MOVES = {
  ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(20), PageUp: () => step(-20),
  Home: () => go(active().rows[0]), End: () => go(active().rows[active().rows.length - 1]),
  ArrowLeft: () => chosen && go(back_of(chosen)), ArrowRight: () => chosen && go(chosen.run.effects_of(chosen)[0]),
};

function refresh() {
  read_filter();
  lists.forEach(list => list.refresh());
  element("count").textContent = lists.map(list => list.rows.length + " of " + list.run.events.length + " events").join(", ");
  if (chosen) { active().show(chosen); active().draw(); }
  steps();
}

function boxes(where, names, is_on, change) {
  for (const name of names) {
    const label = made("label"), box = made("input");
    box.type = "checkbox";
    box.checked = is_on(name);
    box.onchange = () => { change(name, box.checked); refresh(); panes(); };
    label.append(box, name + " ");
    element(where).append(label);
  }
}

function toggle(set, name, is_on) { if (is_on) set.delete(name); else set.add(name); }

function begin() {
  const head = runs[0].head;
  document.title = head.name;
  element("title").textContent = head.name;
  const of = head => head.kind + ", " + head.backend + ", seed " + head.seed;
  element("of").textContent = runs.map(run => of(run.head)).join(" | ");
  lists = runs.map((run, at) => new List(run, runs.length > 1 ? "AB"[at] : undefined));
  element("lists").replaceChildren(...lists.map(list => list.view));
  const hosts = new Set(runs.flatMap(run => run.head.hosts.map(host => host.name)));
  boxes("hosts", hosts, name => !hidden.hosts.has(name), (name, on) => toggle(hidden.hosts, name, on));
  boxes("kinds", Object.keys(KINDS), name => !hidden.events.has(KINDS[name][0]), (name, on) => KINDS[name].forEach(kind => toggle(hidden.events, kind, on)));
  boxes("layers", layer_names(), name => !hidden.layers.has(name), (name, on) => toggle(hidden.layers, name, on));
  element("filter").oninput = refresh;
  element("fields").oninput = refresh;
  window.onresize = () => lists.forEach(list => list.resize());
  for (const [name, move] of Object.entries({ first: MOVES.Home, back: MOVES.ArrowUp, next: MOVES.ArrowDown, last: MOVES.End, cause: MOVES.ArrowLeft, effect: MOVES.ArrowRight })) {
    element(name).onclick = move;
  }
  element("scrub").oninput = () => go(active().rows[Number(element("scrub").value)]);
  const moved = key => {
    const move = MOVES[key.key];
    if (move && !key.altKey && !key.ctrlKey && !key.metaKey) { move(); key.preventDefault(); }
  };
  for (const list of lists) list.view.onkeydown = moved;
  // A page that was just opened has nothing in focus.
  document.body.onkeydown = key => { if (key.target === document.body) moved(key); };
  const parting = data.difference ? data.difference.map((id, at) => id === null ? undefined : runs[at].numbered(id)) : [];
  lists.forEach((list, at) => { list.parting = parting[at]; });
  const is_apart = parting.some(event => event);
  element("difference").style.display = runs.length > 1 ? "" : "none";
  element("difference").disabled = !is_apart;
  element("difference").onclick = () => go(parting.find(event => event));
  refresh();
  const [run, id] = location.hash.includes(".") ? location.hash.slice(1).split(".") : [1, location.hash.slice(1)];
  const asked = runs[run - 1] && runs[run - 1].numbered(id);
  if (asked) choose(asked);
  else if (is_apart) go(parting.find(event => event));
  else element("why").lastElementChild.append(made("p", "Choose an event. ↑ ↓: the next one; ←: what brought it about; →: what came of it."));
}

begin();
