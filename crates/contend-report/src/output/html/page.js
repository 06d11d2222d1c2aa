"use strict";
// What every page does: it shows one sweep point, and one line of a figure when its name is clicked; it tells the value
// of a mark under the pointer or the keyboard, and saves a figure as SVG or PNG.

(() => {
  const pick = document.getElementById("point");
  if (!pick) return;
  const show = () => document.querySelectorAll(".point").forEach((p) => p.classList.toggle("shown", p.id === "point-" + pick.value));
  pick.addEventListener("change", show);
  show();
})();

for (const button of document.querySelectorAll("button[data-only]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure"), alone = !button.classList.contains("only");
    for (const other of figure.querySelectorAll("button[data-only]")) {
      other.classList.toggle("only", alone && other === button);
      other.classList.toggle("dim", alone && other !== button);
    }
    for (const mark of figure.querySelectorAll("svg > g")) mark.classList.toggle("dim", alone && !mark.classList.contains(button.dataset.only));
  });
}

// The value of a mark beside it. The marks of a figure are one stop of the tabulator; arrows go from mark to mark.
for (const svg of document.querySelectorAll("figure:not(.map) .plot > svg")) {
  const figure = svg.closest("figure"), marks = [...svg.querySelectorAll(":scope > g")].filter((g) => g.querySelector("title"));
  if (!marks.length) continue;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  figure.append(tip);
  svg.setAttribute("role", "group");
  const tell = (g) => {
    const mark = g.getBoundingClientRect(), frame = figure.getBoundingClientRect();
    tip.textContent = g.getAttribute("aria-label");
    tip.hidden = false;
    const left = mark.left + mark.width / 2 - frame.left - tip.offsetWidth / 2;
    tip.style.left = Math.max(4, Math.min(left, frame.width - tip.offsetWidth - 4)) + "px";
    tip.style.top = mark.top - frame.top - tip.offsetHeight - 6 + "px";
  };
  const hide = () => { tip.hidden = true; };
  marks.forEach((g, i) => {
    const title = g.querySelector("title");
    g.setAttribute("aria-label", title.textContent);
    g.setAttribute("role", "img");
    g.setAttribute("tabindex", i ? "-1" : "0");
    title.remove();
    g.addEventListener("pointerenter", () => tell(g));
    g.addEventListener("pointerleave", hide);
    g.addEventListener("focus", () => tell(g));
    g.addEventListener("blur", hide);
    g.addEventListener("keydown", (e) => {
      const to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: marks.length - 1 }[e.key];
      if (e.key === "Escape") hide();
      if (to === undefined || !marks[to]) return;
      e.preventDefault();
      g.setAttribute("tabindex", "-1");
      marks[to].setAttribute("tabindex", "0");
      marks[to].focus();
    });
  });
}

// The drawing of a figure as a file of its own: the looks of the page become attributes, the names of the lines stand above.
const fileOf = (figure) => {
  const svg = figure.querySelector(".plot > svg"), copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "font-size", "font-weight", "text-anchor", "paint-order"];
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((to, i) => {
    if (to.tagName === "title") return;
    const style = getComputedStyle(from[i]);
    for (const look of looks) to.setAttribute(look, style.getPropertyValue(look));
    ["class", "tabindex"].forEach((name) => to.removeAttribute(name));
  });
  const made = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  const page = getComputedStyle(figure), names = [];
  let x = 10, row = 0;
  for (const button of figure.querySelectorAll(".legend button")) {
    const name = button.textContent, needs = 34 + 6.8 * name.length;
    if (x > 10 && x + needs > box.width) [x, row] = [10, row + 1];
    const fill = getComputedStyle(button.querySelector("i")).getPropertyValue("--c").trim(), y = 14 + 17 * row;
    names.push(made("rect", { x, y: y - 9, width: 11, height: 10, fill }), made("text", { x: x + 16, y, "font-size": 11.5, fill: page.color }, name));
    x += needs;
  }
  const head = names.length ? 17 * (row + 1) + 6 : 0, height = box.height + head;
  const shifted = made("g", { transform: `translate(0 ${head})` });
  shifted.append(...copy.childNodes);
  copy.append(made("rect", { width: box.width, height, fill: page.backgroundColor }), ...names, shifted);
  copy.setAttribute("viewBox", `0 0 ${box.width} ${height}`);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", page.fontFamily);
  return { text: new XMLSerializer().serializeToString(copy), width: box.width, height };
};
for (const button of document.querySelectorAll("button[data-save]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure"), file = fileOf(figure), kind = button.dataset.save;
    const save = (href) => {
      const link = document.createElement("a");
      link.download = figure.querySelector("h3").textContent.toLowerCase().replace(/[^a-z0-9]/g, "-") + "." + kind;
      link.href = href;
      link.click();
    };
    const address = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(file.text);
    if (kind === "svg") return save(address);
    const image = new Image(), canvas = document.createElement("canvas");
    image.onload = () => {
      [canvas.width, canvas.height] = [3 * file.width, 3 * file.height];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      save(canvas.toDataURL("image/png"));
    };
    image.src = address;
  });
}
