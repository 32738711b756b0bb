"""Plans of moves from one local memory to another, as the loads of the cube side are: one assignment through views.

Both sides are strided views of the same shape, so that a move may rearrange. Definedness goes along with the bytes:
what is loaded beyond the edge of a matrix is reported only if an instruction uses it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.instruction import Plan
from ..hw.memory import Piece
from .core.place import Place
from .fractals import dims_of


class Side(NamedTuple):
    """Elements of an operand: first byte, (count, stride in bytes) pairs, outermost first, bytes of an element."""

    place: Place
    start: int
    dims: tuple[tuple[int, int], ...]
    size: int

    def view(self, flat: np.ndarray, element: Any = None) -> np.ndarray:
        """The elements in a memory's bytes or definedness, sharing it; as plain bytes where no type is given."""
        shape, strides = tuple(n for n, _ in self.dims), tuple(step for _, step in self.dims)
        kind = f"u{self.size}" if self.size <= 8 else f"V{self.size}"  # numpy moves small elements faster as numbers
        return np.ndarray(shape, element or kind, flat.data, self.start, strides)

    def piece(self) -> Piece:
        """The footprint. A stride of 0 takes the same elements again, a negative one goes down from the first."""
        start = self.start + sum((n - 1) * step for n, step in self.dims if step < 0)
        return start, dims_of([(n, abs(step)) for n, step in self.dims if step], self.size)


def move_plan(core: Core, operation: str, pipe: str, to: Side, source: Side, cycles: int, site: Site) -> Plan:
    """The plan of dst = src, element by element, between two memories."""
    write = to.place.region((to.piece(),), "dst", operation, site)
    read = source.place.region((source.piece(),), "src", operation, site)
    run = partial(np.copyto, to.view(write.memory.bytes), source.view(read.memory.bytes))
    carry = partial(np.copyto, to.view(write.memory.defined), source.view(read.memory.defined))
    return Plan(operation, core.pipes[pipe], (read,), (write,), run, cycles, carry=carry)
