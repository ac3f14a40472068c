// The live demo: one structure, its cells, and what the exact set says.

import { ask, element, share, size, whole } from "./module.js";

const id = (name) => document.getElementById(name);
const dark = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const MOST_BYTES = 64 * 2 ** 20;
const GLOW = 900; // Milliseconds for which a changed cell is lit.

let state; // The module's last report on the structure.
let cells = new Uint32Array();
let lit = { changed: new Set(), touched: new Set(), since: 0 };

const kind = () => document.querySelector("[name=kind]:checked").value;
const isSketch = () => ["HyperLogLog", "count-min sketch"].includes(state.kind);

/** Sends a request, and shows the state after it. */
function act(request, lines) {
  const before = new Set(state?.wrong);
  const answer = ask(request, lines);
  state = answer.state;
  cells = new Uint32Array(answer.bytes.buffer);
  const event = answer.event ?? {};
  lit = { changed: new Set(event.changed), touched: new Set(event.touched), since: performance.now() };
  const fresh = state.wrong.filter((stranger) => !before.has(stranger));
  showState(fresh);
  paint();
  return { event, fresh };
}

function open() {
  state = undefined;
  const { kind: name } = (act({ do: "open", kind: kind(), items: Number(id("demo-items").value), rate: Number(id("demo-rate").value) }), state);
  id("remove").disabled = !state.can_remove;
  id("remove").title = state.can_remove ? "" : `No key can be removed from a ${name}.`;
  id("demo-items-label").textContent = name === "count-min sketch" ? "Counters per row" : "Made for so many keys";
  id("demo-items").disabled = name === "HyperLogLog";
  id("demo-rate-label").textContent = name === "HyperLogLog" ? "Standard error" : "False-positive rate";
  id("demo-rate").disabled = name === "count-min sketch";
  id("check").disabled = name === "HyperLogLog";
  id("check").title = name === "HyperLogLog" ? "A HyperLogLog counts keys, and cannot tell which ones they were." : "";
  id("log").replaceChildren();
  say(`The ${name} is empty. Add a key.`);
}

function say(text, tone = "") {
  id("verdict").textContent = text;
  id("verdict").className = `verdict ${tone}`;
}

function note(text, tone = "") {
  id("log").prepend(element("li", { className: tone }, text));
  if (id("log").children.length > 100) id("log").lastChild.remove();
}

function tell(text, tone) {
  say(text, tone);
  note(text, tone);
}

const strangers = (fresh) => (fresh.length && !isSketch() ? ` ${fresh.length === 1 ? "One more stranger looks" : `${fresh.length} more strangers look`} present.` : "");
const quoted = (key) => `“${key}”`;

const TELL = {
  add(key, event, fresh) {
    if (isSketch()) {
      const changed = event.changed.length === 0 ? "no register changed" : state.kind === "HyperLogLog" ? "a register rose" : `${event.changed.length} counters rose`;
      return [`Added ${quoted(key)}: ${changed}.`, ""];
    }
    if (!event.is_new) return [`${quoted(key)} was there already: nothing changed.`, ""];
    if (event.looked_present) return [`Added ${quoted(key)}, which looked present before: it was a false positive.${strangers(fresh)}`, "wrong"];
    const what = { "standard Bloom filter": "bits", "blocked Bloom filter": "bits", "counting Bloom filter": "counters" }[state.kind] ?? "slots";
    const count = event.changed.length;
    return [`Added ${quoted(key)}: ${count} ${count === 1 ? what.slice(0, -1) : what} changed.${strangers(fresh)}`, "right"];
  },
  check(key, event) {
    if (event.count !== null) {
      const excess = event.count - event.true_count;
      return [`${quoted(key)}: estimated ${whole(event.count)}, in truth ${whole(event.true_count)}.${excess ? ` Other keys share all of its counters: ${whole(excess)} too many.` : " Exact."}`, excess ? "wrong" : "right"];
    }
    if (event.truth) return [`${quoted(key)}: probably present. That is right.`, "right"];
    return event.answer ? [`${quoted(key)}: probably present. False positive: it was never added.`, "wrong"] : [`${quoted(key)}: certainly absent. That is right.`, "right"];
  },
  remove(key, event) {
    return [`Removed ${quoted(key)}.${event.answer ? " It still looks present: other keys cover it." : ""}`, event.answer ? "wrong" : "right"];
  },
};

function perform(name) {
  const key = id("key").value;
  if (key === "") return say("Type a key first.", "wrong");
  try {
    const { event, fresh } = act({ do: name, key });
    tell(...TELL[name](key, event, fresh));
  } catch (error) {
    tell(error.message, "wrong");
  }
  id("key").select();
}

