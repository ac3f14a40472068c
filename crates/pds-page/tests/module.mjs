// Answers requests of the page by the committed module, in Node, as `examples/answers.rs` does by the native code.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(new URL("../static/pds.wasm", import.meta.url)));
const module = instance.exports;

function ask(line) {
  const request = new TextEncoder().encode(line);
  const lines = new TextEncoder().encode(JSON.parse(line).lines ?? "");
  const start = module.input(request.length + lines.length);
  new Uint8Array(module.memory.buffer).set([...request, ...lines], start);
  module.ask(request.length);
  const part = (from, length) => Buffer.from(module.memory.buffer, from, length);
  const text = part(module.text(), module.text_length()).toString();
  return `${text}\t${part(module.bytes(), module.bytes_length()).toString("hex")}`;
}

const requests = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
process.stdout.write(requests.map((line) => `${ask(line)}\n`).join(""));
