// One event: what it says, why it came, what came of it.

function why_pane(event) {
  const parts = [made("h3", line(event), class_of(event)), ...said(event)];
  const section = (title, all) => { if (all.length) parts.push(made("h3", title), ...all); };
  section("why", reasons(event));
  if (event.event === "sends") section("what became of it", fates(event));
  section("what came of it", event.run.effects_of(event).map(effect => link(effect)));
  return parts;
}

function fact(name, value) { return made("pre", name + ": " + value); }

function said(event) {
  const parts = [fact("event", event.id + ", " + event.event + (event.host ? " at " + event.host : "") + ", " + time(event.at))];
  const add = (name, value) => parts.push(fact(name, value));
  switch (event.event) {
    case "sends":
      add("frame", event.frame + " on " + event.medium + " by " + event.port);
      for (const copy of event.copies) {
        add("to " + copy.to, "arrives at " + time(copy.at) + (copy.turned.length ? ", bits turned: " + copy.turned.join(", ") : ""));
      }
      for (const lost of event.lost) add("to " + lost.to, LOSSES[lost.by]);
      break;
    case "receives": add("frame", event.frame + " by " + event.port + (is_ignored(event) ? ", not for this host" : "")); break;
    case "drops": case "consumes":
      add("reason", event.reason);
      add("layers", event.layers.join(", "));
      parts.push(places(event));
      break;
    case "input": case "output":
      for (const arg of event.args) add(arg.name, argument(arg));
      break;
    case "reports": parts.push(places({ ...event, places: [event.place] })); break;
    case "ends":
      for (const failed of event.failed) add("not as expected", failed.place + ": " + failed.wanted + ": " + failed.found + " (at " + time(failed.at) + ")");
      break;
  }
  return parts;
}

// The lines that a call ran, as `file:line`.
function lines_of(event) {
  const call = event.run.call(event);
  const all = new Set();
  if (call) event.run.way(call).forEach(([, , ran]) => ran.forEach(([file, lines]) => lines.forEach(line => all.add(file + ":" + line))));
  return all;
}

// Where it is written; of several statements that which ran.
function places(event) {
  const ran = lines_of(event);
  const some = event.places.filter(place => ran.has(place));
  const line = made("pre", "written at: ");
  (some.length ? some : event.places).forEach((place, at) => {
    const one = made("a", place, "inline");
    one.onclick = () => show_line(place);
    line.append(at ? ", " : "", one);
  });
  if (!event.places.length) line.append("no place");
  return line;
}

// Walks back: what brought it about, and why that came, as far as the record says it.
function reasons(event) {
  const all = [];
  const say = (text, to) => all.push(to ? link(to, text) : made("p", text));
  const run = event.run;
  again(event).forEach(part => say(...part));
  let one = event;
  for (let step = 0; step < 64; step++) {
    turned(one).forEach(part => say(...part));
    const cause = run.cause(one);
    if (cause) {
      say("because", cause);
      one = cause;
      continue;
    }
    const armed = arming(one);
    // Of several timers that rang at once the record does not say which one it was.
    if (armed.length > 1) armed.forEach(({ ring, event }) => say("its timer `" + ring.layer + "." + ring.timer + "` was started by", event));
    if (armed.length !== 1) break;
    say("its timer was started by", armed[0].event);
    one = armed[0].event;
  }
  return all;
}

// Of a frame that came otherwise than it was sent.
function turned(event) {
  if (event.event !== "receives" || event.octets === null) return [];
  const sent = event.run.sent.get(String(event.frame));
  const here = copy => copy.to === event.host && String(copy.at) === String(event.at) && copy.turned.length;
  const copy = sent && sent.copies.find(copy => here(copy) && with_turned(sent.octets, copy.turned) === event.octets);
  return copy ? [["the line turned " + (copy.turned.length === 1 ? "bit " : "bits ") + copy.turned.join(", ")]] : [];
}

// Octets, as hex digits, with some bits turned; bit 0 is the high one of the first octet.
function with_turned(octets, bits) {
  const digits = [...octets];
  bits.forEach(bit => { digits[bit >> 2] = (parseInt(digits[bit >> 2], 16) ^ 8 >> (bit & 3)).toString(16); });
  return digits.join("");
}

// Of a frame that was sent before: what became of it then.
function again(event) {
  if (event.event !== "sends") return [];
  const run = event.run;
  for (let at = event.index - 1; at >= 0; at--) {
    const before = run.events[at];
    if (before.event === "crashes" && before.host === event.host) return [];
    if (before.event !== "sends" || before.host !== event.host || before.medium !== event.medium || before.octets !== event.octets) continue;
    const came = run.effects_of(before).filter(one => one.event === "receives" && one.index < event.index);
    const answers = came.flatMap(one => run.effects_of(one)).filter(one => one.event === "sends");
    return [
      ["sent again, the same as", before], ...gone(before, event.index),
      ...answers.flatMap(answer => [["which was answered by", answer], ...gone(answer, event.index)]),
    ];
  }
  return [];
}

// What of a frame was lost, or dropped where it came, before an event.
function gone(sent, until) {
  const run = sent.run;
  const came = run.effects_of(sent).filter(one => one.event === "receives" && one.index < until);
  const drops = came.flatMap(one => run.effects_of(one)).filter(one => one.event === "drops");
  return [
    ...sent.lost.map(lost => ["which was " + LOSSES[lost.by] + " on its way to " + lost.to]),
    ...drops.map(drop => ["where it came, was dropped:", drop]),
  ];
}

// When each timer was started that a wake-up is of.
function arming(event) {
  const rings = event.event === "wakes" && event.did && event.did.rings || [];
  return rings.flatMap(ring => {
    const started = started_by(event, ring);
    return started ? [{ ring, event: started }] : [];
  });
}

function started_by(event, ring) {
  const raw = event.run.raw;
  for (let at = event.index - 1; at >= 0; at--) {
    const before = event.run.events[at];
    if (before.host !== event.host || !before.did || !before.did.changes) continue;
    for (const [object, , cells] of before.did.changes) {
      const [layer, kind, number] = raw.objects[object];
      if (layer !== ring.layer || kind !== ring.class || number !== ring.object) continue;
      if (cells.some(([cell, , to]) => raw.cells[cell][0] === ring.timer && to === String(ring.due))) return before;
    }
  }
  return undefined;
}

// What became of each copy of a frame.
function fates(event) {
  const run = event.run;
  const come = run.effects_of(event).filter(one => one.event === "receives" || one.event === "misses");
  const found = event.lost.map(lost => made("p", lost.to + ": not delivered, " + LOSSES[lost.by], "drops"));
  for (const one of come) {
    const ends = run.effects_of(one);
    const what = one.event === "misses" ? "not delivered, it has crashed"
      : one.refused ? "refused: no room, or no such session"
        : ends.length === 0 ? "taken" : "came, and there: " + ends.map(line).join("; ");
    const said = link(one, one.host + ": " + what + " —");
    found.push(said);
  }
  const count = (all, to) => all.filter(one => (one.host || one.to) === to).length;
  for (const to of new Set(event.copies.map(copy => copy.to))) {
    const open = count(event.copies, to) - count(come, to);
    for (let copy = 0; copy < open; copy++) found.push(made("p", to + ": still on its way at the end"));
  }
  return found;
}
