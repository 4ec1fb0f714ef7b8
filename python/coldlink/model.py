"""A model: settings before training, and all that is asked of it after."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coldlink import _coldlink, pickled, tables
from coldlink.errors import ConfigError, NotFittedError
from coldlink.explanation import Explanation
from coldlink.graph import Graph, inner_of
from coldlink.new_nodes import ask
from coldlink.notices import notice
from coldlink.progress import Progress

OWN = ("preset", "seed", "budget")
"""Parameters that are no settings."""

MEANT = {
    "random_state": "seed",
    "max_iter": "steps",
    "n_iter": "steps",
    "lr": "learning_rate",
    "n_components": "width",
    "embedding_dim": "width",
}
"""What other packages call our parameters."""


def load(path: str | os.PathLike[str], *, exact: bool = False) -> Model:
    """Opens a model that `Model.save` or `coldlink train` wrote; see `Model.load`.

    >>> model.save(folder / "papers.model")
    >>> coldlink.load(folder / "papers.model")
    Model(preset='default', seed=0, steps=300)
    """
    return Model.load(path, exact=exact)


class Model:
    """Learns from a graph and predicts links of nodes that the graph has never seen.

    `preset` is where settings start from: `"auto"` searches for the best ones first, within a `budget` of estimated
    seconds of two cores; `"default"`, `"paper"`, `"authors-code"` or the path of a TOML file take them as they are.
    Further keywords replace single settings, as `width=128`; `coldlink train --help` lists them. `seed` is what all
    random choices come from: the same graph, settings and seed give the same model file, bit for bit, here and on the
    command line.

    >>> model = coldlink.Model(preset="default", width=32, steps=200)
    >>> model.fit(graph, progress=False).recommend([{"words": "honey"}], k=1)["target"].to_list() != []
    True
    """

    def __init__(self, preset: str = "auto", *, seed: int = 0, budget: float = 180.0, **config: Any) -> None:
        self._trained: _coldlink.Trained | None = None
        self._names: npt.NDArray[Any] | None = None
        self._set({"preset": preset, "seed": seed, "budget": budget, **config})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given, as scikit-learn has them.

        >>> coldlink.Model(preset="default", width=32).get_params()
        {'preset': 'default', 'seed': 0, 'budget': 180.0, 'width': 32}
        """
        return dict(self._params)

    def set_params(self, **params: Any) -> Model:
        """Changes parameters, and takes effect with the next `fit`.

        >>> coldlink.Model(preset="default").set_params(width=32, seed=7)
        Model(preset='default', seed=7, width=32)
        """
        self._set({**self._params, **params})
        return self

    def clone(self) -> Model:
        """An untrained model with the same parameters; `sklearn.base.clone` gives the same.

        >>> model.clone().get_params() == model.get_params()
        True
        """
        return Model(**self._params)

    def fit(self, graph: Graph, y: None = None, *, progress: bool = True) -> Model:
        """Trains on a graph, and returns the model.

        Settings and the number of steps are chosen on nodes that are held back; the final model is trained on
        everything. Ctrl-C stops it. `y` is there for scikit-learn and plays no part.

        >>> coldlink.Model(preset="default", steps=100).fit(graph, progress=False).is_fitted
        True
        """
        trained = _coldlink.Trained.fit(inner_of(graph), self._settings, self._seed, _shown(progress))
        self._trained, self._names = trained, None
        return self

    def recommend(
        self,
        new: Any = None,
        k: int = 10,
        *,
        known: Iterable[Any] | None = None,
        links: Any = None,
        among: str = "known",
        explore: float = 0.0,
        exclude: Iterable[Any] = (),
        node_type: str | None = None,
        relation: str | None = None,
        direction: str | None = None,
        where: Mapping[str, Any] | None = None,
        popularity: float = 1.0,
        base_rate: float | None = None,
        names: Iterable[Any] | None = None,
    ) -> Any:
        """The `k` most likely links of each new node, best first.

        `new` is a DataFrame, a dict or a list of dicts with the columns of the table that was trained on; an array or
        a sparse matrix with the columns of `x`, where `names` may name its rows; or the path of a table. Targets are
        looked for `among` the `"known"` nodes, the other `"new"` ones or `"both"`, never among the names in `exclude`,
        which may be a single name. `explore` is the share of links that lead to new candidates at least: to other new
        nodes or, among known ones, to nodes without links.
        Where nodes have types, `node_type` is the one to find. Where links have several relations, `relation` names
        one; where they have a direction, `direction` is `"out"` of the new nodes unless you say `"in"` or `"both"`.
        `where` has values that known targets must have, as
        `{"category": "book"}`; a list is several values. `popularity` is the popularity weight: 1 ranks as scored, 0
        ranks as if popularity had no effect. A score is the log-odds of a link; its probability holds for `base_rate`,
        the share of linked pairs among all, which is the training graph's unless given.

        `links` are links that new nodes have already: a list of pairs, a DataFrame or an array with the columns
        `source`, `target` and, where links have several relations, `relation`. One end is a new node, the other a known
        one. They count as evidence and are not found again. `known` asks about nodes of the model instead of `new`
        ones: for links that they do not have yet.

        Gives a DataFrame, or a list of dicts where pandas is not installed: `source`, `rank`, `target`, `known` (or
        else the target is new), `relation` and `direction` where links have any, `score`, and `probability` where the
        model gives it.

        >>> links = model.recommend([{"id": "n1", "words": "honey"}, {"id": "n2", "words": "pollen"}], k=2)
        >>> links[["source", "rank", "known"]].to_numpy().tolist()
        [['n1', 1, True], ['n1', 2, True], ['n2', 1, True], ['n2', 2, True]]
        >>> linked = model.recommend({"id": "n1", "words": "honey"}, k=1, links=[("n1", "p1")])
        >>> len(linked), "p1" in linked["target"].to_list()
        (1, False)
        >>> model.recommend(known=["p1", "p2"], k=1)["source"].to_list()
        ['p1', 'p2']
        >>> found = model.recommend({"id": "n1", "words": "honey"}, k=3, where={"words": "hive"})["target"]
        >>> ["hive" in words for words in papers.set_index("id")["words"][found]]
        [True, True, True]
        >>> both = model.recommend([{"words": "honey"}, {"words": "hive"}], k=2, among="both", explore=0.5)
        >>> both.groupby("source")["known"].any().to_list(), bool((~both["known"]).sum() >= 2)
        ([True, True], True)
        """
        asked = self._ask(new, names, known, links)
        query = _query(k, among, exclude, node_type, where, popularity, base_rate, False, relation, direction, explore)
        rows, ranks, targets, scores, probabilities, meanings, notes = asked.recommend(query)
        notice(asked.notes + notes)
        new_names = tables.names_array(asked.names(), len(asked))
        target_names = self._known_names() if among == "known" else tables.joined(self._known_names(), new_names)
        columns: dict[str, Any] = {
            "source": new_names[rows],
            "rank": ranks,
            "target": target_names[targets],
            "known": targets < self._fitted().nodes,
        }
        for place, column in enumerate(["relation", "direction"]):
            values = [meaning[place] for meaning in meanings]
            if any(value is not None for value in values):
                columns[column] = np.array(values, dtype=object)
        columns["score"] = scores
        if probabilities is not None:
            columns["probability"] = probabilities
        return tables.table(columns)

    def links(
        self,
        new: Any = None,
        k: int = 10,
        *,
        known: Iterable[Any] | None = None,
        links: Any = None,
        among: str = "known",
        explore: float = 0.0,
        exclude: Iterable[Any] = (),
        node_type: str | None = None,
        relation: str | None = None,
        direction: str | None = None,
        where: Mapping[str, Any] | None = None,
        popularity: float = 1.0,
        base_rate: float | None = None,
        explain: bool = False,
        names: Iterable[Any] | None = None,
    ) -> dict[str, Any]:
        """The same links as plain data, in the form of `coldlink predict --format jsonl` and of the server's answers.

        Gives `{"links": [...], "notes": [...]}`: a dict for each link, whose names are texts, and what you should know
        about the new nodes and the query. With `explain`, each link has an `explanation`, which names the attributes
        that add or take most.

        >>> answer = model.links({"id": "n1", "words": "honey"}, k=1, explain=True)
        >>> list(answer["links"][0])
        ['source', 'rank', 'target', 'known', 'score', 'probability', 'explanation']
        >>> [reason["name"] for reason in answer["links"][0]["explanation"]["attributes"]]
        ['words=honey']
        """
        asked = self._ask(new, names, known, links)
        query = _query(
            k, among, exclude, node_type, where, popularity, base_rate, explain, relation, direction, explore
        )
        text, notes = asked.links(query)
        return {"links": json.loads(text), "notes": asked.notes + notes}

    def score(
        self, pairs: Any, new: Any = None, *, links: Any = None, names: Iterable[Any] | None = None
    ) -> npt.NDArray[np.float32]:
        """The scores of pairs; the higher, the likelier a link.

        `pairs` is a list of pairs, a DataFrame or an array with two columns: source and target. A source is one of the
        `new` nodes, or else a known one; a target is a known node, or else a new one. A third column `known` says
        which, should both have that name. `links` are those that new nodes have already, as in `recommend`.

        >>> model.score([("n1", "p1"), ("n1", "p2")], new={"id": "n1", "words": "honey"}).shape
        (2,)
        >>> model.score([("p1", "p2")]).dtype
        dtype('float32')
        """
        asked = self._ask_about_pairs(new, names, links)
        scores = asked.score(tables.named_pairs(pairs))
        notice(asked.notes)
        return scores

    def predict(
        self,
        pairs: Any,
        new: Any = None,
        *,
        links: Any = None,
        base_rate: float | None = None,
        names: Iterable[Any] | None = None,
    ) -> npt.NDArray[np.float64]:
        """The probabilities that pairs are linked: `pairs` and `links` as in `score`, `base_rate` as in `recommend`.

        >>> probability, = model.predict([("n1", "p1")], new={"id": "n1", "words": "honey"})
        >>> bool(0 < probability < 1)
        True
        """
        asked = self._ask_about_pairs(new, names, links)
        probabilities = asked.predict(tables.named_pairs(pairs), base_rate)
        notice(asked.notes)
        return probabilities

    def embed(
        self, new: Any = None, *, which: str = "attributes", names: Iterable[Any] | None = None
    ) -> npt.NDArray[np.float32]:
        """The embeddings of new nodes, a row each; or those of known nodes.

        The latter are made from attributes, or from links with `which="structure"`.

        >>> model.embed({"words": "honey|pollen"}).shape
        (1, 256)
        >>> model.embed(which="structure").shape == (graph.nodes, 256)
        True
        """
        if new is None:
            return self._fitted().embed(which)
        if which != "attributes":
            raise ConfigError("new nodes have no links, so they have no structure embedding", hint="omit `which`")
        asked = self._ask(new, names)
        notice(asked.notes)
        return asked.embed()

    def explain(self, new: Any, target: tables.Name, row: int = 0) -> Explanation:
        """Why a link of a new node is likely, or not: what each attribute adds to the score, and what else does.

        `new` is as in `recommend`; if it holds several nodes, `row` says which. `target` names a known node, or else
        one of the new ones.

        >>> why = model.explain({"words": "honey|pollen"}, "p1")
        >>> sorted(why.attributes)
        ['words=honey', 'words=pollen']
        """
        asked = self._ask(new, None)
        score, attributes, similar_nodes, popularity, baseline, most_similar = asked.explain(
            tables.count("row", row), tables.texts_of([target])[0]
        )
        notice(asked.notes)
        whole = self._known_names().dtype.kind == "i"
        similar: dict[tables.Name, float] = {int(name) if whole else name: cosine for name, cosine in most_similar}
        return Explanation(score, dict(attributes), similar_nodes, popularity, baseline, similar)

    def evaluate(
        self,
        graph: Graph,
        protocol: str = "strict",
        *,
        seeds: int = 1,
        first_seed: int | None = None,
        popularity: float = 1.0,
        rank_baselines: bool = False,
        progress: bool = True,
    ) -> dict[str, Any]:
        """How good a model with these parameters is on links it has not seen: a split, a training and a test per seed.

        Protocols are `"strict"`, `"deal2020"`, `"transductive"`, or the path of a split. Gives what `coldlink
        evaluate --json` prints. The model itself stays as it is. `first_seed` is the model's own seed unless given.
        To measure a trained model on links of your own, use `evaluate_links`.

        >>> report = coldlink.Model(preset="default", steps=100).evaluate(graph, progress=False)
        >>> report["protocol"], report["mean"]["auc"] > 0.5
        ('strict', True)
        """
        first = self._seed if first_seed is None else tables.count("first_seed", first_seed)
        inner = inner_of(graph, "to measure a trained model on links of your own, use `evaluate_links`")
        shown = _shown(progress)
        count = tables.count("seeds", seeds)
        text = _coldlink.evaluate(
            inner, self._settings, os.fspath(protocol), first, count, popularity, rank_baselines, shown
        )
        report: dict[str, Any] = json.loads(text)
        return report

    def evaluate_links(
        self, links: Any, new: Any = None, *, names: Iterable[Any] | None = None, seed: int = 0
    ) -> dict[str, Any]:
        """How well this trained model finds links that it was not told of, beside methods that need no training.

        `links` are held-out links of yours: a list of pairs, a DataFrame or an array with the columns `source`,
        `target` and, where links have several relations, `relation`; or the path of a table. `new` holds the rows of
        new nodes that they name, as in `recommend`. New nodes ask for their known ends; of two known nodes the source
        asks. Nothing is trained.

        Gives what `coldlink evaluate --model … --json` prints: MRR, recall@k, NDCG@k, AUC and AP of the `"model"` and
        of the `"baselines"` on the same questions, and under `"calibration"` the mean probability of all candidates
        and of the ten best of each list beside the share of them that is linked. AUC and AP compare each link with an
        unlinked candidate of the same node, drawn from `seed`. `"left_out"` counts links that were not looked for,
        such as those that the model was trained on.

        >>> report = model.evaluate_links([("n1", "p1"), ("n1", "p2")], new={"id": "n1", "words": "honey|hive"})
        >>> report["links"], report["questions"], 0 < report["model"]["mrr"] <= 1
        (2, 1, True)
        >>> sorted(report["baselines"])
        ['degree', 'knn', 'random', 'tfidf']
        """
        trained = self._fitted()
        asked = None if new is None else ask(trained, new, names)
        held_out = os.fspath(links) if isinstance(links, (str, os.PathLike)) else tables.named_links(links)
        text, notes = trained.evaluate_links(held_out, asked, tables.count("seed", seed))
        notice(([] if asked is None else asked.notes) + notes)
        report: dict[str, Any] = json.loads(text)
        return report

    def tune(
        self,
        graph: Graph,
        trials: int = 27,
        *,
        space: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        progress: bool = True,
    ) -> Any:
        """Searches for the best settings as `coldlink tune` does, and makes them this model's; `fit` trains with them.

        `space` is a TOML file with the values that settings may take. Trials that ended are kept in `folder`, from
        where the same call goes on. Gives a table of the trials. Settings given to the model stay as they are.

        >>> model = coldlink.Model(steps=90)
        >>> trials = model.tune(graph, trials=3, progress=False)
        >>> len(trials), model.get_params()["preset"]
        (5, 'default')
        """
        text = None if space is None else _read(space)
        kept = None if folder is None else os.fspath(folder)
        found = json.loads(
            _coldlink.tune(
                inner_of(graph),
                self._settings,
                tables.count("trials", trials),
                text,
                kept,
                self._seed,
                _shown(progress),
            )
        )
        preset = "default" if self._params["preset"] == "auto" else self._params["preset"]
        base = json.loads(_coldlink.Settings(preset, 0.0, {}).json())
        changed = _changed(found["settings"], base)
        self._set({**{name: self._params[name] for name in OWN}, "preset": preset, **changed})
        rows = found["trials"]
        columns = max(rows, key=len)
        return tables.table({key: [row.get(key) for row in rows] for key in columns})

    def save(self, path: str | os.PathLike[str], *, index: bool | None = None) -> None:
        """Writes the trained model to a file that the command line and `coldlink.load` open.

        For 50,000 nodes and more, and where there was one, it makes an index beside the file (`papers.model.index`),
        as `coldlink train` does: `coldlink.load` then finds links without scoring every node. `index=True` makes one
        for any model, `index=False` makes none.

        >>> model.save(folder / "papers.model", index=True)
        >>> (folder / "papers.model.index").exists()
        True
        """
        trained, file = self._fitted(), os.fspath(path)
        needed = trained.needs_index_at(file) if index is None else index
        trained.save(file)
        if needed:
            trained.save_index(file)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, exact: bool = False) -> Model:
        """Opens a trained model; its parameters are those it was trained with.

        Where an index lies beside it (`papers.model.index`, made by `save` or `coldlink index`), links are found
        through that, as on the command line; with `exact`, or where the index cannot be used, every node is scored.

        >>> model.save(folder / "papers.model")
        >>> coldlink.Model.load(folder / "papers.model").settings["width"]
        256
        """
        trained, problem = _coldlink.Trained.open(os.fspath(path), exact)
        if problem is not None:
            warnings.warn(f"{problem}, and every node is scored", stacklevel=2)
        summary, settings = json.loads(trained.summary()), json.loads(trained.settings())
        # A search or a file of settings is over, and its outcome is in the settings.
        preset = summary["preset"] if summary["preset"] in ("default", "pairs", "paper", "authors-code") else "default"
        base = json.loads(_coldlink.Settings(preset, 0.0, {}).json())
        changed = _changed(settings, base)
        model = cls(preset, seed=int(summary["seed"]), **changed)
        model._trained = trained
        return model

    @property
    def is_fitted(self) -> bool:
        """Whether the model is trained.

        >>> coldlink.Model().is_fitted
        False
        """
        return self._trained is not None

    @property
    def index(self) -> dict[str, Any] | None:
        """The index that links are found through, if any: `recall` is the share of the ten best links that it finds.

        >>> model.save(folder / "papers.model", index=True)
        >>> coldlink.load(folder / "papers.model").index["recall"] > 0.98, model.index
        (True, None)
        """
        text = self._fitted().index()
        index: dict[str, Any] | None = None if text is None else json.loads(text)
        return index

    @property
    def settings(self) -> dict[str, Any]:
        """All settings: those it was trained with, or else those it would start from.

        >>> coldlink.Model(preset="paper").settings["similarity"]
        'cosine'
        """
        text = self._settings.json() if self._trained is None else self._trained.settings()
        settings: dict[str, Any] = json.loads(text)
        return settings

    @property
    def summary(self) -> dict[str, Any]:
        """How the trained model came to be.

        >>> model.summary["nodes"], model.summary["preset"]
        (150, 'default')
        """
        summary: dict[str, Any] = json.loads(self._fitted().summary())
        return summary

    @property
    def names(self) -> list[tables.Name]:
        """What the known nodes are called, in the order of their embeddings.

        >>> model.names[:2]
        ['p0', 'p1']
        """
        names: list[tables.Name] = self._known_names().tolist()
        return names

    def _set(self, params: dict[str, Any]) -> None:
        config = {key: value for key, value in params.items() if key not in OWN}
        for key in config.keys() & MEANT.keys():
            raise ConfigError(f"there is no setting `{key}`", hint=f"did you mean `{MEANT[key]}`?")
        settings = _coldlink.Settings(os.fspath(params["preset"]), params["budget"], config)
        self._seed = tables.count("seed", params["seed"])
        self._params, self._settings = params, settings

    def _fitted(self) -> _coldlink.Trained:
        if self._trained is None:
            raise NotFittedError(
                "this model is not trained yet", hint="call `fit` with a graph, or `coldlink.load` a trained model"
            )
        return self._trained

    def _known_names(self) -> npt.NDArray[Any]:
        if self._names is None:
            trained = self._fitted()
            self._names = tables.names_array(trained.names(), trained.nodes)
        return self._names

    def _ask(
        self, new: Any, names: Iterable[Any] | None, known: Iterable[Any] | None = None, links: Any = None
    ) -> _coldlink.NewNodes:
        if (new is None) == (known is None):
            raise ConfigError("ask about either `new` nodes or `known` ones", hint="give one of the two")
        if known is not None:
            if links is not None:
                raise ConfigError("known nodes are asked about with the links they have", hint="omit `links`")
            return self._fitted().ask_known(tables.texts_of([known] if isinstance(known, str) else known))
        asked = ask(self._fitted(), new, names)
        return asked if links is None else asked.linked(tables.named_links(links))

    def _ask_about_pairs(self, new: Any, names: Iterable[Any] | None, links: Any) -> _coldlink.NewNodes:
        nobody = np.empty((0, self._fitted().attributes), dtype=np.float32)
        return self._ask(nobody if new is None else new, names, links=links)

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __getstate__(self) -> dict[str, Any]:
        contents = None if self._trained is None else pickled.written(self._trained.save)
        return {"params": self._params, "model": contents}

    def __setstate__(self, state: dict[str, Any]) -> None:
        contents = state["model"]
        self._trained = None if contents is None else pickled.opened(contents, _opened)
        self._names = None
        self._set(state["params"])

    def __repr__(self) -> str:
        hidden = ("budget",) if self._params["budget"] == 180.0 else ()
        return f"Model({', '.join(f'{key}={value!r}' for key, value in self._params.items() if key not in hidden)})"


