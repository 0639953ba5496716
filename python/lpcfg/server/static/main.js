// The page: what is asked for, what is shown, and the address that restores both.

import { readAddress, writeAddress } from "./address.js";
import { describe, parse } from "./api.js";
import { byId, confidenceLegend, html } from "./dom.js";
import { differing } from "./nodes.js";
import { drawPane } from "./pane.js";

const EXAMPLE =
  "The dog that my sister saw in the park ran after a cat. She watched it with her new binoculars.";

const state = readAddress();
let server;
let answers = [];
// Answers to older requests are not shown.
let asked = 0;

function message(text) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
}

function chosenModels() {
  const names = [state.model, ...(state.other ? [state.other] : [])];
  return names.map((name) => server.models.find((model) => model.name === name));
}

async function ask() {
  asked += 1;
  const number = asked;
  message("");
  document.body.setAttribute("aria-busy", "true");
  try {
    // Finding states takes longer than parsing, so they are asked for when they are to be shown.
    const states = state.view === "states";
    const given = await Promise.all(chosenModels().map(({ name }) => parse({
      text: state.text, model: name, candidates: Number(state.k), states,
    })));
    if (number !== asked) return;
    answers = given;
    if (!given[0].sentences.length) message("There is no sentence in this text.");
    else if (given[0].message) message(given[0].message);
    show();
  } catch (error) {
    if (number === asked) message(error.message);
  } finally {
    if (number === asked) document.body.removeAttribute("aria-busy");
  }
}

function show() {
  const number = Math.min(Number(state.sentence) || 0, answers[0].sentences.length - 1);
  byId("result").hidden = number < 0;
  writeAddress(state);
  if (number < 0) return;
  showSentences(number);
  const sentences = answers.map((answer) => answer.sentences[number]);
  const chosen = [Number(state.tree) || 0, Number(state.otherTree) || 0];
  const spans = sentences.map((sentence, side) =>
    (sentence?.candidates?.[chosen[side]] ?? sentence?.candidates?.[0])?.spans);
  const panes = chosenModels().map((model, side) => drawPane({
    answer: answers[side],
    sentence: sentences[side],
    model,
    view: state.view,
    chosen: chosen[side],
    different: spans[0] && spans[1] ? differing(spans[side], spans[1 - side]) : undefined,
    pinned: side === 0 && state.node !== "" ? Number(state.node) : null,
    actions: {
      choose: (tree) => change({ [side ? "otherTree" : "tree"]: tree, node: "" }),
      pin: (node) => {
        if (side === 0) remember({ node });
      },
      say: (text) => {
        byId("live").textContent = text;
      },
    },
  }));
  byId("panes").replaceChildren(...panes);
  byId("panes").classList.toggle("two", panes.length > 1);
  byId("panes").classList.toggle("fit", Boolean(state.fit));
  const legend = state.view === "states" ? [] : confidenceLegend();
  if (panes.length > 1 && state.view !== "chart") {
    legend.push(html("span", { class: "swatch different" }, "not in the other tree"));
  }
  if (state.view === "chart") {
    legend.push(html("span", { class: "swatch in-tree" }, "in the tree"));
  }
  byId("legend").replaceChildren(...legend);
}

function showSentences(current) {
  const items = answers[0].sentences.map((sentence, index) => html("li", {},
    html("button", {
      type: "button", "aria-current": index === current ? "true" : null,
      class: sentence.error ? "failed" : null,
      onclick: () => {
        change({ sentence: index, tree: 0, otherTree: 0, node: "" });
        byId("sentences").querySelector("[aria-current]").focus();
      },
    }, sentence.text)));
  byId("sentences").replaceChildren(...items);
  byId("sentences").hidden = items.length < 2;
}

function remember(changes) {
  Object.assign(state, changes);
  writeAddress(state);
}

function change(changes) {
  const focused = document.activeElement?.closest(".best") ? document.activeElement : null;
  const place = focused && [...document.querySelectorAll(".best input")].indexOf(focused);
  Object.assign(state, changes);
  show();
  // The pane has been drawn again; the keyboard stays where it was.
  if (focused) document.querySelectorAll(".best input")[place]?.focus();
}

function option(model) {
  return html("option", { value: model.name }, model.name);
}

function fillForm() {
  const names = server.models.map((model) => model.name);
  if (!names.includes(state.model)) state.model = names[0];
  if (!names.includes(state.other)) state.other = "";
  if (!["tree", "chart", "states"].includes(state.view)) state.view = "tree";
  byId("text").value = state.text || EXAMPLE;
  byId("text").maxLength = server.limits.characters;
  byId("candidates").max = server.limits.candidates;
  const k = Math.round(Number(state.k)) || 1;
  state.k = String(Math.min(Math.max(k, 1), server.limits.candidates));
  byId("candidates").value = state.k;
  byId("model").replaceChildren(...server.models.map(option));
  byId("other").replaceChildren(html("option", { value: "" }, "nothing"), ...server.models.map(option));
  byId("model").value = state.model;
  byId("other").value = state.other;
  byId("fit").checked = Boolean(state.fit);
  document.querySelector(`[name=view][value=${state.view}]`).checked = true;
}

function readForm() {
  Object.assign(state, {
    text: byId("text").value, model: byId("model").value, other: byId("other").value,
    k: byId("candidates").value,
  });
}

function submit(event) {
  event?.preventDefault();
  if (!byId("form").reportValidity()) return;
  readForm();
  Object.assign(state, { sentence: "0", tree: "0", otherTree: "0", node: "" });
  ask();
}

function listen() {
  byId("form").addEventListener("submit", submit);
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  for (const id of ["model", "other"]) byId(id).addEventListener("change", submit);
  byId("views").addEventListener("change", (event) => {
    Object.assign(state, { view: event.target.value });
    if (state.view === "states") ask();
    else show();
  });
  byId("fit").addEventListener("change", (event) => change({ fit: event.target.checked ? "1" : "" }));
  byId("link").addEventListener("click", copyLink);
  window.addEventListener("hashchange", () => {
    Object.assign(state, readAddress());
    fillForm();
    readForm();
    ask();
  });
}

async function copyLink() {
  writeAddress(state);
  const button = byId("link");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it from the address bar";
  }
  setTimeout(() => {
    button.textContent = "Copy link";
  }, 2000);
}

async function start() {
  try {
    server = await describe();
  } catch (error) {
    message(error.message);
    return;
  }
  fillForm();
  readForm();
  listen();
  ask();
}

start();
