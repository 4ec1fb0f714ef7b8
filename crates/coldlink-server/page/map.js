// The map: all nodes by their embeddings, the found ones and the new one among them.

import { byId, drawn, element, whole } from "./element.js";

const MARGIN = 24;
const WIDE = [1040, 520];
const NARROW = [520, 480];

let points = [];
let marks = { found: [], place: null, name: "" };
let look = () => {};
/** How much closer than the whole; around the new node. */
let zoom = 1;
/** The least and the largest of both coordinates. */
let ends;

/** Takes over the points of a model. */
export function show(map, chosen) {
  points = map.points;
  look = chosen;
  ends = [0, 1].map((axis) => points.reduce(
    ([low, high], { place }) => [Math.min(low, place[axis]), Math.max(high, place[axis])], [Infinity, -Infinity]));
  const shown = points.length < map.nodes ? `${whole(points.length)} of ${whole(map.nodes)} nodes are shown.` : `All ${whole(map.nodes)} nodes are shown.`;
  byId("map-line").textContent = `Nodes with similar attributes lie close together. ${shown}`;
  draw();
}

/** Marks a new node and those that were found for it. */
export function mark(found, placesOf) {
  const placed = found.links.filter((link) => placesOf.has(link.target)).map((link) => ({ ...link, place: placesOf.get(link.target) }));
  marks = { name: found.source, place: found.place, found: placed };
  draw();
}

for (const [id, factor] of [["zoom-in", 1.6], ["zoom-out", 1 / 1.6], ["zoom-all", 0]]) {
  byId(id).addEventListener("click", () => {
    zoom = factor ? Math.min(Math.max(zoom * factor, 1), 24) : 1;
    draw();
  });
}

matchMedia("(max-width: 46rem)").addEventListener("change", draw);

function draw() {
  const holder = byId("map");
  if (!points.length) {
    holder.replaceChildren(element("div", { class: "empty" }, "There is nothing to show."));
    return;
  }
  const [wide, high] = holder.clientWidth < 640 ? NARROW : WIDE;
  // A new node may lie beyond all others; it is drawn at the edge then.
  const within = (value, length) => Math.min(Math.max(value, MARGIN / 2), length - MARGIN / 2);
  const across = (value, [low, high], length) =>
    within(MARGIN + ((value - low) / Math.max(high - low, 1e-9)) * (length - 2 * MARGIN), length);
  const scale = ([x, y]) => [across(x, ends[0], wide), high - across(y, ends[1], high)];
  const size = 1 / zoom;
  const dots = points.map((point) => {
    const [x, y] = scale(point.place);
    const radius = (1.6 + Math.min(Math.sqrt(point.links ?? 1), 7) * 0.35) * Math.sqrt(size);
    return drawn("circle", { class: "dot", cx: x.toFixed(1), cy: y.toFixed(1), r: radius.toFixed(2) }, drawn("title", {}, point.name));
  });
  const found = marks.found.map((link) => {
    const [x, y] = scale(link.place);
    return drawn("g", { onclick: () => look(link.target) },
      drawn("title", {}, `${link.rank}: ${link.target}`),
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
  const [width, height] = [wide * size, high * size];
  const centre = marks.place ? scale(marks.place) : [wide / 2, high / 2];
  const left = Math.min(Math.max(centre[0] - width / 2, 0), wide - width);
  const top = Math.min(Math.max(centre[1] - height / 2, 0), high - height);
  const about = marks.place
    ? `A map of ${whole(points.length)} nodes with the new node ${marks.name} and ${marks.found.length} nodes that were found for it.`
    : `A map of ${whole(points.length)} nodes.`;
  const svg = drawn("svg", { viewBox: `${left} ${top} ${width} ${height}`, role: "img", "aria-label": about }, ...dots, ...found, ...own);
  holder.replaceChildren(svg);
}
