// The page: asks the server what its model is, and then for links of what is filled in.

import { freshKey, get, post, setToken } from "./api.js";
import { byId, element, whole } from "./element.js";
import * as form from "./form.js";
import * as map from "./map.js";
import * as near from "./near.js";
import * as node from "./node.js";
import * as results from "./results.js";

let model;
/** Where nodes lie on the map, by name. */
let places = new Map();
/** What the links on the page were asked for. */
let asked = null;
/** The key of adding it: the same however often somebody tries. */
let addKey = "";

async function start() {
  byId("token-form").hidden = true;
  await trying(async () => {
    model = await get("/v1/model");
    describe(model);
    form.build(model);
    offerRelations(model.relations);
    form.fill(model.example);
    near.draw(null);
    byId("main").hidden = false;
    await showMap();
    await find();
  });
}

function describe({ summary, version, fingerprint }) {
  byId("model-line").textContent = `${summary.dataset}: ${whole(summary.nodes)} nodes, ${whole(summary.links)} links`;
  document.title = `${summary.dataset} · coldlink`;
  byId("version").textContent = `coldlink ${version} · model ${fingerprint}`;
}

/** Where links have directions or mean several things, one may be chosen; the first choice is what the server does unasked. */
function offerRelations(relations) {
  const choices = relations.flatMap(({ name, directed }) => {
    const links = name || "links";
    return directed
      ? [[`${links}: what it links to`, { relation: name, direction: "out" }], [`${links}: what links to it`, { relation: name, direction: "in" }]]
      : [[links, { relation: name, direction: "both" }]];
  });
  const all = ["of every relation, what it links to", {}];
  const offered = relations.length > 1 ? [all, ...choices] : choices;
  const option = ([label, wanted]) => element("option", { value: JSON.stringify(wanted) }, label);
  byId("which").replaceChildren(...offered.map(option));
  byId("which-field").hidden = !offered.length;
}

/** The relation and direction that are chosen; nothing where there is one of each. */
function wanted() {
  const { relation, direction } = JSON.parse(byId("which").value || "{}");
  return { ...(relation && { relation }), ...(direction && { direction }) };
}

async function showMap() {
  const answer = await get("/v1/map");
  places = new Map(answer.points.map((point) => [point.name, point.place]));
  map.show(answer, look);
}

byId("node-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await busy(byId("find"), find);
  // On a small screen the links are below the form.
  if (matchMedia("(max-width: 56rem)").matches && byId("alert").hidden) byId("results").scrollIntoView({ block: "start" });
});

/** Asks for the links of what is filled in, and shows them. */
async function find() {
  const filled = form.read();
  const count = readCount();
  if (!filled || !count) return;
  byId("status").textContent = "Looking…";
  const popularity = Number(byId("popularity").value);
  const answer = await post("/v1/links", { nodes: [filled], k: count, explain: true, map: true, popularity, ...wanted() });
  const [{ source, place, between }] = answer.map;
  const found = { source, place, between, links: answer.links };
  asked = filled;
  addKey = freshKey();
  results.show(found, answer.notes, look);
  near.draw(found, look);
  await placeAll(found);
  map.mark(found, places);
  const links = found.links.length === 1 ? "One link was" : `${found.links.length} links were`;
  const bars = model.probabilities ? " Bars are relative to the likeliest." : "";
  byId("status").textContent = `${links} found for ${source}.${bars}`;
  byId("add").hidden = model.read_only || !filled[model.id];
}

/** The map shows some of many nodes; those that were found are on it in any case. */
async function placeAll(found) {
  const missing = found.links.filter((link) => link.known && !places.has(link.target)).slice(0, 20);
  const looked = await Promise.all(missing.map((link) => node.look(link.target).catch(() => null)));
  for (const one of looked) if (one) places.set(one.name, one.place);
}

function readCount() {
  const input = byId("count");
  const count = Number(input.value.trim());
  const most = Math.min(model.limits.k, model.limits.explained, 100);
  const fine = Number.isInteger(count) && count >= 1 && count <= most;
  form.show({ input, complaint: byId("count-problem") }, fine ? null : `a whole number from 1 to ${most}`);
  if (fine) return count;
  input.closest("details").open = true;
  input.focus();
  return null;
}

byId("fill").addEventListener("click", () => form.fill(model.example));
byId("clear").addEventListener("click", () => {
  form.fill({});
  byId("fields").querySelector("input, textarea")?.focus();
});

byId("lookup").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("lookup-name").value.trim();
  if (name) look(name);
});
node.offerNames(byId("lookup-name"), byId("lookup-names"), tell);

const look = (name) => trying(() => node.open(name));

byId("add").addEventListener("click", () => {
  byId("add-line").textContent = `From then on links are found to “${asked[model.id]}” too. The model's file is changed.`;
  byId("add-dialog").showModal();
});
byId("add-no").addEventListener("click", () => byId("add-dialog").close());
byId("add-yes").addEventListener("click", () => busy(byId("add-yes"), async () => {
  try {
    const answer = await post("/v1/nodes", { nodes: [asked] }, { "Idempotency-Key": addKey });
    model = await get("/v1/model");
    describe(model);
    await showMap();
    byId("add").hidden = true;
    byId("status").textContent = `“${answer.added[0]}” is one of ${whole(answer.nodes)} nodes now.`;
  } finally {
    byId("add-dialog").close();
  }
}));

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value.trim());
  start();
});

/** Does something while a button rests. */
async function busy(button, work) {
  button.disabled = true;
  await trying(work);
  button.disabled = false;
}

/** Does something, and tells what goes wrong. */
async function trying(work) {
  byId("alert").hidden = true;
  try {
    await work();
  } catch (problem) {
    tell(problem);
  }
}

function tell(problem) {
  if (problem.code === "unauthorized") {
    byId("token-form").hidden = false;
    byId("token").focus();
    if (!sessionStorage.getItem("token")) return;
  }
  if (byId("status").textContent === "Looking…") byId("status").textContent = "No links were found: see above.";
  byId("node-dialog").close();
  byId("alert").replaceChildren(element("strong", {}, problem.message), problem.hint ? ` — ${problem.hint}` : "");
  byId("alert").hidden = false;
  byId("alert").scrollIntoView({ block: "nearest" });
}

start();
