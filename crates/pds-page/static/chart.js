// A chart with a logarithmic vertical axis.

const NAMESPACE = "http://www.w3.org/2000/svg";

function shape(name, attributes, text = "") {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/**
 * Draws lines: `{ name, points: [[x, y]], chosen }`. `x` and `y` of the axes: `{ label, ticks, format, log }`. Points
 * without a y are left out.
 */
export function draw(svg, lines, x, y, target) {
  const [width, height, left, right, top, bottom] = [480, 280, 58, 12, 10, 40];
  const scale = (axis, value) => (axis.log ? Math.log10(value) : value);
  const span = (axis, from, to) => {
    const [low, high] = [scale(axis, axis.ticks[0]), scale(axis, axis.ticks.at(-1))];
    return (value) => from + ((scale(axis, value) - low) / (high - low)) * (to - from);
  };
  const [across, up] = [span(x, left, width - right), span(y, height - bottom, top)];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const parts = [];
  for (const tick of y.ticks) {
    parts.push(shape("line", { class: "grid", x1: left, x2: width - right, y1: up(tick), y2: up(tick) }));
    parts.push(shape("text", { x: left - 8, y: up(tick) + 4, "text-anchor": "end" }, y.format(tick)));
  }
  for (const tick of x.ticks) {
    parts.push(shape("text", { x: across(tick), y: height - bottom + 18, "text-anchor": "middle" }, x.format(tick)));
  }
  parts.push(shape("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, x.label));
  if (target) {
    const at = up(target);
    parts.push(shape("line", { class: "target", x1: left, x2: width - right, y1: at, y2: at }));
  }
  // Lines leave the plot at its edges.
  const clip = shape("clipPath", { id: "plot" });
  clip.append(shape("rect", { x: left, y: top - 2, width: width - left - right, height: height - top - bottom + 3 }));
  parts.push(clip);
  const sorted = [...lines].sort((one, other) => Number(one.chosen ?? false) - Number(other.chosen ?? false));
  for (const line of sorted) {
    const points = line.points.filter(([, value]) => value !== null && value > 0);
    const path = points.map(([a, b], index) => `${index ? "L" : "M"}${across(a).toFixed(1)} ${up(b).toFixed(1)}`);
    const drawn = shape("path", { d: path.join(""), class: line.chosen ? "chosen" : "", "clip-path": "url(#plot)" });
    drawn.append(shape("title", {}, line.name));
    parts.push(drawn);
  }
  svg.replaceChildren(...parts);
}

/** Powers of a base around the values, at most `most` of them. */
export function powers(values, most = 7, base = 10) {
  const exponent = (value) => Math.log2(value) / Math.log2(base);
  const [low, high] = [Math.floor(exponent(Math.min(...values))), Math.ceil(exponent(Math.max(...values)))];
  const step = Math.max(1, Math.ceil((high - low) / (most - 1)));
  const ticks = [];
  for (let power = high; power > low - step; power -= step) ticks.unshift(base ** power);
  return ticks.length > 1 ? ticks : [base ** (high - 1), base ** high];
}
