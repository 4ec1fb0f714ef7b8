#!/usr/bin/env python3
"""Tables of the packages that apt knows, for coldlink: what will a new package depend on?

    python3 examples/debian_tables.py debian
    apt-cache dumpavail | python3 examples/debian_tables.py debian --from -

Writes `nodes.csv` and `edges.csv` into the folder. docs/debian.md goes on from there.
"""

import argparse
import contextlib
import csv
import io
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

COLUMNS = (
    "id", "description", "section", "priority", "maintainer",
    "source", "installed_size", "tags", "architecture", "homepage_host",
)  # fmt: skip
# A package that must be there first is one that is depended on.
FIELDS = {"depends": ("pre-depends", "depends"), "recommends": ("recommends",), "suggests": ("suggests",)}
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+.\-]*")

Record = dict[str, str]


class Problem(Exception):
    """What went wrong, and what to do about it."""

    def __init__(self, message: str, hint: str):
        super().__init__(message)
        self.hint = hint


def records(lines: Iterable[str], origin: str) -> Iterator[Record]:
    """Paragraphs of `Field: value`, names in lower case. A line that begins with a space continues the one before."""
    record: Record = {}
    field = ""
    for number, line in enumerate(lines, 1):
        line = line.rstrip()
        if not line:
            if record:
                yield record
            record, field = {}, ""
        elif line[0] in " \t" and field:
            # A dot alone is an empty line.
            record[field] += " " + line.strip().removeprefix(".")
        else:
            field, colon, value = line.partition(":")
            if not colon or not field.strip():
                raise Problem(
                    f"{origin} line {number}: `{line[:40]}` is no field", "give it what `apt-cache dumpavail` prints"
                )
            field = field.lower()
            record[field] = value.strip()
    if record:
        yield record


def row(record: Record) -> list[str]:
    """One line of `nodes.csv`."""
    try:
        host = urlsplit(record.get("homepage", "")).hostname
    except ValueError:
        host = None
    return [
        record["package"],
        " ".join((record.get("description-en") or record.get("description", "")).split()),
        record.get("section", ""),
        record.get("priority", ""),
        record.get("maintainer", ""),
        # Without the version that may follow.
        record.get("source", "").partition(" ")[0],
        record.get("installed-size", ""),
        "|".join(tag.strip() for tag in record.get("tag", "").split(",")),
        record.get("architecture", ""),
        host or "",
    ]


def targets(record: Record, relation: str) -> Iterator[str]:
    """The first alternative of each thing a package needs: `python3:any (>= 3.11) | python3.11` is `python3`."""
    for field in FIELDS[relation]:
        for needed in record.get(field, "").split(","):
            if name := NAME.match(needed.strip()):
                yield name.group()


def links(packages: dict[str, Record], relations: list[str], missing: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Each link once; those to names that no package has are counted as missing."""
    for name, record in packages.items():
        for relation in relations:
            for target in dict.fromkeys(targets(record, relation)):
                if target not in packages:
                    missing[target] += 1
                elif target != name:
                    yield name, target, relation


@contextlib.contextmanager
def available(source: str | None) -> Iterator[tuple[Iterable[str], str]]:
    """Lines of a file, of the standard input, or of apt itself, with what to call them in errors."""
    if source is None:
        try:
            apt = subprocess.Popen(
                ["apt-cache", "dumpavail"], stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
        except FileNotFoundError:
            raise Problem(
                "there is no `apt-cache` here", "run it on Debian or Ubuntu, and read it with `--from FILE`"
            ) from None
        with apt:
            yield apt.stdout or (), "`apt-cache dumpavail`"
        if apt.returncode:
            raise Problem(f"`apt-cache dumpavail` ended with code {apt.returncode}", "see its message above")
    elif source == "-":
        yield io.TextIOWrapper(sys.stdin.buffer, "utf-8", errors="replace"), "standard input"
    else:
        with open(source, encoding="utf-8", errors="replace") as text:
            yield text, f"`{source}`"


def write(tables: dict[Path, Iterable[Iterable[str]]]) -> None:
    """All tables or none: each is written beside its place, then moved there."""
    unfinished = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in tables}
    try:
        for path, lines in tables.items():
            with open(unfinished[path], "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(lines)
        for path, beside in unfinished.items():
            beside.replace(path)
    finally:
        for beside in unfinished.values():
            beside.unlink(missing_ok=True)


def relations_of(text: str) -> list[str]:
    names = list(dict.fromkeys(text.split(",")))
    if unknown := set(names) - set(FIELDS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(FIELDS)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes nodes.csv and edges.csv of the packages that apt knows.")
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    parser.add_argument(
        "--from", dest="source", metavar="FILE", help="read this instead of running apt-cache; - is stdin"
    )
    parser.add_argument(
        "--relations",
        type=relations_of,
        default=list(FIELDS),
        metavar="LIST",
        help=f"some of {','.join(FIELDS)} [default: all]",
    )
    asked = parser.parse_args()

    packages: dict[str, Record] = {}
    repeated = 0
    with available(asked.source) as (lines, origin):
        for record in records(lines, origin):
            if "package" not in record:
                raise Problem(f"{origin}: a paragraph has no `Package`", "give it what `apt-cache dumpavail` prints")
            repeated += record["package"] in packages
            packages.setdefault(record["package"], record)
    if not packages:
        raise Problem(f"{origin} has no packages", "run `apt-get update` first")

    missing: Counter[str] = Counter()
    edges = sorted(links(packages, asked.relations, missing))
    asked.folder.mkdir(parents=True, exist_ok=True)
    nodes = (row(packages[name]) for name in sorted(packages))
    write({
        asked.folder / "nodes.csv": [COLUMNS, *nodes],
        asked.folder / "edges.csv": [("source", "target", "relation"), *edges],
    })  # fmt: skip

    counts = Counter(relation for _, _, relation in edges)
    kinds = ", ".join(f"{counts[relation]:,} {relation}" for relation in FIELDS if relation in asked.relations)
    print(f"{asked.folder}: {len(packages):,} packages, {len(edges):,} links ({kinds})", file=sys.stderr)
    left_out = f"{missing.total():,} links to {len(missing):,} names of no package"
    print(f"left out: {left_out}; {repeated:,} further versions of packages", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(print(f"error: {problem}\nhint: {problem.hint}", file=sys.stderr) or 2)
    except OSError as problem:
        sys.exit(print(f"error: cannot use `{problem.filename}`: {problem.strerror}", file=sys.stderr) or 2)
