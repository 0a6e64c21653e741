// Rows and arrows of a run: those in sight alone are made.

const ROW = 22, LEFT = 128;
const SVG = "http://www.w3.org/2000/svg";

function drawn(tag, attributes, text) {
  const one = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  if (text !== undefined) one.textContent = text;
  return one;
}

class List {
  constructor(run, name) {
    this.run = run;
    this.name = name;
    this.rows = [];
    this.row_of = new Map();
    this.arrows = [];
    this.lanes = [];
    this.view = made("div", undefined, "list");
    this.view.tabIndex = 0;
    this.names = made("div", undefined, "names");
    this.space = made("div", undefined, "space");
    this.view.append(this.names, this.space);
    this.view.onscroll = () => this.draw();
  }

  // What is shown has changed.
  refresh() {
    this.rows = this.run.events.filter(wanted);
    this.row_of = new Map(this.rows.map((event, at) => [event, at]));
    this.lanes = this.run.head.hosts.map(host => host.name).filter(name => !hidden.hosts.has(name));
    this.arrows = [];
    this.rows.forEach((event, to) => {
      if (event.event !== "receives" && event.event !== "misses") return;
      const cause = this.run.cause(event);
      const from = cause && this.row_of.get(cause);
      if (from !== undefined) this.arrows.push([from, to]);
    });
    this.space.style.height = this.rows.length * ROW + 24 + "px";
    this.resize();
  }

  resize() {
    this.width = this.view.clientWidth;
    this.height = this.view.clientHeight;
    const names = this.lanes.map(name => {
      const one = made("span", name);
      one.style.left = this.x(name) + "px";
      return one;
    });
    if (this.name) names.push(made("i", this.name));
    this.names.replaceChildren(...names);
    this.draw();
  }

  x(name) {
    const width = Math.max(this.width - LEFT - 20, 240);
    const at = this.lanes.indexOf(name);
    return at < 0 ? LEFT : LEFT + width * (2 * at + 1) / (2 * Math.max(this.lanes.length, 1));
  }

  draw() {
    const top = Math.min(Math.floor(this.view.scrollTop / ROW), this.rows.length);
    const first = Math.max(0, top - 10);
    const last = Math.min(this.rows.length, first + Math.ceil(this.height / ROW) + 30);
    const is_own = chosen && chosen.run === this.run;
    const near = new Set(is_own ? [...this.run.causes(chosen), ...this.run.effects_of(chosen)] : []);
    const parts = [];
    for (let at = first; at < last; at++) parts.push(this.row(at, near));
    const marks = this.plane(first, last);
    this.space.replaceChildren(this.picture(first, last, marks), ...parts, marks);
  }

  row(at, near) {
    const event = this.rows[at];
    const kind = event === chosen ? " chosen" : near.has(event) ? " near" : "";
    const row = made("div", undefined, "row" + kind + (event === this.parting ? " parts" : ""));
    row.style.top = at * ROW + "px";
    row.dataset.id = event.id;
    const text = made("span", line(event), class_of(event) + (is_ignored(event) ? " ignored" : ""));
    const lane = this.x(event.host);
    if (lane > this.width * 0.6) {
      text.style.right = this.width - lane + "px";
      text.style.maxWidth = `min(60%, ${lane - LEFT - 10}px)`;
    } else {
      text.style.left = lane + "px";
      text.style.maxWidth = `min(60%, ${this.width - lane - 12}px)`;
    }
    row.append(made("i", time(event.at)), text);
    row.onclick = () => choose(event);
    return row;
  }

  plane(first, last) {
    const svg = drawn("svg", { width: this.width, height: (last - first) * ROW });
    svg.style.top = first * ROW + "px";
    return svg;
  }

  // Lanes and arrows, which stand behind the words. What marks a loss stands in front of them.
  picture(first, last, marks) {
    const top = first * ROW;
    const svg = this.plane(first, last);
    for (const name of this.lanes) {
      svg.append(drawn("line", { x1: this.x(name), x2: this.x(name), y1: 0, y2: (last - first) * ROW, stroke: "var(--line)" }));
    }
    for (const [from, to] of this.arrows) {
      if (from >= last || to < first) continue;
      const event = this.rows[to];
      const ends = { x1: this.x(this.rows[from].host), y1: from * ROW + 11 - top, x2: this.x(event.host), y2: to * ROW + 11 - top };
      const color = event.event === "misses" || event.octets ? "var(--bad)" : is_ignored(event) ? "var(--dim)" : "var(--frame)";
      svg.append(drawn("line", { ...ends, stroke: color, "stroke-opacity": "0.55" }));
      svg.append(drawn("circle", { cx: ends.x2, cy: ends.y2, r: 3, fill: color }));
    }
    for (let at = first; at < last; at++) {
      const event = this.rows[at];
      if (event.event !== "sends") continue;
      for (const lost of event.lost.filter(lost => this.lanes.includes(lost.to))) this.lost(svg, marks, event, lost, at * ROW + 20 - top);
    }
    return svg;
  }

  lost(svg, marks, event, lost, y) {
    const [x1, x2] = [this.x(event.host), this.x(lost.to)];
    const middle = x1 + (x2 - x1) * 0.8;
    svg.append(drawn("line", { x1, y1: y, x2: middle, y2: y, stroke: "var(--bad)", "stroke-dasharray": "4 3" }));
    // Between two lines of words: so high that it touches neither.
    const mark = { weather: "m-3-3l6 6m0-6l-6 6", partition: "m-2-4v8m4-8v8", queue: "m-3 3v-6h6v6" }[lost.by];
    marks.append(drawn("path", { class: lost.by, d: `M${middle} ${y}${mark}`, stroke: "var(--bad)", "stroke-width": 1.6, fill: "none" }));
  }

  // The event is in sight, or what brought it about, where no row is of it.
  show(event) {
    const row = this.row_of.get([event, ...this.run.causes(event)].find(one => this.row_of.has(one)));
    if (row === undefined) return;
    const top = row * ROW;
    if (top < this.view.scrollTop || top > this.view.scrollTop + this.height - 3 * ROW) this.view.scrollTop = top - this.height / 2;
  }

  // The row at an event's time, or the first behind it.
  near(event) {
    if (this.row_of.has(event)) return this.row_of.get(event);
    const found = this.rows.findIndex(one => one.index >= event.index);
    return found < 0 ? this.rows.length - 1 : found;
  }
}

// A frame that is as it was sent, of which the lowest layers of the host drop each copy, and that another host hears, which took it or did not
// get it: it is for others. One that all of them drop is for nobody, and a drop like others.
function is_ignored(event) {
  if (event.event !== "receives" || event.octets !== null || event.refused) return false;
  if (event.ignored === undefined) {
    const sent = event.run.sent.get(String(event.frame));
    const came = sent ? event.run.effects_of(sent).filter(one => one.event === "receives" && one.octets === null) : [];
    const hear = new Set(sent ? [...sent.copies, ...sent.lost].map(one => one.to) : []);
    const took = new Set(came.filter(one => !is_left_low(one)).map(one => one.host));
    const left = new Set(came.map(one => one.host).filter(host => !took.has(host)));
    event.ignored = left.has(event.host) && left.size < hear.size;
  }
  return event.ignored;
}

// Whether the lowest layers of the host dropped what came, and nothing else happened.
function is_left_low(event) {
  const effects = event.run.effects_of(event);
  const lowest = event.run.head.hosts.find(host => host.name === event.host).lowest || [];
  return effects.length > 0 && effects.every(one => one.event === "drops" && one.layers.length > 0 && one.layers.every(layer => lowest.includes(layer)));
}
