// Events and times in words.

const element = id => document.getElementById(id);

function made(tag, text, kind) {
  const one = document.createElement(tag);
  if (text !== undefined) one.textContent = text;
  if (kind) one.className = kind;
  return one;
}

// Nanoseconds may be text, where they have more than 53 bits.
function time(at) {
  const all = BigInt(at);
  const units = [[1000000000n, "s"], [1000000n, "ms"], [1000n, "µs"]];
  for (const [unit, name] of units) {
    if (all < unit) continue;
    const rest = String(all % unit).padStart(String(unit).length - 1, "0").replace(/0+$/, "");
    return String(all / unit) + (rest ? "." + rest : "") + " " + name;
  }
  return all === 0n ? "0" : all + " ns";
}

function shown(digits) {
  const all = octets_of(digits).map(pair => parseInt(pair, 16));
  const first = all.slice(0, 24);
  const more = all.length > 24 ? "…" : "";
  if (first.length && first.every(octet => octet >= 32 && octet < 127)) return '"' + String.fromCharCode(...first) + more + '"';
  return 'x"' + digits.slice(0, 48) + more + '"';
}

// `session 3`; `session 3 (2nd)` is the next one in its place.
function sessionOf(arg) {
  const place = arg.generation + 1, last = place % 10;
  const is = (digit, but) => last === digit && place % 100 !== but;
  const ending = is(1, 11) ? "st" : is(2, 12) ? "nd" : is(3, 13) ? "rd" : "th";
  return "session " + arg.object + (arg.generation ? " (" + place + ending + ")" : "");
}

function argument(arg) {
  if (arg.is === "number") return arg.written;
  if (arg.is === "session") return sessionOf(arg);
  if (arg.is === "message") return shown(arg.octets);
  return "null";
}

function about(event) {
  const from = event.event === "sends" ? event : event.run.sent.get(String(event.frame));
  const words = from ? from.about : event.about;
  return "#" + event.frame + (words ? " " + words : "");
}

const LOSSES = { weather: "lost by the weather", partition: "cut off by a partition", queue: "lost by a full queue" };

// A line of the list.
function line(event) {
  if (event.line === undefined) event.line = words_of(event);
  return event.line;
}

// The class of a line, which gives it its colour: an end is bad only if something failed.
function class_of(event) {
  const is_bad = event.event === "ends" && (event.restless || event.failed.length > 0);
  return is_bad ? "ends failed" : event.event;
}

function words_of(event) {
  const call = () => event.port + "." + event.name + "(" + event.args.map(argument).join(", ") + ")";
  const refused = event.refused ? " REFUSED" : "";
  switch (event.event) {
    case "starts": return "starts";
    case "wakes": {
      const rings = event.did && event.did.rings || [];
      return rings.length ? "rings " + rings.map(ring => ring.layer + "." + ring.timer).join(", ") : "timers are due";
    }
    case "input": return "→ " + call() + refused;
    case "output": return "← " + call();
    case "sends": return about(event);
    case "receives": return about(event) + (event.octets !== null && event.cause !== null ? " CHANGED" : "") + refused;
    case "drops": case "consumes":
      return (event.event === "drops" ? "✗ " : "✓ ") + event.reason + (String(event.count) === "1" ? "" : " ×" + event.count);
    case "gone": return "✗ " + event.count + " with the session they were for";
    case "misses": return "✗ #" + event.frame + ", as it has crashed";
    case "crashes": return "CRASHES";
    case "restarts": return "BEGINS AGAIN";
    case "reports": return "REPORT " + event.report + " at " + event.place;
    case "ends": return event.restless || (event.failed.length ? event.failed.length + " not as expected" : "the end");
  }
  return event.event;
}

// An event that one can go to.
function link(event, before) {
  const text = (before ? before + " " : "") + time(event.at) + "  " + (event.host || "") + "  " + line(event);
  const one = made("a", text, event.event);
  one.dataset.id = event.id;
  one.onclick = () => choose(event);
  return one;
}
