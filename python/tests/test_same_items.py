"""The command line, the server and Python give the same links for the same query, number by number."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coldlink
import world

# Drawn rows lack columns now and then.
pytestmark = pytest.mark.filterwarnings("ignore::coldlink.LoadWarning")

Run = Callable[..., str]
Item = dict[str, Any]
QUERIES, PAIR_QUERIES = 150, 50
SHOP = 1_200
"""Users, and as many items: enough that an index does not look at all of them."""
TASTES = ["sweet", "sour", "salty", "bitter", "umami"]
WORDS = ["red", "green", "blue", "small", "large"]
PATIENCE = 30.0
"""Seconds for a server to start."""


@dataclass
class Asked:
    """A drawn query: of links, or of pairs where there are some."""

    model: str
    nodes: list[Item]
    k: int = 10
    among: str = "known"
    explore: float = 0.0
    exclude: list[str] = field(default_factory=list)
    node_type: str | None = None
    where: dict[str, str] = field(default_factory=dict)
    explain: bool = False
    popularity: float = 1.0
    base_rate: float | None = None
    pairs: list[tuple[str, str, bool | None]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)


def shop() -> tuple[list[Item], list[dict[str, str]]]:
    """Users and items; users like items of their taste."""
    random = np.random.default_rng(5)
    nodes, links = [], []
    for place in range(SHOP):
        taste, words = TASTES[place % 5], "|".join(random.choice(WORDS, 2, replace=False))
        both = {"taste": taste, "words": words, "price": drawn_price(random)}
        nodes.append({"id": f"u{place}", "node_type": "user", **both, "fresh": ""})
        nodes.append({"id": f"i{place}", "node_type": "item", **both, "fresh": "true" if place % 2 else "false"})
        links += [{"source": f"u{place}", "target": f"i{(place + other * 35) % SHOP}"} for other in range(5)]
    return nodes, links


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One model that is searched whole, the same with an index, and one without probabilities."""
    folder = tmp_path_factory.mktemp("shop")
    graph = coldlink.read(world.write(folder / "tables", *shop()))
    paths = {name: folder / f"{name}.model" for name in ("whole", "indexed", "plain")}
    model = coldlink.Model(preset="default", steps=200, width=32).fit(graph, progress=False)
    model.save(paths["whole"])
    model.save(paths["indexed"], index=True)
    coldlink.Model(preset="paper", steps=30, width=32).fit(graph, progress=False).save(paths["plain"])
    return paths


@pytest.fixture(scope="module")
def queries() -> list[Asked]:
    random = np.random.default_rng(11)
    return [drawn(random) for _ in range(QUERIES)] + [drawn_pairs(random) for _ in range(PAIR_QUERIES)]


def drawn(random: np.random.Generator) -> Asked:
    model = str(random.choice(["whole", "indexed", "plain"]))
    nodes = drawn_nodes(random)
    # Models without probabilities keep no links either.
    links = drawn_links(random, nodes) if model != "plain" and random.random() < 0.4 else []
    known = []
    if model != "plain" and not links and random.random() < 0.3:
        known = [f"{random.choice(['u', 'i'])}{random.integers(SHOP)}" for _ in range(random.integers(1, 4))]
    explain = bool(random.random() < 0.3)
    where = {}
    # Models without probabilities keep no values of their nodes.
    if model != "plain" and random.random() < 0.4:
        choices = {"taste": TASTES, "words": WORDS, "fresh": ["true", "false"]}
        for column in random.choice(list(choices), random.integers(1, 3), replace=False):
            where[str(column)] = str(random.choice(choices[str(column)]))
    return Asked(
        model,
        nodes,
        k=int(random.choice([1, 3, 10] if explain else [1, 10, 400])),
        among="known" if known else str(random.choice(["known", "known", "new", "both"])),
        explore=float(random.choice([0.0, 0.0, 0.0, 0.1, 0.3, 1.0])),
        exclude=some_names(random, nodes, int(random.choice([0, 0, 5, 40]))),
        node_type=[None, None, "user", "item"][random.integers(4)],
        where=where,
        explain=explain,
        popularity=float(random.choice([1.0, 1.0, 0.5, 0.25, 0.0])),
        base_rate=[None, None, 0.01, 0.3][random.integers(4)],
        links=links,
        known=known,
    )


def drawn_pairs(random: np.random.Generator) -> Asked:
    nodes = drawn_nodes(random)
    new = [node["id"] for node in nodes]
    pairs: list[tuple[str, str, bool | None]] = []
    for _ in range(random.integers(1, 9)):
        source = some_names(random, nodes, 1)[0]
        is_known = [None, True, False][random.integers(3)]
        target = str(random.choice(new)) if is_known is False else f"i{random.integers(SHOP)}"
        pairs.append((source, target, is_known))
    model = str(random.choice(["whole", "indexed", "plain"]))
    links = drawn_links(random, nodes) if model != "plain" and random.random() < 0.5 else []
    return Asked(model, nodes, pairs=pairs, base_rate=[None, 0.01, 0.3][random.integers(3)], links=links)


