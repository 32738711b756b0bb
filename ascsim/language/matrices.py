"""What loads, mmad and fixpipe share: the index of a sparse tile, the values of a unit flag."""

from __future__ import annotations

import numpy as np

from ..hw.core import Core
from ..hw.errors import ArgumentValueError

UNIT_FLAGS = (0, 2, 3)


def unit_flag(operation: str, value: int) -> None:
    """A unit flag is 0 (off), 2 (keeps the marks of the blocks) or 3 (changes them)."""
    if value not in UNIT_FLAGS:
        raise ArgumentValueError(
            operation, "is reserved", operand="unit_flag", value=value, rule="0, 2 or 3", nearest=0 if value == 1 else 3
        )


def sparse_index(core: Core) -> np.ndarray:
    """The cube's index buffer: byte i belongs to bytes 4 * i to 4 * i + 3 of L0B, two bits each, low bits first."""
    found: np.ndarray | None = core.operands.get("sparse index")
    if found is None:
        found = core.operands["sparse index"] = np.zeros(core.memories["L0B"].size // 4, np.uint8)
    return found
