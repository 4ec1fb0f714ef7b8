// Requests to the server, with the token where there is one.

/** An error that the server told, or that it could not be reached. */
export class Problem extends Error {
  constructor({ code, message, hint }) {
    super(message);
    this.code = code;
    this.hint = hint ?? "";
  }
}

export const setToken = (token) => sessionStorage.setItem("token", token);

export const get = (path) => ask(path, {});
export const post = (path, body, headers = {}) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });

/** A key by which the server knows a request that is sent again. */
export const freshKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

async function ask(path, options) {
  const token = sessionStorage.getItem("token");
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Problem({ code: "unreachable", message: "the server cannot be reached", hint: "is `coldlink serve` still running?" });
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw new Problem(answer?.error ?? { code: "unreadable", message: `the server answered ${response.status}`, hint: "" });
}
