// What a user does with a page of two runs: plant.mok at seed 14, and at 15.

const said = [];
const key = (list, name) => list.view.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true }));
const same = (found, wanted) => JSON.stringify(found) === JSON.stringify(wanted) || { found, wanted };

function interaction(name, act) {
  let answer;
  try { answer = act(); } catch (error) { answer = String(error.stack || error); }
  said.push((answer === true ? "ok " : "WRONG ") + name + (answer === true ? "" : ": " + JSON.stringify(answer)));
}

const told = event => [event.at, event.host, event.event, event.event === "wakes" || event.event === "starts" ? "" : line(event), event.lost, event.copies];
const compared = run => run.events.filter(event => event.event !== "starts" && event.event !== "wakes");

interaction("two lists stand beside each other", () => lists.length === 2 && lists.every(list => list.rows.length > 20 && list.view.clientWidth > 200));
interaction("the first difference is chosen", () => {
  const [one, other] = runs.map(compared);
  const at = one.findIndex((event, at) => JSON.stringify(told(event)) !== JSON.stringify(told(other[at])));
  return same([chosen.id, lists.map(list => list.parting.id)], [one[at].id, [one[at].id, other[at].id]]);
});
interaction("it is marked in both", () => same(lists.map(list => list.space.querySelectorAll(".parts").length), [1, 1]));
interaction("what is chosen in one is stood by in the other", () => {
  const event = runs[0].events[runs[0].events.length - 5];
  choose(event);
  const list = lists[1], top = list.view.scrollTop;
  const first = list.rows[Math.floor(top / ROW)], last = list.rows[Math.min(list.rows.length - 1, Math.floor((top + list.height) / ROW))];
  return BigInt(first.at) <= BigInt(event.at) && BigInt(last.at) >= BigInt(event.at);
});
interaction("keys go in the one that is chosen in", () => {
  choose(lists[1].rows[3]);
  key(lists[1], "ArrowDown");
  return chosen === lists[1].rows[4] && lists[1].view.classList.contains("active") && same(location.hash, "#2." + chosen.id);
});
interaction("the button goes back to the difference", () => { element("difference").click(); return same(chosen.id, lists[0].parting.id); });
interaction("panes are of the run that is chosen in", () => {
  const event = runs[1].events.filter(event => event.event === "sends").pop();
  choose(event);
  const octets = [...document.querySelectorAll("#packet .dump span")].map(one => one.textContent).join("");
  return octets === event.octets;
});

const report = made("pre", said.join("\n"));
report.id = "said";
document.body.replaceChildren(report);
