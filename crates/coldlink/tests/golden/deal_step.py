"""Golden values for one training step of DEAL, from PyTorch's autograd in float64.

    python -m venv .venv && .venv/bin/pip install torch
    .venv/bin/python crates/coldlink/tests/golden/deal_step.py

writes `deal_step.json` beside this file. It is the oracle for the hand-written gradients: nothing here is
shared with the Rust code, and every gradient is checked against finite differences before it is written.

Every input but the loss weights is a multiple of 1/64, hence exact in float32 too, so a float32 reader sees its own rounding and no
rounding of the inputs. Matrices are lists of rows; a layer computes x W + b with W of shape inputs x outputs. Equation
numbers are those of Hao et al., IJCAI 2020.
"""

import copy
import json
import math
import random
from pathlib import Path

import torch
from torch.nn import functional

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

NODES, ATTRIBUTES, WIDTH, HIDDEN = 12, 9, 5, 7

# Node 4 has no attributes. Node 11 stands in no pair and alone has attribute 8, so a row of either first
# parameter is never touched. Node 0 is in many pairs, (1, 7) comes twice, (3, 0) is the reverse of (0, 3).
NODE_WITHOUT_ATTRIBUTES = 4
PAIRS = [(0, 1), (0, 3), (5, 4), (2, 6), (3, 0), (1, 7), (1, 7), (4, 8), (9, 10), (6, 0)]
LINKED = [True, True, True, True, False, False, False, False, False, False]
# Of linked pairs the weight is not part of the loss; it is given as 1.
ALPHA = [1.0, 1.0, 1.0, 1.0, 2.71875, 1.640625, 1.640625, 1.390625, 1.0, 1.28125]


class Draw:
    """Numbers that are the same in every version of Python: only `Random.random` is promised to be."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, low, high):
        return round((low + (high - low) * self.random.random()) * 64) / 64

    def rows(self, rows, columns, low=-1.0, high=1.0):
        return [[self.number(low, high) for _ in range(columns)] for _ in range(rows)]


def sparse_attributes():
    draw = Draw(1)
    rows = []
    for node in range(NODES):
        if node == NODE_WITHOUT_ATTRIBUTES:
            rows.append([])
        elif node == NODES - 1:
            rows.append([[0, 1.0], [ATTRIBUTES - 1, 0.5]])
        else:
            columns = [c for c in range(ATTRIBUTES - 1) if draw.random.random() < 0.35 or c == node % (ATTRIBUTES - 1)]
            rows.append([[column, draw.number(0.25, 2.0)] for column in columns])
    return rows


def dense_attributes():
    draw = Draw(2)
    return [[[column, draw.number(0.125, 1.5)] for column in range(ATTRIBUTES)] for _ in range(NODES)]


def initial_parameters(seed, hidden, bias, gain):
    """The encoder's layers, the table of the structure encoder (Eq. 2) and the gain per node, if trained."""
    draw = Draw(seed)
    sizes = [ATTRIBUTES, *hidden, WIDTH]
    layers = [
        {"weight": draw.rows(inputs, outputs), "bias": draw.rows(1, outputs, -0.5, 0.5)[0] if bias else None}
        for inputs, outputs in zip(sizes, sizes[1:])
    ]
    table = draw.rows(NODES, WIDTH)
    return {"layers": layers, "table": table, "gain": draw.rows(1, NODES, 0.5, 1.5)[0] if gain else None}


def case(name, *, seed, hidden=(), bias, elu_on_last, similarity, structure, alignment, unlinked, linked, theta,
         attributes=None, dropout=None):
    return {
        "name": name,
        "node_count": NODES,
        "attribute_count": ATTRIBUTES,
        "width": WIDTH,
        "hidden": list(hidden),
        "bias": bias,
        "elu_on_last": elu_on_last,
        "similarity": similarity,
        "structure": structure,
        "alignment": alignment,
        "unlinked": {"gamma": unlinked[0], "b": unlinked[1]},
        "linked": {"gamma": linked[0], "b": linked[1]},
        "theta": theta,
        "attributes": attributes or sparse_attributes(),
        "pairs": [list(pair) for pair in PAIRS],
        "is_linked": LINKED,
        "alpha": ALPHA,
        "distinct_nodes": distinct_nodes(PAIRS),
        "dropout": dropout,
        "parameters": initial_parameters(seed, hidden, bias, structure == "direction-and-gain"),
    }


