// Whether a point of a grid within both boxes is in both shapes.
function lies_over(one, other) {
  const a = one.getBBox(), b = other.getBBox();
  const left = Math.max(a.x, b.x), top = Math.max(a.y, b.y);
  const wide = Math.min(a.x + a.width, b.x + b.width) - left, high = Math.min(a.y + a.height, b.y + b.height) - top;
  if (wide <= 1 || high <= 1) return false;
  const point = one.ownerSVGElement.createSVGPoint();
  for (let at = 0; at < 144; at++) {
    [point.x, point.y] = [left + wide * (at % 12 + 0.5) / 12, top + high * (Math.floor(at / 12) + 0.5) / 12];
    if (one.isPointInFill(point) && other.isPointInFill(point)) return true;
  }
  return false;
}

// Which words of pictures lie over others, or beyond the picture.
const said = ["looked at " + document.querySelectorAll("div.picture").length];
for (const box of document.querySelectorAll("div.picture")) {
  const frame = box.querySelector("svg").getBoundingClientRect();
  const words = [...box.querySelectorAll("text")].filter(text => text.textContent.trim());
  const areas = words.map(text => text.getBoundingClientRect());
  areas.forEach((one, at) => {
    const name = words[at].textContent;
    if (one.left < frame.left - 1 || one.right > frame.right + 1 || one.top < frame.top - 1 || one.bottom > frame.bottom + 1) {
      said.push(box.id + ": `" + name + "` is cut off");
    }
    areas.slice(at + 1).forEach((other, behind) => {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      // The boxes of lines of words touch; the words do not.
      if (wide > 1 && high > 3) said.push(box.id + ": `" + name + "` over `" + words[at + 1 + behind].textContent + "`");
    });
  });
  // What is said of an edge, or of a group, belongs to none of the boxes.
  const boxes = [...box.querySelectorAll("rect.box")].map(rect => rect.getBoundingClientRect());
  words.forEach((text, at) => {
    if (!text.matches(".edge-word, .ground-word")) return;
    const area = areas[at];
    const lies = boxes.some(one => Math.min(area.right, one.right) - Math.max(area.left, one.left) > 2
      && Math.min(area.bottom, one.bottom) - Math.max(area.top, one.top) > 3);
    if (lies) said.push(box.id + ": `" + text.textContent + "` over a box");
  });
  // Lines of services go around boxes.
  for (const path of box.querySelectorAll("path.service, path.reads")) {
    const whole = path.getTotalLength(), own = path.ownerSVGElement.getBoundingClientRect();
    for (let along = 4; along < whole - 4; along += 4) {
      const at = path.getPointAtLength(along), x = at.x + own.left, y = at.y + own.top;
      if (boxes.some(one => x > one.left + 1 && x < one.right - 1 && y > one.top + 1 && y < one.bottom - 1)) {
        said.push(box.id + ": a line goes through a box");
        break;
      }
    }
  }
  // The ground of a bundle, whose name stands behind its parts, is its own.
  const grounds = [[]];
  for (const part of box.querySelectorAll(".ground, .ground-word")) {
    if (part.matches(".ground")) grounds[grounds.length - 1].push(part); else grounds.push([]);
  }
  grounds.forEach((one, at) => grounds.slice(at + 1).forEach(other => {
    if (one.some(part => other.some(beside => lies_over(part, beside)))) said.push(box.id + ": a bundle's ground over another's");
  }));
  // What is folded bends nothing: a frame is a straight line.
  for (const path of box.querySelectorAll(".message, .lost, .ignored, .damaged, .hidden")) {
    if (path.tagName !== "line") said.push(box.id + ": an arrow is bent");
  }
}
const pre = document.createElement("pre");
pre.id = "said"; pre.textContent = said.join("\n");
document.body.prepend(pre);
