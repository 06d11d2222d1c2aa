// Asks the module of pages as its worker does: a question in each line of standard input, an answer in each of standard
// output.
//
//     node ci/module.mjs crates/contend-page/module/contend_web.wasm.gz <questions
//
// An answer is {"answer": ..., "seconds": ...} or {"wrong": ...}.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const module = await WebAssembly.compile(gunzipSync(readFileSync(process.argv[2])));
const host = { progress: () => {}, now: () => performance.now() };
const fresh = async () => (await WebAssembly.instantiate(module, { host })).exports;

let contend = await fresh();
const said = () =>
  new TextDecoder().decode(new Uint8Array(contend.memory.buffer, contend.answer_at(), contend.answer_len()));
for await (const line of createInterface({ input: process.stdin })) {
  const question = new TextEncoder().encode(line);
  const begun = performance.now();
  let answer;
  try {
    const at = contend.room(question.length);
    new Uint8Array(contend.memory.buffer, at, question.length).set(question);
    answer = contend.ask() ? { wrong: said() } : { answer: JSON.parse(said()) };
  } catch (e) {
    answer = { wrong: `trap: ${e}`, bytes: contend.memory.buffer.byteLength };
    contend = await fresh();
  }
  answer.seconds = (performance.now() - begun) / 1000;
  console.log(JSON.stringify(answer));
}
