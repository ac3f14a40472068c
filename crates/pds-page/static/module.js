// Calls the WebAssembly module: a request as JSON goes in, an answer as JSON and bytes come out.

/** Parameters by the names that they have on the page. */
const NAMES = {
  expected_items: "the number of keys", false_positive_rate: "the rate", bytes: "the memory", standard_error: "the error",
  num_values: "the number of values",
};

const compiled = await WebAssembly.compile(await (await fetch("pds.wasm")).arrayBuffer());
let module = (await WebAssembly.instantiate(compiled)).exports;

/** Answers a request. `lines` are the bytes of a file. Throws an Error with a sentence for the user. */
export function ask(request, lines = new Uint8Array()) {
  let found;
  try {
    found = call(new TextEncoder().encode(JSON.stringify(request)), lines);
  } catch {
    // A module that failed cannot go on, and a new one knows nothing.
    WebAssembly.instantiate(compiled).then((instance) => (module = instance.exports));
    throw new Error("The module failed, and was started anew. So must the demo be.");
  }
  const answer = JSON.parse(new TextDecoder().decode(found.text));
  if (answer.error) {
    const said = answer.error.replace(/^\w+/, (name) => NAMES[name] ?? name);
    throw new Error(`${said.replace(/^./, (first) => first.toUpperCase())}.`);
  }
  return { ...answer, bytes: found.bytes };
}

function call(head, lines) {
  const start = module.input(head.length + lines.length);
  new Uint8Array(module.memory.buffer).set(head, start);
  new Uint8Array(module.memory.buffer).set(lines, start + head.length);
  module.ask(head.length);
  // The memory may have moved, and `slice` keeps the answer beyond the next call.
  const memory = new Uint8Array(module.memory.buffer);
  const part = (from, length) => memory.slice(from, from + length);
  return { text: part(module.text(), module.text_length()), bytes: part(module.bytes(), module.bytes_length()) };
}

const grouped = new Intl.NumberFormat("en");

export const whole = (number) => grouped.format(number);

export function share(number) {
  if (number === 0) return "0 %";
  if (number < 1e-5) return number.toExponential(2);
  return `${Number((100 * number).toPrecision(3))} %`;
}

export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1023.5 && unit < 6) [value, unit] = [value / 1024, unit + 1];
  const decimals = unit === 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(decimals)} ${units[unit]}`;
}

/** Makes an element. Text is never read as markup. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
