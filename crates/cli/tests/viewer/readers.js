// A frame whose receivers read it by other stacks, with the page of readers.mok: whose fields are shown at which event.

const said = [];
const list = lists[0], events = runs[0].events;
const tell = (is, name) => said.push((is === true ? "ok " : "WRONG ") + name + (is === true ? "" : ": " + JSON.stringify(is)));
const same = (found, wanted) => JSON.stringify(found) === JSON.stringify(wanted) || { found, wanted };
const find = (kind, host, frame) => events.find(event => event.event === kind && event.host === host && (frame === undefined || event.frame === frame));
const fields = event => {
  choose(event);
  return [...element("packet").querySelectorAll(".field b")].map(name => name.textContent).filter(name => name !== "carried").join(" ");
};
const values = event => {
  choose(event);
  return [...element("packet").querySelectorAll(".field span")].map(value => value.textContent).slice(0, 2).join(" ");
};

tell(same(fields(find("sends", "a")), "number"), "the sender shows its own fields");
tell(same(fields(find("receives", "b")), "first second"), "a receiver shows its stack's fields");
tell(same(values(find("receives", "b", 2)), "3 1"), "and their values");
tell(same(fields(find("receives", "c")), "number"), "a receiver with the sender's stack shows the sender's");
tell(same(fields(find("output", "b")), "first second"), "what came of it, too");
tell(same(fields(find("drops", "b")), "first second"), "and what was dropped");
choose(find("receives", "b"));
tell(/as Halving at b reads it/.test(element("packet").textContent), "the pane says who reads");
element("fields").value = "first == 3";
element("fields").dispatchEvent(new Event("input"));
tell(same(list.rows.map(event => event.event + " " + event.host), ["receives b"]), "the filter goes by who reads");
const pre = document.createElement("pre");
pre.id = "said"; pre.textContent = said.join("\n");
document.body.prepend(pre);
