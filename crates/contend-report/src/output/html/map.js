"use strict";
// The map of a field. A slider moves it through the run. A chosen station shows who hears it: only its links remain.

for (const root of document.querySelectorAll("figure.map")) {
  const data = JSON.parse(root.querySelector("script").textContent);
  const svg = root.querySelector("svg"), said = root.querySelector(".said");
  const slider = root.querySelector("input"), clock = root.querySelector("output");
  const nodes = [...svg.querySelectorAll(".node")], ways = [...svg.querySelectorAll(".way")];
  const scaleText = [...svg.children].find((e) => e.tagName === "text");
  // On a narrow screen letters and discs are larger than the map.
  let now = 0, chosen = -1, places = [], zoom = +svg.style.getPropertyValue("--zoom") || 1;

  // The value of a course that holds now.
  const value = (course) => {
    let found = [];
    for (const [from, v] of course) {
      if (from > now) break;
      found = v;
    }
    return found;
  };
  const point = (s) => places[s][0] / 10 + " " + places[s][1] / 10;
  // As the static drawing: what is only sensed bends to one side, and hidden pairs to the other.
  const line = (bend) => (pair) => {
    const [[ax, ay], [bx, by]] = [pair[0], pair[1]].map((s) => [places[s][0] / 10, places[s][1] / 10]);
    const dx = bx - ax, dy = by - ay, up = bend * Math.min(1, 400 / Math.max(1, Math.hypot(dx, dy)));
    return "M" + point(pair[0]) + "Q" + ((ax + bx) / 2 + up * dy) + " " + ((ay + by) / 2 - up * dx) + " " + point(pair[1]);
  };
  const has = (pair) => pair[0] === chosen || pair[1] === chosen;
  const other = (pair) => data.names[pair[0] === chosen ? pair[1] : pair[0]];
  const list = (names) => (names.length ? [...new Set(names)].join(", ") : "nobody");

  // Names that would cover another are left out.
  function label() {
    const b = scaleText.getBBox(), taken = [[b.x, b.y, b.x + b.width, b.y + b.height]];
    nodes.forEach((node, s) => {
      const text = node.querySelector("text");
      if (!text) return;
      const half = 3.6 * zoom * data.names[s].length, [x, y] = [places[s][0] / 10, places[s][1] / 10];
      const own = [x - half, y - 28 * zoom, x + half, y - 14 * zoom];
      const fits = taken.every((o) => own[2] <= o[0] || o[2] <= own[0] || own[3] <= o[1] || o[3] <= own[1]);
      if (fits) taken.push(own);
      text.textContent = fits ? data.names[s] : "";
    });
  }

  function draw() {
    places = value(data.positions);
    const links = value(data.links), hidden = value(data.hidden), routes = value(data.ways);
    const shown = (pairs, bend) => (chosen < 0 ? pairs : pairs.filter(has)).map(line(bend)).join("");
    nodes.forEach((node, s) => {
      node.setAttribute("transform", "translate(" + point(s) + ")");
      node.setAttribute("aria-pressed", String(s === chosen));
    });
    svg.querySelector(".l-senses").setAttribute("d", shown(links.filter((l) => !l[2]), 0.16));
    svg.querySelector(".l-decodes").setAttribute("d", shown(links.filter((l) => l[2]), 0));
    svg.querySelector(".l-hidden").setAttribute("d", shown(hidden, -0.24));
    ways.forEach((way, f) => way.setAttribute("d", routes[f] && routes[f].length ? "M" + routes[f].map(point).join("L") : ""));
    if (clock) clock.textContent = data.time[now] + " s";
    if (chosen < 0) {
      said.textContent = "Choose a station with a click, or with Tab and the arrow keys.";
    } else {
      const mine = links.filter(has), apart = hidden.filter(has);
      said.textContent = data.names[chosen] + " and " + list(mine.filter((l) => l[2]).map(other)) + " decode each other. It only senses " +
        list(mine.filter((l) => !l[2]).map(other)) + ". Hidden: " +
        list(apart.map((h) => other(h) + " (their frames meet at " + data.names[h[2]] + ")")) + ".";
    }
    label();
  }

  function choose(s) {
    chosen = s;
    nodes.forEach((node, i) => node.setAttribute("tabindex", i === Math.max(0, s) ? 0 : -1));
    draw();
  }

  nodes.forEach((node, s) => {
    node.addEventListener("click", () => choose(s === chosen ? -1 : s));
    node.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) {
        const next = (s + step + nodes.length) % nodes.length;
        choose(next);
        nodes[next].focus();
      } else if (event.key === "Enter" || event.key === " ") choose(s === chosen ? -1 : s);
      else if (event.key === "Escape") choose(-1);
      else return;
      event.preventDefault();
    });
  });
  if (slider) slider.addEventListener("input", () => { now = Number(slider.value); draw(); });
  svg.addEventListener("zoom", (event) => { zoom = event.detail; draw(); });
  draw();
}