def distinct_nodes(pairs):
    return sorted({node for pair in pairs for node in pair})


def dropout_multipliers():
    """Zeros and 1.25s, one row per distinct node; the last row is dropped whole, so that its cosine is that of a zero row."""
    draw = Draw(3)
    rows = [[0.0 if draw.random.random() < 0.2 else 1.25 for _ in range(WIDTH)] for _ in distinct_nodes(PAIRS)]
    rows[-1] = [0.0] * WIDTH
    return rows


def cases():
    authors = dict(seed=10, bias=False, elu_on_last=False, similarity="cosine", structure="plain",
                   unlinked=(2.0, 0.1), linked=(2.0, 0.1), theta=[0.1, 0.85, 0.05])
    paper = dict(bias=True, elu_on_last=True, similarity="cosine", structure="direction", alignment="loose",
                 unlinked=(1.5, 0.3), linked=(3.0, -0.2), theta=[0.3, 0.4, 0.3])
    return [
        case("authors-code", alignment="tight", **authors),
        case("authors-code-dropout", alignment="tight", dropout=dropout_multipliers(), **authors),
        case("linear-loose", alignment="loose", **authors),
        case("paper", seed=20, hidden=(HIDDEN,), **paper),
        case("dot", seed=30, hidden=(HIDDEN, 6), bias=True, elu_on_last=False, similarity="dot",
             structure="direction-and-gain", alignment="tight", unlinked=(1.5, 0.3), linked=(0.75, -0.2),
             theta=[0.3, 0.4, 0.3]),
        case("dot-loose", seed=30, hidden=(HIDDEN, 6), bias=True, elu_on_last=False, similarity="dot",
             structure="direction-and-gain", alignment="loose", unlinked=(1.5, 0.3), linked=(0.75, -0.2),
             theta=[0.3, 0.4, 0.3]),
        case("dense", seed=40, attributes=dense_attributes(), **paper),
    ]


def safe_norm(rows):
    """Euclidean norms, and 1 with gradient 0 for a zero row (the inner `where` keeps sqrt'(0) out of the chain)."""
    square = rows.square().sum(-1)
    return torch.where(square == 0, 1.0, torch.where(square == 0, 1.0, square).sqrt())


def similarities(left, right, kind):
    dot = (left * right).sum(-1)
    if kind == "dot":
        return dot
    is_zero = (left == 0).all(-1) | (right == 0).all(-1)
    return torch.where(is_zero, 0.0, dot / (safe_norm(left) * safe_norm(right)))


def phi(x, margin):
    """Eq. 5."""
    return functional.softplus(-margin["gamma"] * x + margin["b"], threshold=math.inf) / margin["gamma"]


def pair_loss(similarity, is_linked, alpha, settings):
    """Eq. 4, and Eq. 8 when the similarities are between the two embeddings."""
    unlinked = alpha * phi(-similarity, settings["unlinked"])
    linked = phi(similarity, settings["linked"])
    return torch.where(is_linked, linked, unlinked).mean()


def attribute_matrix(rows):
    matrix = torch.zeros(len(rows), ATTRIBUTES)
    for node, row in enumerate(rows):
        for column, value in row:
            matrix[node, column] = value
    return matrix


def tensors(parameters):
    """The parameters as leaves, in the order of the file: layers (weight, bias), table, gain."""
    if isinstance(parameters, dict):
        return {name: tensors(value) for name, value in parameters.items()}
    if isinstance(parameters, list) and parameters and isinstance(parameters[0], dict):
        return [tensors(value) for value in parameters]
    return None if parameters is None else torch.tensor(parameters, requires_grad=True)


def leaves(parameters):
    layered = [layer[name] for layer in parameters["layers"] for name in ("weight", "bias")]
    return [leaf for leaf in (*layered, parameters["table"], parameters["gain"]) if leaf is not None]


def gradients_like(parameters, gradient_of):
    def gradient(leaf):
        return None if leaf is None else gradient_of[id(leaf)].tolist()

    return {
        "layers": [{name: gradient(leaf) for name, leaf in layer.items()} for layer in parameters["layers"]],
        "table": gradient(parameters["table"]),
        "gain": gradient(parameters["gain"]),
    }


def attribute_embeddings(settings, parameters, nodes):
    """Eq. 1, for the given nodes."""
    rows = attribute_matrix(settings["attributes"])[nodes]
    for depth, layer in enumerate(parameters["layers"]):
        rows = rows @ layer["weight"]
        if layer["bias"] is not None:
            rows = rows + layer["bias"]
        if depth + 1 < len(parameters["layers"]) or settings["elu_on_last"]:
            rows = functional.elu(rows)
    return rows


