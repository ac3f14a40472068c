// The calculator: reads the form, asks the module, and shows the answer.

import { ask, element, share, size, whole } from "./module.js";
import { draw, powers } from "./chart.js";

const id = (name) => document.getElementById(name);
const form = id("ask");

const COUNTS = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const BYTES = {
  B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
};

/** A field's number, times its unit. A comma has three digits behind it, lest `10,5` be a hundred and five. */
function number(field, units, hint) {
  const text = id(field).value.replace(/[\s_]/g, "");
  const found = /^(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(e[+-]?\d+)?([a-zA-Z%]*)$/.exec(text);
  const factor = found?.[3] ? units[found[3]] : 1;
  id(field).ariaInvalid = String(!(found && factor));
  if (!found || !factor) throw new Error(`“${id(field).value}” is not ${hint}.`);
  return Number(found[1].replaceAll(",", "") + (found[2] ?? "")) * factor;
}
const READ = {
  items: () => Math.round(number("items", COUNTS, "a number of keys like 1M, 10e6 or 1,000,000")),
  total: () => Math.round(number("total", COUNTS, "a number like 1M, 10e6 or 1,000,000")),
  bytes: () => Math.floor(number("bytes", BYTES, "a size like 64 KiB, 1.5 GB or 4096")),
  rate: () => fraction("rate"), epsilon: () => fraction("epsilon"), delta: () => fraction("delta"),
  error: () => fraction(question() === "similar" ? "similarity" : "error"), threshold: () => fraction("threshold"), recall: () => fraction("recall"),
};
function fraction(field) {
  // 0.1% as a double is 0.001, not 0.1 times 0.01.
  const text = id(field).value.replaceAll(" ", "");
  const value = number(field, { "%": 1 }, "a share like 1% or 0.01");
  return text.endsWith("%") ? Number(`${value}e-2`.replace(/e(.*)e-2$/, (_, power) => `e${Number(power) - 2}`)) : value;
}

const question = () => form.elements.question.value;
let chosen = null; // The type that the user chose in the table.
let last = null;

const flags = () => {
  const boxes = [...form.querySelectorAll("input[type=checkbox]")];
  return Object.fromEntries(boxes.filter((box) => !box.closest("[hidden]") && box.checked).map((box) => [box.name, true]));
};

function request() {
  const asked = question();
  const fields = { filters: ["items", "rate", "bytes"].filter((name) => name !== id("find").value),
    counts: ["items", "total", "epsilon", "delta"], distinct: ["items", "error"], similar: ["items", "error", "threshold", "recall"] }[asked];
  return { do: asked, ...Object.fromEntries(fields.map((name) => [name, READ[name]()])), ...flags() };
}

function arrange() {
  for (const part of document.querySelectorAll("#ask [data-for]")) {
    const isOff = !part.dataset.for.split(" ").includes(question());
    part.hidden = isOff || (question() === "filters" && part.dataset.not === id("find").value);
  }
  form.querySelector(".needs").hidden = question() === "similar";
  id("items-label").textContent = question() === "similar" ? "Sets in an index" : "Different keys";
}

function update() {
  arrange();
  try {
    last = ask(request());
    id("refusal").hidden = true;
    ({ filters: showFilters, counts: showSketches, distinct: showSketches, similar: showSimilar })[question()]();
    showOthers(last.others ?? []);
  } catch (error) {
    id("refusal").textContent = error.message;
    id("refusal").hidden = false;
  }
  id("answer").classList.toggle("stale", !id("refusal").hidden);
}

function facts(pairs) {
  id("choice-facts").replaceChildren(...pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function show(why, name, figure, unit, caution) {
  id("choice-why").textContent = why;
  id("choice-name").textContent = name;
  id("choice-figure").textContent = figure;
  id("choice-unit").textContent = unit;
  id("choice-caution").textContent = caution;
}

function lines(rust, shell, sql, note) {
  for (const [name, text] of Object.entries({ rust, shell, sql })) {
    const line = document.querySelector(`[data-line=${name}]`);
    line.hidden = !text;
    line.querySelector("code").textContent = text ?? "";
  }
  id("line-note").textContent = note;
}

function cells(headings) {
  return element("tr", {}, ...headings.map((text) => Object.assign(element("th", { scope: "col" }, text), {
    className: ["Rate", "Lines read", "Bits per key", ""].includes(text) ? "wide" : "",
  })));
}

function showFilters() {
  const row = last.rows.find((one) => one.type === chosen) ?? last.rows.find((one) => one.type === last.choice);
  const find = id("find").value;
  const figure = (one) => ({ bytes: size(one.bytes), rate: share(one.rate), items: whole(one.items) })[find];
  if (row) {
    const why = row.type !== last.choice ? (row.lacks ? `Cannot ${row.lacks}` : "Your choice") : "Recommended";
    show(why, row.name, figure(row), { bytes: "", rate: "false positives", items: "keys" }[find], row.caution);
    const can = row.abilities.filter(([, able]) => able !== "no").map(([name, able]) => (able === "limited" ? `${name} (up to a limit)` : name));
    facts([["Exact size", `${whole(row.bytes)} bytes`], ["Per key", `${row.bits_per_item.toFixed(2)} bits`],
      ["Rate", `${share(row.rate)} when it holds ${whole(row.items)} keys`],
      ["Cache lines", `${row.lines[0].toFixed(1)} for a present key, ${row.lines[1].toFixed(1)} for an absent one`],
      ["Can", can.join(", ") || "answer, and nothing else"]]);
    lines(row.rust, row.shell, row.sql, row.sql ? (row.sql.startsWith("COPY") ? "The SQL line is for DuckDB, which writes a filter for each group of 122,880 rows." : "The SQL line is for DuckDB.") : "SQL engines have no such filter; Parquet’s split-block filter and the exact set have an SQL line.");
  } else {
    show("No single structure does all that", "Take two, side by side", "", "", "");
    facts([]);
    lines(null, null, null, "");
  }
  const most = Math.max(...last.rows.filter((one) => !one.type.startsWith("Hash")).map((one) => one.bytes));
  id("structures").tHead.replaceChildren(cells(["Structure", { bytes: "Size", rate: "Rate", items: "Keys" }[find], "", "Bits per key", "Rate", "Lines read", "Lacks"]));
  id("structures").tBodies[0].replaceChildren(...last.rows.map((one) => {
    const button = element("button", { type: "button" }, one.name);
    button.addEventListener("click", () => { chosen = one.type; showFilters(); refocus(one.type); });
    const bar = element("i");
    bar.style.width = `${Math.min(100, (100 * one.bytes) / most)}%`;
    const wide = (...content) => element("td", { className: "wide" }, ...content);
    const made = element("tr", { className: one.lacks ? "lacks" : "" }, element("td", {}, button), element("td", {}, figure(one)),
      wide(element("span", { className: "bar" }, bar)), wide(one.bits_per_item.toFixed(2)), wide(share(one.rate)),
      wide(`${one.lines[0].toFixed(1)} / ${one.lines[1].toFixed(1)}`), element("td", {}, one.lacks ? `cannot ${one.lacks}` : ""));
    Object.assign(made.dataset, { type: one.type, bytes: one.bytes, rate: one.rate, items: one.items });
    if (one === row) made.ariaCurrent = "true";
    return made;
  }));
  id("impossible").replaceChildren(...last.impossible.map((one) => element("li", {}, `No ${one.name}: ${one.why}.`)));
  showCurve(row);
  showBudgets(row);
}

/** Structures that no table ranks: they answer another question, or need more than a number of keys. */
function showOthers(others) {
  id("others").replaceChildren(...others.map((one) => {
    const made = element("li", {}, `A ${one.name} ${one.what}: ${size(one.bytes)}. `, element("code", {}, one.rust));
    Object.assign(made.dataset, { type: one.type, bytes: one.bytes });
    return made;
  }));
}

function refocus(type) {
  document.querySelector(`#structures tr[data-type="${type}"] button`)?.focus();
}

function showCurve(row) {
  id("curve-title").textContent = "False-positive rate as it fills";
  const curves = last.rows.filter((one) => !one.type.startsWith("Hash")).map((one) => ({
    name: one.name, chosen: one === row, points: last.loads.map((load, index) => [load, one.rates[index]]),
  }));
  const target = row?.rate ?? 0.01;
  const top = Math.min(1, 10 ** Math.ceil(Math.log10(target) + 1.3));
  const y = { log: true, ticks: powers([target / 300, top], 6), format: (tick) => share(tick) };
  draw(id("curve"), curves, { label: "keys, in % of those that it is sized for", ticks: [0, 50, 100, 150, 200], format: (tick) => `${tick} %` }, y, target);
  const at = (load) => row?.rates[last.loads.indexOf(load)];
  const beyond = at(200) === null ? "it takes no more keys than its capacity" : `at 200 % it errs for ${share(at(200))}`;
  id("curve-text").textContent = row ? `The strong line is the ${row.name}: ${share(at(50) ?? row.rate)} when half full, ${share(row.rate)} when full; ${beyond}. The thin lines are the other structures.` : "";
}

function showBudgets(row) {
  id("budget-panel").hidden = !row || row.type.startsWith("Hash");
  if (id("budget-panel").hidden) return;
  const { budgets } = ask({ do: "budgets", type: row.type, items: row.items, rate: row.rate, bytes: row.bytes });
  const cell = (value, format) => element("td", {}, value === null ? "does not fit" : format(value));
  id("budgets").tBodies[0].replaceChildren(...budgets.map((one) => {
    const made = element("tr", {}, element("td", {}, size(one.bytes)), cell(one.rate, share), cell(one.items, whole));
    if (one.bytes === row.bytes) made.ariaCurrent = "true";
    return made;
  }));
  id("budget-note").textContent = `For a ${row.name} around ${size(row.bytes)}.`;
}

function showSketches() {
  const isDistinct = question() === "distinct";
  const found = last.recommended;
  if (found) {
    show("Recommended", found.name, size(found.bytes), "", found.caution);
    facts([["Exact size", `${whole(found.bytes)} bytes`], ["Error", isDistinct ? `${id("error").value} (standard error)` : `${id("epsilon").value} of the sum`]]);
    lines(found.rust, last.shell, last.sql, last.sql ? "The shell line uses the tool’s own sketch, and the SQL line that of DuckDB, whose error is its own." : "DuckDB has no such sketch.");
  } else {
    show("No single structure does all that", "Take two, side by side", "", "", "");
    facts([]);
    lines(null, null, null, "");
  }
  id("structures").tHead.replaceChildren(element("tr", {}, element("th", { scope: "col" }, "Structure"), element("th", { scope: "col" }, "Against it")));
  const rows = found ? [[found.name, `recommended: ${size(found.bytes)}`], ...found.reasons] : [];
  id("structures").tBodies[0].replaceChildren(...rows.map(([name, why], index) => {
    const made = element("tr", {}, element("td", {}, name), element("td", {}, why));
    if (index === 0) { made.ariaCurrent = "true"; made.dataset.bytes = found.bytes; made.dataset.type = found.type; }
    return made;
  }));
  id("impossible").replaceChildren();
  showError(last.curves.map((curve) => ({ ...curve, chosen: !isDistinct || curve.name === found?.name })), isDistinct ? READ.error() : READ.epsilon());
  id("curve-text").textContent = isDistinct ? "Four times the memory halves the error. The dashed line is the error that you asked for." : "Twice the memory halves the error. The dashed line is the error that you asked for.";
}

function showSimilar() {
  const { sketch, index, signatures, curves } = last;
  show("For each set", sketch.name, size(sketch.bytes), "", "");
  facts([["Exact size", `${whole(sketch.bytes)} bytes`], ["Values", whole(last.values)], ["Error", `${id("similarity").value} at most (standard error)`]]);
  lines(`let mut sketch = ${sketch.rust};`, last.shell, null, "SQL engines have no such sketch.");
  id("structures").tHead.replaceChildren(cells(["Structure", "Size", "Error, at most"]));
  const rows = [[index.name, size(index.bytes), "", index], [sketch.name, size(sketch.bytes), share(curves[0].points.find(([bytes]) => bytes === sketch.bytes)[1]), sketch],
    ...signatures.map((one) => [`signature of ${one.bits} ${one.bits === 1 ? "bit" : "bits"} per value`, size(one.bytes), share(one.error), one])];
  id("structures").tBodies[0].replaceChildren(...rows.map(([name, bytes, error, one]) => {
    const made = element("tr", {}, ...[name, bytes, error].map((text) => element("td", {}, text)));
    made.dataset.bytes = one.bytes;
    if (one.type) made.dataset.type = one.type;
    return made;
  }));
  id("impossible").replaceChildren();
  showError(curves.map((curve) => ({ ...curve, chosen: true })), READ.error());
  id("curve-text").textContent = "Four times the memory halves the error. The dashed line is the error that you asked for.";
}

function showError(curves, target) {
  id("curve-title").textContent = "Error against memory";
  const points = curves.flatMap((curve) => curve.points);
  const memory = { log: true, label: "memory", ticks: powers(points.map(([bytes]) => bytes), 6, 16), format: (tick) => size(tick).replace(".00", "").replace(".0", "") };
  const error = { log: true, ticks: powers(points.map(([, value]) => value), 6), format: share };
  draw(id("curve"), curves, memory, error, target);
  id("budget-panel").hidden = true;
}

for (const line of document.querySelectorAll(".line")) {
  const button = line.querySelector("button");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(line.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(line.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => { chosen = null; update(); });
update();
