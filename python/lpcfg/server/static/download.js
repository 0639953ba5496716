// Files from what is shown.

const PROPERTIES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size",
  "font-style", "font-weight", "text-anchor", "opacity",
];

// A drawing with its styles as attributes, so that it needs no style sheet.
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, index) => {
    const style = getComputedStyle(original);
    const target = copies[index];
    for (const name of ["class", "role", "tabindex", "data-index"]) target.removeAttribute(name);
    if (original instanceof SVGGraphicsElement) {
      for (const name of PROPERTIES) target.setAttribute(name, style.getPropertyValue(name));
    }
  });
  const { width, height } = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveText(text, name, type = "text/plain") {
  save(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

export function saveSvg(drawing, name) {
  saveText(standalone(drawing), name, "image/svg+xml");
}

export async function savePng(drawing, name) {
  const address = URL.createObjectURL(
    new Blob([standalone(drawing)], { type: "image/svg+xml;charset=utf-8" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { width, height } = drawing.viewBox.baseVal;
    // Twice the size for sharp text, within what browsers can draw.
    const scale = Math.min(2, 16_000 / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    save(await new Promise((done) => canvas.toBlob(done, "image/png")), name);
  } finally {
    URL.revokeObjectURL(address);
  }
}
