"use strict";
// Dials on the left; on the right the report of the values they have. A change runs the experiment: the server ends the
// runs of an earlier change. The new report replaces the old one when it is complete, so nothing flickers.
(() => {
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const token = new URLSearchParams(location.search).get("token");
  const STEPS = 200; // of a slider
  const REST = 120; // milliseconds without a change before a run
  const dials = new Map(); // key -> { value, node }

  async function ask(path, body) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Contend-Token": token },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.ok) return text;
    let wrong = text;
    try { wrong = JSON.parse(text).wrong; } catch { /* The guard answers in plain text. */ }
    throw new Error(wrong);
  }
  const settings = () => [...dials].filter(([, d]) => d.value !== null).map(([key, d]) => [key, d.value]);
  function complain(text) {
    at("wrong").textContent = text;
    at("wrong").hidden = !text;
  }

  // ---- dials ----

  function element(name, properties, ...children) {
    const e = Object.assign(document.createElement(name), properties);
    e.append(...children);
    return e;
  }
  // A number as a person writes it, with the digits that a slider can set.
  const written = (x, whole) => String(whole ? Math.round(x) : Number(x.toPrecision(3)));

  function slider(turn, field, set) {
    const { low, high, log } = turn;
    const number = (step) => (log ? low * (high / low) ** (step / STEPS) : low + ((high - low) * step) / STEPS);
    const step = (x) => (STEPS * (log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low)));
    const range = element("input", { type: "range", min: 0, max: STEPS, step: 1 });
    const show = () => range.setAttribute("aria-valuetext", field.value);
    range.value = step(turn.at);
    let last = Number(range.value);
    range.addEventListener("input", () => {
      const place = Number(range.value);
      let x = number(place);
      // A step of the slider may be less than 1: then the number goes one on.
      const now = parseFloat(field.value);
      if (turn.whole && Math.round(x) === now) x = now + Math.sign(place - last);
      last = place;
      field.value = written(Math.min(high, Math.max(low, x)), turn.whole) + turn.unit;
      show();
      set(field.value);
    });
    field.addEventListener("change", () => {
      const x = parseFloat(field.value);
      if (x > 0 || !log) range.value = step(x);
      last = Number(range.value);
      show();
    });
    show();
    return range;
  }

  function add(dial) {
    const id = `dial-${dials.size}`;
    const state = { value: dial.value };
    const set = (value) => { state.value = value === "" ? null : value; soon(); };
    const row = element("div", { className: "row" });
    let first;
    if (dial.turn.kind === "choice") {
      first = element("select");
      if (dial.value === null) first.append(element("option", { value: "", textContent: data.swept.includes(dial.key) ? "all values" : "as without the key" }));
      for (const o of dial.turn.options) first.append(element("option", { value: o.value, textContent: o.text }));
      first.value = dial.value ?? "";
      first.addEventListener("change", () => set(first.value));
      row.append(first);
    } else {
      const field = element("input", { type: "text", value: dial.value ?? "", autocomplete: "off", spellcheck: false });
      field.addEventListener("change", () => set(field.value.trim()));
      first = field;
      if (dial.turn.kind === "range") {
        field.className = "exact";
        field.setAttribute("aria-label", `${dial.key}, exact value`);
        first = slider(dial.turn, field, set);
        row.append(first);
      }
      row.append(field);
    }
    first.id = id;
    const doc = element("p", { className: "doc", id: `${id}-doc`, textContent: dial.doc });
    first.setAttribute("aria-describedby", doc.id);
    state.node = element("div", { className: "dial" }, element("label", { htmlFor: id, textContent: dial.key }), row, doc);
    dials.set(dial.key, state);
    at("dials").append(state.node);
    return first;
  }

  function begin() {
    dials.clear();
    at("dials").replaceChildren();
    data.dials.forEach(add);
    soon();
  }

  async function more() {
    const key = at("key").value.trim();
    if (!key) return;
    try {
      if (!dials.has(key)) add(JSON.parse(await ask("/dial", { key, settings: settings() })));
      complain("");
      at("key").value = "";
      dials.get(key).node.querySelector("input, select").focus();
    } catch (e) { complain(e.message); }
  }

  // ---- runs ----

  let waiting = 0;
  let latest = 0; // the number of the last change
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(run, REST);
  }

  async function run() {
    const mine = ++latest;
    at("status").textContent = "running …";
    const watch = setInterval(async () => {
      const answer = await fetch(`/progress?token=${token}`).catch(() => null);
      const { done, planned } = answer?.ok ? await answer.json() : {};
      if (mine === latest && planned > 1) at("status").textContent = `running … ${done} of ${planned}`;
    }, 500);
    try {
      const answer = JSON.parse(await ask("/run", settings()));
      if (mine === latest && answer.done) {
        complain("");
        const { runs, seconds, report, digest } = answer.done;
        at("status").title = `Digest of the first run: ${digest}. The downloaded file has the same one in contend run.`;
        at("status").textContent = `${runs} ${runs === 1 ? "run" : "runs"} in ${seconds.toPrecision(2)} s`;
        show(report);
      }
    } catch (e) {
      if (mine === latest) {
        at("status").textContent = "";
        complain(e instanceof TypeError ? "contend does not answer; it was ended in its terminal, or has ended" : e.message);
      }
    } finally { clearInterval(watch); }
  }

  // The report is as high as its content: the page has one scroll bar, which stays where it is.
  function fit(frame) {
    const page = frame.contentDocument.documentElement;
    const set = () => { frame.style.height = `${page.scrollHeight}px`; };
    set();
    new frame.contentWindow.ResizeObserver(set).observe(frame.contentDocument.body);
  }

  function show(report) {
    at("report").querySelectorAll(".coming").forEach((old) => old.remove());
    const frame = element("iframe", { className: "coming", title: "Report", src: `/report/${report}?token=${token}` });
    frame.addEventListener("load", () => {
      if (!frame.classList.contains("coming")) return;
      fit(frame);
      at("report").querySelectorAll("iframe").forEach((old) => { if (old !== frame) old.remove(); });
      frame.classList.remove("coming");
    });
    at("report").append(frame);
  }

  async function download() {
    try {
      const text = await ask("/file", settings());
      const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/toml" })) });
      link.download = `${data.file.split(/[\\/]/).pop().replace(/\.toml$/, "")}.toml`;
      link.click();
      URL.revokeObjectURL(link.href);
      complain("");
    } catch (e) { complain(e.message); }
  }

  if (typeof data === "string") { complain(data); return; }
  at("title").textContent = data.title;
  document.title = `${data.title} · contend live`;
  at("file").textContent = data.file;
  at("keys").append(...data.keys.map((value) => element("option", { value })));
  at("panel").addEventListener("submit", (e) => e.preventDefault());
  at("add").addEventListener("click", more);
  at("key").addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); more(); } });
  at("reset").addEventListener("click", begin);
  at("download").addEventListener("click", download);
  begin();
})();
