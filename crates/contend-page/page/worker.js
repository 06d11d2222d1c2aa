"use strict";
// contend in a worker: gets the compiled module once, then questions. Each is answered by { id, answer } or by
// { id, wrong }; `broken` is added if the worker must not be asked again.
let contend = null;
let now = null; // the question that is being answered
const MOST = 1 << 30; // bytes of memory; the module has the same bound
const host = {
  progress: (done, planned) => postMessage({ id: now, done, planned }),
  now: () => performance.now(),
};

function asked(text) {
  const question = new TextEncoder().encode(text);
  const at = contend.room(question.length);
  new Uint8Array(contend.memory.buffer, at, question.length).set(question);
  const wrong = contend.ask();
  return { [wrong ? "wrong" : "answer"]: said() };
}
function said() {
  return new TextDecoder().decode(new Uint8Array(contend.memory.buffer, contend.answer_at(), contend.answer_len()));
}
// After a trap: the message of the panic, if there is one.
function defect(e) {
  // Without memory there is no module: the browser has refused it.
  const full = (contend.memory?.buffer.byteLength ?? 0) > 0.9 * MOST;
  if (full || /memory allocation|out of memory/i.test(String(e)))
    return "this takes more memory than a page has (1 GiB)\n  help: fewer seeds, points or flows, or `contend run`";
  let panic = "";
  try {
    panic = said();
  } catch {
    /* It has none. */
  }
  return `this is a defect of contend, not an error in your file: ${panic || e}`;
}

self.onmessage = async ({ data: { module, id, question } }) => {
  if (module) {
    contend = WebAssembly.instantiate(module, { host }).then((instance) => (contend = instance.exports));
    return;
  }
  try {
    await contend;
    now = id;
    postMessage({ id, ...asked(question) });
  } catch (e) {
    postMessage({ id, wrong: defect(e), broken: true });
  }
};
