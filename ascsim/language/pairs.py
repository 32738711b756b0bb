"""Pairs of score and index, what sorting instructions work on.

A pair has 8 bytes: the score in the low four (a half in the low two), its uint32 index in the high four. Order is
descending; of equal scores the earlier comes first; -0 equals +0. Choices of this simulator, where the vendor says
nothing: NaN sorts before everything, and the two bytes that a half leaves free hold 0.
"""

from __future__ import annotations

import numpy as np

from ..hw.core import Core
from ..hw.findings import Site
from .core.dtype import DataType, float16, float32
from .core.place import Place, report

SCORES = (float16, float32)
PAIR = 8  # bytes
_MOST = (1 << 31) - 1


def keys(scores: np.ndarray, dtype: DataType) -> np.ndarray:
    """Integers in the order of the scores, whose bits are the low bits of uint32 words."""
    bits = scores << np.uint32(16) if dtype is float16 else scores
    infinity = 0x7C000000 if dtype is float16 else 0x7F800000
    magnitude = (bits & np.uint32(_MOST)).view(np.int32)
    nan = magnitude > infinity
    sign = bits.view(np.int32) >> 31  # 0 or -1
    ordered = magnitude ^ sign
    ordered -= sign  # of negative numbers -magnitude
    if np.count_nonzero(nan):
        ordered[nan] = _MOST
    return ordered


def picked(rows: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The elements of each row in its order."""
    return rows.reshape(-1).take(order + np.arange(0, rows.size, rows.shape[1])[:, None])


def one_type(core: Core, operation: str, dst: Place, src: Place, name: str, site: Site) -> None:
    """Report a source whose type is not that of the destination."""
    if src.dtype is not dst.dtype:
        text = f"{name} has type {src.dtype}, dst has {dst.dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, operation)
