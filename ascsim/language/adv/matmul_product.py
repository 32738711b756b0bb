"""What the cube core is told of a product: where its matrices lie, and where its results go."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.enums import QuantModes
from ..core.global_tensor import GlobalTensor
from ..core.tensor import LocalTensor
from .matmul_moves import Stored


class InGm(NamedTuple):
    """A matrix in global memory from a byte on; `pitch`: elements from row to row, or rows in all where it lies in
    fractals."""

    tensor: GlobalTensor
    at: int
    pitch: int
    fractal: bool


class InL1(NamedTuple):
    """A whole matrix in L1, in fractals."""

    stored: Stored


class Scalar(NamedTuple):
    """Every element is this number."""

    value: float


class Product(NamedTuple):
    """C[m, n] = A[m, k] * B[k, n] + bias; `across`: the stored rows are those of K."""

    a: InGm | InL1 | Scalar
    b: InGm | InL1 | Scalar
    a_across: bool
    b_across: bool
    bias: Any  # InGm, a Place in L1, or None
    m: int
    n: int
    k: int
    sparse: InGm | None = None  # the index of a B that is 4:2 compressed along K


class Target(NamedTuple):
    """Where results go. `pitch`: elements of a row of C, or rows of C where it lies in fractals."""

    tensor: GlobalTensor | LocalTensor
    pitch: int
    fractal: bool
    split: bool
    sequential: bool
    atomic: int
    mode: QuantModes
    factor: int | InGm | None  # of a quantisation: one for all, or one a column
    private: bool  # memory of the library: no other core knows of it
