"""What is no strided operand: values one a lane that lie in no memory of the core, and the first bytes of a tensor.

An instruction takes bits of a selection, or numbers of channels, as a `hidden` source (`plans.build`), so that masks,
strides and repeats pick from it as they pick from the operands.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.instruction import Region
from ..hw.memory import overlap, show_meeting
from .core.dtype import DataType
from .core.place import Place, report
from .operand import Part, Strided, region


def hidden(name: str, values: np.ndarray, dtype: DataType, block: int, repeat: int) -> Strided:
    """Values of `dtype`, one behind the other in whole 32-byte blocks, with strides as an operand has them."""
    memory = SimpleNamespace(bytes=values.view(np.uint8))
    place: Any = SimpleNamespace(start=0, nbytes=values.nbytes, dtype=dtype, memory=memory)
    return Strided(name, place, block, repeat)


def first_bytes(
    core: Core, name: str, place: Place, nbytes: int, operation: str, site: Site
) -> tuple[Region, np.ndarray]:
    """Footprint and view of a tensor's first bytes."""
    operand = Strided(name, place)
    operand.size = 1
    footprint = region(operand, 0, [[Part([(nbytes, [1])], [place.start])]], operation, site)
    assert place.memory is not None
    return footprint, place.memory.bytes[place.start : place.start + nbytes]


def apart(core: Core, operation: str, write: Region, read: Region, source: str, site: Site) -> None:
    """Report a destination that meets a source of which it must keep clear."""
    common = overlap(write, read) if write.meets(read) else []
    if common:
        text = f"{show_meeting(('dst', write.runs()), (source, read.runs()), common)}; rule: lie apart"
        report(core, "OVERLAP_PARTIAL", text, site, operation)
