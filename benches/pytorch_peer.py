"""DEAL's training step in PyTorch, written for speed: what the library is compared with.

Each choice that PyTorch leaves open (how sparse rows are multiplied, which Adam, one thread or two, compiled or not) is a field of
`Variant`, and `fastest_variant` measures the options on the data set at hand. What no data set disagreed on is fixed:

- batches are drawn sixteen at a time, so that the cost of a call is shared;
- one look into the table of distances rejects a linked pair and finds the weight of an unlinked one;
- only the distinct nodes of a batch are encoded, and the embeddings of both kinds are normalised and gathered together.
"""

import dataclasses
import time
import warnings

import numpy
import torch
from torch.nn import functional

GAMMA, MARGIN, BETA = 2.0, 0.1, 1.0
LOSS_WEIGHTS = (0.1, 0.85, 0.05)
LINKED_SHARE = 0.4
LEARNING_RATE = 0.01
UNREACHABLE = 255
BATCHES_PER_DRAW = 16
DENSE_LIMIT_BYTES = 2**30

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


@dataclasses.dataclass
class Graph:
    node_count: int
    attribute_count: int
    sources: torch.Tensor
    targets: torch.Tensor
    attribute_pointers: torch.Tensor
    attribute_columns: torch.Tensor
    attribute_values: torch.Tensor
    distances: torch.Tensor


def load_graph(path):
    """A graph in the SparseGraph layout, with attributes scaled to unit rows and all distances."""
    arrays = numpy.load(path)
    node_count, attribute_count = (int(size) for size in arrays["attr_shape"])
    indptr, indices = arrays["adj_indptr"].astype(numpy.int64), arrays["adj_indices"].astype(numpy.int64)
    pointers = arrays["attr_indptr"].astype(numpy.int64)
    values = arrays["attr_data"].astype(numpy.float32)
    owners = numpy.repeat(numpy.arange(node_count), numpy.diff(pointers))
    norms = numpy.sqrt(numpy.bincount(owners, weights=values.astype(numpy.float64) ** 2, minlength=node_count))
    return Graph(
        node_count=node_count,
        attribute_count=attribute_count,
        sources=torch.from_numpy(numpy.repeat(numpy.arange(node_count), numpy.diff(indptr))),
        targets=torch.from_numpy(indices),
        attribute_pointers=torch.from_numpy(pointers),
        # PyTorch's kernels for a bag are about twice as fast on 32-bit indices.
        attribute_columns=torch.from_numpy(arrays["attr_indices"].astype(numpy.int32)),
        attribute_values=torch.from_numpy((values / norms[owners]).astype(numpy.float32)),
        distances=torch.from_numpy(all_distances(indptr, indices)),
    )


