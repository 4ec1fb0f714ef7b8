#!/usr/bin/env python3
"""Whether `coldlink evaluate` measures kNN votes in directed graphs as they are defined.

    python3 crates/coldlink-cli/tests/brute_force.py target/release/coldlink [SEED]

Makes small graphs of two relations, one directed and one not, and computes the kNN columns of the report from the
tables alone, the slow way. coldlink adds votes in single precision: with one seed in thirty or so, two candidates are
equal there that are not equal here.
"""

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

NODES = 300
TOPICS = 6
VOTERS = 50
POPULARITY = 1e-6
CLOSE = 1e-4
DIRECTED = {"cites": True, "likes": False}
# Columns that a comparison counts beside `year`, of which only the gaps count.
CASES = {"text": ["words"], "multi-valued": ["tags"], "all": ["words", "tags", "place"]}
KINDS = {"year": "numeric", "words": "text", "tags": "multi-valued", "place": "vector"}
TABLES = ("nodes.csv", "edges.csv")
EVALUATE = "evaluate . --columns columns.toml --protocol temporal:year --preset default --set steps=5 --json --quiet"

Vector = dict[str, float]
Row = dict[str, str]


def make(folder: Path, seed: int, columns: list[str]) -> None:
    """Tables with what a careless reader gets wrong: equal and missing years, loops, repeated and reciprocal links."""
    rng = random.Random(seed)
    names = [f"n{number:03}" for number in rng.sample(range(NODES), NODES)]
    topics = {name: rng.randrange(TOPICS) for name in names}
    letters = "bcdfgklm"
    words = [first + "a" + second + "o" for first in letters for second in letters]

    def value(column: str, topic: int) -> str:
        if column == "place":
            return json.dumps([round(rng.gauss(1.0 if axis == topic % 3 else 0.0, 1.0), 3) for axis in range(3)])
        drawn = [words[(9 * topic + int(rng.expovariate(0.1))) % len(words)] for _ in range(rng.randint(4, 14))]
        return " ".join(drawn) if column == "words" else "|".join(sorted(set(drawn)))

    def year() -> str:
        return "" if rng.random() < 0.05 else str(rng.randint(1990, 2019))

    rows = ([name, year(), *(value(column, topics[name]) for column in columns)] for name in names)
    with open(folder / "nodes.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "year", *columns], *rows])

    popular = {name: rng.paretovariate(1.2) for name in names}

    def links(relation: str) -> Iterator[tuple[str, str, str]]:
        for source in names:
            weights = [popular[name] * (12 if topics[name] == topics[source] else 1) for name in names]
            for target in rng.choices(names, weights, k=rng.randint(0, 8)):
                yield source, target, relation
                if rng.random() < 0.15:
                    yield target, source, relation

    with open(folder / "edges.csv", "w", newline="") as file:
        csv.writer(file).writerows([("source", "target", "relation"), *links("cites"), *links("likes")])

    kinds = [f'[columns.{column}]\nkind = "{KINDS[column]}"\n' for column in ["year", *columns]]
    relations = [f"[relations.{name}]\ndirected = {str(is_so).lower()}\n" for name, is_so in DIRECTED.items()]
    (folder / "columns.toml").write_text("".join(kinds + relations))


def newest_tenth(rows: list[Row]) -> set[str]:
    """Without a year a node is among the oldest; of equals, the one further down is newer."""
    ages = sorted(range(len(rows)), key=lambda place: (float(rows[place]["year"] or "-inf"), place))
    return {rows[place]["id"] for place in ages[len(rows) - max(1, len(rows) // 10) :]}


def vectors(rows: list[Row], hidden: set[str], columns: list[str]) -> dict[str, Vector]:
    """tf-idf, fitted to visible rows: tf = 1 + ln(count), idf = ln((1 + N) / (1 + df)) + 1.

    That a number is missing is a word. A text gets length 1, vectors a mean square of 1.
    """
    visible = [row for row in rows if row["id"] not in hidden]
    found: dict[str, Vector] = {row["id"]: {} for row in rows}

    def idf(seen_in: int) -> float:
        return math.log((1 + len(visible)) / (1 + seen_in)) + 1

    for column in ["year", *columns]:
        if column == "place":
            squares = sum(value**2 for row in visible for value in json.loads(row[column]))
            scale = math.sqrt(len(visible) / squares)
            for row in rows:
                found[row["id"]] |= {f"place {axis}": scale * x for axis, x in enumerate(json.loads(row["place"]))}
            continue
        cells = {row["id"]: row[column].replace("|", " ").split() for row in rows}
        if column == "year":
            cells = {name: [] if cell else ["missing"] for name, cell in cells.items()}
        seen_in = Counter(word for row in visible for word in set(cells[row["id"]]))
        assert min(seen_in.values()) >= 2, "a word is so rare that coldlink would leave it out"
        for name, cell in cells.items():
            counts = {word: count for word, count in Counter(cell).items() if word in seen_in}
            vector = {f"{column} {word}": (1 + math.log(count)) * idf(seen_in[word]) for word, count in counts.items()}
            length = norm(vector) if column == "words" else 1.0
            found[name] |= {word: value / length for word, value in vector.items()}
    return found


def norm(vector: Vector) -> float:
    return math.sqrt(sum(value**2 for value in vector.values()))


def cosine(one: Vector, other: Vector) -> float:
    """What points away is not alike at all."""
    dot = sum(value * other[key] for key, value in one.items() if key in other)
    return dot / (norm(one) * norm(other)) if dot > 0 else 0.0


def rank(vote: float, others: list[float]) -> float:
    """The mean of the best place and the worst, where votes are equal."""
    return 1 + sum(other > vote for other in others) + sum(other == vote for other in others) / 2


def by_definition(
    rows: list[Row], links: set[tuple[str, str]], hidden: set[str], vector_of: dict[str, Vector], direction: str
) -> dict[str, float]:
    """The kNN lists of one relation, asked in one direction: every hidden node ranks what can be linked."""
    asked: dict[str, set[str]] = defaultdict(set)
    asking: dict[str, set[str]] = defaultdict(set)
    for source, target in links:
        ends = {"out": [(source, target)], "in": [(target, source)], "both": [(source, target), (target, source)]}
        for asks, answers in ends[direction]:
            asked[asks].add(answers)
            if not {source, target} & hidden:
                asking[answers].add(asks)
    order = [row["id"] for row in rows]
    warm = [name for name in order if asked[name] - hidden and name not in hidden]
    candidates = [name for name in order if asking[name]]
    ranks: list[list[float]] = []
    for name in sorted(hidden):
        true = asked[name] & set(candidates)
        if not true:
            continue
        alike = sorted((-cosine(vector_of[name], vector_of[voter]), place) for place, voter in enumerate(warm))[:VOTERS]
        votes = {candidate: POPULARITY * math.log(1 + len(asking[candidate])) for candidate in candidates}
        for similarity, place in alike:
            for candidate in asked[warm[place]] - hidden:
                votes[candidate] -= similarity
        others = [votes[candidate] for candidate in candidates if candidate not in true]
        ranks.append(sorted(rank(votes[target], others) for target in true))
    places = sum(ranks, [])
    # A rank leaves the other true links out; in the list they stand before it.
    shown = [sum(place + before <= 10 for before, place in enumerate(of)) / min(10, len(of)) for of in ranks]
    return {
        "queries": len(ranks),
        "links": len(places),
        "mrr": sum(1 / place for place in places) / len(places),
        "recall@10": sum(shown) / len(ranks),
        "first_hit": sum(1 / of[0] for of in ranks) / len(ranks),
    }


def check(coldlink: str, seed: int, case: str, folder: Path) -> bool:
    """Prints both tables, and tells whether they agree."""
    make(folder, seed, CASES[case])
    done = subprocess.run([coldlink, *EVALUATE.split()], cwd=folder, check=True, stdout=subprocess.PIPE)
    report = json.loads(done.stdout)
    rows, edges = (list(csv.DictReader((folder / name).read_text().splitlines())) for name in TABLES)
    hidden = newest_tenth(rows)
    vector_of = vectors(rows, hidden, CASES[case])
    reported = {(role["relation"], role["direction"]): role | role["knn"] for role in report["seeds"][0]["roles"]}
    agree = set(reported) == {("cites", "out"), ("cites", "in"), ("likes", "both")}
    for (relation, direction), role in reported.items():
        links = {(row["source"], row["target"]) for row in edges if row["relation"] == relation}
        links = {(source, target) for source, target in links if source != target}
        for measure, expected in by_definition(rows, links, hidden, vector_of, direction).items():
            same = abs(role[measure] - expected) <= CLOSE
            agree &= same
            mark = "" if same else "  <- differs"
            print(f"{case:13} {relation:6} {direction:5} {measure:10} {role[measure]:10.5f} {expected:10.5f}{mark}")
    return agree


def main(coldlink: str, seed: int) -> None:
    print(f"{'columns':13} {'links':6} {'':5} {'measure':10} {'coldlink':>10} {'by hand':>10}")
    agree = True
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            agree &= check(coldlink, seed, case, Path(folder))
    sys.exit(not agree)


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
