"""Images of local memory for tests that compare it as a whole: special values, small numbers, bit patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascsim.language.core.dtype import DataType

SPECIAL = {
    "float": (0.0, -0.0, 1.0, -1.0, 2.0, 0.1, 1e-7, -6e-8, 65504.0, -65504.0, 3e38, 1e-45, np.inf, -np.inf, np.nan),
    "int": (0, 1, 2, 3, -1, -2, 1 << 15, (1 << 15) - 1, -(1 << 15), 1 << 31, (1 << 31) - 1, 0x5555, 0xAAAA),
}


def as_type(numbers: Any, dtype: DataType) -> np.ndarray:
    """Numbers in a type: integers wrap, floats round."""
    with np.errstate(all="ignore"):
        if dtype.is_int():
            return np.array(numbers, np.int64).astype(dtype.np)
        return np.array(numbers, np.float64).astype(dtype.np)


def mixed(dtype: DataType, nbytes: int, seed: int) -> np.ndarray:
    """Bytes that read as all kinds of numbers of the type; every other seed has small numbers only."""
    random = np.random.default_rng(seed)
    many = nbytes // dtype.size
    special = as_type(SPECIAL["int" if dtype.is_int() else "float"], dtype)
    patterns = random.integers(0, 256, nbytes, np.uint8).view(dtype.np)
    small = as_type(random.integers(-50, 50, many) / (1 if dtype.is_int() else 8), dtype)
    if seed % 2:
        return small.view(np.uint8)
    choice = random.integers(0, 3, many)
    return np.choose(choice, [special[random.integers(0, special.size, many)], small, patterns]).view(np.uint8)


def differences(a: np.ndarray, b: np.ndarray, dtype: DataType) -> list[int]:
    """Numbers of the elements that differ; NaNs are equal whatever their bits."""
    bits = np.dtype(f"u{dtype.size}")
    same = a.view(bits) == b.view(bits)
    if not dtype.is_int():
        same |= np.isnan(a.view(dtype.np)) & np.isnan(b.view(dtype.np))
    return np.flatnonzero(~same).tolist()


def laid(nbytes: int, *pieces: tuple[int, Any]) -> np.ndarray:
    """Bytes with arrays laid in at byte offsets; 7 elsewhere."""
    out = np.full(nbytes, 7, np.uint8)
    for start, array in pieces:
        raw = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        out[start : start + raw.size] = raw
    return out
