from typing import Any, final

import numpy as np
import numpy.typing as npt

from coldlink.progress import Progress

__all__ = ["Graph", "NewNodes", "Query", "Settings", "Trained", "evaluate", "forget_threads", "tune"]

@final
class Graph:
    @staticmethod
    def read(
        path: str,
        strict_input: bool,
        unknown_nodes: str,
        columns: str | None,
        name: str | None,
        directed: bool | None,
    ) -> Graph: ...
    @staticmethod
    def from_columns(
        nodes: dict[str, Any],
        edges: dict[str, Any],
        unknown_nodes: str,
        columns: str | None,
        name: str,
        directed: bool | None,
    ) -> Graph: ...
    @staticmethod
    def from_arrays(
        ends: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        carried: tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.float64] | None],
        x: Any,
        names: list[str] | None,
        name: str,
        directed: bool | None,
    ) -> Graph: ...
    def save(self, path: str) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def nodes(self) -> int: ...
    @property
    def links(self) -> int: ...
    @property
    def attributes(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    def names(self) -> list[str] | None: ...
    def attribute_names(self) -> list[str]: ...
    def edges(self) -> npt.NDArray[np.uint32]: ...

@final
class Settings:
    def __new__(cls, preset: str, budget: float, changes: dict[str, Any]) -> Settings: ...
    def json(self) -> str: ...

@final
class Trained:
    @staticmethod
    def fit(graph: Graph, settings: Settings, seed: int, progress: Progress | None) -> Trained: ...
    @staticmethod
    def open(path: str, exact: bool) -> tuple[Trained, str | None]: ...
    def save(self, path: str) -> None: ...
    def needs_index_at(self, path: str) -> bool: ...
    def save_index(self, path: str) -> None: ...
    def index(self) -> str | None: ...
    def summary(self) -> str: ...
    def settings(self) -> str: ...
    @property
    def nodes(self) -> int: ...
    @property
    def attributes(self) -> int: ...
    @property
    def id_column(self) -> str | None: ...
    def names(self) -> list[str] | None: ...
    def embed(self, which: str) -> npt.NDArray[np.float32]: ...
    def ask_columns(self, columns: dict[str, Any]) -> NewNodes: ...
    def ask_file(self, path: str) -> NewNodes: ...
    def ask_arrays(self, x: Any, names: list[str] | None) -> NewNodes: ...

@final
class NewNodes:
    def __len__(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    def names(self) -> list[str] | None: ...
    def recommend(
        self, query: Query
    ) -> tuple[
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.float32],
        npt.NDArray[np.float64] | None,
        list[tuple[str | None, str | None]],
        list[str],
    ]: ...
    def links(self, query: Query) -> tuple[str, list[str]]: ...
    def score(self, pairs: list[tuple[str, str, bool | None]]) -> npt.NDArray[np.float32]: ...
    def predict(
        self, pairs: list[tuple[str, str, bool | None]], base_rate: float | None
    ) -> npt.NDArray[np.float64]: ...
    def embed(self) -> npt.NDArray[np.float32]: ...
    def explain(
        self, row: int, target: str
    ) -> tuple[float, list[tuple[str, float]], float, float, float, list[tuple[str, float]]]: ...

@final
class Query:
    def __new__(
        cls,
        count: int,
        among: str,
        exclude: list[str],
        node_type: str | None,
        filters: list[tuple[str, str]],
        popularity: float,
        base_rate: float | None,
        explain: bool,
        relation: str | None,
        direction: str | None,
    ) -> Query: ...

def forget_threads() -> None: ...
def evaluate(
    graph: Graph,
    settings: Settings,
    protocol: str,
    first_seed: int,
    seeds: int,
    popularity: float,
    rank_baselines: bool,
    progress: Progress | None,
) -> str: ...
def tune(
    graph: Graph,
    settings: Settings,
    trials: int,
    space: str | None,
    folder: str | None,
    seed: int,
    progress: Progress | None,
) -> str: ...
