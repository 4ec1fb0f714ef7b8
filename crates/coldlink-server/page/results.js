// The links that were found, as a ranked list with bars and reasons.

import { byId, drawn, element, percent, signed } from "./element.js";

/** Shows the links of a node; `look` is called with the name of a node that is chosen. */
export function show(found, notes, look) {
  const bar = widths(found.links);
  byId("links").replaceChildren(...found.links.map((link, place) => row(link, bar[place], look)));
  byId("notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
  byId("notes").hidden = !notes.length;
  const similar = (found.most_similar ?? []).flatMap(({ name, cosine }, place) => [
    place ? ", " : "",
    element("button", { type: "button", class: "plain", onclick: () => look(name) }, name),
    ` (${cosine.toFixed(2)})`,
  ]);
  byId("similar").replaceChildren(...(similar.length ? ["Its attributes are most like those of ", ...similar, "."] : []));
}

/** The share of the bar that each link fills: by probability, the likeliest fills it; else by score. */
function widths(links) {
  if (links.every((link) => link.probability !== undefined)) {
    const most = Math.max(...links.map((link) => link.probability), 1e-12);
    return links.map((link) => link.probability / most);
  }
  const scores = links.map((link) => link.score);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  return scores.map((score) => 0.08 + 0.92 * (most > least ? (score - least) / (most - least) : 1));
}

function row(link, share, look) {
  const likely = link.probability !== undefined;
  const amount = likely
    ? element("span", { class: "amount" }, percent(link.probability))
    : element("span", { class: "amount" }, link.score.toFixed(2), element("small", {}, " score"));
  const filled = element("span");
  filled.style.width = `${(100 * share).toFixed(1)}%`;
  const name = link.seen
    ? element("button", { type: "button", class: "plain", onclick: () => look(link.name) }, link.name)
    : element("strong", {}, link.name);
  return element("li", { class: "link" },
    element("div", { class: "line" },
      element("span", { class: "rank", "aria-hidden": "true" }, String(link.rank)),
      name,
      amount,
      element("div", { class: "bar", "aria-hidden": "true" }, filled)),
    link.because ? why(link) : null);
}

function why({ because, score, name }) {
  const parts = [
    ...because.attributes.map((part) => [part.name.replace("=", ": "), part.adds]),
    ["all its other attributes", because.other_attributes],
    ["links of similar nodes", because.similar],
    ["the other node's many links", because.popular],
    ["what every pair gets", because.rest],
  ].filter(([, adds]) => Math.abs(adds) >= 0.005);
  const most = Math.max(...parts.map(([, adds]) => Math.abs(adds)), 1e-9);
  const rows = parts.map(([what, adds]) => element("tr", {},
    element("th", { scope: "row" }, what),
    element("td", { class: "part", "aria-hidden": "true" }, part(adds / most)),
    element("td", {}, signed(adds))));
  rows.push(element("tr", {}, element("th", { scope: "row" }, "score (log-odds)"), element("td", { "aria-hidden": "true" }), element("td", {}, signed(score))));
  const best = parts.filter(([what, adds]) => adds > 0 && what !== "what every pair gets").sort((a, b) => b[1] - a[1]).slice(0, 3);
  const short = best.length ? `because of ${best.map(([what]) => what).join("; ")}` : "why";
  return element("details", { class: "why" },
    element("summary", {}, short),
    element("table", { "aria-label": `What adds to the score of ${name}` }, element("tbody", {}, ...rows)));
}

/** A bar to the right of the middle for what speaks for a link, to the left for what speaks against it. */
function part(share) {
  const [start, width] = share < 0 ? [50 + 48 * share, -48 * share] : [50, 48 * share];
  return drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" },
    drawn("rect", { class: share < 0 ? "against" : "for", x: start, y: 1, width, height: 8 }),
    drawn("line", { class: "middle", x1: 50, x2: 50, y1: 0, y2: 10 }));
}
