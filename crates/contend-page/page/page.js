"use strict";
// Dials on the left; on the right the report of the values they have. A change runs the experiment: `host`, which makes
// the runs, ends those of an earlier change. The new report replaces the old one when it is complete, so nothing
// flickers. The fragment of the address has the values that differ from those of the file, so a copied address opens
// the same page. A host that can take other files has a menu of them, and an editor; then the fragment begins with the
// file.
(async () => {
  const at = (id) => document.getElementById(id);
  const STEPS = 200; // of a slider
  const REST = 120; // milliseconds without a change before a run
  const LOOK = 500; // milliseconds between two looks at the progress
  const APART = 1500; // milliseconds within which changes of one key are one step back
  let data; // what the host says first: title, file, dials, the swept ones of them, all keys
  const dials = new Map(); // key -> { file, value, node, show }

  // The values that differ from the file. A table comes before its keys, which it would replace.
  const depth = ([key]) => key.split(".").length;
  const settings = () =>
    [...dials]
      .filter(([, d]) => d.value !== d.file)
      .map(([key, d]) => [key, d.value])
      .sort((a, b) => depth(a) - depth(b));
  const times = (n, noun) => `${n} ${n === 1 ? noun : `${noun}s`}`;
  // A state in words: its file if there are several, whether its text was changed, and its values.
  const inWords = ({ values, about }) => {
    const named = about.find(([name]) => name === "example")?.[1] ?? host.choices?.[0].name;
    const file = host.choices?.length > 1 ? [named] : [];
    const text = about.some(([name]) => name === "text") ? ["changed text"] : [];
    const words = [...file, ...text, ...values.map(([key, value]) => `${key} = ${value}`)];
    return words.length > file.length ? words.join(", ") : [...words, "the first values"].join(", ");
  };
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

  // A slider beside the field of its exact value; `show` places it.
  function slider(turn, field, set) {
    const { low, high, log } = turn;
    const number = (step) => (log ? low * (high / low) ** (step / STEPS) : low + ((high - low) * step) / STEPS);
    const step = (x) => STEPS * (log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
    const range = element("input", { type: "range", min: 0, max: STEPS, step: 1 });
    let last = 0;
    const show = () => {
      const x = parseFloat(field.value);
      range.value = step(x > 0 || (!log && x <= 0) ? x : turn.at);
      last = Number(range.value);
      range.setAttribute("aria-valuetext", field.value || field.placeholder);
    };
    let byKey = false;
    range.addEventListener("keydown", () => (byKey = true));
    range.addEventListener("pointerdown", () => (byKey = false));
    range.addEventListener("input", () => {
      const place = Number(range.value);
      let x = number(place);
      // A step of the slider may be less than 1: then a key goes to the next number, and the slider to its place.
      const now = parseFloat(field.value);
      const up = Math.sign(place - last);
      if (turn.whole && byKey && up * (Math.round(x) - now) < 1) {
        x = now + up;
        range.value = step(Math.min(high, Math.max(low, x)));
      }
      last = Number(range.value);
      field.value = written(Math.min(high, Math.max(low, x)), turn.whole) + turn.unit;
      range.setAttribute("aria-valuetext", field.value);
      set(field.value);
    });
    return { range, show };
  }

  // A dial shows the value of the file, or what holds without the key: a value, or words.
  function add(dial) {
    const id = `dial-${dials.size}`;
    const state = { file: dial.value, value: dial.value };
    const absent = dial.value === null ? dial.absent : null;
    const usual = absent?.value ?? null;
    const set = (value) => {
      state.value = value === "" || (value === usual && state.file === null) ? state.file : value;
      mark();
      soon(dial.key);
    };
    const mark = () => {
      state.node.classList.toggle("changed", state.value !== state.file);
      state.node.classList.toggle("absent", !!absent && state.value === null);
      tally();
    };
    const row = element("div", { className: "row" });
    let first, show;
    if (dial.turn.kind === "choice") {
      first = element("select");
      const option = (value, text) => first.append(element("option", { value, textContent: text }));
      if (dial.value === null) {
        const named = dial.turn.options.find((o) => o.value === usual);
        option(
          "",
          data.swept.includes(dial.key)
            ? "all values"
            : usual !== null
              ? `${named?.text ?? usual} (not in the file)`
              : "not in the file",
        );
      }
      for (const o of dial.turn.options) option(o.value, o.text);
      // No value of a file has a control character.
      const OTHER = "\u0001";
      option(OTHER, "another value …");
      const kind = { type: "text", className: "other", autocomplete: "off", spellcheck: false, hidden: true };
      const field = element("input", kind);
      field.setAttribute("aria-label", `${dial.key}, another value`);
      show = () => {
        const value = state.value ?? "";
        if (![...first.options].some((o) => o.value === value)) {
          first.insertBefore(element("option", { value, textContent: value }), first.lastChild);
        }
        first.value = value;
        field.hidden = true;
      };
      first.addEventListener("change", () => {
        field.hidden = first.value !== OTHER;
        if (field.hidden) {
          set(first.value);
          return;
        }
        field.value = state.value ?? usual ?? "";
        field.focus();
        field.select();
      });
      // The value is checked as that of any field: by the run, whose message says what can stand here.
      const take = () => {
        if (field.hidden) return;
        const value = field.value.trim();
        field.hidden = true;
        if (value && value !== (state.value ?? usual)) set(value);
        show();
      };
      field.addEventListener("change", take);
      field.addEventListener("blur", take);
      field.addEventListener("keydown", (e) => {
        if (e.key === "Enter") take();
        if (e.key === "Escape") show();
        if (e.key === "Enter" || e.key === "Escape") {
          e.preventDefault();
          first.focus();
        }
      });
      row.append(first, field);
    } else {
      const field = element("input", { type: "text", autocomplete: "off", spellcheck: false, placeholder: "not set" });
      const fill = () => {
        field.value = state.value ?? usual ?? "";
      };
      first = field;
      show = fill;
      if (dial.turn.kind === "range") {
        field.className = "exact";
        field.setAttribute("aria-label", `${dial.key}, exact value`);
        const { range, show: place } = slider(dial.turn, field, set);
        first = range;
        show = () => {
          fill();
          place();
        };
        row.append(first);
      }
      field.addEventListener("change", () => {
        set(field.value.trim());
        show();
      });
      row.append(field);
    }
    first.id = id;
    const without = absent?.words
      ? ` Without it: ${absent.words}.`
      : usual !== null && dial.turn.kind !== "choice"
        ? ` The file does not say; ${usual} is the default.`
        : "";
    const doc = element("p", { className: "doc", id: `${id}-doc`, textContent: dial.doc + without });
    first.setAttribute("aria-describedby", doc.id);
    state.node = element(
      "div",
      { className: "dial" },
      element("label", { htmlFor: id, textContent: dial.key }),
      row,
      doc,
    );
    state.show = (value) => {
      state.value = value;
      show();
      mark();
    };
    dials.set(dial.key, state);
    at("dials").append(state.node);
    state.show(state.value);
    return first;
  }

  function tally() {
    const n = settings().length;
    at("changed").textContent = n ? `${n} changed` : "";
  }

  async function more() {
    const key = at("key").value.trim();
    if (!key) return;
    try {
      if (!dials.has(key)) add(await host.dial(key, settings()));
      complain("");
      at("key").value = "";
      dials.get(key).node.querySelector("input, select").focus();
    } catch (e) {
      complain(e.message);
    }
  }

  // ---- the address ----

  const fragment = (values) => values.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  // What the fragment of the address says; null if it is no fragment of this page.
  function addressed() {
    const pairs = location.hash
      .slice(1)
      .split("&")
      .filter(Boolean)
      .map((pair) => [
        pair.slice(0, (pair.indexOf("=") + 1 || pair.length + 1) - 1),
        pair.includes("=") ? pair.slice(pair.indexOf("=") + 1) : "",
      ]);
    try {
      return pairs.map((pair) => pair.map(decodeURIComponent));
    } catch {
      return null;
    }
  }
  // The file in the fragment, as pairs: "example" with its name, "text" with a changed text in packed form. Nothing for
  // the first file.
  let about = [];
  const whole = (values) => fragment([...about, ...values]);
  const addressOf = (part) => `${location.pathname}${location.search}${part && `#${part}`}`;

  const through = async (stream, bytes) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  async function packed(text) {
    const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
    const letters = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
    return letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }
  async function unpacked(letters) {
    const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes));
  }

  let stepped = { key: null, when: -Infinity }; // the last entry of the history
  function step(key) {
    const now = whole(settings());
    if (now === location.hash.slice(1)) return;
    const same = key !== null && key === stepped.key && performance.now() - stepped.when < APART;
    stepped = { key, when: performance.now() };
    if (same) history.replaceState(null, "", addressOf(now));
    else history.pushState(null, "", addressOf(now));
  }

  let opened = 0; // the number of the last address that was opened
  // Opens the file of the address, gives the dials its values, and runs them.
  async function open() {
    const mine = ++opened;
    const wrong = [];
    const pairs = addressed();
    if (!pairs) wrong.push("the part of the address after # is damaged");
    stepped = { key: null, when: -Infinity };
    const isAbout = ([name]) => !!host.take && (name === "example" || name === "text");
    const next = (pairs ?? []).filter(isAbout);
    if (!data || fragment(next) !== fragment(about)) {
      const asked = Object.fromEntries(next);
      about = next;
      let text;
      try {
        text = asked.text && (await unpacked(asked.text));
      } catch {
        wrong.push("the link is damaged or incomplete: the page shows the unchanged file");
        about = next.filter(([name]) => name !== "text");
      }
      try {
        host.take?.({ name: asked.example, text });
      } catch (e) {
        wrong.push(e.message);
        about = [];
        host.take({});
      }
      try {
        await load();
      } catch (e) {
        if (mine === opened) refuse(e.message);
        return;
      }
      if (mine !== opened) return;
    }
    for (const state of dials.values()) state.show(state.file);
    for (const [key, value] of (pairs ?? []).filter((pair) => !isAbout(pair))) {
      try {
        if (!dials.has(key)) {
          const dial = await host.dial(key, settings());
          if (mine !== opened) return;
          if (!dials.has(key)) add(dial);
        }
        dials.get(key).show(value);
      } catch (e) {
        wrong.push(e.message);
      }
    }
    if (mine !== opened) return;
    run(wrong.join("\n"));
  }

  // Shows the file of the host.
  async function load() {
    edit();
    data = null;
    data = await host.first();
    at("title").textContent = data.title;
    document.title = `${data.title} · ${host.brand}`;
    at("file").textContent = data.file;
    at("keys").replaceChildren(...data.keys.map((value) => element("option", { value })));
    dials.clear();
    at("dials").replaceChildren();
    data.dials.forEach(add);
    at("seeds").hidden = !moreSeeds();
  }
  // The file is wrong: there is nothing to run.
  function refuse(why) {
    ++latest;
    unfollow();
    host.stop().catch(() => {});
    dials.clear();
    at("dials").replaceChildren();
    state("refused", "no result");
    complain(why);
    tellText(why);
    if (host.take) at("source").open = true;
  }

  // ---- the file ----

  function edit() {
    if (!host.take) return;
    at("text").value = host.text();
    at("choice").value = host.chosen();
    tellText("");
    markText();
  }
  // Says whether the text of the editor is that of the report.
  function markText() {
    at("unrun").hidden = at("text").value === host.text();
    at("original").hidden = at("text").value === host.original();
  }
  function tellText(why) {
    const place = /:(\d+):(\d+): /.exec(why);
    at("text-wrong").textContent = why;
    at("text-wrong").hidden = !why;
    at("place").hidden = !place;
    at("place").textContent = place ? `Go to line ${place[1]}` : "";
    at("place").onclick = () => select(Number(place[1]), Number(place[2]));
    at("use").disabled = !!why;
  }
  // Puts the cursor on a line and a column of the text, both from 1.
  function select(line, column) {
    const text = at("text");
    const lines = text.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
    text.focus();
    text.setSelectionRange(before + column - 1, before + (lines[line - 1] ?? "").length);
    text.scrollTop = (text.scrollHeight / lines.length) * Math.max(0, line - 4);
  }
  let checks = 0; // the number of the last check
  const soonAfter = (job, rest) => {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(job, rest);
    };
  };
  async function check() {
    const mine = ++checks;
    const why = await host.check(at("text").value).then(
      () => "",
      (e) => e.message,
    );
    if (mine === checks) tellText(why);
  }
  async function explain() {
    const text = at("text");
    const place = new TextEncoder().encode(text.value.slice(0, text.selectionStart)).length;
    const found = await host.explain(text.value, place).catch(() => null);
    at("explained").textContent = found ?? "";
    at("explained").hidden = !found;
  }
  // Runs the text of the editor.
  async function use() {
    const text = at("text").value;
    const values = settings();
    const name = host.chosen();
    host.take({ name, text });
    const named = name === host.choices[0].name ? [] : [["example", name]];
    about = text === host.original() ? named : [...named, ["text", await packed(text)]];
    try {
      await load();
    } catch (e) {
      refuse(e.message);
      return;
    }
    // What was turned stays turned, where the text still has it.
    for (const [key, value] of values) dials.get(key)?.show(value);
    step(null);
    run();
  }
  function choose() {
    if (!at("unrun").hidden && !confirm("The changed text was not run. Leave it?")) {
      at("choice").value = host.chosen();
      return;
    }
    history.pushState(null, "", addressOf(fragment([["example", at("choice").value]])));
    open();
  }

  // Seeds for narrower intervals; null if the seeds are not counted.
  function moreSeeds() {
    const state = dials.get("seeds");
    const found = /^(\d+)(?:\.\.(\d+))?$/.exec(state?.value ?? "1");
    if (!state || !found) return null;
    const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])];
    const n = last - first + 1;
    return `${first}..${first + (n === 1 ? 5 : 2 * n) - 1}`;
  }
  function takeMoreSeeds() {
    const more = moreSeeds();
    if (more) dials.get("seeds").show(more);
    step(null);
    run();
  }
  async function link() {
    try {
      await navigator.clipboard.writeText(location.href);
      at("link").textContent = "Copied";
      setTimeout(() => (at("link").textContent = "Copy link"), 1500);
    } catch {
      prompt("The address of this page, with its values:", location.href);
    }
  }

  // ---- runs ----

  let waiting = 0;
  let latest = 0; // the number of the last change
  let cancelled = 0; // the number of the last change whose runs were cancelled
  let shown = null; // the last report: { report, values }
  let pinned = null; // the pinned one
  function soon(key = null) {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      step(key);
      run();
    }, REST);
  }

  // The state of the runs: "running", "done", or "ended" without a report.
  function state(name, text) {
    at("status").textContent = text;
    at("cancel").hidden = name !== "running";
    at("again").hidden = name !== "ended" && name !== "given";
    if (name !== "running") at("progress").hidden = true;
    at("report").setAttribute("aria-busy", name === "running");
    const stale =
      shown !== null && name === "ended" && fragment([...shown.about, ...shown.values]) !== whole(settings());
    at("stale").hidden = !stale;
    if (stale) at("stale").textContent = `The report below is not that of the dials. It has: ${inWords(shown)}.`;
    at("pin").disabled = name !== "done" && name !== "given";
  }

  // Shows how far the runs are, until the function that it returns is called. `counts` has what the host said last.
  function follow(counts) {
    const begun = performance.now();
    const bar = at("progress");
    const look = setInterval(() => {
      const [done, planned] = counts;
      bar.hidden = false;
      if (planned > 1) {
        bar.max = planned;
        bar.value = done;
      } else bar.removeAttribute("value");
      const part = planned > 1 ? `${done} of ${planned} runs, ` : "";
      at("status").textContent = `running … ${part}${Math.round((performance.now() - begun) / 1000)} s`;
    }, LOOK);
    return () => clearInterval(look);
  }
  let unfollow = () => {};

  async function run(wrong = "") {
    clearTimeout(waiting);
    const mine = ++latest;
    const values = settings();
    const counts = [0, 0];
    state("running", "running …");
    unfollow();
    unfollow = follow(counts);
    try {
      const answer = await host.run(values, (...said) => counts.splice(0, 2, ...said));
      if (mine !== latest) return;
      unfollow();
      complain(wrong);
      if (answer.done) {
        const { runs, seconds, report, digest, given } = answer.done;
        shown = { report, values, about, runs };
        at("digest").textContent = digest ? `first run: digest ${digest}` : "";
        const how = given ? "made with this page" : `in ${seconds.toPrecision(2)} s`;
        state(given ? "given" : "done", `${times(runs, "run")} ${how}`);
        show(report);
        compare();
      } else state("ended", cancelled === mine ? "cancelled" : host.ended);
    } catch (e) {
      if (mine !== latest) return;
      unfollow();
      state("ended", "no result");
      complain(e.message);
      // The place is one of the text: it is shown there, too.
      if (host.take && e.message.startsWith(`${data.file}:`)) {
        at("source").open = true;
        tellText(e.message);
      }
    }
  }

  async function cancel() {
    cancelled = latest;
    try {
      await host.stop();
    } catch (e) {
      complain(e.message);
    }
  }

  // The report is as high as its content: the page has one scroll bar, which stays where it is.
  function fit(frame) {
    const page = frame.contentDocument.documentElement;
    const set = () => {
      frame.style.height = `${page.scrollHeight}px`;
    };
    set();
    new frame.contentWindow.ResizeObserver(set).observe(frame.contentDocument.body);
  }

  function show(report) {
    at("report")
      .querySelectorAll(".coming")
      .forEach((old) => old.remove());
    const frame = element("iframe", { className: "coming", title: "Report", ...host.frame(report) });
    frame.addEventListener("load", () => {
      if (!frame.classList.contains("coming")) return;
      fit(frame);
      at("report")
        .querySelectorAll("iframe")
        .forEach((old) => {
          if (old !== frame) old.remove();
        });
      frame.classList.remove("coming");
    });
    at("report").append(frame);
  }

  // ---- the pinned result ----

  const HEADS = ["metric", "pinned (A)", "now (B)", "B − A", "change", "B has"];

  async function pin() {
    const now = shown;
    try {
      await host.pin(now.report);
      complain("");
      pinned = now;
      await compare();
      at("unpin").focus();
    } catch (e) {
      complain(e.message);
    }
  }

  function unpin() {
    pinned = null;
    at("pinned").hidden = true;
    at("pin").focus();
  }

  async function compare() {
    const [a, b] = [pinned, shown];
    if (!a) return;
    at("pinned").hidden = false;
    let found = null;
    let said = a.report === b.report ? "Change a value: the differences stand here." : "";
    if (!said) {
      try {
        found = await host.compare(a.report, b.report);
      } catch (e) {
        said = e.message;
      }
      // A later result has its own differences.
      if (pinned !== a || shown !== b) return;
    }
    at("pinned-values").textContent = inWords(a);
    at("now-values").textContent = inWords(b);
    at("uncompared").textContent = said;
    at("uncompared").hidden = !said;
    at("compared").replaceChildren(...(found ? [table(found.rows)] : []));
    at("compared").hidden = !found;
    const cautions = [...(found?.cautions ?? [])];
    if (a.runs !== b.runs) {
      const counts = `the pinned result has ${times(a.runs, "run")}, this one ${b.runs}`;
      cautions.push(`${counts}: go to the pinned values, take as many seeds, and pin again`);
    }
    at("cautions").replaceChildren(...cautions.map((text) => element("p", { textContent: `${text}.` })));
    at("method").textContent = found?.method ?? "";
  }

  function table(rows) {
    const body = element("tbody", {});
    let last = "";
    for (const [point, cells] of rows) {
      if (point && point !== last)
        body.append(element("tr", {}, element("th", { colSpan: HEADS.length, scope: "rowgroup", textContent: point })));
      last = point;
      body.append(
        element(
          "tr",
          {},
          ...cells.map((textContent, i) => {
            const cell = element("td", { textContent });
            cell.dataset.name = HEADS[i];
            return cell;
          }),
        ),
      );
    }
    const head = element("tr", {}, ...HEADS.map((textContent) => element("th", { textContent, scope: "col" })));
    return element("table", {}, element("thead", {}, head), body);
  }

  async function download() {
    try {
      const text = await host.file(settings());
      const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/toml" })) });
      link.download = `${data.file
        .split(/[\\/]/)
        .pop()
        .replace(/\.toml$/, "")}.toml`;
      link.click();
      URL.revokeObjectURL(link.href);
      complain("");
    } catch (e) {
      complain(e.message);
    }
  }

  async function to(values, of = about) {
    if (fragment(of) !== fragment(about)) {
      const now = fragment([...of, ...values]);
      history.pushState(null, "", addressOf(now));
      return open();
    }
    for (const [key, d] of dials) d.show(values.find(([name]) => name === key)?.[1] ?? d.file);
    step(null);
    run();
  }

  at("brand").textContent = host.brand;
  at("panel").addEventListener("submit", (e) => e.preventDefault());
  at("add").addEventListener("click", more);
  at("key").addEventListener("keydown", (e) => {
    if (e.key === "Enter") {
      e.preventDefault();
      more();
    }
  });
  at("reset").addEventListener("click", () => to([]));
  at("download").addEventListener("click", download);
  at("link").addEventListener("click", link);
  at("seeds").addEventListener("click", takeMoreSeeds);
  at("cancel").addEventListener("click", cancel);
  at("again").addEventListener("click", () => run());
  at("pin").addEventListener("click", pin);
  at("unpin").addEventListener("click", unpin);
  at("return").addEventListener("click", () => {
    if (pinned) to(pinned.values, pinned.about);
  });
  window.addEventListener("hashchange", open);
  if (host.take) {
    at("source").hidden = false;
    at("menu").hidden = host.choices.length < 2;
    at("choice").append(
      ...host.choices.map(({ name, title }) => element("option", { value: name, textContent: title })),
    );
    at("choice").addEventListener("change", choose);
    const soonChecked = soonAfter(check, 250);
    at("text").addEventListener("input", () => {
      at("use").disabled = true;
      markText();
      soonChecked();
    });
    for (const event of ["input", "keyup", "click", "select"])
      at("text").addEventListener(event, soonAfter(explain, 150));
    at("text").addEventListener("keydown", (e) => {
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
        e.preventDefault();
        if (!at("use").disabled) use();
      }
    });
    at("use").addEventListener("click", use);
    at("original").addEventListener("click", () => {
      at("text").value = host.original();
      at("text").dispatchEvent(new Event("input"));
    });
  }
  open();
})();
