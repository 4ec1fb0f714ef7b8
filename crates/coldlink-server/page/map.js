// The map: all nodes by their embeddings, the found ones and the new one among them.

import { byId, drawn, element, whole } from "./element.js";

const [WIDTH, HEIGHT, MARGIN] = [1040, 520, 24];

let points = [];
let marks = { found: [], place: null, name: "" };
let look = () => {};
/** How much closer than the whole, and around which point of the drawing. */
let zoom = 1;
let centre = [WIDTH / 2, HEIGHT / 2];
let scale;

/** Takes over the points of a model. */
export function show(map, chosen) {
  points = map.points;
  look = chosen;
  const x = points.map((point) => point.place[0]);
  const y = points.map((point) => point.place[1]);
  const ends = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const [[left, right], [low, high]] = [ends(x), ends(y)];
  const across = (value, from, to, size) => MARGIN + ((value - from) / Math.max(to - from, 1e-9)) * (size - 2 * MARGIN);
  scale = ([x, y]) => [across(x, left, right, WIDTH), HEIGHT - across(y, low, high, HEIGHT)];
  const shown = points.length < map.nodes ? `${whole(points.length)} of ${whole(map.nodes)} nodes are shown.` : `All ${whole(map.nodes)} nodes are shown.`;
  byId("map-line").textContent = `Nodes with similar attributes lie close together. ${shown}`;
  draw();
}

/** Marks a new node and those that were found for it. */
export function mark(found, placesOf) {
  marks = { name: found.node, place: found.place, found: found.links.filter((link) => placesOf.has(link.name)).map((link) => ({ ...link, place: placesOf.get(link.name) })) };
  if (zoom > 1 && marks.place) centre = scale(marks.place);
  draw();
}

for (const [id, factor] of [["zoom-in", 1.6], ["zoom-out", 1 / 1.6], ["zoom-all", 0]]) {
  byId(id).addEventListener("click", () => {
    zoom = factor ? Math.min(Math.max(zoom * factor, 1), 24) : 1;
    centre = zoom > 1 && marks.place ? scale(marks.place) : [WIDTH / 2, HEIGHT / 2];
    draw();
  });
}

function draw() {
  if (!points.length) {
    byId("map").replaceChildren(element("div", { class: "empty" }, "There is nothing to show."));
    return;
  }
  const size = 1 / zoom;
  const dots = points.map((point) => {
    const [x, y] = scale(point.place);
    const radius = (1.6 + Math.min(Math.sqrt(point.links ?? 1), 7) * 0.35) * Math.sqrt(size);
    return drawn("circle", { class: "dot", cx: x.toFixed(1), cy: y.toFixed(1), r: radius.toFixed(2) }, drawn("title", {}, point.name));
  });
  const found = marks.found.map((link) => {
    const [x, y] = scale(link.place);
    return drawn("g", { onclick: () => look(link.name) },
      drawn("title", {}, `${link.rank}: ${link.name}`),
      drawn("circle", { class: "found", cx: x, cy: y, r: 5.5 * size, "stroke-width": 1.5 * size }));
  });
  const own = [];
  if (marks.place) {
    const [x, y] = scale(marks.place);
    const label = drawn("text", { x: x + 13 * size, y: y + 4 * size }, marks.name);
    label.style.fontSize = `${13 * size}px`;
    label.style.strokeWidth = `${3.5 * size}px`;
    own.push(
      drawn("circle", { class: "ring", cx: x, cy: y, r: 15 * size, "stroke-width": 2 * size }),
      drawn("circle", { class: "newcomer", cx: x, cy: y, r: 7 * size, "stroke-width": 2 * size }),
      label);
  }
  const [width, height] = [WIDTH * size, HEIGHT * size];
  const left = Math.min(Math.max(centre[0] - width / 2, 0), WIDTH - width);
  const top = Math.min(Math.max(centre[1] - height / 2, 0), HEIGHT - height);
  const about = marks.place
    ? `A map of ${whole(points.length)} nodes with the new node ${marks.name} and ${marks.found.length} nodes that were found for it.`
    : `A map of ${whole(points.length)} nodes.`;
  const svg = drawn("svg", { viewBox: `${left} ${top} ${width} ${height}`, role: "img", "aria-label": about }, ...dots, ...found, ...own);
  byId("map").replaceChildren(svg);
}
