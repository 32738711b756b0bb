"""Pairs as the device holds them, and calls on them, for tests of sorting instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from basic_machine import codes, on_image, ub

from ascsim.hw.checks import Checks
from ascsim.language.basic import mrg_sort
from ascsim.language.core import MrgSort4Info, MrgSortSrcList
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
F = partial(ub, dt.float32)
U = partial(ub, dt.uint32)
H = partial(ub, dt.float16)
NAN, INF = float("nan"), float("inf")
Pair = tuple[float, int]


def packed(pairs: Sequence[Pair], dtype: type = np.float32) -> np.ndarray:
    """Pairs as the device holds them."""
    out = np.zeros((len(pairs), 8), np.uint8)
    size = np.dtype(dtype).itemsize
    out[:, :size] = np.array([p[0] for p in pairs], dtype).reshape(-1, 1).view(np.uint8)
    out[:, 4:] = np.array([p[1] for p in pairs], np.uint32).reshape(-1, 1).view(np.uint8)
    return out.reshape(-1)


def unpacked(raw: np.ndarray, dtype: type = np.float32) -> list[Pair]:
    rows = raw.reshape(-1, 8)
    size = np.dtype(dtype).itemsize
    scores = np.ascontiguousarray(rows[:, :size]).view(dtype).ravel().tolist()
    return list(zip(scores, np.ascontiguousarray(rows[:, 4:]).view(np.uint32).ravel().tolist(), strict=True))


def same(a: Sequence[Pair], b: Sequence[Pair]) -> bool:
    """Equal, NaN equal to NaN, and -0 other than 0."""
    return [(repr(x), i) for x, i in a] == [(repr(x), i) for x, i in b]


def found(call: Callable[[], Any]) -> list[str]:
    _, device = on_image(np.zeros(16384, np.uint8), call, COLLECT)
    return codes(device)


def merge_call(
    lengths: Sequence[int], valid: int = 3, times: int = 1, suspend: bool = False, starts: Any = (0, 1024, 2048, 3072)
) -> Callable[[], None]:
    def call() -> None:
        sources = [F(start, 256) for start in starts]
        mrg_sort(F(8192, 1024), MrgSortSrcList(dt.float32, *sources), MrgSort4Info(lengths, suspend, valid, times))

    return call