function addLines(bytes, from) {
  if (bytes.length > MOST_BYTES) return tell(`${from} has ${size(bytes.length)}; the demo takes at most ${size(MOST_BYTES)}.`, "wrong");
  try {
    const { event } = act({ do: "add-lines" }, bytes);
    const again = event.is_resized ? ` The structure was built anew for ${whole(state.items)} keys.` : "";
    tell(`${from}: ${whole(event.lines)} lines, ${whole(event.new)} new keys.${again}`, "right");
  } catch (error) {
    tell(`${from}: ${error.message}`, "wrong");
  }
}

async function addFile(file) {
  addLines(file.size > MOST_BYTES ? { length: file.size } : new Uint8Array(await file.arrayBuffer()), file.name);
}

function showState(fresh) {
  const wrong = state.wrong.length;
  const facts = [["Keys, exactly", whole(state.exact)], ["Memory", size(state.bytes)]];
  if (state.kind === "HyperLogLog") {
    const [value, error] = state.estimate;
    facts.push(["Estimate", whole(Math.round(value))], ["95 % within", `± ${whole(Math.ceil(1.96 * error))}`]);
  } else if (state.kind === "count-min sketch") {
    facts.push(["All counts", whole(state.total)], ["Strangers above 0", whole(wrong)]);
  } else {
    facts.push(["Rate, predicted", share(Number(state.rate.toPrecision(3)))], ["Rate, measured", `${share(wrong / state.strangers)}`]);
  }
  id("stats").replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const names = { HyperLogLog: "Registers", "count-min sketch": "Counters, a row per hash", "cuckoo filter": "Buckets of four slots", "quotient filter": "Slots", "counting Bloom filter": "Counters", "blocked Bloom filter": "Blocks of 512 bits" };
  id("cells-title").textContent = names[state.kind] ?? "Bits";
  const filled = cells.reduce((sum, cell) => sum + (cell !== 0), 0);
  const part = cells.length < state.cells ? ` The first ${whole(cells.length)} of ${whole(state.cells)} are drawn.` : "";
  const hint = { HyperLogLog: " The taller, the greater the rank.", "count-min sketch": " The stronger, the greater the count.", "quotient filter": " Hatched slots hold a fingerprint that had to move on.", "cuckoo filter": " A key may lie in either of two buckets." }[state.kind] ?? "";
  id("cells-text").textContent = `${whole(filled)} of ${whole(cells.length)} filled (${share(filled / Math.max(cells.length, 1))}).${hint}${part}`;
  id("strangers-panel").hidden = state.kind === "HyperLogLog";
  id("strangers-text").textContent = `Keys that were never added, asked after every step: ${whole(wrong)} look present${fresh.length ? `, ${fresh.length} of them since the last step` : ""}.`;
  Object.assign(id("demo").dataset, { exact: state.exact, bytes: state.bytes, wrong, filled, cells: state.cells, rate: state.rate, estimate: state.estimate?.[0] });
}

/** The size of a cell, its place, and the height of the canvas. */
function layout(width, count, columns, group) {
  const wanted = count <= 256 ? 26 : count <= 1024 ? 17 : count <= 4096 ? 11 : 6;
  if (group === 512) {
    const [across, step] = [Math.min(64, Math.max(16, 2 ** Math.floor(Math.log2(width / wanted)))), 0];
    const side = Math.min(18, width / across) + step;
    const rows = 512 / across;
    const place = (cell) => [(cell % 512 % across) * side, (Math.floor(cell / 512) * (rows + 0.7) + Math.floor((cell % 512) / across)) * side];
    return { side, place, height: Math.ceil(count / 512) * (rows + 0.7) * side };
  }
  if (columns) {
    const perRow = Math.min(columns, Math.max(8, Math.floor(width / 11)));
    const bands = Math.ceil(columns / perRow);
    const side = Math.min(22, width / perRow);
    const depth = Math.ceil(count / columns);
    const place = (cell) => [(cell % columns % perRow) * side, (Math.floor((cell % columns) / perRow) * (depth + 0.7) + Math.floor(cell / columns)) * side];
    return { side, place, height: bands * (depth + 0.7) * side };
  }
  const gap = group > 1 ? 0.6 : 0;
  const groups = Math.max(1, Math.floor(width / (wanted * (group + gap)) + 0.05));
  const perRow = groups * group;
  const side = Math.min(30, width / (groups * (group + gap)));
  const place = (cell) => [(cell % perRow + Math.floor((cell % perRow) / group) * gap) * side, Math.floor(cell / perRow) * side];
  return { side, place, height: Math.ceil(count / perRow) * side };
}

