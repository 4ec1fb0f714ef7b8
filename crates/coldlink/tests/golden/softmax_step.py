"""Golden values for one step under the softmax loss, from PyTorch's autograd in float64.

    .venv/bin/python crates/coldlink/tests/golden/softmax_step.py

writes `softmax_step.json` beside this file, with the encoders and the small graph of `deal_step.py`.
"""

import json
from pathlib import Path

import torch
from deal_step import as_text, attribute_embeddings, case, gradients_like, leaves, similarities, structure_embeddings, tensors

# All of the first six are links of the graph; the others make some negatives neighbours of a source.
LINKS = [[0, 1], [0, 3], [5, 4], [2, 6], [3, 9], [6, 7], [0, 7], [5, 2]]
PAIRS = [[0, 1], [3, 0], [5, 4], [2, 6], [9, 3], [7, 6]]
NEGATIVES = [7, 2, 10, 4, 0]


def softmax_case(name, temperature, **settings):
    made = case(name, alignment="loose", unlinked=(1.0, 0.0), linked=(1.0, 0.0), **settings)
    nodes = sorted({node for pair in PAIRS for node in pair} | set(NEGATIVES))
    made.update(pairs=PAIRS, is_linked=[True] * len(PAIRS), alpha=[1.0] * len(PAIRS), distinct_nodes=nodes)
    made.update(links=LINKS, negatives=NEGATIVES, temperature=temperature)
    return made


def is_linked(a, b):
    return [a, b] in LINKS or [b, a] in LINKS


def losses(settings, parameters):
    """The mean of -log softmax share of the true end, for z_s.z_s, z_a.z_a and both directions of the cross term together."""
    nodes = settings["distinct_nodes"]
    row = {node: place for place, node in enumerate(nodes)}
    attribute = attribute_embeddings(settings, parameters, nodes)
    structure = structure_embeddings(settings, parameters, nodes)

    def term(own_side, other_side):
        total = 0.0
        for source, target in settings["pairs"]:
            kept = [n for n in settings["negatives"] if n != source and not is_linked(source, n)]
            others = torch.stack([other_side[row[node]] for node in [target, *kept]])
            own = own_side[row[source]].expand_as(others)
            scores = similarities(own, others, settings["similarity"]) / settings["temperature"]
            total = total + torch.logsumexp(scores, 0) - scores[0]
        return total / len(settings["pairs"])

    terms = [term(structure, structure), term(attribute, attribute), term(structure, attribute) + term(attribute, structure)]
    return sum(weight * term for weight, term in zip(settings["theta"], terms)), terms


def outputs(settings):
    parameters = tensors(settings["parameters"])
    total, terms = losses(settings, parameters)
    found = torch.autograd.grad(total, leaves(parameters))
    gradient_of = {id(leaf): gradient for leaf, gradient in zip(leaves(parameters), found)}
    values = (*(term.item() for term in terms), total.item())
    return {
        "loss": dict(zip(("structure", "attribute", "alignment", "total"), values)),
        "gradients": gradients_like(parameters, gradient_of),
    }


def main():
    linear = dict(seed=10, bias=False, elu_on_last=False, similarity="cosine", structure="plain", theta=[0.1, 0.5, 0.4])
    deep = dict(seed=20, hidden=(7,), bias=True, elu_on_last=True, similarity="cosine", structure="direction", theta=[0.3, 0.4, 0.3])
    dot = dict(seed=30, hidden=(7, 6), bias=True, elu_on_last=False, similarity="dot", structure="direction-and-gain", theta=[0.3, 0.4, 0.3])
    everything = [softmax_case("linear", 0.125, **linear), softmax_case("deep", 0.25, **deep), softmax_case("dot", 2.0, **dot)]
    golden = {
        "made_by": f"softmax_step.py, torch {torch.__version__.split('+')[0]}, float64",
        "cases": [{**settings, "outputs": outputs(settings)} for settings in everything],
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(as_text(golden) + "\n")
    print(f"wrote {path.name}: {len(golden['cases'])} cases")


if __name__ == "__main__":
    main()
