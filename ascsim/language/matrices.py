"""What loads, mmad and fixpipe share: the ends of their operands, the index of a sparse tile, unit flags."""

from __future__ import annotations

import numpy as np

from ..hw.core import Core
from ..hw.errors import ArgumentValueError
from ..hw.findings import Site
from ..hw.memory import Piece, Region, last_byte
from .core.place import Place, report

UNIT_FLAGS = (0, 2, 3)


def unit_flag(operation: str, value: int) -> None:
    """A unit flag is 0 (off), 2 (keeps the marks of the blocks) or 3 (changes them)."""
    if value not in UNIT_FLAGS:
        raise ArgumentValueError(
            operation, "is reserved", operand="unit_flag", value=value, rule="0, 2 or 3", nearest=0 if value == 1 else 3
        )


def end_of_tensor(core: Core, where: Place, pieces: tuple[Piece, ...], name: str, operation: str, site: Site) -> Region:
    """The footprint of an operand; past its tensor is reported, past its memory is a fault."""
    assert where.memory is not None
    end = max(last_byte(piece) for piece in pieces)
    past = end - where.start - where.nbytes
    if past > 0 and end <= where.memory.size:
        text = f"{name} reaches {past} bytes past its tensor ({where.nbytes} bytes at byte {where.start} of "
        report(core, "OOB_BUF", f"{text}{where.memory.name})", site, operation)
    return core.region(where.memory.name, pieces, f"{operation}: {name}", site)


def sparse_index(core: Core) -> np.ndarray:
    """The cube's index buffer: byte i belongs to bytes 4 * i to 4 * i + 3 of L0B, two bits each, low bits first."""
    found: np.ndarray | None = core.operands.get("sparse index")
    if found is None:
        found = core.operands["sparse index"] = np.zeros(core.memories["L0B"].size // 4, np.uint8)
    return found
