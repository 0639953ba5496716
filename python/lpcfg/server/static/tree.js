// The drawing of a tree: labels coloured by confidence, words in one row at the bottom.

import { confidence, percent, svg, textWidth } from "./dom.js";
import { key, plain } from "./nodes.js";

const LABEL = 13;
const SMALL = 10;
const WORD = 15;
const PAD = 8;
const GAP = 14;
const BOX = 22;
const LEVEL = 54;
const MARGIN = 14;

// `options`: `states`, a list of [symbol, state] of each node, draws states instead of
// probabilities; `different`, keys of nodes to mark; `onselect`, called with a node.
export function drawTree(nodes, options) {
  const { width, height } = layout(nodes, options);
  const root = svg("svg", {
    class: "drawing tree", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "tree", "aria-label": `Tree of: ${plain(nodes[0].words)}`,
  });
  const edges = nodes.filter((node) => node.parent).map(edge);
  const stems = nodes.filter((node) => node.word != null).map((node) =>
    svg("line", { class: "edge", x1: node.x, x2: node.x, y1: node.y + BOX, y2: node.wordY - WORD }));
  root.append(svg("g", { "aria-hidden": "true" }, ...edges, ...stems));
  const drawn = nodes.map((node) => drawNode(node, options));
  root.append(...drawn);
  drawn[0].setAttribute("tabindex", "0");
  root.addEventListener("keydown", (event) => move(event, nodes, drawn));
  return root;
}

function labelText(node, { states }) {
  const state = states?.[node.index];
  return state ? `${node.label} · ${state[1]}` : node.label;
}

function hasNumber(node, { states }) {
  return !states && node.probability < 0.99;
}

function layout(nodes, options) {
  for (const node of [...nodes].reverse()) {
    const own = textWidth(labelText(node, options), LABEL) + 2 * PAD;
    const beside = hasNumber(node, options) ? 2 * (textWidth("00", SMALL) + 4) : 0;
    const below = node.children.length
      ? node.children.reduce((sum, child) => sum + child.width, GAP * (node.children.length - 1))
      : textWidth(node.word, WORD);
    node.boxWidth = own;
    node.content = below;
    node.width = Math.max(own + beside, below);
  }
  const depth = Math.max(...nodes.map((node) => node.level));
  nodes[0].left = MARGIN;
  for (const node of nodes) {
    const tag = node.children.length === 0;
    node.y = MARGIN + LEVEL * (tag ? depth : node.level);
    node.wordY = node.y + BOX + 30;
    let left = node.left + (node.width - node.content) / 2;
    for (const child of node.children) {
      child.left = left;
      left += child.width + GAP;
    }
  }
  for (const node of [...nodes].reverse()) {
    node.x = node.children.length
      ? (node.children[0].x + node.children.at(-1).x) / 2
      : node.left + node.width / 2;
  }
  const ends = nodes.flatMap((node) => [node.x - node.boxWidth / 2, node.x + node.boxWidth / 2]);
  const shift = Math.max(0, MARGIN - Math.min(...ends));
  for (const node of nodes) node.x += shift;
  const width = Math.max(nodes[0].width + 2 * MARGIN, Math.max(...ends) + MARGIN) + shift;
  return { width: Math.ceil(width), height: MARGIN + LEVEL * depth + BOX + 30 + MARGIN };
}

function edge(node) {
  const { x, y, parent } = node;
  const top = parent.y + BOX;
  // A long way down to a tag starts with the slope of the others and then goes straight.
  const bend = Math.min(y, top + LEVEL - BOX);
  const middle = (top + bend) / 2;
  return svg("path", {
    class: "edge", fill: "none",
    d: `M${parent.x} ${top}C${parent.x} ${middle} ${x} ${middle} ${x} ${bend}V${y}`,
  });
}

function drawNode(node, options) {
  const { states, different } = options;
  const state = states?.[node.index];
  const kind = states ? (state ? `state-${state[1] % 8}` : "state-none") : confidence(node.probability);
  const marked = different?.has(key(node));
  const parts = [`${node.label}, ${plain(node.words)}`, `probability ${percent(node.probability)}`];
  if (state) parts.push(`state ${state[1]}`);
  if (marked) parts.push("not in the other tree");
  const children = [
    svg("rect", {
      class: `box ${kind}`, x: node.x - node.boxWidth / 2, y: node.y, rx: 6,
      width: node.boxWidth, height: BOX,
    }),
    svg("text", { class: "label", x: node.x, y: node.y + 15.5 }, labelText(node, options)),
  ];
  if (hasNumber(node, options)) {
    children.push(svg("text", {
      class: "number", x: node.x + node.boxWidth / 2 + 3, y: node.y + SMALL, "text-anchor": "start",
    }, `${Math.round(100 * node.probability)}`));
  }
  if (node.word != null) {
    children.push(svg("text", { class: "word", x: node.x, y: node.wordY }, plain([node.word])));
  }
  return svg("g", {
    class: `node${marked ? " different" : ""}`, role: "treeitem", tabindex: "-1",
    "aria-level": node.level + 1, "aria-label": parts.join(", "), "data-index": node.index,
    onmouseenter: () => options.onselect(node, false),
    onfocus: () => options.onselect(node, false),
    onclick: () => options.onselect(node, true),
  }, svg("title", {}, parts.join("\n")), ...children);
}

// Arrow keys go to the parent, to the first child and to the neighbours; Enter pins the node.
function move(event, nodes, drawn) {
  const current = nodes[Number(event.target.dataset?.index ?? -1)];
  if (!current) return;
  const siblings = current.parent?.children ?? [current];
  const place = siblings.indexOf(current);
  const next = {
    ArrowUp: current.parent,
    ArrowDown: current.children[0],
    ArrowLeft: siblings[place - 1],
    ArrowRight: siblings[place + 1],
    Home: nodes[0],
  }[event.key];
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    event.target.dispatchEvent(new MouseEvent("click"));
  } else if (next) {
    event.preventDefault();
    drawn[current.index].setAttribute("tabindex", "-1");
    drawn[next.index].setAttribute("tabindex", "0");
    drawn[next.index].focus();
  }
}
