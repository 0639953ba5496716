// What the latent states of a symbol are used for.

import { explain } from "./api.js";
import { html, percent } from "./dom.js";

const kept = new Map();

async function explanation(model, symbol) {
  const place = JSON.stringify([model, symbol]);
  if (!kept.has(place)) kept.set(place, explain(model, symbol));
  try {
    return await kept.get(place);
  } catch (error) {
    kept.delete(place);
    throw error;
  }
}

// Fill an element with cards, one for each state; the current state comes first.
export async function showStates(target, model, symbol, current) {
  target.dataset.symbol = symbol;
  const wanted = symbol;
  try {
    const { states } = await explanation(model, symbol);
    // Another node may have been chosen meanwhile.
    if (target.dataset.symbol !== wanted) return;
    const ordered = [...states].sort((a, b) => (b.state === current) - (a.state === current));
    target.replaceChildren(
      html("h3", {}, `The ${states.length} ${states.length === 1 ? "state" : "states"} of ${symbol}`),
      html("div", { class: "cards" }, ...ordered.map((state) => card(state, state.state === current))));
  } catch (error) {
    target.replaceChildren(html("p", { class: "note" }, error.message));
  }
}

function card(state, current) {
  const listed = (items) => items.map(([name, p]) =>
    html("li", {}, html("span", { class: "share" }, percent(p)), ` ${name}`));
  const section = (title, items) => items.length
    ? [html("h5", {}, title), html("ul", {}, ...items)] : [];
  return html("article", { class: `card${current ? " current" : ""}` },
    html("h4", {},
      html("span", { class: `swatch state-${state.state % 8}` }, `State ${state.state}`),
      ` ${percent(state.prior)} of the symbol${current ? ", here" : ""}`),
    ...section("Typical words", state.words.length ? [html("li", {}, state.words.join(", "))] : []),
    ...section("Rules", listed(state.rules)),
    ...section("Contexts", listed(state.contexts)));
}
