// Faults of the page's layout, as a list of texts. `wide`: tables outside of <details> must fit without scrolling.
((wide) => {
  const faults = [];
  const say = (what, element) => faults.push(what + ": " + (element.textContent || element.tagName).trim().replace(/\s+/g, " ").slice(0, 60));
  const shown = (element) => element.getClientRects().length > 0;
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) faults.push("the page scrolls sideways: " + page.scrollWidth + " of " + page.clientWidth + " pixels");

  // A table, a figure and a paragraph end at the edge of the page, or lie in a frame that scrolls and ends there.
  const frame = (element) => {
    for (let p = element.parentElement; p; p = p.parentElement) if (["auto", "scroll"].includes(getComputedStyle(p).overflowX)) return p;
    return null;
  };
  const inside = (element) => { const r = element.getBoundingClientRect(); return r.left >= -0.5 && r.right <= page.clientWidth + 0.5; };
  for (const element of document.querySelectorAll("table, svg, canvas, p, h1, h2, h3, code, figcaption, select, li")) {
    if (!shown(element) || element.closest(".tip") || inside(element)) continue;
    const scroller = frame(element);
    if (!scroller || !inside(scroller)) say(element.tagName.toLowerCase() + " is cut off", element);
  }
  if (wide) {
    for (const table of document.querySelectorAll("table")) {
      const scroller = frame(table);
      if (shown(table) && scroller && !table.closest("details") && scroller.scrollWidth > scroller.clientWidth) say("table is wider than its frame", table);
    }
  }

  // The corners of a text, which may be turned.
  const corners = (text) => {
    const b = text.getBBox(), m = text.getScreenCTM();
    return [[b.x, b.y], [b.x + b.width, b.y], [b.x + b.width, b.y + b.height], [b.x, b.y + b.height]]
      .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
  };
  // Two convex shapes are apart if a side of one separates them; letters do not fill the upper and lower edge of a box.
  const SLACK = 3;
  const apart = (p, q) => [p, q].some((shape) => shape.some((a, i) => {
    const b = shape[(i + 1) % 4], n = [b[1] - a[1], a[0] - b[0]], size = Math.hypot(...n) || 1;
    const along = (points) => points.map(([x, y]) => (x * n[0] + y * n[1]) / size);
    const u = along(p), v = along(q);
    return Math.max(...u) - SLACK <= Math.min(...v) || Math.max(...v) - SLACK <= Math.min(...u);
  }));
  for (const svg of document.querySelectorAll("svg")) {
    if (!shown(svg)) continue;
    const all = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && t.getAttribute("visibility") !== "hidden").map((t) => [t, corners(t)]);
    const edge = svg.closest("figure").getBoundingClientRect(), box = svg.parentElement.getBoundingClientRect();
    for (const [text, c] of all) {
      if (c.some(([, y]) => y < edge.top || y > edge.bottom)) say("label leaves its figure", text);
      if (box.width >= svg.getBoundingClientRect().width && c.some(([x]) => x < edge.left || x > edge.right)) say("label leaves its figure", text);
    }
    for (let i = 0; i < all.length; i++) {
      for (let j = i + 1; j < all.length; j++) {
        if (!apart(all[i][1], all[j][1])) faults.push("labels overlap: " + all[i][0].textContent + " | " + all[j][0].textContent);
      }
    }
    // A label that is smaller than nine pixels on the screen cannot be read.
    const size = all.length ? Math.min(...all.map(([t]) => parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b))) : 99;
    if (size < 9) say("labels of " + size.toFixed(1) + " pixels", svg);
  }
  return faults;
})
