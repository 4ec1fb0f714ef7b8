"""Why a link is likely."""

from __future__ import annotations

from dataclasses import dataclass

from coldlink.tables import Name


@dataclass(frozen=True)
class Explanation:
    """A score taken apart: what `attributes`, `similar_nodes`, `popularity` and the `baseline` add sums to `score`.

    >>> why = model.explain({"words": "honey|pollen"}, "p1")
    >>> total = sum(why.attributes.values()) + why.similar_nodes + why.popularity + why.baseline
    >>> abs(why.score - total) < 1e-6
    True
    """

    score: float
    """The log-odds of the link."""
    attributes: dict[str, float]
    """What each attribute of the new node adds, the largest amounts first; below 0 it speaks against the link."""
    similar_nodes: float
    """What links of similar nodes add."""
    popularity: float
    """What the target's popularity adds."""
    baseline: float
    """What every pair of this class gets."""
    most_similar: dict[Name, float]
    """The warm nodes whose attributes are most similar to the new node's, with the cosines of their embeddings."""
