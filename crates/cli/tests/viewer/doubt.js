// A frame that a layer refuses if it is for it, with the page of examples/demo.mok: what the packet says, and what the filter finds.

const said = [];
const list = lists[0], events = runs[0].events;
const tell = (is, name) => said.push((is === true ? "ok " : "WRONG ") + name + (is === true ? "" : ": " + JSON.stringify(is)));
const same = (found, wanted) => JSON.stringify(found) === JSON.stringify(wanted) || { found, wanted };
const ask = words => { element("fields").value = words; element("fields").dispatchEvent(new Event("input")); };
const frames = () => [...new Set(list.rows.filter(event => event.event === "sends" || event.event === "receives").map(event => event.frame))];
const packet = number => {
  choose(events.find(event => event.event === "sends" && event.frame === number));
  return element("packet").lastElementChild.textContent;
};

ask("may_be_refused");
tell(same(frames(), [8]), "the filter keeps the frame of which it is not known");
tell(list.rows.every(event => event.frame === 8), "and what is of it");
ask("refused");
tell(!frames().includes(8), "it is not refused");
ask("not may_be_refused");
// Who gets it reads it by another stack, in which nobody may refuse it.
const sent = list.rows.filter(event => event.event === "sends").map(event => event.frame);
tell(sent.length > 10 && !sent.includes(8), "all others are the rest");
ask("");
tell(/malformed: reliable.GoBackN.tag, at octet 42 bit 0; if it is for reliable/.test(packet(8)), "the packet says the condition");
tell(!packet(6).includes("if it is for"), "and none where nothing is refused");
const pre = document.createElement("pre");
pre.id = "said"; pre.textContent = said.join("\n");
document.body.prepend(pre);
