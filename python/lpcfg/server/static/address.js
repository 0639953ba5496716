// What is shown is kept in the part of the address after #, which no server sees.

const DEFAULTS = {
  text: "", model: "", other: "", k: "5", view: "tree", sentence: "0", tree: "0", otherTree: "0",
  node: "", fit: "",
};

export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) {
    if (given.has(name)) state[name] = given.get(name);
  }
  return state;
}

export function writeAddress(state) {
  const shown = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) {
    if (String(state[name]) !== value) shown.set(name, state[name]);
  }
  history.replaceState(null, "", `#${shown}`);
}