def structure_embeddings(settings, parameters, nodes):
    """Eq. 2: the row of the table; or its direction, by weight normalisation; or that times the node's gain."""
    rows = parameters["table"][nodes]
    if settings["structure"] != "plain":
        rows = rows / safe_norm(rows)[:, None]
    if settings["structure"] == "direction-and-gain":
        rows = parameters["gain"][nodes][:, None] * rows
    return rows


def losses(settings, attribute, structure, pairs, is_linked, alpha, nodes):
    """Eq. 9 with its three terms. The embeddings' rows are those of `nodes`, which the pairs are looked up in."""
    place = {node: row for row, node in enumerate(nodes)}
    source = torch.tensor([place[pair[0]] for pair in pairs])
    target = torch.tensor([place[pair[1]] for pair in pairs])
    is_linked, alpha = torch.tensor(is_linked), torch.tensor(alpha)
    kind = settings["similarity"]
    of_structure = similarities(structure[source], structure[target], kind)
    of_attribute = similarities(attribute[source], attribute[target], kind)
    if settings["alignment"] == "tight":
        of_alignment = similarities(structure, attribute, kind)
        alignment_loss = -of_alignment.mean()
    else:
        of_alignment = similarities(structure[source], attribute[target], kind)
        alignment_loss = pair_loss(of_alignment, is_linked, alpha, settings)
    terms = [
        pair_loss(of_structure, is_linked, alpha, settings),
        pair_loss(of_attribute, is_linked, alpha, settings),
        alignment_loss,
    ]
    total = sum(weight * term for weight, term in zip(settings["theta"], terms))
    return total, terms, {"structure": of_structure, "attribute": of_attribute, "alignment": of_alignment}


def forward(settings, parameters):
    nodes = settings["distinct_nodes"]
    attribute = attribute_embeddings(settings, parameters, nodes)
    if settings["dropout"] is not None:
        attribute = attribute * torch.tensor(settings["dropout"])
    structure = structure_embeddings(settings, parameters, nodes)
    batch = (settings["pairs"], settings["is_linked"], settings["alpha"], nodes)
    return attribute, structure, *losses(settings, attribute, structure, *batch)


def check_gradients(settings, parameters):
    step = 1e-6
    total = forward(settings, parameters)[2]
    for leaf, gradient in zip(leaves(parameters), torch.autograd.grad(total, leaves(parameters))):
        flat = leaf.detach().view(-1)
        for place in range(flat.numel()):
            value = flat[place].item()
            sides = []
            for offset in (step, -step):
                flat[place] = value + offset
                sides.append(forward(settings, parameters)[2].item())
            flat[place] = value
            difference = (sides[0] - sides[1]) / (2 * step)
            assert abs(difference - gradient.view(-1)[place].item()) < 1e-8, settings["name"]


def outputs(settings):
    parameters = tensors(settings["parameters"])
    check_gradients(settings, parameters)
    attribute, structure, total, terms, similarity = forward(settings, parameters)
    found = torch.autograd.grad(total, leaves(parameters))
    gradient_of = {id(leaf): gradient for leaf, gradient in zip(leaves(parameters), found)}
    return {
        "attribute_embeddings": attribute.tolist(),
        "structure_embeddings": structure.tolist(),
        "similarities": {name: value.tolist() for name, value in similarity.items()},
        "loss": dict(zip(("structure", "attribute", "alignment", "total"), (*(t.item() for t in terms), total.item()))),
        "gradients": gradients_like(parameters, gradient_of),
    }


def snapshot(parameters, moments):
    return {
        name: {"value": value.tolist(), "first_moment": moments(name)[0].tolist(), "second_moment": moments(name)[1].tolist()}
        for name, value in parameters.items()
    }


ADAM = {"learning_rate": 0.01, "first_decay": 0.9, "second_decay": 0.999, "epsilon": 1e-8}


