// A look at one node of the model, in a dialog.

import { get } from "./api.js";
import { byId, element, whole } from "./element.js";

const dialog = byId("node-dialog");
byId("node-close").addEventListener("click", () => dialog.close());

/** What is known of a node. In a path, browsers would take `.` and `..` for folders. */
export const look = (name) => get(`/v1/node?name=${encodeURIComponent(name)}`);

/** Shows what is known of a node. */
export async function open(name) {
  const node = await look(name);
  byId("node-title").textContent = node.name;
  const list = (names) => element("ul", { class: "names" }, ...names.map(([name, more]) =>
    element("li", {}, element("button", { type: "button", class: "plain", onclick: () => open(name) }, name), more)));
  const body = [];
  if (node.links !== undefined) body.push(element("p", { class: "quiet" }, node.links === 1 ? "It has one link." : `It has ${whole(node.links)} links.`));
  if (node.neighbors.length) body.push(element("h3", {}, "Linked with"), list(node.neighbors.map((name) => [name, ""])));
  if (node.links > node.neighbors.length && node.neighbors.length) body.push(element("p", { class: "quiet" }, `and ${whole(node.links - node.neighbors.length)} more`));
  if (node.most_similar.length) body.push(element("h3", {}, "Most similar nodes, by attributes"), list(node.most_similar.map(({ name, cosine }) => [name, ` ${cosine.toFixed(2)}`])));
  byId("node-body").replaceChildren(...body);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

/** Offers names while one is typed. */
export function offerNames(input, list, failed) {
  let latest = 0;
  let waiting;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const asked = ++latest;
      try {
        const { nodes } = await get(`/v1/nodes?limit=12&prefix=${encodeURIComponent(input.value)}`);
        if (asked === latest) list.replaceChildren(...nodes.map(({ name }) => element("option", { value: name })));
      } catch (problem) {
        failed(problem);
      }
    }, 120);
  });
}
