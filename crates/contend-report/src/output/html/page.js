"use strict";
// What every page does: it shows one sweep point, and one line of a figure when its name is clicked; it tells the value
// of a mark under the pointer or the keyboard, saves a figure as SVG or PNG, and shows whole figures on a narrow screen.

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
  const svg = figure.querySelector(".plot > svg");
  svg.dispatchEvent(new Event("whole"));
  // The element itself is not cloned: a copy of its style attribute would be against the page's policy.
  const copy = document.createElementNS(svg.namespaceURI, "svg"), box = svg.viewBox.baseVal;
  copy.append(...[...svg.childNodes].map((node) => node.cloneNode(true)));
  const looks = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap",
    "opacity", "font-size", "font-weight", "text-anchor", "paint-order",
  ];
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((to, i) => {
    if (to.tagName === "title") return;
    const style = getComputedStyle(from[i]);
    for (const look of looks) to.setAttribute(look, style.getPropertyValue(look));
    ["class", "tabindex"].forEach((name) => to.removeAttribute(name));
  });
  const made = (name, attributes, text) => {
    const element = document.createElementNS(svg.namespaceURI, name);
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
  svg.dispatchEvent(new Event("narrow"));
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

// On a narrow screen a plot is squeezed sideways: its letters and dots keep their shape and its margins their width, and
// only what lies between the axes becomes narrower. Labels that would then cover another are turned or left out.
(() => {
  const NARROW = 0.8; // squeezed below this share of the drawn width
  const GAP = 4; // pixels between two labels
  const drawn = new Map(); // svg -> its texts as they were drawn
  const number = (text) => /^[-+−]?[\d.]+[%kMG]?$/.test(text.trim());

  function measure(svg) {
    const box = svg.viewBox.baseVal, axis = svg.querySelector("path.axis").getAttribute("d");
    const [, left, floor, right] = /M([\d.]+) ([\d.]+)H([\d.]+)/.exec(axis).map(Number);
    const texts = [...svg.querySelectorAll("text")].map((node) => {
      const turn = /translate\(([-\d.]+) ([-\d.]+)\) rotate\((-\d+)\)/.exec(node.getAttribute("transform") || "");
      const [x, y, angle] = turn ? turn.slice(1).map(Number) : [+node.getAttribute("x"), +node.getAttribute("y"), 0];
      return { node, x, y, angle, full: node.textContent, end: node.classList.contains("end") };
    });
    return { w: box.width, h: box.height, left, right, floor, texts };
  }

  const shape = (texts, k) => texts.forEach((t) => {
    t.node.removeAttribute("x");
    t.node.removeAttribute("y");
    t.node.setAttribute("transform", `translate(${t.at} ${t.low}) scale(${1 / k} 1) rotate(${t.lean})`);
  });

  function squeeze(svg, plot, d) {
    const wide = plot.clientWidth;
    // A long name beside the vertical axis is shortened, so that the plot keeps half of the width.
    const ahead = Math.min(d.left, Math.max(60, wide * 0.4)), behind = d.w - d.right;
    const k = (wide - ahead - behind) / (d.right - d.left);
    const from = d.left - ahead / k, to = d.right + behind / k;
    svg.classList.add("squeezed");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.style.setProperty("--wide", 1 / k);
    let more = 0;
    const place = () => {
      svg.setAttribute("viewBox", `${from} 0 ${to - from} ${d.h + more}`);
      svg.style.height = `${d.h + more}px`;
    };
    place();
    for (const t of d.texts) {
      t.node.textContent = t.full;
      t.node.removeAttribute("visibility");
      [t.low, t.lean] = [t.y, t.angle];
      if (!t.end) t.node.classList.replace("end", "mid");
      if (t.angle === -90) t.at = from + t.x / k;
      else if (t.end && t.angle === 0) t.at = d.left + (t.x - d.left) / k;
      else t.at = t.x > d.right ? d.right + (t.x - d.right) / k : t.x;
    }
    shape(d.texts, k);
    const rows = d.texts.filter((t) => t.end && t.angle === 0);
    for (const t of rows) {
      let text = t.full;
      while (text.length > 4 && t.node.getComputedTextLength() > ahead - 8) t.node.textContent = (text = text.slice(0, -1)) + "…";
    }
    // Names below the axis.
    const below = d.texts.filter((t) => t.node.classList.contains("tick") && (!t.end || t.angle === -40));
    const length = (t) => t.node.getComputedTextLength();
    const crowded = below.some((t, i) => i > 0 && (t.at - below[i - 1].at) * k < (length(t) + length(below[i - 1])) / 2 + GAP);
    if (crowded && below.some((t) => t.angle === 0 && !number(t.full))) {
      more = Math.min(90, Math.max(...below.map(length))) * 0.64 - 4;
      for (const t of below) {
        [t.lean, t.low] = [-40, d.floor + 14];
        t.node.classList.replace("mid", "end");
      }
      for (const t of d.texts) if (t.node.classList.contains("label") && t.angle === 0) t.low = t.y + more;
    }
    place();
    shape(d.texts, k);
    let last = -Infinity;
    for (const t of below) {
      const at = t.at * k, half = t.lean ? 8 : length(t) / 2;
      if (at - half < last + GAP) t.node.setAttribute("visibility", "hidden");
      else last = at + half;
    }
    // Words in a bar that has become too short, and words beside a dot that would cover another.
    for (const t of d.texts) {
      if (!t.node.classList.contains("in")) continue;
      const bar = t.node.parentNode.querySelector("rect");
      if (length(t) + GAP > bar.getAttribute("width") * k) t.node.setAttribute("visibility", "hidden");
    }
    const edge = svg.getBoundingClientRect(), taken = [];
    for (const t of d.texts) {
      if (t.node.getAttribute("visibility")) continue;
      let b = t.node.getBoundingClientRect();
      const over = Math.max(0, b.right - edge.right), under = Math.max(0, edge.left - b.left);
      if ((over || under) && t.lean === 0) {
        t.at += (under - over) / k;
        shape([t], k);
        b = t.node.getBoundingClientRect();
      }
      if (t.node.classList.contains("note")) {
        if (taken.some((o) => b.left < o.right && o.left < b.right && b.top + 2 < o.bottom && o.top + 2 < b.bottom)) {
          t.node.setAttribute("visibility", "hidden");
          continue;
        }
        taken.push(b);
      }
    }
  }

  function restore(svg, d) {
    svg.classList.remove("squeezed");
    svg.setAttribute("viewBox", `0 0 ${d.w} ${d.h}`);
    svg.removeAttribute("preserveAspectRatio");
    svg.style.height = "";
    for (const t of d.texts || []) {
      t.node.textContent = t.full;
      t.node.removeAttribute("visibility");
      t.node.setAttribute("transform", `translate(${t.x} ${t.y}) rotate(${t.angle})`);
      if (!t.end) t.node.classList.replace("end", "mid");
    }
  }

  function fit(plot) {
    const svg = plot.querySelector("svg");
    // What is not shown has no width; it is fitted when it appears.
    if (!svg || !plot.clientWidth) return;
    if (plot.closest(".map")) {
      const d = drawn.get(svg) || { w: svg.viewBox.baseVal.width, h: svg.viewBox.baseVal.height };
      drawn.set(svg, d);
      const zoom = plot.clientWidth < NARROW * d.w / 1.2 ? d.w / plot.clientWidth : 1;
      const room = zoom > 1 ? 22 * zoom : 0;
      svg.classList.toggle("squeezed", zoom > 1);
      svg.style.setProperty("--zoom", zoom);
      svg.setAttribute("viewBox", `${-room} ${-room} ${d.w + 2 * room} ${d.h + 2 * room}`);
      svg.dispatchEvent(new CustomEvent("zoom", { detail: zoom }));
      return;
    }
    if (!drawn.has(svg)) drawn.set(svg, measure(svg));
    const d = drawn.get(svg);
    if (plot.clientWidth < NARROW * d.w) squeeze(svg, plot, d);
    else if (svg.classList.contains("squeezed")) restore(svg, d);
  }

  const widths = new Map();
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (widths.get(target) === target.clientWidth) continue;
      widths.set(target, target.clientWidth);
      fit(target);
    }
  });
  for (const plot of document.querySelectorAll(".plot")) {
    fit(plot);
    seen.observe(plot);
    const svg = plot.querySelector("svg");
    // A file has the figure as it was drawn.
    svg?.addEventListener("whole", () => svg.classList.contains("squeezed") && restore(svg, drawn.get(svg)));
    svg?.addEventListener("narrow", () => fit(plot));
  }
  // What scrolls can be scrolled with keys.
  const more = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll(".scroll").forEach((box) => more.observe(box));
})();