def dense_adam(settings, weight_decay):
    """Three steps of torch.optim.Adam on the whole batch; every row moves as long as its first moment is not zero."""
    parameters = tensors(settings["parameters"])
    named = {"weight": parameters["layers"][0]["weight"], "table": parameters["table"]}
    optimiser = torch.optim.Adam(named.values(), lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=weight_decay)

    def moments(name):
        state = optimiser.state[named[name]]
        return state["exp_avg"], state["exp_avg_sq"]

    steps = []
    for _ in range(3):
        optimiser.zero_grad()
        total = forward(settings, parameters)[2]
        total.backward()
        optimiser.step()
        steps.append({"loss_before": total.item(), **snapshot(named, moments)})
    return {"case": settings["name"], **ADAM, "weight_decay": weight_decay, "steps": steps}


SUB_BATCHES = [[0, 1, 4], [2, 3, 5, 7], [0, 8, 9]]


class TouchedRowsAdam:
    """Adam's own formula, on the rows of a sparse gradient only: unlike torch's SparseAdam, which adds epsilon to the square
    root before its bias is corrected, epsilon is added after."""

    def __init__(self, parameters):
        self.parameters = parameters
        self.state = {p: {"exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)} for p in parameters}
        self.step_number = 0

    @torch.no_grad()
    def step(self):
        self.step_number += 1
        for parameter in self.parameters:
            gradient = parameter.grad.coalesce()
            rows, values = gradient.indices()[0], gradient.values()
            first, second = self.state[parameter].values()
            first[rows] = 0.9 * first[rows] + 0.1 * values
            second[rows] = 0.999 * second[rows] + 0.001 * values.square()
            corrected_first = first[rows] / (1 - 0.9**self.step_number)
            corrected_second = second[rows] / (1 - 0.999**self.step_number)
            parameter[rows] -= 0.01 * corrected_first / (corrected_second.sqrt() + 1e-8)


def sparse_adam(settings, make_optimiser, epsilon_added):
    """Three steps on three different sub-batches. Only rows that the sub-batch touches move, and only their moments decay;
    the bias correction counts all steps."""
    start = tensors(settings["parameters"])
    named = {"weight": start["layers"][0]["weight"], "table": start["table"]}
    optimiser = make_optimiser(list(named.values()))

    def moments(name):
        state = optimiser.state[named[name]]
        return state["exp_avg"], state["exp_avg_sq"]

    steps = []
    for chosen in SUB_BATCHES:
        pairs = [settings["pairs"][index] for index in chosen]
        nodes = distinct_nodes(pairs)
        entries = [settings["attributes"][node] for node in nodes]
        columns = torch.tensor([column for row in entries for column, _ in row])
        values = torch.tensor([value for row in entries for _, value in row])
        offsets = torch.tensor([0] + [len(row) for row in entries[:-1]]).cumsum(0)
        attribute = functional.embedding_bag(columns, named["weight"], offsets, mode="sum", sparse=True, per_sample_weights=values)
        structure = functional.embedding(torch.tensor(nodes), named["table"], sparse=True)
        is_linked = [settings["is_linked"][index] for index in chosen]
        alpha = [settings["alpha"][index] for index in chosen]
        total = losses(settings, attribute, structure, pairs, is_linked, alpha, nodes)[0]
        for parameter in named.values():
            parameter.grad = None
        total.backward()
        optimiser.step()
        steps.append({
            "pair_indices": chosen,
            "distinct_nodes": nodes,
            "touched_attributes": sorted(set(columns.tolist())),
            "loss_before": total.item(),
            **copy.deepcopy(snapshot(named, moments)),
        })
    return {"case": settings["name"], **ADAM, "epsilon_added": epsilon_added, "steps": steps}


def torch_sparse_adam(parameters):
    return torch.optim.SparseAdam(parameters, lr=0.01, betas=(0.9, 0.999), eps=1e-8)


def as_text(value, indent=0):
    """JSON with a line per named value rather than per number, so that a diff can be read."""
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key)}: {as_text(item, indent + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(inner + as_text(item, indent + 1) for item in value) + "\n" + " " * indent + "]"
    return json.dumps(value)


def main():
    everything = cases()
    authors = everything[0]
    golden = {
        "made_by": f"deal_step.py, torch {torch.__version__.split('+')[0]}, float64",
        "cases": [{**settings, "outputs": outputs(settings)} for settings in everything],
        "adam": dense_adam(authors, 0.0),
        "adam_weight_decay": dense_adam(authors, 0.01),
        "sparse_adam": sparse_adam(authors, torch_sparse_adam, "before bias correction"),
        "touched_rows_adam": sparse_adam(authors, TouchedRowsAdam, "after bias correction"),
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(as_text(golden) + "\n")
    print(f"wrote {path.name}: {len(golden['cases'])} cases, {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
