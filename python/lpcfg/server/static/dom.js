// Elements of the page. Text always goes in as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

const FONT = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const context = document.createElement("canvas").getContext("2d");

// The width in pixels of a text in the font of the drawings.
export function textWidth(text, size) {
  context.font = `${size}px ${FONT}`;
  return context.measureText(text).width;
}

export function percent(probability) {
  if (probability > 0.9995) return "100 %";
  if (probability < 0.0005) return "< 0.1 %";
  return `${(100 * probability).toFixed(probability < 0.1 || probability > 0.99 ? 1 : 0)} %`;
}

// Probabilities above which the colour changes, from the least to the most certain.
const STEPS = [0.3, 0.5, 0.7, 0.9, 0.99];

export function confidence(probability) {
  return `sure-${STEPS.filter((step) => probability >= step).length}`;
}

export function confidenceLegend() {
  const names = ["< 30 %", "30", "50", "70", "90", "99 % +"];
  return [
    html("span", { class: "title" }, "Probability"),
    ...names.map((name, step) => html("span", { class: `swatch sure-${step}` }, name)),
  ];
}
