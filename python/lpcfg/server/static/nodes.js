// Trees from labelled spans in pre-order, as the API gives them.

export function buildTree(spans, words) {
  const nodes = spans.map((span, index) => ({ ...span, index, children: [], parent: null }));
  const open = [];
  for (const node of nodes) {
    while (open.length && !contains(open.at(-1), node)) open.pop();
    if (open.length) {
      node.parent = open.at(-1);
      node.parent.children.push(node);
    }
    node.level = open.length;
    open.push(node);
  }
  // In a chain of nodes over one word only the last one has the word.
  for (const node of nodes) {
    node.word = node.children.length ? null : words[node.start];
    node.words = words.slice(node.start, node.end);
  }
  return nodes;
}

function contains(outer, inner) {
  return outer.start <= inner.start && inner.end <= outer.end;
}

export function key(node) {
  return `${node.label} ${node.start} ${node.end}`;
}

// The nodes that the other tree does not have.
export function differing(spans, others) {
  const theirs = new Set(others.map(key));
  return new Set(spans.filter((span) => !theirs.has(key(span))).map(key));
}

export function plain(words) {
  const brackets = { "-LRB-": "(", "-RRB-": ")" };
  return words.map((word) => brackets[word] ?? word).join(" ");
}
