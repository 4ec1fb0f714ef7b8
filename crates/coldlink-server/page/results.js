// The links that were found, as a ranked list with bars and reasons.

import { byId, drawn, element, percent, signed } from "./element.js";


/** Shows the links of a node; `look` is called with the name of a node that is chosen. */
export function show(found, notes, look) {
  const bar = widths(found.links);
  byId("links").replaceChildren(...found.links.map((link, place) => row(link, bar[place], look)));
  byId("notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
  byId("notes").hidden = !notes.length;
  const similar = (found.links[0]?.explanation.most_similar ?? []).flatMap(({ name, cosine }, place) => [
    place ? ", " : "",
    element("button", { type: "button", class: "plain", onclick: () => look(name) }, name),
    ` (${cosine.toFixed(2)})`,
  ]);
  byId("similar").replaceChildren(...(similar.length ? ["Most similar nodes: ", ...similar] : []));
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
  const name = link.known
    ? element("button", { type: "button", class: "plain", onclick: () => look(link.target) }, link.target)
    : element("strong", {}, link.target);
  const means = meaning(link);
  return element("li", { class: "link" },
    element("div", { class: "line" },
      element("span", { class: "rank", "aria-hidden": "true" }, String(link.rank)),
      means.length ? element("span", {}, name, " ", ...means) : name,
      amount,
      element("div", { class: "bar", "aria-hidden": "true" }, filled)),
    why(link));
}

/** What the link means, where links mean several things. */
function meaning({ relation, direction }) {
  if (!relation && !direction) return [];
  const way = { in: "links to it", out: "it links to" }[direction] ?? "";
  return [element("small", { class: "quiet" }, [relation, way].filter(Boolean).join(": "))];
}

function why({ explanation, score, probability, target }) {
  const rate = explanation.base_rate ?? 0;
  const told = ([, adds]) => Math.abs(adds) >= 0.005;
  const distinctive = explanation.attributes.map((reason) => [reason.name.replace("=", ": "), reason.adds]).filter(told);
  const generic = [
    ["other attributes", explanation.other_attributes],
    ["own links", explanation.own_links ?? 0],
    ["similar nodes", explanation.similar_nodes],
    ["popularity", explanation.popularity],
  ].filter(told);
  const shared = [["baseline", explanation.baseline], [rate < 0 ? "links are rare" : "links are frequent", rate]].filter(told);
  const parts = [...distinctive, ...generic, ...shared];
  const most = Math.max(...parts.map(([, adds]) => Math.abs(adds)), 1e-9);
  const rows = parts.map(([what, adds]) => element("tr", {},
    element("th", { scope: "row" }, what),
    element("td", { class: "part", "aria-hidden": "true" }, part(adds / most)),
    element("td", {}, signed(adds))));
  rows.push(element("tr", {}, element("th", { scope: "row" }, probability === undefined ? "score" : `${percent(probability)}, as log-odds`), element("td", { "aria-hidden": "true" }), element("td", {}, signed(score + rate))));
  // What distinguishes a link says more than what it shares with others.
  const best = [distinctive, generic].flatMap((some) => some.filter(([, adds]) => adds > 0).sort((a, b) => b[1] - a[1])).slice(0, 3);
  const short = best.length ? `because of ${best.map(([what]) => what).join("; ")}` : "why";
  return element("details", { class: "why" },
    element("summary", {}, short),
    element("table", { "aria-label": `What adds to the score of ${target}` }, element("tbody", {}, ...rows)));
}

/** A bar to the right of the middle for what speaks for a link, to the left for what speaks against it. */
function part(share) {
  const [start, width] = share < 0 ? [50 + 48 * share, -48 * share] : [50, 48 * share];
  return drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" },
    drawn("rect", { class: share < 0 ? "against" : "for", x: start, y: 1, width, height: 8 }),
    drawn("line", { class: "middle", x1: 50, x2: 50, y1: 0, y2: 10 }));
}
