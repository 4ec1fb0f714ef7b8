"""Golden values for the forward passes of the rival models' layers, from PyTorch Geometric in float64.

    python layers.py

writes `layers.json` beside this file. Needs torch and torch_geometric; made with torch 2.15.0 and torch_geometric 2.8.1
(the versions of the last run are in the JSON under "made_with").

Every weight of a linear map is stored IN x OUT, the transpose of torch's own Linear. Inputs and parameters are drawn from
a seeded generator and rounded to three decimals, so that their text is short and exact.
"""

import json
import math
from collections import deque
from pathlib import Path

import torch
import torch_geometric
from torch import nn
from torch.distributions import Independent, Normal, kl_divergence
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, SortAggregation

NODES = 9
# Node 0 is a hub; 0, 1, 2 are a triangle; 8 is isolated.
LINKS = [[0, 1], [0, 2], [1, 2], [0, 3], [0, 4], [0, 5], [5, 6], [6, 7], [3, 7]]
FEATURES = 6


def draw(seed):
    """A function that draws normal float64 tensors of a shape, rounded to three decimals and never exactly zero."""
    generator = torch.Generator().manual_seed(seed)

    def tensor(*shape, scale=1.0):
        values = torch.randn(*shape, generator=generator) * scale
        values = torch.round(values, decimals=3)
        return torch.where(values == 0.0, torch.tensor(0.001), values)

    return tensor


