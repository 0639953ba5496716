// Requests to the server. Errors have messages that can be shown.

async function answer(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  const document = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(document.error ?? `The server answered ${response.status}.`);
  return document;
}

export function describe() {
  return answer(fetch("/api"));
}

export function parse({ text, model, candidates, states }) {
  const body = JSON.stringify({ text, model, candidates, chart: true, states });
  const headers = { "content-type": "application/json" };
  return answer(fetch("/api/parse", { method: "POST", headers, body }));
}

export function explain(model, symbol) {
  return answer(fetch(`/api/states?${new URLSearchParams({ model, symbol })}`));
}
