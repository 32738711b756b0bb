"""What is no strided operand: values one a lane that lie in no memory of the core, and the first bytes of a tensor.

An instruction takes bits of a selection, or numbers of channels, as a `hidden` source (`plans.build`), so that masks,
strides and repeats pick from it as they pick from the operands.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..hw.findings import Site
from ..hw.instruction import Region
from .core.dtype import DataType
from .core.place import Place
from .operand import Strided
from .spans import span


def hidden(name: str, values: np.ndarray, dtype: DataType, block: int, repeat: int) -> Strided:
    """Values of `dtype`, one behind the other in whole 32-byte blocks, with strides as an operand has them."""
    memory = SimpleNamespace(bytes=values.view(np.uint8))
    place: Any = SimpleNamespace(start=0, nbytes=values.nbytes, dtype=dtype, memory=memory)
    return Strided(name, place, block, repeat)


def first_bytes(name: str, place: Place, nbytes: int, operation: str, site: Site) -> tuple[Region, np.ndarray]:
    """Footprint and view of a tensor's first bytes."""
    footprint = span(place, nbytes, name, operation, site)
    assert place.memory is not None
    return footprint, place.memory.bytes[place.start : place.start + nbytes]