def drawn_links(random: np.random.Generator, nodes: list[Item]) -> list[tuple[str, str]]:
    """A few links of some of the new nodes with known ones, either end first."""
    links = []
    for node in nodes:
        for _ in range(random.integers(4)):
            link = node["id"], f"{'u' if node.get('node_type') == 'item' else 'i'}{random.integers(100, SHOP)}"
            links.append(link if random.random() < 0.7 else link[::-1])
    return links


def drawn_nodes(random: np.random.Generator) -> list[Item]:
    """A few new nodes, of which some are called as known ones are, and some have no type or no words."""

    def node(name: str) -> Item:
        kind = str(random.choice(["user", "user", "item", ""]))
        words = "|".join(random.choice(WORDS, random.integers(4), replace=False))
        fresh = [True, False, None][random.integers(3)] if kind == "item" else None
        row = {"id": name, "node_type": kind, "taste": str(random.choice(TASTES)), "words": words, "fresh": fresh}
        row["price"] = drawn_price(random)
        return {column: value for column, value in row.items() if value not in ("", None)}

    names = random.choice(["n1", "n2", "n3", "n4", "i7", "u9"], random.integers(1, 5), replace=False)
    return [node(str(name)) for name in names]


def drawn_price(random: np.random.Generator) -> float:
    return round(float(random.lognormal(3, 1)), 2)


def some_names(random: np.random.Generator, nodes: list[Item], count: int) -> list[str]:
    known = [f"{kind}{place}" for kind in "ui" for place in range(SHOP)]
    return [
        str(random.choice(known if random.random() < 0.7 else [node["id"] for node in nodes])) for _ in range(count)
    ]


def in_python(model: coldlink.Model, asked: Asked) -> list[Item]:
    if not asked.pairs:
        answer = model.links(**about(asked), k=asked.k, **choices(asked), explain=asked.explain)
        links: list[Item] = answer["links"]
        return links
    links = asked.links or None
    scores = model.score(asked.pairs, new=asked.nodes, links=links)
    items = [{"score": float(str(score))} for score in scores]
    if model.summary["preset"] != "paper":
        for item, probability in zip(
            items, model.predict(asked.pairs, asked.nodes, links=links, base_rate=asked.base_rate), strict=True
        ):
            item["probability"] = float(probability)
    return items


def about(asked: Asked) -> dict[str, Any]:
    if asked.known:
        return {"known": asked.known}
    return {"new": asked.nodes, "links": asked.links} if asked.links else {"new": asked.nodes}


def choices(asked: Asked) -> dict[str, Any]:
    names = ("among", "explore", "exclude", "node_type", "where", "popularity", "base_rate")
    return {name: getattr(asked, name) for name in names}


def on_the_command_line(run: Run, models: dict[str, Path], asked: Asked, folder: Path) -> list[Item]:
    folder.mkdir()
    new, exclude, pairs = folder / "new.jsonl", folder / "exclude.csv", folder / "pairs.csv"
    new.write_text("\n".join(map(json.dumps, asked.nodes)))
    line: list[Any] = ["predict", models[asked.model], "--format", "jsonl"]
    if asked.known:
        (folder / "known.csv").write_text("\n".join(["name", *asked.known]))
        line += ["--known", folder / "known.csv"]
    else:
        line += ["--new", new]
    if asked.links:
        (folder / "links.csv").write_text("\n".join(["source,target", *map(",".join, asked.links)]))
        line += ["--links", folder / "links.csv"]
    if asked.base_rate is not None:
        line += ["--base-rate", asked.base_rate]
    if asked.pairs:
        said = {None: "", True: "true", False: "false"}
        rows = [f"{source},{target},{said[is_known]}" for source, target, is_known in asked.pairs]
        pairs.write_text("\n".join(["source,target,known", *rows]))
        line += ["--pairs", pairs]
    else:
        exclude.write_text("\n".join(["name", *asked.exclude]))
        line += ["--top", asked.k, "--popularity", asked.popularity, "--exclude", exclude]
        line += ["--explore", asked.explore] if asked.explore else []
        line += [] if asked.known else ["--among", asked.among]
        line += ["--type", asked.node_type] if asked.node_type else []
        line += [part for column, value in asked.where.items() for part in ("--where", f"{column}={value}")]
        line += ["--explain"] if asked.explain else []
    return [json.loads(item) for item in run(*line).splitlines()]