def all_distances(indptr, indices, sources_at_once=2048):
    """Shortest paths between all pairs as bytes, breadth first from many sources at a time, one bit per source."""
    node_count = len(indptr) - 1
    distances = numpy.empty((node_count, node_count), dtype=numpy.uint8)
    has_neighbours = numpy.diff(indptr) > 0
    starts = indptr[:-1][has_neighbours]
    for first in range(0, node_count, sources_at_once):
        count = min(sources_at_once, node_count - first)
        reached = numpy.zeros((node_count, -(-count // 64)), dtype=numpy.uint64)
        column = numpy.arange(count)
        reached[first + column, column // 64] = numpy.uint64(1) << (column % 64).astype(numpy.uint64)
        block = numpy.full((node_count, count), UNREACHABLE, dtype=numpy.uint8)
        block[first + column, column] = 0
        for distance in range(1, UNREACHABLE):
            following = reached.copy()
            following[has_neighbours] |= numpy.bitwise_or.reduceat(reached[indices], starts, axis=0)
            fresh = following & ~reached
            if not fresh.any():
                break
            is_fresh = numpy.unpackbits(fresh.view(numpy.uint8), axis=1, bitorder="little", count=count).view(bool)
            block[is_fresh] = distance
            reached = following
        distances[:, first : first + count] = block
    return distances


class Sampler:
    """Batches of pairs, the linked ones first, and their weights in the loss."""

    def __init__(self, graph, batch, seed):
        self.graph = graph
        self.linked = round(LINKED_SHARE * batch)
        self.unlinked = batch - self.linked
        self.flat_distances = graph.distances.view(-1)
        self.generator = torch.Generator().manual_seed(seed)
        distance = torch.arange(256, dtype=torch.float32)
        alpha = torch.exp(BETA / distance)
        alpha[UNREACHABLE] = 1.0
        self.weight_of_distance = alpha / (GAMMA * batch)
        self.linked_weights = torch.full((BATCHES_PER_DRAW, self.linked), 1 / (GAMMA * batch))
        self.rejected_share = (graph.node_count + len(graph.sources)) / graph.node_count**2

    def draw(self):
        """Pairs (batches x 2 x batch) and weights (batches x batch)."""
        graph = self.graph
        edges = torch.randint(len(graph.sources), (BATCHES_PER_DRAW * self.linked,), generator=self.generator)
        places, distances = self.unlinked_places(BATCHES_PER_DRAW * self.unlinked)
        shape = (BATCHES_PER_DRAW, -1)
        sources = torch.cat([graph.sources[edges].view(shape), (places // graph.node_count).view(shape)], 1)
        targets = torch.cat([graph.targets[edges].view(shape), (places % graph.node_count).view(shape)], 1)
        weights = self.weight_of_distance.index_select(0, distances.int()).view(shape)
        return torch.stack([sources, targets], 1), torch.cat([self.linked_weights, weights], 1)

    def unlinked_places(self, needed):
        """Uniform places of the table of distances, less those of linked pairs and of nodes with themselves."""
        spare = 64 + int(2 * needed * self.rejected_share)
        while True:
            places = torch.randint(len(self.flat_distances), (needed + spare,), generator=self.generator)
            distances = self.flat_distances[places]
            kept = (distances > 1).nonzero().view(-1)
            if len(kept) >= needed:
                return places[kept[:needed]], distances[kept[:needed]]
            spare *= 2


class BagProduct(torch.autograd.Function):
    """Rows of the attributes times a matrix. The gradient is a bag over the whole transposed attributes: though it reads every
    entry, it needs no sort, which the built-in gradient of a bag spends most of its time on."""

    @staticmethod
    def forward(context, weight, columns, values, offsets, nodes, transposed):
        context.save_for_backward(nodes)
        context.transposed = transposed
        return functional.embedding_bag(columns, weight, offsets, mode="sum", per_sample_weights=values)

    @staticmethod
    def backward(context, gradient):
        (nodes,) = context.saved_tensors
        owners, values, offsets, node_count = context.transposed
        by_node = gradient.new_zeros(node_count, gradient.shape[1]).index_copy_(0, nodes, gradient)
        by_attribute = functional.embedding_bag(owners, by_node, offsets, mode="sum", per_sample_weights=values)
        return by_attribute, None, None, None, None, None


class AttributeProduct:
    """Attributes of given nodes times a matrix, in one of several ways."""

    def __init__(self, graph, way):
        self.graph = graph
        self.multiply = {
            "bag": self.bag,
            "bag, own gradient": self.bag_with_own_gradient,
            "sparse matrix": self.sparse_matrix,
            "dense matrix": self.dense_matrix,
        }[way]
        lengths = graph.attribute_pointers.diff()
        if way == "bag, own gradient":
            owners = torch.repeat_interleave(lengths)
            order = torch.argsort(graph.attribute_columns, stable=True)
            counts = torch.bincount(graph.attribute_columns, minlength=graph.attribute_count)
            self.transposed = (
                owners[order].int(), graph.attribute_values[order], (counts.cumsum(0) - counts).int(), graph.node_count)
        if way == "dense matrix":
            self.dense = torch.zeros(graph.node_count, graph.attribute_count)
            self.dense[torch.repeat_interleave(lengths), graph.attribute_columns.long()] = graph.attribute_values

    def entries(self, nodes):
        """Columns, values and row ends of the chosen rows."""
        starts = self.graph.attribute_pointers[nodes]
        lengths = self.graph.attribute_pointers[nodes + 1] - starts
        ends = lengths.cumsum(0)
        shifts = torch.repeat_interleave(starts - ends + lengths, lengths)
        places = shifts.add_(torch.arange(len(shifts)))
        columns = self.graph.attribute_columns.index_select(0, places)
        return columns, self.graph.attribute_values.index_select(0, places), ends, ends - lengths

    def bag(self, nodes, weight):
        columns, values, _, offsets = self.entries(nodes)
        return functional.embedding_bag(columns, weight, offsets.int(), mode="sum", per_sample_weights=values)

    def bag_with_own_gradient(self, nodes, weight):
        columns, values, _, offsets = self.entries(nodes)
        return BagProduct.apply(weight, columns, values, offsets.int(), nodes, self.transposed)

    def sparse_matrix(self, nodes, weight):
        columns, values, ends, _ = self.entries(nodes)
        pointers = functional.pad(ends, (1, 0)).int()
        shape = (len(nodes), self.graph.attribute_count)
        return torch.sparse_csr_tensor(pointers, columns, values, shape, check_invariants=False) @ weight

    def dense_matrix(self, nodes, weight):
        return self.dense.index_select(0, nodes) @ weight


class AdamOnRows:
    """Adam on the gathered rows of a table alone. A batch's distinct nodes are distinct, so that the sort in
    torch.optim.SparseAdam's `coalesce` is not needed."""

    def __init__(self, table):
        self.table = table
        self.first, self.second = torch.zeros_like(table), torch.zeros_like(table)
        self.count = 0

    @torch.no_grad()
    def step(self, nodes, gradient):
        self.count += 1
        first = self.first.index_select(0, nodes).lerp_(gradient, 0.1)
        second = self.second.index_select(0, nodes).mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        self.first.index_copy_(0, nodes, first)
        self.second.index_copy_(0, nodes, second)
        second.sqrt_().div_((1 - 0.999**self.count) ** 0.5).add_(1e-8)
        self.table.index_add_(0, nodes, first.div_(second), alpha=-LEARNING_RATE / (1 - 0.9**self.count))


def batch_loss(hidden, structure, layers, inverse, weights, signs, loss_weights):
    """Eqs. 4, 8 and 9 with the cosine. `hidden` is the attributes' product with the first matrix, `layers` the rest of the encoder;
    their rows, and those of `structure`, are the distinct nodes that `inverse` (sources, then targets) points into."""
    attribute = hidden
    if layers is not None:
        first_bias, second_weight, second_bias = layers
        attribute = torch.addmm(second_bias, functional.elu(hidden + first_bias), second_weight)
    both = torch.cat([functional.normalize(structure), functional.normalize(attribute)], 1)
    sources, targets = both.index_select(0, inverse).view(2, -1, 2, structure.shape[1]).unbind(0)
    same_kind = (sources * targets).sum(-1)
    across = (sources[:, 0] * targets[:, 1]).sum(-1, keepdim=True)
    similarity = torch.cat([same_kind, across], 1)
    return (functional.softplus(similarity * signs + MARGIN) * weights[:, None]).sum(0) @ loss_weights


@dataclasses.dataclass(frozen=True)
class Variant:
    product: str = "bag"
    optimiser: str = "fused Adam"
    threads: int = 2
    compiled: bool = False

    def __str__(self):
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return "; ".join([self.product, self.optimiser, threads, "compiled" if self.compiled else "eager"])


OPTIMISERS = ["fused Adam", "foreach Adam", "SparseAdam on the table", "Adam on the table's touched rows"]


class Trainer:
    def __init__(self, graph, encoder, batch, width, variant, seed=0):
        torch.manual_seed(seed)
        self.variant = variant
        self.product = AttributeProduct(graph, variant.product)
        self.sampler = Sampler(graph, batch, seed)
        self.batches = self.draw_batches()
        self.weight = torch.nn.Parameter(torch.randn(graph.attribute_count, width))
        self.layers = None
        if encoder == "mlp":
            self.layers = (
                torch.nn.Parameter(torch.zeros(width)),
                torch.nn.Parameter(torch.randn(width, width) / width**0.5),
                torch.nn.Parameter(torch.zeros(width)),
            )
        self.table = torch.nn.Parameter(torch.randn(graph.node_count, width))
        self.optimisers = self.make_optimisers()
        signs = torch.full((batch, 1), GAMMA)
        signs[: self.sampler.linked] = -GAMMA
        self.signs = signs
        self.loss_weights = torch.tensor(LOSS_WEIGHTS)
        self.batch_loss = torch.compile(batch_loss, dynamic=True) if variant.compiled else batch_loss

    def make_optimisers(self):
        encoder = [self.weight, *(self.layers or ())]
        choice = self.variant.optimiser
        if choice == "foreach Adam":
            return [torch.optim.Adam([*encoder, self.table], lr=LEARNING_RATE, foreach=True)]
        if choice == "fused Adam":
            return [torch.optim.Adam([*encoder, self.table], lr=LEARNING_RATE, fused=True)]
        self.rows_optimiser = AdamOnRows(self.table) if choice == "Adam on the table's touched rows" else None
        of_table = [] if self.rows_optimiser else [torch.optim.SparseAdam([self.table], lr=LEARNING_RATE)]
        return [torch.optim.Adam(encoder, lr=LEARNING_RATE, fused=True), *of_table]

    def draw_batches(self):
        while True:
            pairs, weights = self.sampler.draw()
            yield from zip(pairs.unbind(0), weights.unbind(0))

    def table_rows(self, nodes):
        if self.variant.optimiser == "Adam on the table's touched rows":
            return self.table.detach().index_select(0, nodes).requires_grad_()
        if self.variant.optimiser == "SparseAdam on the table":
            return functional.embedding(nodes, self.table, sparse=True)
        return self.table.index_select(0, nodes)

    def step(self, pairs, weights):
        nodes, inverse = torch.unique(pairs.view(-1), return_inverse=True)
        structure = self.table_rows(nodes)
        hidden = self.product.multiply(nodes, self.weight)
        loss = self.batch_loss(hidden, structure, self.layers, inverse, weights, self.signs, self.loss_weights)
        for optimiser in self.optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser in self.optimisers:
            optimiser.step()
        if structure.is_leaf:
            self.rows_optimiser.step(nodes, structure.grad)
        return loss.detach()

    def run(self, steps):
        """Trains, and returns the losses and the milliseconds per step."""
        torch.set_num_threads(self.variant.threads)
        start = time.perf_counter()
        losses = [self.step(*next(self.batches)) for _ in range(steps)]
        milliseconds = 1000 * (time.perf_counter() - start) / steps
        return torch.stack(losses), milliseconds


def fastest_variant(graph, encoder, batch, width, *, threads, try_compile, own_gradient, report):
    """Settles one field of the variant after the other, each by the best of a few short and interleaved runs."""
    products = ["bag", *(["bag, own gradient"] if own_gradient else []), "sparse matrix"]
    if 4 * graph.node_count * graph.attribute_count <= DENSE_LIMIT_BYTES:
        products.append("dense matrix")
    variant = Variant(threads=threads)
    options = {
        "product": products,
        "optimiser": OPTIMISERS,
        "threads": [threads, 1] if threads > 1 else [],
        "compiled": [False, True] if try_compile else [],
    }
    for field, values in options.items():
        candidates = [dataclasses.replace(variant, **{field: value}) for value in values]
        if candidates:
            timings = interleaved_timings(graph, encoder, batch, width, candidates)
            variant = min(timings, key=timings.get)
            report(field, {str(getattr(candidate, field)): value for candidate, value in timings.items()})
    return variant


def interleaved_timings(graph, encoder, batch, width, candidates, rounds=10, seconds=0.1):
    trainers = {candidate: Trainer(graph, encoder, batch, width, candidate) for candidate in candidates}
    timings, steps = {}, {}
    for candidate, trainer in trainers.items():
        trainer.run(BATCHES_PER_DRAW)
        _, milliseconds = trainer.run(BATCHES_PER_DRAW)
        steps[candidate] = max(1, round(1000 * seconds / milliseconds / BATCHES_PER_DRAW)) * BATCHES_PER_DRAW
    for _ in range(rounds):
        for candidate, trainer in trainers.items():
            _, milliseconds = trainer.run(steps[candidate])
            timings[candidate] = min(milliseconds, timings.get(candidate, milliseconds))
    return timings
