"""A method that coldlink has never heard of, measured on the test set of a split."""

from __future__ import annotations

import json
import os
from typing import Any

from coldlink import _coldlink, tables
from coldlink.errors import LoadError
from coldlink.graph import Graph, inner_of
from coldlink.notices import notice


def evaluate_scores(
    graph: Graph, protocol: str | os.PathLike[str], scores: Any, *, method: str = "method", seed: int = 0
) -> dict[str, Any]:
    """How good somebody's method is on a split, beside the baselines and compared with each. Nothing is trained.

    `protocol` is a folder that `Graph.split` or `coldlink split` wrote, or anything else that `Model.evaluate` takes,
    with the `seed` of its split. `scores` is a DataFrame, a dict of columns or the path of a table: with the columns
    `source`, `target` and `score` for pairs, or `source`, `rank` and `target` for ranked lists; or a list of two, one
    of each. `relation` and `direction` are as in the files of the split.

    Pairs must have a score for every test pair. Where all candidates of the nodes that ask have scores, lists are
    measured as well. Ranked lists have metrics of lists alone: a true link that its list does not show counts as not
    found.

    Gives what `coldlink evaluate GRAPH --protocol FOLDER --scores FILE --json` prints: the metrics of the method; under
    `"baselines"` those of methods without training, each with the `"difference"` to it and a 95 % interval of a paired
    bootstrap; and the audit of the split.

    >>> graph.split(folder / "split", seed=1)
    >>> test = pd.read_csv(folder / "split" / "test.csv")
    >>> report = coldlink.evaluate_scores(graph, folder / "split", test.rename(columns={"linked": "score"}))
    >>> report["auc"], report["audit"], report["baselines"]["knn"]["difference"]["auc"]["difference"] > 0
    (1.0, 'passed', True)
    """
    several = scores if isinstance(scores, (list, tuple)) else [scores]
    given = [_table(table) for table in several]
    text, notes = _coldlink.evaluate_scores(
        inner_of(graph), os.fspath(protocol), given, method, tables.count("seed", seed)
    )
    notice(notes)
    report: dict[str, Any] = json.loads(text)
    return report


def _table(scores: Any) -> str | dict[str, Any]:
    if isinstance(scores, (str, os.PathLike)):
        return os.fspath(scores)
    if tables.is_frame(scores):
        return tables.frame_columns(scores)
    if isinstance(scores, dict):
        return scores
    raise LoadError(
        f"`scores` must be a table, got a `{type(scores).__name__}`",
        hint="give a DataFrame with the columns `source`, `target` and `score`, or `source`, `rank` and `target`",
    )