def over_http(address: str, asked: Asked) -> list[Item]:
    request: Item = {"known": asked.known} if asked.known else {"nodes": asked.nodes}
    if asked.links:
        request["links"] = [{"source": source, "target": target} for source, target in asked.links]
    if asked.base_rate is not None:
        request["base_rate"] = asked.base_rate
    if asked.pairs:
        said = [{"known": is_known} if is_known is not None else {} for _, _, is_known in asked.pairs]
        ends = [{"source": source, "target": target} for source, target, _ in asked.pairs]
        request["pairs"] = [{**ends, **said} for ends, said in zip(ends, said, strict=True)]
        return posted(f"{address}v1/score", request)
    request |= {"k": asked.k, "among": asked.among, "exclude": asked.exclude, "where": asked.where}
    request |= {"explain": asked.explain, "popularity": asked.popularity, "explore": asked.explore}
    if asked.node_type is not None:
        request["type"] = asked.node_type
    return posted(f"{address}v1/links", request)


def posted(url: str, request: Item) -> list[Item]:
    body, headers = json.dumps(request).encode(), {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
            links: list[Item] = json.load(answer)["links"]
            return links
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{request}: {error.read().decode()}") from None


@contextmanager
def served(program: str, model: Path, log: Path) -> Iterator[str]:
    """The address of a server of a model."""
    with open(log, "w") as lines:
        server = subprocess.Popen([program, "serve", str(model), "--port", "0", "--log", "json"], stderr=lines)
    try:
        started = time.monotonic()
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text())):
            assert server.poll() is None and time.monotonic() - started < PATIENCE, log.read_text()
            time.sleep(0.05)
        yield found[0]
    finally:
        server.terminate()
        server.wait()


def of_pairs(items: list[Item], asked: Asked) -> list[Item]:
    """What Python gives of pairs, after a check of the rest."""
    assert [(item["source"], item["target"]) for item in items] == [pair[:2] for pair in asked.pairs]
    assert all(is_known in (None, item["known"]) for item, (*_, is_known) in zip(items, asked.pairs, strict=True))
    return [{key: item[key] for key in ("score", "probability") if key in item} for item in items]


@pytest.fixture(scope="module")
def answers(models: dict[str, Path], queries: list[Asked]) -> list[list[Item]]:
    opened = {name: coldlink.load(path) for name, path in models.items()}
    assert (opened["whole"].index, opened["indexed"].index is None) == (None, False)
    return [in_python(opened[asked.model], asked) for asked in queries]


def test_queries_are_of_every_sort(queries: list[Asked], answers: list[list[Item]], models: dict[str, Path]) -> None:
    links = [item for asked, items in zip(queries, answers, strict=True) if not asked.pairs for item in items]
    assert {item["known"] for item in links} == {True, False}
    assert {"probability" in item for item in links} == {"explanation" in item for item in links} == {True, False}
    for sort in ("links", "known", "pairs"):
        assert sum(bool(getattr(asked, sort) and items) for asked, items in zip(queries, answers, strict=True)) > 10
    assert any(asked.where and items for asked, items in zip(queries, answers, strict=True))
    assert sum(not items for items in answers) < len(answers) / 5, "few queries have no answer"
    exact = coldlink.load(models["indexed"], exact=True)
    through_index = [(asked, items) for asked, items in zip(queries, answers, strict=True) if asked.model == "indexed"]
    changed = sum(in_python(exact, asked) != items for asked, items in through_index)
    assert changed > len(through_index) / 5, "who leaves the index aside is found out"


def test_the_command_line_gives_the_same(
    queries: list[Asked], answers: list[list[Item]], models: dict[str, Path], command_line: Run, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(4) as pool:
        folders = [tmp_path / str(place) for place in range(len(queries))]
        ask = lambda asked, folder: on_the_command_line(command_line, models, asked, folder)  # noqa: E731
        found = list(pool.map(ask, queries, folders))
    for asked, items, expected in zip(queries, found, answers, strict=True):
        assert (of_pairs(items, asked) if asked.pairs else items) == expected, asked


def test_a_table_of_links_has_the_same_numbers(
    queries: list[Asked], answers: list[list[Item]], models: dict[str, Path]
) -> None:
    opened = {name: coldlink.load(path) for name, path in models.items()}
    for asked, expected in zip(queries, answers, strict=True):
        if asked.pairs:
            continue
        links = opened[asked.model].recommend(**about(asked), k=asked.k, **choices(asked))
        assert set(links.columns) >= set().union(*expected) - {"explanation"}, asked
        for name in links.columns:
            wanted = [np.float32(item[name]) if name == "score" else item[name] for item in expected]
            assert links[name].to_list() == wanted, asked


def test_the_server_gives_the_same(
    queries: list[Asked], answers: list[list[Item]], models: dict[str, Path], program: str, tmp_path: Path
) -> None:
    for name, model in models.items():
        with served(program, model, tmp_path / f"{name}.log") as address:
            for asked, expected in zip(queries, answers, strict=True):
                if asked.model == name:
                    items = over_http(address, asked)
                    assert (of_pairs(items, asked) if asked.pairs else items) == expected, asked
