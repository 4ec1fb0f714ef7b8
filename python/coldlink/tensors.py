"""Tensors of PyTorch as arrays, on the same memory where they are on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coldlink.notices import notice


def array(tensor: Any) -> npt.NDArray[Any]:
    """A tensor as an array."""
    if not hasattr(tensor, "detach"):
        return np.asarray(tensor)
    tensor = tensor.detach().cpu()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    made: npt.NDArray[Any] = tensor.numpy()
    return made


def matrix(x: Any) -> Any:
    """A tensor of attributes, sparse ones as a scipy matrix."""
    if hasattr(x, "to_torch_sparse_csr_tensor"):
        x = x.to_torch_sparse_csr_tensor()
    if getattr(x, "is_sparse", False):
        x = x.coalesce().to_sparse_csr()
    if not hasattr(x, "crow_indices") or "sparse_csr" not in str(getattr(x, "layout", "")):
        return array(x)
    from scipy.sparse import csr_array

    parts = (array(x.values()), array(x.col_indices()), array(x.crow_indices()))
    return csr_array(parts, shape=tuple(x.shape))


def carried(data: Any) -> tuple[Any, Any]:
    """The weights and the times of links of PyTorch Geometric, where they have any."""
    given = getattr(data, "edge_weight", None)
    weights = None if given is None else array(given).reshape(-1)
    if weights is None:
        weights = _one_number_each(getattr(data, "edge_attr", None))
    times = getattr(data, "edge_time", None)
    return weights, None if times is None else array(times).reshape(-1)


def _one_number_each(edge_attr: Any) -> Any:
    """Attributes of links that can be weights."""
    if edge_attr is None:
        return None
    values = array(edge_attr)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1 and values.dtype.kind in "fiub" and np.isfinite(values).all() and (values >= 0).all():
        return values
    notice(["ignored `edge_attr`: only one number of 0 or more for each link is a weight"])
    return None
