// The air's timeline.
(() => {
  const root = document.getElementById("air");
  if (!root) return;
  const meta = JSON.parse(document.getElementById("air-meta").textContent);
  const n = meta.n;
  if (n === 0) return;

  // Columns, as html/air.rs packs them.
  const text = atob(document.getElementById("air-data").textContent);
  const buffer = new ArrayBuffer(text.length);
  const bytes = new Uint8Array(buffer);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const gap = new Uint32Array(buffer, 0, n);
  const words = (k) => new Uint16Array(buffer, 4 * n + 2 * n * k, n);
  const [shape, from, to, sequence, flow] = [0, 1, 2, 3, 4].map(words);
  const fate = new Uint8Array(buffer, 14 * n, n);
  const KIND = 0, RATE = 1, BYTES = 2, AIRTIME = 3, DURATION = 4, PACKET = 5;
  const shapes = meta.shapes;
  const airtime = Float64Array.from(shapes, (s) => s[AIRTIME]);

  // The MPDUs of A-MPDUs: bytes, and in the highest bit whether it was received.
  const mpdus = new Map();
  const more = document.getElementById("air-mpdus");
  if (more) {
    const text = atob(more.textContent), w = new Uint16Array(text.length / 2);
    for (let i = 0; i < w.length; i++) w[i] = text.charCodeAt(2 * i) | (text.charCodeAt(2 * i + 1) << 8);
    for (let k = 0; k < w.length; k += 3 + w[k + 2]) mpdus.set(w[k] + 65536 * w[k + 1], w.subarray(k + 3, k + 3 + w[k + 2]));
  }

  // Times are nanoseconds since the first frame: they stay exact in a double.
  const start = new Float64Array(n);
  const longGaps = new Map(meta.gaps);
  let longest = 0;
  for (let i = 0, t = 0; i < n; i++) {
    t += longGaps.has(i) ? longGaps.get(i) : gap[i];
    start[i] = t;
    longest = Math.max(longest, airtime[shape[i]]);
  }
  const end = (i) => start[i] + airtime[shape[i]];
  let total = 0;
  for (let i = n - 1; i >= 0 && start[i] + longest > total; i--) total = Math.max(total, end(i));

  // Lanes: stations that transmit, in the cell's order.
  const speaks = new Set(from);
  const lanes = [...speaks].sort((a, b) => a - b);
  const laneOf = new Map(lanes.map((s, k) => [s, k]));
  const lane = Uint16Array.from(from, (s) => laneOf.get(s));
  const nameOf = (s) => meta.stations[s] ?? "station " + s;

  const canvas = root.querySelector("canvas");
  const tip = root.querySelector(".tip");
  const where = root.querySelector(".where");
  const ctx = canvas.getContext("2d");
  let LEFT = 104;
  const STRIP = 26, GAP = 12, AXIS = 26;
  const laneHeight = Math.max(3, Math.min(24, Math.floor(560 / lanes.length)));
  const top = STRIP + GAP, floor = top + laneHeight * lanes.length, height = floor + AXIS;
  const view = { from: 0, to: total };
  const LEAST = 2000; // the narrowest view: 2 microseconds
  let width = 0, colour = {}, hatch = {}, hovered = -1, strip = null;

  const CLASSES = ["data", "tcpack", "ack", "rts", "collided", "errored"];
  function classOf(i) {
    const outcome = fate[i] & 3, s = shapes[shape[i]];
    if (outcome === 1) return "collided";
    if (outcome === 2) return "errored";
    if (s[KIND] === 1 || s[KIND] === 4) return "ack";
    if (s[KIND] > 1) return "rts";
    return s[PACKET] === 1 || s[PACKET] === 2 ? "tcpack" : "data";
  }

  /** The first frame that starts at `t` or later. */
  function lowerBound(t) {
    let a = 0, b = n;
    while (a < b) {
      const m = (a + b) >> 1;
      if (start[m] < t) a = m + 1;
      else b = m;
    }
    return a;
  }

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    colour = { ink: value("--ink"), soft: value("--soft"), faint: value("--faint"), grid: value("--grid"), card: value("--card"), accent: value("--accent") };
    const of = { data: "--c0", tcpack: "--c5", ack: "--c2", rts: "--c3", collided: "--c1", errored: "--c4" };
    for (const c of CLASSES) colour[c] = value(of[c]);
    for (const c of ["collided", "errored"]) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const t = tile.getContext("2d");
      t.strokeStyle = colour[c];
      t.lineWidth = 2;
      t.beginPath();
      for (const d of [-6, 0, 6]) { t.moveTo(d, 6); t.lineTo(d + 6, 0); }
      t.stroke();
      hatch[c] = ctx.createPattern(tile, "repeat");
    }
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.parentElement.clientWidth;
    LEFT = width < 600 ? 78 : 104;
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    strip = shares(0, total, 0, n, Math.max(1, Math.floor(width - LEFT)), 1, () => 0);
    draw();
  }

  const place = (t) => LEFT + ((t - view.from) / (view.to - view.from)) * (width - LEFT);
  const timeAt = (x) => view.from + ((x - LEFT) / (width - LEFT)) * (view.to - view.from);

  /** Share of each pixel's time on the air, well and badly, by row: the picture when frames are narrower than pixels. */
  function shares(t0, t1, lo, hi, pixels, rows, rowOf) {
    const good = new Float32Array(rows * pixels), bad = new Float32Array(rows * pixels);
    const scale = pixels / (t1 - t0);
    for (let i = lo; i < hi; i++) {
      const a = Math.max(0, (start[i] - t0) * scale), b = Math.min(pixels, (end(i) - t0) * scale);
      if (b <= a) continue;
      const into = fate[i] & 3 ? bad : good, base = rowOf(i) * pixels;
      const first = Math.floor(a), last = Math.min(pixels - 1, Math.floor(b));
      if (first === last) { into[base + first] += b - a; continue; }
      into[base + first] += first + 1 - a;
      for (let p = first + 1; p < last; p++) into[base + p] = 1;
      into[base + last] += b - last;
    }
    return { good, bad, pixels };
  }

  /** Columns of one row: its height is the square root of the share, so that a rare speaker is seen; bad airtime lies at the bottom. */
  function columns(s, row, x0, bottom, tall, goodColour) {
    const good = new Path2D(), bad = new Path2D();
    for (let p = 0, k = row * s.pixels; p < s.pixels; p++, k++) {
      const all = s.good[k] + s.bad[k];
      if (all === 0) continue;
      const h = Math.max(1, Math.sqrt(Math.min(1, all)) * tall), corrupted = (s.bad[k] / all) * h;
      if (corrupted < h) good.rect(x0 + p, bottom - h, 1, h - corrupted);
      if (corrupted > 0) bad.rect(x0 + p, bottom - corrupted, 1, corrupted);
    }
    ctx.fillStyle = goodColour;
    ctx.fill(good);
    ctx.fillStyle = colour.collided;
    ctx.fill(bad);
  }

  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  function span(ns) {
    const [size, unit] = UNITS.find(([size]) => ns >= size) ?? UNITS[3];
    return +(ns / size).toPrecision(4) + " " + unit;
  }
  /** An instant of the run in seconds, with the digits that `step` needs. */
  function instant(ns, step) {
    const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
    return ((ns + meta.first_ns) / 1e9).toFixed(digits);
  }

  function axis() {
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "alphabetic";
    const raw = ((view.to - view.from) / (width - LEFT)) * 130;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5, 10].find((k) => k * power >= raw) ?? 10);
    ctx.strokeStyle = colour.grid;
    ctx.fillStyle = colour.soft;
    ctx.beginPath();
    const origin = meta.first_ns;
    for (let k = Math.ceil((view.from + origin) / step); ; k++) {
      const t = k * step - origin, x = Math.round(place(t)) + 0.5;
      if (t > view.to) break;
      ctx.moveTo(x, top);
      ctx.lineTo(x, floor + 4);
      ctx.textAlign = x < LEFT + 30 ? "left" : x > width - 30 ? "right" : "center";
      ctx.fillText(instant(t, step) + " s", x, floor + 18);
    }
    for (let k = 0; k <= lanes.length; k++) {
      if (laneHeight < 9 && k % lanes.length) continue;
      ctx.moveTo(LEFT, top + k * laneHeight + 0.5);
      ctx.lineTo(width, top + k * laneHeight + 0.5);
    }
    ctx.stroke();
    ctx.textAlign = "right";
    if (laneHeight >= 9) {
      ctx.textBaseline = "middle";
      lanes.forEach((s, k) => {
        ctx.fillStyle = hovered >= 0 && (s === from[hovered] || s === to[hovered]) ? colour.ink : colour.soft;
        const name = nameOf(s);
        const most = LEFT < 100 ? 11 : 16;
        ctx.fillText(name.length > most ? name.slice(0, most - 1) + "…" : name, LEFT - 8, top + (k + 0.5) * laneHeight);
      });
    }
  }

  function drawStrip() {
    ctx.fillStyle = colour.grid;
    ctx.fillRect(LEFT, 0, width - LEFT, STRIP);
    columns(strip, 0, LEFT, STRIP, STRIP, colour.soft);
    const a = LEFT + (view.from / total) * (width - LEFT), b = LEFT + (view.to / total) * (width - LEFT);
    ctx.strokeStyle = colour.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(a - 1, 1, Math.max(3, b - a + 2), STRIP - 2);
    ctx.lineWidth = 1;
    ctx.fillStyle = colour.soft;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillText(LEFT < 100 ? "capture" : "whole capture", LEFT - 8, STRIP / 2);
  }

  function frame(i) {
    const x0 = Math.max(LEFT, place(start[i])), x1 = Math.min(width, place(end(i)));
    const pad = laneHeight >= 9 ? 3 : 0, y = top + lane[i] * laneHeight + pad, h = laneHeight - 2 * pad;
    return { x: x0, y, w: Math.max(1, x1 - x0), h };
  }

  function drawFrames(lo, hi) {
    const of = new Map(CLASSES.map((c) => [c, []]));
    for (let i = lo; i < hi; i++) if (end(i) > view.from) of.get(classOf(i)).push(i);
    for (const [c, list] of of) {
      const bad = c === "collided" || c === "errored";
      ctx.fillStyle = bad ? hatch[c] : colour[c];
      ctx.strokeStyle = colour[c];
      ctx.beginPath();
      for (const i of list) { const r = frame(i); ctx.rect(r.x, r.y, r.w, r.h); }
      ctx.fill();
      if (bad) ctx.stroke();
    }
    for (let i = lo; i < hi; i++) if (end(i) > view.from && mpdus.has(i) && !(fate[i] & 3)) drawMpdus(i);
    if (hi - lo > 400 || laneHeight < 14) return;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.font = "600 10.5px system-ui, sans-serif";
    for (const [c, list] of of) {
      for (const i of list) {
        const r = frame(i), s = shapes[shape[i]];
        const word = ["DATA", "ACK", "RTS", "CTS", "BLOCK ACK", "BLOCK ACK REQUEST", "CF-END", "BEACON", "ADDBA"][s[KIND]];
        const more = word === "DATA" ? word + " " + s[BYTES] + " B" : word;
        const fits = [more, word].find((t) => ctx.measureText(t).width < r.w - 8);
        if (!fits) continue;
        if (c === "collided" || c === "errored") {
          ctx.fillStyle = colour.card;
          ctx.fillRect(r.x + 3, r.y + 2, ctx.measureText(fits).width + 4, r.h - 4);
          ctx.fillStyle = colour[c];
        } else ctx.fillStyle = colour.card;
        ctx.fillText(fits, r.x + 5, r.y + r.h / 2 + 0.5);
      }
    }
  }

  /** Lost MPDUs of A-MPDU `i` hatched, and a line before each MPDU if there is room. The preamble comes first. */
  function drawMpdus(i) {
    const all = mpdus.get(i), s = shapes[shape[i]], r = frame(i), sum = all.reduce((n, m) => n + (m & 0x7fff), 0);
    const payload = Math.min(s[AIRTIME], (8e9 * s[BYTES]) / s[RATE]);
    let t = end(i) - payload;
    const lines = (place(end(i)) - place(t)) / all.length > 5;
    for (const m of all) {
      const next = t + (payload * (m & 0x7fff)) / sum;
      const x0 = Math.max(LEFT, place(t)), x1 = Math.min(width, place(next));
      if (x1 > x0 && !(m & 0x8000)) {
        for (const style of [colour.card, hatch.errored]) { ctx.fillStyle = style; ctx.fillRect(x0, r.y, x1 - x0, r.h); }
      }
      ctx.fillStyle = colour.card;
      if (lines && x1 > x0 && x0 > LEFT) ctx.fillRect(x0 - 0.5, r.y, 1, r.h);
      t = next;
    }
  }

  function draw() {
    ctx.clearRect(0, 0, width, height);
    drawStrip();
    axis();
    const lo = lowerBound(view.from - longest), hi = lowerBound(view.to);
    if (hi - lo <= 2500) drawFrames(lo, hi);
    else {
      const s = shares(view.from, view.to, lo, hi, Math.max(1, Math.floor(width - LEFT)), lanes.length, (i) => lane[i]);
      const pad = laneHeight >= 9 ? 2 : 0;
      lanes.forEach((_, k) => columns(s, k, LEFT, top + (k + 1) * laneHeight - pad, laneHeight - 2 * pad, colour.data));
    }
    if (hovered >= 0) {
      const r = frame(hovered), target = laneOf.get(to[hovered]);
      ctx.strokeStyle = colour.ink;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(r.x - 0.5, r.y - 0.5, r.w + 1, r.h + 1);
      if (target !== undefined && target !== lane[hovered]) {
        const x = r.x + r.w / 2, down = target > lane[hovered], y = top + (target + 0.5) * laneHeight;
        ctx.beginPath();
        ctx.moveTo(x, down ? r.y + r.h : r.y);
        ctx.lineTo(x, y);
        ctx.moveTo(x - 4, y + (down ? -5 : 5));
        ctx.lineTo(x, y);
        ctx.lineTo(x + 4, y + (down ? -5 : 5));
        ctx.stroke();
      }
      ctx.lineWidth = 1;
    }
    where.textContent = (hi - lo).toLocaleString("en") + " frames in " + span(view.to - view.from);
  }

  let waiting = false;
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function look(a, b) {
    const wide = Math.min(total, Math.max(LEAST, b - a));
    view.from = Math.max(0, Math.min(total - wide, a));
    view.to = view.from + wide;
    later();
  }
  function zoom(factor, about) {
    const t = about ?? (view.from + view.to) / 2;
    look(t - (t - view.from) * factor, t + (view.to - t) * factor);
  }
  const move = (share) => { const d = (view.to - view.from) * share; look(view.from + d, view.to + d); };

  function describe(i) {
    const s = shapes[shape[i]], outcome = fate[i] & 3, retry = fate[i] >> 3;
    const packet = ["TCP data", "TCP ACK", "TCP SYN", "datagram"][s[PACKET]];
    const lines = [
      ["Data frame", "ACK", "RTS", "CTS", "Block ACK", "Block ACK request", "CF-End", "Beacon", "ADDBA"][s[KIND]] + ["", ", collided", ", corrupted by the channel"][outcome],
      nameOf(from[i]) + " → " + nameOf(to[i]),
      instant(start[i], 1) + " s, for " + span(s[AIRTIME]),
      s[BYTES] + " B at " + s[RATE] / 1e6 + " Mb/s",
    ];
    if (packet) lines.push(packet + (flow[i] < 65535 ? " of " + (meta.flows[flow[i]] ?? "flow " + flow[i]) : "") + (fate[i] & 4 ? ", sent again by TCP" : ""));
    if (s[KIND] === 0) lines.push("sequence " + sequence[i] + (retry ? ", retry " + retry : ""));
    if (mpdus.has(i)) {
      const all = mpdus.get(i), lost = all.filter((m) => !(m & 0x8000)).length;
      lines.push(all.length + " MPDUs" + (outcome ? "" : lost ? ", " + lost + " lost" : ", all received"));
    }
    lines.push("Duration field " + span(s[DURATION]));
    return lines.join("\n");
  }

  function frameAt(x, y) {
    const k = Math.floor((y - top) / laneHeight), near = ((view.to - view.from) / (width - LEFT)) * 3, t = timeAt(x);
    if (k < 0 || k >= lanes.length || x < LEFT) return -1;
    let best = -1, distance = near;
    for (let i = lowerBound(t + near) - 1; i >= 0 && start[i] + longest >= t - near; i--) {
      if (lane[i] !== k) continue;
      const d = Math.max(0, start[i] - t, t - end(i));
      if (d < distance || (d === 0 && best < 0)) { best = i; distance = d; }
      if (d === 0) break;
    }
    return best;
  }

  function hover(x, y) {
    const i = frameAt(x, y);
    if (i !== hovered) { hovered = i; later(); }
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.textContent = describe(i);
    const left = x + 16 + tip.offsetWidth > width ? x - 16 - tip.offsetWidth : x + 16;
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = Math.max(0, Math.min(height - tip.offsetHeight, y + 14)) + "px";
  }

  const at = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => {
    const [x, y] = at(e);
    drag = { x, from: view.from, to: view.to, strip: y < STRIP };
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({ preventScroll: true });
    if (drag.strip) centre(x);
  });
  function centre(x) {
    const t = ((x - LEFT) / (width - LEFT)) * total, half = (view.to - view.from) / 2;
    look(t - half, t + half);
  }
  canvas.addEventListener("pointermove", (e) => {
    const [x, y] = at(e);
    if (!drag) return hover(x, y);
    if (drag.strip) return centre(x);
    const d = ((drag.x - x) / (width - LEFT)) * (drag.to - drag.from);
    look(drag.from + d, drag.to + d);
    hover(x, -1);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { drag = null; });
  canvas.addEventListener("pointerleave", () => hover(-1, -1));
  // The wheel alone scrolls the page.
  canvas.addEventListener("wheel", (e) => {
    const unit = e.deltaMode === 1 ? 16 : 1, zooms = e.ctrlKey || e.metaKey;
    const aside = !zooms && (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY));
    if (!zooms && !aside) return;
    e.preventDefault();
    if (aside) return move(((e.deltaX || e.deltaY) * unit) / (width - LEFT));
    const [x] = at(e);
    zoom(Math.exp(Math.max(-300, Math.min(300, e.deltaY * unit)) * 0.0022), timeAt(Math.max(LEFT, x)));
  }, { passive: false });
  const keys = {
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
    PageUp: () => move(-0.9), PageDown: () => move(0.9), Home: () => look(0, total), c: nextCollision, C: nextCollision,
  };
  for (const button of root.querySelectorAll("button[data-key]")) button.addEventListener("click", () => keys[button.dataset.key]());
  canvas.addEventListener("keydown", (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
  });
  function nextCollision() {
    const middle = (view.from + view.to) / 2, wide = Math.min(view.to - view.from, longest * 12);
    for (let k = 0, i = lowerBound(middle + 1); k < n; k++, i++) {
      if (i >= n) i = 0;
      if ((fate[i] & 3) === 1) return look(start[i] - wide / 2, start[i] + wide / 2);
    }
  }

  document.getElementById("air-csv").addEventListener("click", (e) => {
    e.preventDefault();
    const rows = ["start_ns,airtime_ns,from,to,kind,outcome,rate_bps,bytes,sequence,retry,flow"];
    const cell = (t) => (/[",\n]/.test(t) ? '"' + t.replaceAll('"', '""') + '"' : t);
    for (let i = lowerBound(view.from - longest), hi = lowerBound(view.to); i < hi; i++) {
      if (end(i) <= view.from) continue;
      const s = shapes[shape[i]];
      rows.push([
        start[i] + meta.first_ns, s[AIRTIME], cell(nameOf(from[i])), cell(nameOf(to[i])), ["data", "ack", "rts", "cts", "block_ack", "request", "cf_end", "beacon", "addba"][s[KIND]],
        ["received", "collided", "errored"][fate[i] & 3], s[RATE], s[BYTES], sequence[i], fate[i] >> 3, flow[i] < 65535 ? cell(meta.flows[flow[i]] ?? "") : "",
      ].join(","));
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
    link.download = "frames.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  theme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); later(); });
  const began = performance.now();
  resize();
  root.dataset.drawAllMs = (performance.now() - began).toFixed(1);
  root.dataset.frames = n;
  // First a look at single frames: some forty of them.
  const few = start[Math.min(n - 1, 40)];
  if (few > 0) look(0, few);
  new ResizeObserver(() => { if (canvas.parentElement.clientWidth !== width) resize(); }).observe(canvas.parentElement);
})();