function surface(canvas, height) {
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return context;
}

/** The colours of the style sheet, as the canvas can use them. */
function palette() {
  const probe = element("i", { hidden: true });
  document.body.append(probe);
  const read = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const colors = Object.fromEntries(["cell", "set", "new", "ink", "wrong", "card"].map((name) => [name, read(name)]));
  probe.remove();
  return colors;
}

function paint() {
  const colors = palette();
  paintCells(colors);
  paintStrangers(colors);
  const age = performance.now() - lit.since;
  if (age < GLOW && lit.changed.size && !still.matches) requestAnimationFrame(() => paint());
}

function paintCells(colors) {
  const canvas = id("cells");
  const { side, place, height } = layout(canvas.clientWidth, cells.length, state.columns, state.group);
  const context = surface(canvas, height);
  const glow = Math.max(0, 1 - (performance.now() - lit.since) / GLOW);
  const inner = side - Math.max(1, side * 0.14);
  const most = Math.max(1, cells.reduce((most, cell) => Math.max(most, cell), 0));
  const fill = (color, strength, x, y, w, h) => {
    context.globalAlpha = strength;
    context.fillStyle = color;
    context.fillRect(x, y, w, h);
    context.globalAlpha = 1;
  };
  cells.forEach((cell, index) => {
    const [x, y] = place(index);
    fill(colors.cell, 1, x, y, inner, inner);
    if (cell !== 0) {
      const tall = state.kind === "HyperLogLog" ? Math.min(1, 0.15 + cell / 14) * inner : inner;
      const strength = { "count-min sketch": 0.3 + (0.7 * cell) / most, "counting Bloom filter": Math.min(1, 0.4 + 0.2 * cell),
        "cuckoo filter": 0.45 + (0.55 * (cell & 255)) / 255, "quotient filter": 0.45 + (0.55 * (cell & 255)) / 255 }[state.kind] ?? 1;
      fill(colors.set, strength, x, y + inner - tall, inner, tall);
      if (state.kind === "quotient filter" && cell > 256) hatch(context, colors.card, x, y, inner);
    }
    if (lit.changed.has(index)) fill(colors.new, still.matches ? 1 : Math.max(0.85, glow), x, y, inner, inner);
    if (lit.touched.has(index)) {
      context.strokeStyle = colors.ink;
      context.lineWidth = side > 12 ? 2 : 1;
      context.strokeRect(x + 1, y + 1, inner - 2, inner - 2);
    }
  });
}

function hatch(context, color, x, y, inner) {
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, y + inner);
  context.lineTo(x + inner, y);
  context.stroke();
}

function paintStrangers(colors) {
  if (id("strangers-panel").hidden) return;
  const canvas = id("strangers");
  const side = canvas.clientWidth / 50;
  const context = surface(canvas, 20 * side);
  const wrong = new Set(state.wrong);
  for (let stranger = 0; stranger < state.strangers; stranger++) {
    context.fillStyle = wrong.has(stranger) ? colors.wrong : colors.cell;
    context.fillRect((stranger % 50) * side, Math.floor(stranger / 50) * side, side - 1, side - 1);
  }
}

id("act").addEventListener("submit", (event) => { event.preventDefault(); perform("add"); });
id("check").addEventListener("click", () => perform("check"));
id("remove").addEventListener("click", () => perform("remove"));
id("clear").addEventListener("click", open);
for (const setting of document.querySelectorAll("[name=kind], #demo-items, #demo-rate")) setting.addEventListener("change", open);

id("add-lines").addEventListener("click", () => {
  if (id("paste").value.trim() === "") return say("Paste some lines first.", "wrong");
  addLines(new TextEncoder().encode(id("paste").value), "Pasted text");
});
id("file").addEventListener("change", () => { if (id("file").files[0]) addFile(id("file").files[0]); id("file").value = ""; });
for (const name of ["dragenter", "dragover"]) {
  id("drop").addEventListener(name, (event) => { event.preventDefault(); id("drop").classList.add("over"); });
}
for (const name of ["dragleave", "drop"]) id("drop").addEventListener(name, () => id("drop").classList.remove("over"));
id("drop").addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) addFile(event.dataTransfer.files[0]);
  else addLines(new TextEncoder().encode(event.dataTransfer.getData("text")), "Dropped text");
});

id("download").addEventListener("click", () => {
  const address = URL.createObjectURL(new Blob([ask({ do: "download" }).bytes]));
  element("a", { href: address, download: "demo.pds" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
});

dark.addEventListener("change", () => paint());
new ResizeObserver(() => paint()).observe(id("cells").parentElement);
open();
