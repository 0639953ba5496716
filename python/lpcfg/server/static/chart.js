// The chart as a triangle: a cell for each span, words at the bottom, the whole sentence on top.

import { confidence, html, percent, svg, textWidth } from "./dom.js";
import { plain } from "./nodes.js";

const MARGIN = 12;
const WORD = 13;

export function chartCounts(sentence) {
  const words = sentence.words.length;
  const all = (words * (words + 1)) / 2;
  const { cells, passes } = sentence.chart;
  const kept = cells.filter((cell) => cell.count > 0).length;
  const first = passes === 2 ? cells.filter((cell) => cell.first > 0).length : kept;
  return { all, coarse: all - first, fine: first - kept, kept, passes };
}

export function chartSummary(sentence) {
  const { all, coarse, fine, kept, passes } = chartCounts(sentence);
  const item = (kind, text) => html("span", { class: `swatch ${kind}` }, text);
  return html("p", { class: "summary" },
    `${all} spans: `,
    passes === 2 ? item("pruned-coarse", `${coarse} without a label after the coarse pass`)
      : item("pruned-coarse", `${coarse} pruned`),
    passes === 2 ? item("pruned-fine", `${fine} without one after the PCFG pass`) : null,
    item("sure-4", `${kept} left`));
}

// `onselect` is called with a cell, and whether the keyboard has chosen it.
export function drawChart(sentence, nodes, onselect) {
  const words = sentence.words;
  const size = words.length;
  const widest = Math.max(...words.map((word) => textWidth(plain([word]), WORD)));
  const step = Math.max(10, Math.min(46, 980 / size, Math.max(26, widest + 8)));
  const row = step * 0.5;
  const upright = widest + 6 > step;
  const below = upright ? widest + 14 : 24;
  const width = size * step + 2 * MARGIN + (upright ? below * 0.2 : 0);
  const height = size * row + row + 2 * MARGIN + below;
  const inTree = new Set(nodes.map((node) => `${node.start} ${node.end}`));
  const found = new Map(sentence.chart.cells.map((cell) => [`${cell.start} ${cell.end}`, cell]));
  const root = svg("svg", {
    class: "drawing chart", width: Math.ceil(width), height: Math.ceil(height),
    viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, tabindex: "0", role: "application",
    "aria-label": "Chart: arrow keys move from span to span",
  });
  const at = (start, end) => ({
    x: MARGIN + ((start + end) / 2) * step, y: MARGIN + row + (size - (end - start)) * row,
  });
  const drawn = new Map();
  for (let length = 1; length <= size; length += 1) {
    for (let start = 0; start + length <= size; start += 1) {
      const place = `${start} ${start + length}`;
      const cell = found.get(place) ?? { start, end: start + length, first: 0, count: 0, labels: [] };
      const element = drawCell(cell, at(start, start + length), step, inTree.has(place));
      element.addEventListener("mouseenter", () => onselect(cell, false));
      drawn.set(place, { element, cell });
      root.append(element);
    }
  }
  const base = MARGIN + row + size * row + 14;
  words.forEach((word, index) => {
    const x = MARGIN + (index + 0.5) * step;
    root.append(svg("text", {
      class: "word", x, y: base, "text-anchor": upright ? "end" : "middle",
      ...(upright ? { transform: `rotate(-78 ${x} ${base})` } : {}),
    }, plain([word])));
  });
  let cursor = [0, size];
  root.addEventListener("focus", () => select(...cursor));
  root.addEventListener("blur", () => mark(null));
  root.addEventListener("keydown", (event) => {
    const [start, end] = cursor;
    const next = {
      ArrowLeft: [start - 1, end - 1], ArrowRight: [start + 1, end + 1],
      ArrowUp: end < size ? [start, end + 1] : [start - 1, end], ArrowDown: [start, end - 1],
    }[event.key];
    if (!next) return;
    event.preventDefault();
    if (drawn.has(next.join(" "))) select(...next);
  });
  function mark(element) {
    root.querySelector(".cursor")?.classList.remove("cursor");
    element?.classList.add("cursor");
  }
  function select(start, end) {
    cursor = [start, end];
    const { element, cell } = drawn.get(`${start} ${end}`);
    mark(element);
    onselect(cell, true);
  }
  return root;
}

function drawCell(cell, { x, y }, step, inTree) {
  const half = step * 0.46;
  const up = step * 0.5 * 0.92;
  const best = cell.labels[0];
  const kind = best ? confidence(best[1]) : cell.first > 0 ? "pruned-fine" : "pruned-coarse";
  const diamond = svg("path", {
    class: `cell ${kind}${inTree ? " in-tree" : ""}`,
    d: `M${x} ${y - up}L${x + half} ${y}L${x} ${y + up}L${x - half} ${y}Z`,
  });
  const group = svg("g", {}, diamond);
  if (best && step > 30 && textWidth(best[0], 9) < step * 0.85) {
    group.append(svg("text", { class: "cell-label", x, y: y + 3.2 }, best[0]));
  }
  return group;
}

export function describeCell(cell, sentence) {
  const words = plain(sentence.words.slice(cell.start, cell.end));
  if (cell.labels.length) {
    const labels = cell.labels.map(([label, p]) => `${label} ${percent(p)}`).join(", ");
    return { words, text: labels };
  }
  if (sentence.chart.passes === 2 && cell.first > 0) {
    const noun = cell.first === 1 ? "label" : "labels";
    return { words, text: `${cell.first} ${noun} left by the coarse pass, pruned in the PCFG pass` };
  }
  return { words, text: sentence.chart.passes === 2 ? "no label after the coarse pass" : "pruned" };
}