def _changed(settings: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """The settings that differ from a preset's. Steps that were given alone stand for no epochs."""
    changed = {key: value for key, value in settings.items() if value != base[key]}
    if changed.get("epochs") == 0:
        del changed["epochs"]
        changed["steps"] = settings["steps"]
    # What is asked for is not cut, which need not be said.
    for key, bound in [("epochs", "most_pairs"), ("steps", "most_pairs"), ("width", "most_numbers")]:
        if key in changed and changed.get(bound) == 0:
            del changed[bound]
    return changed


def _read(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}", path=os.fspath(path)) from None


def _shown(progress: bool) -> Progress | None:
    return Progress() if progress else None


def _query(
    k: int,
    among: str,
    exclude: Iterable[Any],
    node_type: str | None,
    where: Mapping[str, Any] | None,
    popularity: float,
    base_rate: float | None,
    explain: bool,
    relation: str | None,
    direction: str | None,
    explore: float,
) -> _coldlink.Query:
    excluded, filters = tables.texts_of(tables.several(exclude)), tables.filters(where or {})
    return _coldlink.Query(
        tables.count("k", k),
        among,
        excluded,
        node_type,
        filters,
        popularity,
        base_rate,
        explain,
        relation,
        direction,
        explore,
    )


def _opened(path: str) -> _coldlink.Trained:
    return _coldlink.Trained.open(path, True)[0]
