"use strict";
// What answers the questions of a page that opens from disk: contend itself, as a WebAssembly module in workers.
// Several workers make runs; another one answers what takes no time. A page has one experiment, or several to choose
// from; the first one comes with the report of its own values.
const host = (() => {
  const KEPT = 3; // reports; the page shows the last one, and those before it may still be on their way
  const at = (id) => document.getElementById(id);
  const { experiments } = JSON.parse(at("data").textContent);
  const script = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));
  const module = (async () => {
    const packed = Uint8Array.from(atob(at("module").textContent.trim()), (c) => c.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  })();
  module.catch(() => {}); // Whoever asks gets the error.

  // A worker; a new one follows when it has ended.
  class Hand {
    #worker = null;
    #waiting = new Map(); // question -> { done, failed, progress }
    #last = 0;

    async ask(question, progress = () => {}) {
      let ready;
      try {
        ready = await module;
      } catch (e) {
        throw new Error(`this browser cannot run contend: ${e.message}`);
      }
      if (!this.#worker) {
        this.#worker = new Worker(script);
        this.#worker.onmessage = ({ data }) => this.#heard(data);
        this.#worker.onerror = (e) => this.#fail(`this browser cannot run contend: ${e.message}`);
        this.#worker.postMessage({ module: ready });
      }
      const id = ++this.#last;
      return new Promise((done, failed) => {
        this.#waiting.set(id, { done, failed, progress });
        this.#worker.postMessage({ id, question: JSON.stringify(question) });
      });
    }
    #heard({ id, answer, wrong, broken, done, planned }) {
      const asked = this.#waiting.get(id);
      if (!asked) return;
      if (planned !== undefined) {
        asked.progress(done, planned);
        return;
      }
      this.#waiting.delete(id);
      if (wrong === undefined) asked.done(answer);
      else asked.failed(new Error(wrong));
      if (broken) this.end();
    }
    #fail(why) {
      const all = [...this.#waiting.values()];
      this.#waiting.clear();
      this.end();
      for (const { failed } of all) failed(new Error(why));
    }
    // Ends what it does; who asked gets `null`.
    end() {
      this.#worker?.terminate();
      this.#worker = null;
      for (const { done } of this.#waiting.values()) done(null);
      this.#waiting.clear();
    }
  }
  const desk = new Hand();
  // Each makes a part of the runs.
  const MOST = 8;
  const runners = Array.from({ length: Math.min(MOST, navigator.hardwareConcurrency || 1) }, () => new Hand());
  const end = () => runners.forEach((runner) => runner.end());

  let choice = experiments[0];
  let given = choice; // the choice, or with another text
  let made = given.made; // the report of the values of the experiment, from the page
  const about = () => {
    const { name, text, sets, files } = given;
    return { given: { name, text, sets, files } };
  };
  const answered = async (question) => {
    const answer = await desk.ask(question);
    if (answer === null) throw new Error("ended");
    return JSON.parse(answer);
  };

  // The report of all runs: the parts at the same time, then together. `null` if they were ended.
  async function runs(about, progress) {
    const plan = runners.length > 1 ? await runners[0].ask({ ask: "plan", ...about }) : "1";
    if (plan === null) return null;
    const planned = JSON.parse(plan);
    progress(0, planned);
    const of = Math.min(runners.length, planned);
    const finished = Array(of).fill(0);
    const part = async (runner, number) => {
      const said = (done) => {
        finished[number - 1] = done;
        const sum = finished.reduce((a, b) => a + b);
        progress(sum, planned);
      };
      return runner.ask({ ask: "part", ...about, number, of }, said);
    };
    const parts = of > 1 ? await Promise.all(runners.slice(0, of).map((runner, i) => part(runner, i + 1))) : [];
    if (parts.includes(null)) return null;
    const records = parts.flatMap((text) => JSON.parse(text));
    return runners[0].ask({ ask: "run", ...about, records }, of > 1 ? undefined : progress);
  }

  const reports = new Map(); // number -> { html, numbers }
  const pinned = new Set();
  let last = 0;
  function keep({ html, numbers }) {
    reports.set(++last, { html, numbers });
    const old = [...reports.keys()].filter((number) => !pinned.has(number));
    for (const number of old.slice(0, -KEPT)) reports.delete(number);
    return last;
  }

  return {
    brand: "contend",
    ended: "ended",
    choices: experiments.map(({ name, title }) => ({ name, title })),
    // The text of the experiment, and another one: `{ name }` of a choice, or `{ text }`.
    text: () => given.text,
    original: () => choice.text,
    chosen: () => choice.name,
    take({ name, text }) {
      const found = name === undefined ? experiments[0] : experiments.find((e) => e.name === name);
      if (!found) throw new Error(`this page has no example ${name}`);
      choice = found;
      // Another text has another name, under which it can be kept beside the file.
      const other = `${choice.name.replace(/\.toml$/, "")}-changed.toml`;
      given = text === undefined || text === choice.text ? choice : { ...choice, name: other, text, made: undefined };
      made = given.made;
    },
    first: () => answered({ ask: "first", ...about() }),
    check: (text) => answered({ ask: "first", given: { ...about().given, text } }),
    async explain(text, at) {
      const answer = await desk.ask({ ask: "explain", text, at });
      return answer && JSON.parse(answer);
    },
    async run(values, progress) {
      end();
      if (made && !values.length) {
        const { runs, digest } = made;
        const report = keep(made);
        made = undefined;
        return { done: { report, runs, digest, given: true } };
      }
      const begun = performance.now();
      const answer = await runs({ ...about(), settings: values }, progress).catch((e) => {
        end();
        throw e;
      });
      if (answer === null) return "overtaken";
      const report = JSON.parse(answer);
      const seconds = (performance.now() - begun) / 1000;
      return { done: { report: keep(report), runs: report.runs, seconds, digest: report.digest } };
    },
    stop: async () => end(),
    dial: (key, settings) => answered({ ask: "dial", ...about(), settings, key }),
    file: (settings) => answered({ ask: "file", ...about(), settings }),
    async pin(report) {
      if (!reports.has(report)) throw new Error("this report is not kept any more; change a value to get a new one");
      pinned.clear(); // This page has one window.
      pinned.add(report);
    },
    compare(a, b) {
      const [before, after] = [a, b].map((number) => reports.get(number)?.numbers);
      if (!before || !after) throw new Error("the pinned result is not kept any more\n  help: pin a result again");
      return answered({ ask: "compare", pinned: before, now: after });
    },
    frame: (report) => ({ srcdoc: reports.get(report).html }),
  };
})();