def fill(module, tensor, scale=0.6):
    """Replaces every parameter of the module, biases too, by drawn values."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(tensor(*parameter.shape, scale=scale))
    return module.eval()


def both_ways(links):
    """The edge index of an undirected graph: each link in both directions."""
    return torch.tensor(links + [[b, a] for a, b in links]).t().contiguous()


def values(tensor):
    return tensor.detach().tolist()


def in_by_out(weight):
    return values(weight.t())


def assert_no_ties(keys, gap=1e-4):
    """Sort pooling must not hang on the order of near-equal keys."""
    ordered = keys.detach().sort().values
    assert (ordered[1:] - ordered[:-1]).min() > gap


def features():
    x = draw(1)(NODES, FEATURES)
    x[torch.rand(NODES, FEATURES, generator=torch.Generator().manual_seed(2)) < 0.3] = 0.0
    return x


def gcn(x, edges):
    layer = fill(GCNConv(FEATURES, 5), draw(10))
    return {"weight": in_by_out(layer.lin.weight), "bias": values(layer.bias), "out": values(layer(x, edges))}


def gat(x, edges):
    """Which end attends: edge_index is (source j, target i), and the TARGET attends over its sources.

    out[i] = bias + sum over j in N(i) and i itself of a(i, j) * W^T x[j], with a(i, .) the softmax over these j of
    leaky_relu(source . W^T x[j] + target . W^T x[i]), for each head; the heads' channels are concatenated.
    """
    layer = fill(GATConv(FEATURES, 4, heads=2, concat=True, negative_slope=0.2, dropout=0.0), draw(20))
    return {
        "weight": in_by_out(layer.lin.weight),
        "source": values(layer.att_src[0]),
        "target": values(layer.att_dst[0]),
        "bias": values(layer.bias),
        "out": values(layer(x, edges)),
    }


def gin(x, edges):
    inner = nn.Sequential(nn.Linear(FEATURES, 5), nn.ReLU(), nn.Linear(5, 5))
    layer = fill(GINConv(inner, eps=0.1), draw(30))  # GINConv draws the inner network's parameters anew: fill it after
    return {
        "weight1": in_by_out(inner[0].weight),
        "bias1": values(inner[0].bias),
        "weight2": in_by_out(inner[2].weight),
        "bias2": values(inner[2].bias),
        "eps": 0.1,
        "out": values(layer(x, edges)),
    }


def sage(x, edges):
    """out = bias + neighbours^T mean of the neighbours (zero where there is none) + own^T x; no normalisation."""
    layer = fill(SAGEConv(FEATURES, 5, aggr="mean"), draw(40))
    return {
        "neighbours": in_by_out(layer.lin_l.weight),
        "bias": values(layer.lin_l.bias),
        "own": in_by_out(layer.lin_r.weight),
        "out": values(layer(x, edges)),
    }


def batch_of(sizes):
    return torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))


def sort_pool():
    sizes, k = [3, 6], 4
    x = draw(50)(sum(sizes), 3)
    assert_no_ties(x[:, -1])
    assert (x[: sizes[0], -1] < 0.0).any(), "a padded row of zeros has to come after a negative key"
    return {"x": values(x), "sizes": sizes, "k": k, "out": values(SortAggregation(k)(x, batch_of(sizes)))}


def dgcnn(k, seed):
    """SEAL's DGCNN, but with GCNConv's symmetric normalisation where SEAL's original has D^-1 A.

    The links number the nodes of the whole batch: 0..6 are the first graph, 7..18 the second. conv1 is stored 13 x 3
    (in x out), conv2 as torch has it, [out][in][kernel]. The flattened (channels, length) runs through the length first.
    """
    sizes = [7, 12]
    # The last node of the second graph is isolated. No two linked nodes have the same neighbours: GCN cannot tell such
    # twins apart, whatever their features, and sort pooling would have ties.
    first = [[0, 2], [2, 1], [0, 3], [3, 4], [4, 1], [2, 5], [5, 6]]
    second = [[0, 2], [2, 1], [0, 3], [3, 1], [2, 3], [3, 5], [0, 4], [4, 5], [5, 1]]
    second += [[1, 6], [6, 7], [7, 8], [8, 9], [9, 0], [4, 10]]
    links = first + [[a + sizes[0], b + sizes[0]] for a, b in second]
    edges = both_ways(links)

    tensor = draw(seed)
    x = tensor(sum(sizes), FEATURES)
    widths = [FEATURES, 4, 4, 4, 1]
    gcns = [fill(GCNConv(a, b), tensor) for a, b in zip(widths, widths[1:])]
    channels = sum(widths[1:])
    conv1 = fill(nn.Conv1d(1, 3, kernel_size=channels, stride=channels), tensor)
    conv2 = fill(nn.Conv1d(3, 4, kernel_size=5, stride=1), tensor)
    length = k // 2 - 5 + 1
    linear1 = fill(nn.Linear(4 * length, 6), tensor)
    linear2 = fill(nn.Linear(6, 1), tensor)

    h, layers = x, []
    for layer in gcns:
        h = torch.tanh(layer(h, edges))
        layers.append(h)
    h = torch.cat(layers, dim=-1)
    assert_no_ties(h[:, -1])
    h = SortAggregation(k)(h, batch_of(sizes)).unsqueeze(1)
    h = functional.relu(conv1(h))
    h = functional.max_pool1d(h, 2, 2)
    h = functional.relu(conv2(h))
    h = h.flatten(1)
    h = functional.relu(linear1(h))
    out = linear2(h).squeeze(-1)

    # No parameter may be hidden behind a ReLU that is closed for both graphs.
    for module in [*gcns, conv1, conv2, linear1, linear2]:
        for parameter in module.parameters():
            for logit in out:
                (gradient,) = torch.autograd.grad(logit, parameter, retain_graph=True)
                assert gradient.abs().max() > 1e-4
    return {
        "sizes": sizes,
        "links": links,
        "x": values(x),
        "k": k,
        "gcn": [{"weight": in_by_out(layer.lin.weight), "bias": values(layer.bias)} for layer in gcns],
        "conv1_weight": in_by_out(conv1.weight[:, 0]),
        "conv1_bias": values(conv1.bias),
        "conv2_weight": values(conv2.weight),
        "conv2_bias": values(conv2.bias),
        "linear1_weight": in_by_out(linear1.weight),
        "linear1_bias": values(linear1.bias),
        "linear2_weight": in_by_out(linear2.weight),
        "linear2_bias": values(linear2.bias),
        "out": values(out),
    }


def distances(nodes, links, start, removed=None):
    """Hops from the start, infinite where it does not reach, in the graph without the removed node."""
    found = [math.inf] * nodes
    found[start] = 0
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for link in links:
            if node in link and removed not in link:
                other = link[0] + link[1] - node
                if found[other] == math.inf:
                    found[other] = found[node] + 1
                    queue.append(other)
    return found


def drnl_case(nodes, links, source, target):
    """Zhang & Chen 2018: the distance to each end is taken with the other end removed.

    The links leave out the target link.
    """
    assert [source, target] not in links and [target, source] not in links
    to_source = distances(nodes, links, source, removed=target)
    to_target = distances(nodes, links, target, removed=source)
    labels = []
    for node in range(nodes):
        near, far = sorted((to_source[node], to_target[node]))
        if node in (source, target):
            labels.append(1)
        elif far == math.inf:
            labels.append(0)
        else:
            half, odd = divmod(near + far, 2)
            labels.append(1 + near + half * (half + odd - 1))
    return {"nodes": nodes, "links": links, "source": source, "target": target, "labels": labels}


def drnl():
    return [
        # Common neighbours 2 and 3, a path of two between the ends, and a tail behind 2.
        drnl_case(7, [[0, 2], [2, 1], [0, 3], [3, 1], [0, 4], [4, 5], [5, 1], [2, 6]], 0, 1),
        # A ring of nine with a chord and a tail; the source has the higher number. Node 8 is 3 from
        # the target through the source, but 4 without it.
        drnl_case(
            11,
            [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8], [8, 0], [2, 7], [5, 9], [9, 10]],
            7,
            3,
        ),
        # 5 and 6 reach the source only through the target, 7 the target only through the source, 8 reaches neither.
        drnl_case(9, [[0, 2], [2, 1], [2, 3], [3, 4], [4, 1], [1, 5], [5, 6], [0, 7]], 0, 1),
    ]


def kl():
    """The energy of pair (i, j) is KL(N_j || N_i)."""
    tensor = draw(60)
    mean = tensor(4, 3)
    variance = torch.round(0.2 + tensor(4, 3).abs(), decimals=3)
    gaussians = [Independent(Normal(m, v.sqrt()), 1) for m, v in zip(mean, variance)]
    pairs = [[0, 1], [1, 0], [0, 2], [3, 0], [1, 2], [2, 3]]
    energy = [kl_divergence(gaussians[j], gaussians[i]).item() for i, j in pairs]
    return {"mean": values(mean), "variance": values(variance), "pairs": pairs, "energy": energy}


def citeomatic():
    """out = normalise(sum over terms t of x_t * magnitude_t * direction_t / |direction_t|), in the L2 norm."""
    tensor = draw(70)
    x = functional.relu(tensor(5, FEATURES))
    assert (x.sum(dim=1) > 0.0).all()
    magnitude = tensor(FEATURES)
    direction = tensor(FEATURES, 4)
    terms = magnitude.unsqueeze(1) * direction / direction.norm(dim=1, keepdim=True)
    out = x @ terms
    out = out / out.norm(dim=1, keepdim=True)
    return {"x": values(x), "magnitude": values(magnitude), "direction": values(direction), "out": values(out)}


def pgnn(x):
    """One position-aware layer (You et al. 2019) without the trainable distance.

    The nearest anchor's features come first in the concatenation (w1), the node's own second (w2). Where no anchor of
    the set is reachable the weight is 0, and the anchor's index, the first of the set, is of no matter.
    """
    sets = [[4], [7, 2, 5], [8]]  # the last one is reached from the isolated node alone
    anchors, weights = [], []
    for node in range(NODES):
        hops = distances(NODES, LINKS, node)
        nearest = [min(anchor_set, key=lambda anchor: hops[anchor]) for anchor_set in sets]
        anchors.append(nearest)
        weights.append([1.0 / (hops[anchor] + 1.0) for anchor in nearest])
    weights = torch.tensor(weights)

    tensor = draw(80)
    w1, w2 = tensor(FEATURES, 5, scale=0.6), tensor(FEATURES, 5, scale=0.6)
    bias, p, c = tensor(5, scale=0.6), tensor(5, scale=0.6), tensor(1, scale=0.6)[0]
    position, structure = torch.zeros(NODES, len(sets)), torch.zeros(NODES, 5)
    for node in range(NODES):
        for place, anchor in enumerate(anchors[node]):
            message = functional.relu((weights[node, place] * x[anchor]) @ w1 + x[node] @ w2 + bias)
            position[node, place] = message @ p + c
            structure[node] += message / len(sets)
    return {
        "h": values(x),
        "anchors": anchors,
        "weights": values(weights),
        "w1": values(w1),
        "w2": values(w2),
        "bias": values(bias),
        "p": values(p),
        "c": c.item(),
        "position": values(position),
        "structure": values(structure),
    }


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    x, edges = features(), both_ways(LINKS)
    made = {
        "made_with": {"torch": str(torch.__version__), "torch_geometric": torch_geometric.__version__},
        "graph": {"nodes": NODES, "links": LINKS},
        "x": values(x),
        "gcn": gcn(x, edges),
        "gat": gat(x, edges),
        "gin": gin(x, edges),
        "sage": sage(x, edges),
        "sort_pool": sort_pool(),
        "dgcnn": dgcnn(k=10, seed=92),
        # With k = 10 one place is left after conv2, which says nothing of the order of flattening; here two are left,
        # and k is above both sizes.
        "dgcnn_padded": dgcnn(k=13, seed=90),
        "drnl": drnl(),
        "kl": kl(),
        "citeomatic": citeomatic(),
        "pgnn": pgnn(x),
    }
    lines = [f"{json.dumps(key)}:{json.dumps(part, separators=(',', ':'))}" for key, part in made.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_suffix(".json").write_text(text)


if __name__ == "__main__":
    main()
