"""A slow second opinion on atomic stores: one element after the other, by the numbers of `reference`."""

from __future__ import annotations

import numpy as np
from reference import DTYPES, Number, load, maximum, minimum, store


def updated(operation: str, old: Number, new: Number) -> Number:
    """What stands in memory after an update, before it is rounded or wrapped to its type."""
    return {"add": lambda: old + new, "max": lambda: maximum(old, new), "min": lambda: minimum(old, new)}[operation]()


def atomic_store(
    gm: np.ndarray,
    dst: int,
    ub: np.ndarray,
    src: int,
    moves: tuple[int, int, int, int],
    operation: str,
    dtype: str,
) -> None:
    """UB to GM. `moves`: blocks, bytes of a block, and from block to block the bytes in UB and in GM."""
    blocks, length, ub_pitch, gm_pitch = moves
    size = DTYPES[dtype].itemsize
    for block in range(blocks):
        for at in range(0, length, size):
            to = dst + block * gm_pitch + at
            old, new = load(gm, to, dtype), load(ub, src + block * ub_pitch + at, dtype)
            store(gm, to, dtype, updated(operation, old, new))
