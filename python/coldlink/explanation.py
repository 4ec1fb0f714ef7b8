"""Why a link is likely."""

from __future__ import annotations

from dataclasses import dataclass

from coldlink.tables import Name


@dataclass(frozen=True)
class Explanation:
    """A score as a sum of what speaks for a link and what against.

    `score` is what `attributes`, `similar`, `popular` and `rest` add up to:

    >>> why = model.explain({"words": "honey|pollen"}, "p1")
    >>> abs(why.score - (sum(why.attributes.values()) + why.similar + why.popular + why.rest)) < 1e-6
    True
    """

    score: float
    """The log-odds of the link."""
    attributes: dict[str, float]
    """What each attribute of the new node adds, the largest amounts first."""
    similar: float
    """What links of nodes that are like the new one add."""
    popular: float
    """What the other node's number of links adds."""
    rest: float
    """What every pair of this kind gets."""
    most_similar: dict[Name, float]
    """The nodes of the graph that are most like the new one, with the cosines of their embeddings."""
