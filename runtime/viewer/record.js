// A record (docs/records.md) as the page has it: what it says often stands in tables, which events name by number.

// What is asked for at a glance is made at once, the rest when it is asked for first: a record of many frames opens soon.
class Run {
  constructor(raw) {
    this.raw = raw;
    this.head = raw.head;
    this.events = raw.events;
    this.sources = new Map(raw.sources.map(file => [file.source, file.text.split("\n")]));
    this.has_steps = raw.ways.length > 0;
    this.has_fields = raw.layers.length > 0;
    this.events.forEach((event, at) => {
      event.run = this;
      event.index = at;
    });
  }

  // By its number; they count from 1.
  numbered(id) {
    const found = this.events[Number(id) - 1];
    return found && String(found.id) === String(id) ? found : this.events.find(event => String(event.id) === String(id));
  }

  get effects() {
    this.all_effects = this.all_effects || by(this.events.filter(event => event.cause !== null), event => String(event.cause));
    return this.all_effects;
  }

  get sent() {
    this.all_sent = this.all_sent || new Map(this.events.filter(event => event.event === "sends").map(event => [String(event.frame), event]));
    return this.all_sent;
  }

  cause(event) { return event.cause === null ? undefined : this.numbered(event.cause); }

  // Behind each other, the nearest first.
  causes(event) {
    const all = [];
    for (let one = this.cause(event); one; one = this.cause(one)) all.push(one);
    return all;
  }

  effects_of(event) { return this.effects.get(String(event.id)) || []; }

  // The call of a stack that an event is of, with what its layers did.
  call(event) {
    if (event.did) return event;
    if (["starts", "wakes", "input", "receives", "restarts", "crashes", "misses"].includes(event.event)) return undefined;
    const cause = this.cause(event);
    return cause && cause.host === event.host ? this.call(cause) : undefined;
  }

  way(event) { return event.did ? this.raw.ways[event.did.way] : []; }

  // The frame that an event is of: the event that has its octets and its fields.
  frame(event) {
    if (event.event === "sends") return event;
    if (event.event !== "receives") return undefined;
    return event.octets === null ? this.sent.get(String(event.frame)) : event;
  }

  // The layers of a frame, whole, as the stack of the event's host reads it: each with its fields and their values.
  packet(event) {
    const frame = this.frame(event);
    // A receiver that reads what was sent otherwise than the sender has a packet of its own.
    const by = frame && event.packet ? event : frame;
    if (!by || !by.packet) return undefined;
    if (!by.read) {
      const layers = by.packet.layers.map(([shape, octet]) => layer_of(this.raw, this.raw.layers[shape], octet, frame.octets));
      const [octet, octets, part] = by.packet.rest;
      by.read = { layers, rest: { octet, octets, part: part === 1 } };
    }
    return by.read;
  }
}

function layer_of(raw, shape, octet, digits) {
  const fields = shape.fields.map(([name, alternative, bit, bits, order, read, key, given]) => {
    const first = octet * 8 + bit;
    const value = given === null ? number_of(digits, first, bits, order) : BigInt(given);
    const known = raw.written[key];
    const written = known ? known[String(value)] : undefined;
    return { name, alternative, bit: first, bits, read, value, written, layer: shape.name };
  });
  return { ...shape, octet, fields };
}

// Of octets as hexadecimal digits; order `b`: the highest octet first.
function number_of(digits, bit, bits, order) {
  const first = bit >> 3, last = (bit + bits + 7) >> 3;
  let text = digits.slice(first * 2, last * 2);
  if (order === "l") text = octets_of(text).reverse().join("");
  const all = BigInt("0x" + (text || "0"));
  const behind = last * 8 - bit - bits;
  return (all >> BigInt(order === "l" ? 0 : behind)) & ((1n << BigInt(bits)) - 1n);
}

function by(all, key) {
  const groups = new Map();
  for (const one of all) {
    const known = groups.get(key(one));
    if (known) known.push(one); else groups.set(key(one), [one]);
  }
  return groups;
}

function octets_of(digits) { return digits.match(/../g) || []; }

// A long record is deflated, in Base64.
function read(element) {
  if (element.type === "application/json") return JSON.parse(element.textContent);
  return JSON.parse(fflate.inflated(Uint8Array.from(atob(element.textContent), one => one.charCodeAt(0))));
}

const data = read(document.getElementById("record"));
const runs = data.runs.map(raw => new Run(raw));
