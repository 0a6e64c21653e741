"use strict";
// Finds names as one types: whole names first, then their beginnings, then words and letters within them. NAMES is of names.js.
const field = document.getElementById("search");
const list = document.getElementById("found");
const root = document.body.dataset.root;
const MOST = 30;
const ITEMS = new Set(["parameter", "field", "key", "address", "value", "event", "state", "timer", "reason"]);
let chosen = 0;

// How well a name fits; lower is better, undefined not at all.
function rank(name, word) {
  const low = name.toLowerCase();
  if (name === word) return 0;
  if (low === word.toLowerCase()) return 1;
  if (low.startsWith(word.toLowerCase())) return 2;
  const at = low.indexOf(word.toLowerCase());
  if (at > 0) return /[A-Z._]/.test(name[at]) || /[._]/.test(name[at - 1]) ? 3 : 4;
  const capitals = name.replace(/[^A-Z0-9]/g, "");
  return word.length > 1 && capitals.startsWith(word) ? 5 : undefined;
}

function find(text) {
  const words = text.trim().split(/\s+/).filter(word => word);
  if (!words.length) return [];
  const found = [];
  for (const [place, [name, kind, of, page, says]] of NAMES.entries()) {
    let best = rank(name, words[0]);
    // Of several words one is of the name, the others of what stands beside it.
    const beside = `${name} ${kind} ${of} ${says}`.toLowerCase();
    if (best === undefined && says.toLowerCase().includes(words[0].toLowerCase()) && !ITEMS.has(kind)) best = 8;
    for (const word of words.slice(1)) {
      const other = rank(name, word);
      if (best === undefined && other !== undefined && beside.includes(words[0].toLowerCase())) best = other;
      else if (!beside.includes(word.toLowerCase())) best = undefined;
    }
    if (best !== undefined) found.push([best + (ITEMS.has(kind) ? 0.5 : 0), name.length, place]);
  }
  found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return found.slice(0, MOST).map(([, , place]) => NAMES[place]);
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function show() {
  const found = find(field.value);
  chosen = 0;
  list.replaceChildren(...found.map(([name, kind, of, page, says]) => {
    const line = document.createElement("li"), link = document.createElement("a");
    link.href = root + page;
    link.append(element("b", name), " ", element("i", `${kind} of ${of}`), " ", says);
    line.append(link);
    return line;
  }));
  if (!found.length && field.value.trim()) {
    const none = element("li", "nothing is called so");
    none.className = "none";
    list.append(none);
  }
  list.hidden = !field.value.trim();
  mark();
}

function mark() {
  [...list.querySelectorAll("a")].forEach((link, place) => link.classList.toggle("chosen", place === chosen));
  list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
}

field.addEventListener("input", show);
field.addEventListener("keydown", event => {
  const count = list.querySelectorAll("a").length;
  if (event.key === "ArrowDown") chosen = Math.min(chosen + 1, count - 1);
  else if (event.key === "ArrowUp") chosen = Math.max(chosen - 1, 0);
  else if (event.key === "Enter") { const link = list.querySelector(".chosen"); if (link) { list.hidden = true; location.href = link.href; } }
  else if (event.key === "Escape") { field.value = ""; show(); field.blur(); }
  else return;
  event.preventDefault();
  mark();
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
});
document.addEventListener("click", event => { if (!list.contains(event.target) && event.target !== field) list.hidden = true; });
