// What a user does with the page of plant.mok at seed 14, and what must be seen then. `viewer.rs` puts it behind the page's own script; it
// writes a line for each interaction into the page.

const said = [];
const run = runs[0], events = run.events, list = lists[0];
const pane = name => element(name).lastElementChild;
const text = name => pane(name).textContent;
const rows = () => [...list.space.querySelectorAll(".row")];
const row_of = event => rows().find(row => row.dataset.id === String(event.id));
const is_chosen = event => chosen === event && row_of(event) !== undefined && row_of(event).classList.contains("chosen")
  && text("why").includes("event: " + event.id + ", " + event.event);
const key = name => list.view.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true }));
const type = (field, words) => { element(field).value = words; element(field).dispatchEvent(new Event("input")); };
const box = (where, name) => [...element(where).querySelectorAll("label")].find(label => label.textContent.trim() === name).firstChild;
const tick = (where, name) => box(where, name).click();
const frame = number => events.find(event => event.event === "sends" && event.frame === number);
const came = (number, host) => events.find(event => event.event === "receives" && event.frame === number && event.host === host);
const dropped = reason => events.find(event => event.event === "drops" && event.reason === reason);
const same = (found, wanted) => JSON.stringify(found) === JSON.stringify(wanted) || { found, wanted };

function interaction(name, act) {
  let answer;
  try { answer = act(); } catch (error) { answer = String(error.stack || error); }
  said.push((answer === true ? "ok " : "WRONG ") + name + (answer === true ? "" : ": " + JSON.stringify(answer)));
}

// ---- the list ----

interaction("keys work at once, without a click", () => {
  const press = name => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true, bubbles: true }));
  const before = chosen;
  press("ArrowDown");
  return same([before, chosen && chosen.id], [null, list.rows[0].id]);
});
interaction("keys in a field are the field's", () => {
  element("filter").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", cancelable: true, bubbles: true }));
  return chosen === list.rows[0];
});

interaction("the title says what ran", () => same([document.title, element("of").textContent], ["Plant", "network, interpreter, seed 14"]));
interaction("the count is that of the rows", () => {
  const wanted = events.filter(event => event.event !== "consumes").length;
  return same(element("count").textContent, wanted + " of " + events.length + " events");
});
interaction("rows in sight alone are drawn", () => rows().length < 90 && rows().length > 20 || rows().length);
interaction("a row is chosen by a click", () => { row_of(frame(1)).click(); return is_chosen(frame(1)); });
interaction("no words lie over a time", () => {
  const over = rows().filter(row => {
    const [time, words] = [row.querySelector("i"), row.querySelector("span")].map(one => {
      const range = document.createRange();
      range.selectNodeContents(one);
      const text = range.getBoundingClientRect(), box = one.getBoundingClientRect();
      return { left: Math.max(text.left, box.left), right: Math.min(text.right, box.right) };
    });
    return words.left < time.right;
  });
  return same(over.map(row => row.textContent), []);
});
interaction("the address names the event", () => same(location.hash, "#" + frame(1).id));
interaction("down goes to the next row", () => { key("ArrowDown"); return is_chosen(list.rows[list.row_of.get(frame(1)) + 1]); });
interaction("up goes back", () => { key("ArrowUp"); return is_chosen(frame(1)); });
interaction("end goes to the last", () => { key("End"); return is_chosen(events[events.length - 1]); });
interaction("an end without failures is plain", () => {
  const end = events[events.length - 1], row = row_of(end), color = one => getComputedStyle(one).color;
  return same([end.event, end.failed, color(row.querySelector("span"))], ["ends", [], color(row)]);
});
interaction("home goes to the first", () => { key("Home"); return is_chosen(list.rows[0]); });
interaction("a page is twenty rows", () => { key("PageDown"); return is_chosen(list.rows[20]); });
interaction("left goes to what brought it about", () => { choose(came(10, "reader")); key("ArrowLeft"); return is_chosen(frame(10)); });
interaction("right goes to what came of it", () => { key("ArrowRight"); return is_chosen(came(10, "reader")); });
interaction("buttons step", () => {
  const at = list.row_of.get(chosen), seen = [];
  for (const name of ["next", "back", "first", "last"]) { element(name).click(); seen.push(list.row_of.get(chosen)); }
  return same(seen, [at + 1, at, 0, list.rows.length - 1]);
});
interaction("the buttons why and then follow causes", () => {
  choose(came(10, "reader"));
  element("cause").click();
  const cause = chosen;
  element("effect").click();
  return same([cause.id, chosen.id], [frame(10).id, came(10, "reader").id]);
});
interaction("why is off where nothing is known", () => { choose(events[0]); return element("cause").disabled; });
interaction("the slider goes through time", () => {
  element("scrub").value = 30;
  element("scrub").dispatchEvent(new Event("input"));
  return is_chosen(list.rows[30]) && same(element("now").textContent, time(list.rows[30].at));
});
interaction("the row that is chosen is in sight", () => {
  const seen = [events[0], frame(30), frame(15)].map(event => {
    choose(event);
    const top = list.row_of.get(event) * ROW;
    return top >= list.view.scrollTop && top < list.view.scrollTop + list.view.clientHeight;
  });
  return same(seen, [true, true, true]);
});
interaction("a frame that comes has an arrow", () => {
  choose(frame(9));
  return list.arrows.some(([from, to]) => list.rows[from] === frame(9) && list.rows[to] === came(9, "probe"));
});
interaction("a frame that is lost has a mark", () => {
  choose(frame(28));
  return list.space.querySelectorAll("svg path.weather").length === 1;
});

