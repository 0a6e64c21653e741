// A frame: its layers and fields, and its octets, each leading to the other.

const closed_layers = new Set();

function packet_pane(event) {
  const near = event.run.frame(event) ? event : frame_near(event);
  if (!near) return [...messages(event), made("p", "No frame is of this event.", "dim")];
  const of = event.run.frame(near);
  const packet = event.run.packet(near);
  // The sender's stack, or the one that the frame came to.
  const reader = event.run.head.hosts.find(host => host.name === near.host);
  const by = near.packet && near !== of ? ", as " + reader.stack + " at " + near.host + " reads it" : "";
  const title = made("p", about(of) + (of === event ? "" : ", the frame of this") + by, "sends");
  const from = of.event === "receives" ? event.run.sent.get(String(of.frame)) : undefined;
  const digits = of.octets;
  const bytes = dump(digits, from ? from.octets : digits, packet);
  if (!packet) return [title, made("p", "The record has no fields: `--steps` writes them.", "dim"), bytes];
  return [title, ...packet.layers.map(tree), ...rest_of(packet), bytes, ...messages(event)];
}

// The sending or reception that brought the event about, or that it brought about first.
function frame_near(event) {
  return [...event.run.causes(event), ...event.run.effects_of(event)].find(one => event.run.frame(one) && one.host === event.host);
}

function messages(event) {
  const of_args = (event.args || []).filter(arg => arg.is === "message");
  return of_args.flatMap(arg => [made("h3", arg.name), dump(arg.octets, arg.octets)]);
}

function tree(layer) {
  const one = made("details", undefined, "layer");
  one.open = !closed_layers.has(layer.name);
  one.ontoggle = () => {
    if (one.open) closed_layers.delete(layer.name); else closed_layers.add(layer.name);
  };
  if (is_layer_hidden(layer.name)) one.open = false;
  const head = [layer.name, ...layer.alternatives].join(" ") + (short(layer.wire) === layer.name ? "" : "  (" + short(layer.wire) + ")");
  one.append(made("summary", head));
  layer.fields.forEach(field => one.append(field_row(field)));
  const condition = layer.may_be_for_another ? "; if it is for " + layer.name : "";
  const wrong = text => one.append(made("p", text + condition, "drops"));
  if (layer.malformed) wrong("malformed: " + layer.malformed[0] + ", at octet " + (layer.octet + layer.malformed[1]) + " bit " + layer.malformed[2]);
  layer.dropped.forEach(dropped => wrong("dropped in any state: " + dropped.reason + (dropped.place ? " at " + dropped.place : "")));
  if (layer.wrong_sum) wrong(layer.wrong_sum[0] + " is wrong: it should be " + layer.wrong_sum[2]);
  return one;
}


function value_of(field) { return field.written === undefined ? String(field.value) : field.written; }

function field_row(field) {
  const row = made("div", undefined, "field" + (field.read ? "" : " unread"));
  const name = (field.alternative === null ? "" : field.alternative + ".") + field.name;
  const bits = field.bits % 8 === 0 && field.bit % 8 === 0 ? "" : ":" + field.bit % 8;
  const size = field.bits % 8 === 0 ? field.bits / 8 + " o" : field.bits + " b";
  row.append(made("b", name), made("span", value_of(field)), made("i", (field.bit >> 3) + bits + "  " + size));
  row.dataset.bit = field.bit;
  row.dataset.bits = field.bits;
  row.onclick = () => choose_field(field.bit, field.bits);
  return row;
}

function rest_of(packet) {
  if (!packet.rest.octets) return [];
  const row = made("div", undefined, "field unread");
  const name = packet.rest.part ? "a part" : "carried";
  row.append(made("b", name), made("span", packet.rest.octets + " octets"), made("i", packet.rest.octet + "  " + packet.rest.octets + " o"));
  row.dataset.bit = packet.rest.octet * 8;
  row.dataset.bits = packet.rest.octets * 8;
  row.onclick = () => choose_field(packet.rest.octet * 8, packet.rest.octets * 8);
  return [row];
}

// Sixteen a line; those that are not as they were sent stand out.
function dump(digits, before, packet) {
  const all = octets_of(digits), was = octets_of(before);
  const pre = made("pre", undefined, "dump");
  const rest = packet ? packet.rest.octet : 0;
  for (let at = 0; at < all.length; at += 16) {
    pre.append(String(at).padStart(5) + "  ");
    all.slice(at, at + 16).forEach((pair, index) => {
      const one = made("span", undefined, packet && at + index >= rest ? "rest" : "");
      one.append(pair === was[at + index] ? pair : made("em", pair));
      one.dataset.octet = at + index;
      one.onclick = () => choose_octet(at + index);
      pre.append(one, " ");
    });
    const codes = all.slice(at, at + 16).map(pair => parseInt(pair, 16));
    pre.append("   ".repeat(16 - codes.length) + " " + codes.map(code => code >= 32 && code < 127 ? String.fromCharCode(code) : ".").join("") + "\n");
  }
  return pre;
}

// Marks a field, and its octets.
function choose_field(bit, bits) {
  const pane = element("packet");
  const [first, last] = [bit >> 3, (bit + bits + 7) >> 3];
  for (const row of pane.querySelectorAll(".field")) {
    const is_it = Number(row.dataset.bit) === bit && Number(row.dataset.bits) === bits;
    row.classList.toggle("chosen", is_it);
    if (is_it && row.parentElement.tagName === "DETAILS") row.parentElement.open = true;
    if (is_it) row.scrollIntoView({ block: "nearest" });
  }
  for (const one of pane.querySelectorAll(".dump span")) {
    const octet = Number(one.dataset.octet);
    one.classList.toggle("chosen", octet >= first && octet < last);
  }
}

// The smallest field that has the octet.
function choose_octet(octet) {
  const rows = [...element("packet").querySelectorAll(".field")];
  const fits = rows.filter(row => {
    const first = Number(row.dataset.bit), last = first + Number(row.dataset.bits);
    return first < octet * 8 + 8 && last > octet * 8;
  });
  fits.sort((a, b) => Number(a.dataset.bits) - Number(b.dataset.bits));
  if (fits.length) choose_field(Number(fits[0].dataset.bit), Number(fits[0].dataset.bits));
}
