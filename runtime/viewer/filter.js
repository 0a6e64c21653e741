// What is shown: hosts, kinds of events, layers, words of a line, and questions to the fields of frames, as `mokume dissect --filter` asks.

const KINDS = {
  frames: ["sends", "receives"], drops: ["drops", "gone", "misses", "crashes", "restarts", "reports", "ends"], calls: ["input", "output"],
  "done with": ["consumes"], timers: ["starts", "wakes"],
};
const hidden = { events: new Set(KINDS["done with"]), hosts: new Set(), layers: new Set() };

// Of a question: a function of a packet that answers it. Throws what is wrong with it.
function question(text) {
  const words = text.match(/==|!=|<=|>=|[<>()]|[\p{L}\p{N}_.:/-]+|\S/gu) || [];
  let at = 0;
  const takes = word => words[at] === word && ++at > 0;
  const any = () => {
    const all = [both()];
    while (takes("or")) all.push(both());
    return packet => all.some(one => one(packet));
  };
  const both = () => {
    const all = [one()];
    while (takes("and")) all.push(one());
    return packet => all.every(one => one(packet));
  };
  const one = () => {
    if (takes("not")) { const inner = one(); return packet => !inner(packet); }
    if (takes("(")) {
      const inner = any();
      if (!takes(")")) throw "a `)` is missing";
      return inner;
    }
    const name = words[at++];
    if (name === undefined || !/^[\p{L}_]/u.test(name)) throw name === undefined ? "a name is missing" : "`" + name + "` is no name";
    const path = name.split(".");
    const sign = ["==", "!=", "<", "<=", ">", ">="].find(sign => sign === words[at]);
    if (!sign) {
      if (name === "refused") return packet => packet.layers.some(layer => is_refused(layer) && !layer.may_be_for_another);
      if (name === "may_be_refused") return packet => refusing(packet).length > 0 && refusing(packet).every(layer => layer.may_be_for_another);
      must_have(path, name, has);
      return packet => packet.layers.some(layer => has(layer, path));
    }
    at++;
    const value = words[at++];
    if (value === undefined) throw "behind `" + name + " " + sign + "` a value is missing";
    must_have(path, name, (layer, path) => layer.fields.some(field => is_named(layer, field, path)));
    return packet => packet.layers.some(layer => layer.fields.some(field => is_named(layer, field, path) && holds(field, sign, value)));
  };
  const found = any();
  if (at < words.length) throw "`" + words[at] + "` is not expected";
  return found;
}

function must_have(path, name, is_there) {
  const there = runs.some(run => all_layers(run).some(layer => is_there(layer, path)));
  if (!there) throw "no frame has `" + name + "`";
}

// Each layer of any frame, without its values.
function all_layers(run) {
  run.shapes = run.shapes || run.raw.layers.map(shape => ({
    ...shape, fields: shape.fields.map(([name, alternative]) => ({ name, alternative })),
  }));
  return run.shapes;
}

function is_refused(layer) { return layer.malformed !== null || layer.dropped.length > 0 || layer.wrong_sum !== null; }

function refusing(packet) { return packet.layers.filter(is_refused); }

// `Fine` for `Status.Fine`, as summaries write it; numbers, times and addresses are the same.
function short_name(written) { return /^[^\W\d]/.test(written) && !written.includes(":") ? written.split(".").pop() : written; }
function short(wire) { return wire.split(".").pop(); }

function has(layer, path) {
  const of_layer = [layer.name, short(layer.wire)];
  return matches(path, [of_layer]) || layer.alternatives.some(name => matches(path, [of_layer, [name]]))
    || layer.fields.some(field => is_named(layer, field, path));
}

function is_named(layer, field, path) {
  return matches(path, [[layer.name, short(layer.wire)], field.alternative === null ? [] : [field.alternative], [field.name]]);
}

// Each word of the path is of a step, in their order, and the last of the last.
function matches(path, steps) {
  if (!steps[steps.length - 1].includes(path[path.length - 1])) return false;
  let from = 0;
  for (const word of path.slice(0, -1)) {
    const found = steps.slice(0, -1).findIndex((step, at) => at >= from && step.includes(word));
    if (found < 0) return false;
    from = found + 1;
  }
  return true;
}

function number_in(text) {
  const plain = text.replace(/_/g, "");
  if (text === "true") return 1n;
  if (text === "false") return 0n;
  return /^(0x[0-9a-f]+|\d+)$/i.test(plain) ? BigInt(plain) : undefined;
}

function holds(field, sign, text) {
  const is_written = field.written !== undefined && (field.written === text || short_name(field.written) === text);
  const number = number_in(text);
  const known = number === undefined ? written_number(text) : number;
  switch (sign) {
    case "==": return is_written || field.value === known;
    case "!=": return !is_written && field.value !== known;
  }
  if (known === undefined) return false;
  switch (sign) {
    case "<": return field.value < known;
    case "<=": return field.value <= known;
    case ">": return field.value > known;
    default: return field.value >= known;
  }
}

// The number that is written so somewhere.
function written_number(text) {
  for (const run of runs) {
    for (const known of Object.values(run.raw.written)) {
      const found = Object.entries(known).find(([, written]) => written === text);
      if (found) return BigInt(found[0]);
    }
  }
  return undefined;
}

// The layer that a frame is for: the uppermost that reads it.
function uppermost(event) {
  const packet = event.run.packet(event);
  return packet && packet.layers.length ? packet.layers[packet.layers.length - 1].name : undefined;
}

// A layer of the stack with the instances in it: `meter` has `meter.Metering`.
function is_layer_hidden(name) {
  return [...hidden.layers].some(layer => name === layer || name.startsWith(layer + "."));
}

let words = [], asked = null;

function wanted(event) {
  if (hidden.events.has(event.event) || hidden.hosts.has(event.host)) return false;
  if (hidden.layers.size) {
    if (event.layers && event.layers.length && event.layers.every(is_layer_hidden)) return false;
    const rings = event.did && event.did.rings || [];
    if (event.event === "wakes" && rings.length && rings.every(ring => is_layer_hidden(ring.layer))) return false;
    const of = event.event === "sends" || event.event === "receives" ? uppermost(event) : undefined;
    if (of !== undefined && is_layer_hidden(of)) return false;
  }
  if (asked) {
    if (event.event !== "sends" && event.event !== "receives") return false;
    const packet = event.run.packet(event);
    if (!packet || !asked(packet)) return false;
  }
  if (!words.length) return true;
  const text = ((event.host || "") + " " + line(event)).toLowerCase();
  return words.every(word => text.includes(word));
}

// Reads what stands in the two fields.
function read_filter() {
  words = element("filter").value.toLowerCase().split(/\s+/).filter(word => word);
  const text = element("fields").value.trim();
  let wrong = "";
  asked = null;
  try {
    if (text) asked = question(text);
  } catch (reason) {
    if (typeof reason !== "string") throw reason;
    wrong = reason;
  }
  if (text && !runs.some(run => run.has_fields)) wrong = "this record has no fields: `--steps` writes them";
  element("wrong").textContent = wrong;
}

// The layers that can be hidden: those of frames, and what else events name, by the name in front of the dot.
function layer_names() {
  const names = new Set();
  for (const run of runs) {
    run.raw.layers.forEach(layer => names.add(layer.name));
    run.raw.objects.forEach(([layer]) => names.add(layer.split(".")[0]));
    run.raw.ways.forEach(way => way.forEach(([layer]) => names.add(layer.split(".")[0])));
  }
  return [...names];
}
