// The neighbourhood of a new node: itself, the nodes it is likely linked with, and the links among these.

import { byId, drawn, element, percent } from "./element.js";

const [WIDTH, HEIGHT] = [520, 580];
const ROUNDS = 240;

/** Draws the neighbourhood; `look` is called with the name of a node that is chosen. */
export function draw(found, look) {
  const holder = byId("near");
  if (!found || !found.links.length) {
    holder.replaceChildren(element("div", { class: "empty" }, found ? "No node was found." : "It appears with the links."));
    return;
  }
  const places = arrange(found);
  const most = Math.max(...found.links.map(strength), 1e-12);
  const line = (from, to, properties) =>
    drawn("line", { x1: places[from].x, y1: places[from].y, x2: places[to].x, y2: places[to].y, ...properties });
  const known = found.between.map(([a, b]) => line(a, b, { class: "known" }));
  const likely = found.links.map((link) => line(0, link.rank, { class: "likely", "stroke-width": (1 + 3 * strength(link) / most).toFixed(2) }));
  const nodes = found.links.map((link) => node(link, places[link.rank], look));
  const own = drawn("g", {},
    drawn("circle", { class: "newcomer", cx: places[0].x, cy: places[0].y, r: 10 }),
    drawn("text", { x: places[0].x, y: places[0].y - 16, "text-anchor": "middle" }, short(found.source)));
  const about = `The new node ${found.source} with its ${found.links.length} most likely links, and ${known.length} links between their targets.`;
  holder.replaceChildren(drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": about }, ...known, ...likely, ...nodes, own));
}

const strength = (link) => link.probability ?? 1 / link.rank;

function node(link, place, look) {
  const choose = () => link.known && look(link.target);
  const onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose();
  };
  const chance = link.probability === undefined ? "" : `, ${percent(link.probability)}`;
  const label = `${link.rank}: ${link.target}${chance}`;
  const properties = { tabindex: "0", role: "button", "aria-label": label, onclick: choose, onkeydown };
  const below = place.y > HEIGHT / 2;
  return drawn("g", properties,
    drawn("title", {}, label),
    drawn("circle", { class: "found", cx: place.x, cy: place.y, r: 7 }),
    drawn("text", { x: place.x, y: place.y + (below ? 21 : -12), "text-anchor": "middle" }, short(link.target)));
}

const short = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

/** Places for the new node (0) and the found ones (by rank): linked ones attract, all repel, the same each time. */
function arrange(found) {
  const count = found.links.length;
  const around = (rank) => (2 * Math.PI * (rank - 1)) / count - Math.PI / 2;
  const places = [{ x: 0, y: 0 }];
  for (const { rank } of found.links) places.push({ x: Math.cos(around(rank)), y: Math.sin(around(rank)) });
  const pulls = found.between.map(([a, b]) => [a, b, 0.45]);
  found.links.forEach(({ rank }) => pulls.push([0, rank, 1]));
  for (let round = 0; round < ROUNDS; round++) {
    const step = 0.06 * (1 - round / ROUNDS);
    const moves = places.map(() => ({ x: 0, y: 0 }));
    const push = (a, b, force) => {
      const [x, y] = [places[b].x - places[a].x, places[b].y - places[a].y];
      const distance = Math.max(Math.hypot(x, y), 0.05);
      const amount = force(distance) / distance;
      moves[a].x -= x * amount; moves[a].y -= y * amount;
      moves[b].x += x * amount; moves[b].y += y * amount;
    };
    for (let a = 0; a < places.length; a++)
      for (let b = a + 1; b < places.length; b++) push(a, b, (distance) => 0.25 / (distance * distance));
    for (const [a, b, length] of pulls) push(a, b, (distance) => -0.9 * (distance - length));
    places.forEach((place, index) => {
      if (!index) return;
      const size = Math.max(Math.hypot(moves[index].x, moves[index].y), 1);
      place.x += (step * moves[index].x) / size;
      place.y += (step * moves[index].y) / size;
    });
  }
  const onto = (axis, length, margin) => {
    const all = places.map((place) => place[axis]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return (value) => +(margin + ((value - low) / Math.max(high - low, 1e-9)) * (length - 2 * margin)).toFixed(1);
  };
  const [across, down] = [onto("x", WIDTH, 62), onto("y", HEIGHT, 34)];
  return places.map(({ x, y }) => ({ x: across(x), y: down(y) }));
}