// ---- what is shown ----

interaction("a host is hidden", () => {
  tick("hosts", "probe");
  return list.rows.length > 0 && list.rows.every(event => event.host !== "probe") && same([...list.names.children].map(one => one.textContent), ["reader"]);
});
interaction("and shown again", () => { tick("hosts", "probe"); return list.rows.some(event => event.host === "probe"); });
interaction("kinds of events are hidden", () => {
  tick("kinds", "frames");
  const found = list.rows.every(event => event.event !== "sends" && event.event !== "receives");
  tick("kinds", "frames");
  return found && list.rows.includes(frame(1));
});
interaction("what is done with can be shown", () => {
  tick("kinds", "done with");
  const found = list.rows.length === events.length;
  tick("kinds", "done with");
  return found;
});
interaction("a layer is hidden with its frames and events", () => {
  tick("layers", "arp");
  const arp = events.filter(event => (event.event === "sends" || event.event === "receives") && /^#\d+ arp/.test(line(event)));
  const found = [1, 2, 3, 5].every(number => !list.rows.includes(frame(number))) && list.rows.includes(frame(4));
  choose(frame(1));
  const layer = [...pane("packet").querySelectorAll("details")].find(one => one.textContent.startsWith("arp"));
  const folded = layer && !layer.open;
  const state = text("state").includes("arp.");
  tick("layers", "arp");
  return found && folded && !state || { found, folded, state, arp: arp.length };
});
interaction("words keep the lines that have them", () => {
  type("filter", "tell PROBE");
  const wanted = events.filter(event => event.host === "probe" && event.event === "sends" && event.about.includes("Tell")).map(event => event.id);
  const found = list.rows.map(event => event.id);
  type("filter", "");
  return wanted.length > 5 && same(found, wanted);
});
interaction("fields keep the frames that have them", () => {
  type("fields", "Tell.value > 200 and udp.destination != 4711");
  const wanted = events.filter(event => (event.event === "sends" || event.event === "receives") && about(event).includes("Tell"));
  const found = list.rows.map(event => event.id);
  // Of what the line turned, fields are others.
  const damaged = [came(10, "reader").id, came(16, "reader").id];
  const whole = all => all.filter(id => !damaged.includes(id));
  type("fields", "");
  return wanted.length > 10 && same(whole(found), whole(wanted.map(one => one.id)));
});
interaction("a field's value is as it is written", () => {
  type("fields", "ip.source == 10.0.0.2 and not (id <= 5 or Hello)");
  const found = list.rows.filter(event => event.event === "sends").map(event => event.about);
  type("fields", "");
  return found.length > 3 && found.every(about => /^(Response id=([6-9]|\d\d)|Welcome)/.test(about)) || found;
});
interaction("frames that are refused are found", () => {
  type("fields", "refused");
  const found = list.rows.map(event => event.id);
  type("fields", "");
  return same(found, [came(10, "reader").id]) === true || same(found, [came(10, "reader").id, came(16, "reader").id]);
});
interaction("a name that no frame has is told", () => {
  type("fields", "Tell.vlaue > 3");
  const found = element("wrong").textContent;
  type("fields", "");
  return same([found, element("wrong").textContent], ["no frame has `Tell.vlaue`", ""]);
});
interaction("a question that is none is told", () => {
  const found = ["(Tell", "value >", "3 == value", "Tell Ask"].map(words => { type("fields", words); return element("wrong").textContent !== ""; });
  type("fields", "");
  return same(found, [true, true, true, true]);
});

// ---- the packet ----

const shown_octets = () => [...pane("packet").querySelectorAll(".dump span")].map(one => one.textContent).join("");

interaction("each frame is shown with its own octets and fields", () => {
  const wrong = [];
  for (const event of events.filter(event => event.event === "sends" || event.event === "receives")) {
    choose(event);
    const octets = event.octets === null ? frame(event.frame).octets : event.octets;
    const name = "#" + event.frame + " ";
    const id = /id=(\d+)/.exec(event.event === "receives" && event.octets !== null ? "" : about(event));
    const field = [...pane("packet").querySelectorAll(".field")].find(row => /^(Request|Response)\.id$/.test(row.children[0].textContent));
    if (shown_octets() !== octets || !text("packet").startsWith(name) || id && field.children[1].textContent !== id[1]) wrong.push(event.id);
  }
  return same(wrong, []);
});
interaction("a field is as its type writes it", () => {
  choose(frame(10));
  const fields = [...pane("packet").querySelectorAll(".field")].map(row => [...row.children].slice(0, 2).map(one => one.textContent).join("="));
  return ["source=10.0.0.2", "Tell.status=Status.Fine", "Tell.value=215", "kind=Data", "protocol=17", "version=4", "Response.id=2"].every(field => fields.includes(field)) || fields;
});
interaction("a field marks its octets", () => {
  [...pane("packet").querySelectorAll(".field")].find(row => row.children[0].textContent === "Tell.value").click();
  const marked = [...pane("packet").querySelectorAll(".dump .chosen")].map(one => one.textContent).join("");
  return same(marked, "000000d7");
});
interaction("an octet marks its field", () => {
  [...pane("packet").querySelectorAll(".dump span")].find(one => one.dataset.octet === "30").click();
  const marked = [...pane("packet").querySelectorAll(".field.chosen")].map(row => row.firstChild.textContent + "=" + row.children[1].textContent);
  return same(marked, ["destination=10.0.0.1"]);
});
interaction("octets that the line turned stand out", () => {
  choose(came(10, "reader"));
  const turned = frame(10).copies[0].turned.map(bit => bit >> 3);
  const marked = [...pane("packet").querySelectorAll(".dump em")].map(one => Number(one.parentElement.dataset.octet));
  return turned.length > 0 && same(marked, [...new Set(turned)]);
});
interaction("what is dropped in any state is said at its layer", () => text("packet").includes("malformed: Rfc791.sum") || text("packet").includes("dropped in any state"));
interaction("what is no frame shows that of its cause", () => {
  choose(dropped("sensors.Exchange.repeated"));
  return text("packet").startsWith("#11 ") && shown_octets() === frame(11).octets;
});

// ---- why ----

interaction("why it was dropped: back over the turned bit to who sent it", () => {
  choose(dropped("Rfc791.sum"));
  const why = text("why");
  const order = ["because", "the line turned bit", "#10 Response id=2", "#10", "#9 Request id=2", "rings sensors.Sensor.next", "its timer was started by"].map(part => why.indexOf(part));
  return order.every(at => at > 0) || why;
});
interaction("why it was sent again", () => {
  choose(frame(11));
  const why = text("why");
  return ["sent again, the same as", "#9 Request id=2", "which was answered by", "#10 Response", "where it came, was dropped:", "✗ Rfc791.sum", "rings sensors.Exchange.again_at"].every(part => why.includes(part)) || why;
});
interaction("why it was not delivered", () => {
  choose(frame(28));
  return text("why").includes("reader: not delivered, lost by the weather") || text("why");
});
interaction("what became of a frame where it came", () => {
  choose(frame(11));
  return text("why").includes("probe: came, and there: ✗ sensors.Exchange.repeated") || text("why");
});
interaction("a link of why leads there", () => {
  choose(dropped("Rfc791.sum"));
  pane("why").querySelector("a[data-id='" + frame(10).id + "']").click();
  return is_chosen(frame(10));
});
interaction("a timer's start is found", () => {
  choose(events.find(event => event.event === "wakes" && event.did.rings[0].timer === "again_at" && event.at > 200000000));
  key("ArrowLeft");
  return chosen.event === "wakes" && line(chosen) === "rings sensors.Sensor.next" || line(chosen);
});

// ---- state ----

const cell = (object, name) => {
  const heading = [...pane("state").querySelectorAll("h3")].find(one => one.textContent === object);
  return [...heading.nextSibling.querySelectorAll("tr")].find(row => row.firstChild.textContent === name);
};
interaction("state is that of the time", () => {
  const wrong = [];
  for (const event of events.filter(event => event.event === "sends" && event.host === "reader" && / Ask /.test(event.about))) {
    choose(event);
    const current = cell("sensors.Exchange session 0", "current").lastChild.textContent.split(" → ").pop();
    if (current !== /id=(\d+)/.exec(event.about)[1]) wrong.push([event.about, current]);
  }
  return same(wrong, []);
});
interaction("what the call changed is marked", () => {
  choose(frame(13));
  return same([cell("sensors.Exchange session 0", "current").lastChild.textContent, cell("sensors.Exchange session 0", "current").className, cell("sensors.Exchange session 0", "asks").className], ["2 → 3", "cell changed", "cell"]);
});
interaction("what went away by the call is marked, and then gone", () => {
  const went = ([at, from, to]) => from !== null && to === null && run.raw.cells[at][2] !== null;
  choose(events.find(event => event.host === "reader" && event.did && event.did.changes.some(([, , cells]) => cells && cells.some(went))));
  const place = () => cell("ip.NextHop Hop 0", "waiting_waiting_items[0]");
  const found = [/^\d+ octets .* → nothing$/.test(place().lastChild.textContent), place().className];
  choose(events.find(event => event.host === "reader" && event.did && event.index > chosen.index));
  const then = place();
  choose(frame(13));
  return same([...found, then], [true, "cell changed", undefined]);
});
interaction("a timer says when it rings", () => /^rings at |→ rings at /.test(cell("sensors.Exchange session 0", "again_at").lastChild.textContent));
interaction("the other host's state is shown", () => {
  [...pane("state").querySelectorAll("button")].find(one => one.textContent === "probe").click();
  const found = cell("sensors.Exchange session 0", "asks").lastChild.textContent;
  [...pane("state").querySelectorAll("button")].find(one => one.textContent === "probe").click();
  return same([found, cell("sensors.Exchange session 0", "asks").lastChild.textContent], ["false", "true"]);
});
interaction("a variable leads to what changed it last", () => {
  choose(frame(13));
  cell("sensors.Exchange session 0", "asks").click();
  return chosen.did !== undefined && chosen.index < frame(13).index && chosen.did.changes.some(([, , cells]) => cells.some(([at]) => run.raw.cells[at][0] === "asks"));
});

// ---- source ----

const lines = kind => [...pane("source").querySelectorAll(".line" + kind)].map(one => Number(one.dataset.line));
const file = () => pane("source").querySelector(".files .on").title.split("/").pop();
interaction("the statement that dropped it is marked", () => {
  choose(dropped("sensors.Exchange.repeated"));
  const place = chosen.places[0].split(":");
  return same([file(), lines(".marked"), lines(".ran").includes(Number(place[1]))], ["plant.mok", [Number(place[1])], true]);
});
interaction("a step shows its own lines alone", () => {
  const all = lines(".ran");
  [...pane("source").querySelectorAll(".steps a")].find(one => one.textContent === "sensors.Exchange.deliver").click();
  const some = lines(".ran"), name = file();
  [...pane("source").querySelectorAll(".steps a")].find(one => one.textContent === "sensors.Exchange.deliver").click();
  return some.length > 0 && name === "plant.mok" && some.every(line => line > 30) || { all, some, name };
});
interaction("a line leads to the next call that ran it", () => {
  choose(frame(11));
  const number = 27;
  pane("source").querySelector(".files button[title$='plant.mok']").click();
  pane("source").querySelector(".line[data-line='" + number + "']").click();
  return chosen.event === "wakes" && chosen.index > frame(11).index && lines(".ran").includes(number) && same(lines(".marked"), [number]);
});
interaction("another file is shown", () => {
  pane("source").querySelector(".files button[title$='inet_checksum.mok']").click();
  return file() === "inet_checksum.mok" && text("source").includes("InetChecksum");
});
interaction("a place leads to its line", () => {
  choose(dropped("udp.InetChecksum.damaged"));
  pane("why").querySelector("a.inline").click();
  return file() === "inet_checksum.mok" && same(lines(".marked"), [Number(chosen.places[0].split(":").pop())]);
});
interaction("a time is whole, to the nanosecond", () => {
  const all = ["1045113695", 703097588, 20000000, 0].map(time);
  return same(all, ["1.045113695 s", "703.097588 ms", "20 ms", "0"]);
});

const report = made("pre", said.join("\n"));
report.id = "said";
document.body.replaceChildren(report);
