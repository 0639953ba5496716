// One model's answer for one sentence: heading, drawing, details, best trees, downloads.

import { chartSummary, describeCell, drawChart } from "./chart.js";
import { confidence, html, percent } from "./dom.js";
import { savePng, saveSvg, saveText } from "./download.js";
import { buildTree, plain } from "./nodes.js";
import { showStates } from "./states.js";
import { drawTree } from "./tree.js";

const STATUSES = {
  loosened: "Pruning had removed every tree; less was pruned.",
  tightened: "More was pruned to fit into memory.",
  smoothed: "The grammar has no tree for these words; every word could have every tag.",
  fragments: "No tree covers the sentence; these are its parts.",
  backbone: "The latent states gave this sentence no probability; the PCFG parsed it.",
  negative: "The linear model gave a negative number; probabilities are relative to it.",
  split: "This long sentence was parsed in parts.",
  timeout: "The time limit was reached; this is what was found until then.",
  fewer: "Some models of the ensemble failed on this sentence.",
};

const SMALLEST = 0.62;

// `view`: tree, chart or states. `chosen`: which of the best trees. `different`: keys of nodes that
// the other model's tree does not have. `actions`: `choose(tree)`, `pin(node)`, `say(text)`.
export function drawPane({ answer, sentence, model, view, chosen, different, pinned, actions }) {
  const pane = html("section", { class: "pane", "aria-label": `Model ${model.name}` });
  pane.append(html("h2", {}, model.name, html("small", {}, ` ${model.description}`)));
  if (!sentence || sentence.error) {
    pane.append(html("p", { class: "note" }, sentence?.error ?? "There is no answer."));
    return pane;
  }
  const candidate = sentence.candidates[chosen] ?? sentence.candidates[0];
  const nodes = buildTree(candidate.spans, sentence.words);
  const states = candidate === sentence.candidates[0] ? sentence.states : undefined;
  const detail = html("div", { class: "detail" });
  const meaning = html("div", { class: "meaning" });
  const frame = html("div", { class: "frame", tabindex: "-1" });

  function showNode(node, pin) {
    const state = states?.[node.index];
    describe(detail, node, otherLabels(sentence, node, nodes), state);
    if (view === "states" && state && pin) showStates(meaning, model.name, ...state);
    if (pin) {
      for (const old of frame.querySelectorAll(".pinned")) old.classList.remove("pinned");
      frame.querySelector(`[data-index="${node.index}"]`)?.classList.add("pinned");
      actions.pin(node.index);
    }
  }

  let drawing;
  if (view === "chart") {
    drawing = drawChart(sentence, nodes, (cell, keyboard) => {
      const { words, text } = describeCell(cell, sentence);
      detail.replaceChildren(html("q", {}, words), html("span", {}, text));
      if (keyboard) actions.say(`${words}: ${text}`);
    });
    pane.append(chartSummary(sentence));
  } else {
    drawing = drawTree(nodes, {
      states: view === "states" ? (states ?? []) : undefined, different, onselect: showNode,
    });
  }
  // Drawings shrink to fit as long as they can be read.
  drawing.style.maxWidth = `max(100%, ${SMALLEST * drawing.viewBox.baseVal.width}px)`;
  frame.append(drawing);
  pane.append(facts(sentence, candidate), frame, detail);
  if (view === "states") pane.append(meaning);
  pane.append(bestTrees(sentence, chosen, actions), downloads(answer, sentence, candidate, drawing, view));
  start();
  return pane;

  function start() {
    if (view === "chart") {
      detail.append(html("span", { class: "hint" }, "Point at a span, or use the arrow keys."));
    } else if (view === "states" && !states) {
      const problem = model.states === true ? "States are shown for the best tree only." : model.states;
      meaning.append(html("p", { class: "note" }, problem));
    } else if (pinned != null && nodes[pinned]) {
      showNode(nodes[pinned], true);
    } else if (view === "states") {
      const first = nodes.find((node) => node.label === "NP" && states[node.index])
        ?? nodes.find((node) => states[node.index]);
      if (first) showNode(first, true);
    } else {
      detail.append(html("span", { class: "hint" }, "Point at a label, or use the arrow keys."));
    }
  }
}

function facts(sentence, candidate) {
  const unsure = candidate.spans.filter((span) => span.probability < 0.7).length;
  const number = (value) => (value == null ? "none" : value.toFixed(2).replace("-", "−"));
  return html("dl", { class: "facts" },
    fact("words", sentence.words.length),
    fact(sentence.conditional ? "log-probability given the words" : "log-probability",
      number(candidate.log_probability)),
    fact("labels below 70 %", unsure),
    sentence.status === "parsed" ? null : fact("status", sentence.status, STATUSES[sentence.status]));
}

function fact(name, value, title) {
  return html("div", { title }, html("dt", {}, name), html("dd", {}, String(value)));
}

// The labels of the same words that are not in the tree.
function otherLabels(sentence, node, nodes) {
  const cell = sentence.chart?.cells.find(
    ({ start, end }) => start === node.start && end === node.end);
  const chain = nodes.filter(({ start, end }) => start === node.start && end === node.end);
  const shown = new Set(chain.map(({ label }) => label));
  return (cell?.labels ?? []).filter(([label, p]) => !shown.has(label) && p >= 0.001);
}

function describe(target, node, others, state) {
  target.replaceChildren(
    html("strong", { class: `swatch ${confidence(node.probability)}` }, node.label),
    html("span", {}, percent(node.probability)),
    html("q", {}, plain(node.words)),
    state ? html("span", {}, `state ${state[1]} of ${state[0]}`) : "",
    others.length
      ? html("span", { class: "others" },
        `also possible here: ${others.map(([label, p]) => `${label} ${percent(p)}`).join(", ")}`)
      : "");
}

function bestTrees(sentence, chosen, actions) {
  const name = `best-${Math.random()}`;
  const best = sentence.candidates[0].log_probability;
  const rows = sentence.candidates.map((candidate, index) => {
    const behind = candidate.log_probability != null && best != null
      ? (candidate.log_probability - best).toFixed(2) : "none";
    return html("li", {}, html("label", {},
      html("input", {
        type: "radio", name, checked: index === chosen, onchange: () => actions.choose(index),
      }),
      html("span", { class: "rank" }, `${index + 1}`),
      html("span", { class: "behind" }, index ? behind.replace("-", "−") : "best"),
      html("code", {}, candidate.tree)));
  });
  return html("details", { class: "best", open: sentence.candidates.length > 1 },
    html("summary", {}, `${rows.length} best ${rows.length === 1 ? "tree" : "trees"}`,
      html("small", {}, " in the order of the decoder, with differences in log-probability")),
    html("ol", {}, ...rows));
}

function downloads(answer, sentence, candidate, drawing, view) {
  const name = `lpcfg-${view}`;
  const button = (label, action) => html("button", { type: "button", onclick: action }, label);
  const trees = answer.sentences.map((one) =>
    (one === sentence ? candidate.tree : (one.tree ?? "(())")));
  return html("p", { class: "downloads" }, html("span", {}, "Download "),
    button("SVG", () => saveSvg(drawing, `${name}.svg`)),
    button("PNG", () => savePng(drawing, `${name}.png`)),
    button("Brackets", () => saveText(`${trees.join("\n")}\n`, "lpcfg.mrg")),
    button("JSON", () => saveText(JSON.stringify(answer, null, 1), "lpcfg.json", "application/json")));
}
