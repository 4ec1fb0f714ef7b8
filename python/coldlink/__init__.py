"""Links for nodes that a graph has never seen, from their attributes alone.

A paper just written or a user who just signed up has no links yet, but a row of attributes. `Model` learns from the
graph you have and ranks the most likely links of such rows:

>>> import coldlink
>>> graph = coldlink.Graph.from_pandas(papers, citations)
>>> model = coldlink.Model(preset="default", steps=300).fit(graph, progress=False)
>>> links = model.recommend([{"id": "tomorrow", "words": "honey|pollen"}], k=3)
>>> list(links.columns)
['source', 'rank', 'target', 'known', 'score', 'probability']

Model files and numbers are those of the command line `coldlink`, bit for bit.
"""

import os
from importlib.metadata import version

from coldlink import _coldlink
from coldlink.errors import ConfigError, Error, LoadError, LoadWarning, ModelFileError, NotFittedError
from coldlink.explanation import Explanation
from coldlink.graph import Graph, read
from coldlink.model import Model, load
from coldlink.referee import evaluate_scores

__version__ = version("coldlink")

if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads that work here.
    os.register_at_fork(after_in_child=_coldlink.forget_threads)

__all__ = [
    "ConfigError",
    "Error",
    "Explanation",
    "Graph",
    "LoadError",
    "LoadWarning",
    "Model",
    "ModelFileError",
    "NotFittedError",
    "evaluate_scores",
    "load",
    "read",
]
