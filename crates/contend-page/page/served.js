"use strict";
// What answers the questions of a page that `contend live` serves: its server.
const host = (() => {
  const LOOK = 500; // milliseconds between two looks at the progress
  const token = new URLSearchParams(location.search).get("token");

  async function checked(answer) {
    const text = await answer.text();
    if (answer.ok) return text;
    let wrong = text;
    try {
      wrong = JSON.parse(text).wrong;
    } catch {
      /* The guard answers in plain text. */
    }
    throw new Error(wrong);
  }
  async function call(path, ask) {
    let answer;
    try {
      answer = await fetch(path, ask);
    } catch {
      throw new Error("contend does not answer; it was ended in its terminal, or has ended");
    }
    return checked(answer);
  }
  const get = (path) => call(`${path}?token=${token}`);
  const post = (path, body) =>
    call(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Contend-Token": token },
      body: JSON.stringify(body),
    });

  return {
    brand: "contend live",
    ended: "ended: a value was changed in another window, or contend ends",
    async first() {
      const { Ok, Err } = JSON.parse(document.getElementById("data").textContent);
      if (Err) throw new Error(Err);
      return Ok;
    },
    async run(values, progress) {
      let over = false;
      const watch = setInterval(async () => {
        const text = await get("/progress").catch(() => "{}");
        const { done, planned } = JSON.parse(text);
        if (!over) progress(done, planned);
      }, LOOK);
      try {
        return JSON.parse(await post("/run", values));
      } finally {
        over = true;
        clearInterval(watch);
      }
    },
    stop: () => post("/stop", null),
    dial: async (key, settings) => JSON.parse(await post("/dial", { key, settings })),
    file: (values) => post("/file", values),
    pin: (report) => post(`/pin/${report}`, null),
    compare: async (a, b) => JSON.parse(await get(`/compare/${a}/${b}`)),
    frame: (report) => ({ src: `/report/${report}?token=${token}` }),
  };
})();
