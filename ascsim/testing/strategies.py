"""Strategies of hypothesis (extra `test`) for kernels: tensors, launches, tilings, which flags stand, legal orders.

All of them shrink towards what is easy to read: zeros, one block, one tile, every flag in place, the launch's order.
Importing this module does not need hypothesis; asking for a strategy does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ascsim.hw.errors import MissingExtraError
from ascsim.hw.orders import ALWAYS
from ascsim.language.core import dtype as dt
from ascsim.lib.platform import Platform

try:
    from hypothesis import strategies as _st
except ImportError:
    _st = None  # type: ignore[assignment]

BLOCK = 32  # bytes; what copies and vector operands are counted in
DTYPES = (
    *(dt.float32, dt.float16, dt.bfloat16),
    *(dt.int32, dt.int16, dt.int8, dt.uint8, dt.uint16, dt.uint32, dt.int64, dt.uint64),
)
FILLS = ("zeros", "counting", "bits", "special")


def _hypothesis() -> Any:
    if _st is None:
        raise MissingExtraError("ascsim.testing.strategies", "hypothesis is not installed", nearest="ascsim[test]")
    return _st


@dataclass(frozen=True)
class Geometry:
    """Where a launch runs: `kernel[blocks]` on a platform."""

    blocks: int
    platform: Platform


@dataclass(frozen=True)
class Tiling:
    """Work cut for `blocks` cores, each of which takes `tiles` tiles of `tile` elements."""

    blocks: int
    tiles: int
    tile: int

    @property
    def elements(self) -> int:
        """Of the whole array."""
        return self.blocks * self.tiles * self.tile


def special_values(dtype: dt.DataType) -> np.ndarray[Any, Any]:
    """Values at which kernels go wrong: zeros of both signs, ones, ends of the range, infinities, NaN, subnormals."""
    kind = np.dtype(dtype.np)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        values = sorted(
            {0, 1, info.min, info.max, info.max - 1, *((-1,) if info.min else ())}, key=lambda v: (abs(v), v)
        )
        return np.array(values, kind)
    width = kind.itemsize * 8
    bits = {16: np.uint16, 32: np.uint32}[width]
    least = np.array([1], bits).view(kind)  # the least subnormal
    plain = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan], np.float32).astype(kind)
    infinity = plain[5:6].view(bits)
    greatest = (infinity - bits(1)).view(kind)
    return np.concatenate([plain, least, -least, greatest, -greatest])


def filled(dtype: dt.DataType, shape: Sequence[int], fill: str, seed: int) -> np.ndarray[Any, Any]:
    """An array: "zeros", "counting" (0, 1, ... up to 127 and again), "bits" (drawn with a seed), "special" values."""
    kind, size = np.dtype(dtype.np), prod(shape)
    random = np.random.default_rng(seed)
    if fill == "zeros":
        flat = np.zeros(size, kind)
    elif fill == "counting":
        flat = (np.arange(size) % 128).astype(kind)
    elif fill == "bits":
        flat = np.frombuffer(random.bytes(size * kind.itemsize), kind).copy()
    else:
        flat = random.choice(special_values(dtype), size)
    return flat.reshape(tuple(shape))


def tensors(
    dtypes: Sequence[dt.DataType] = DTYPES, *, elements: int | None = None, most: int = 1024, strided: bool = False
) -> Any:
    """Arrays for `kernel[blocks](...)`, C-contiguous.

    `elements` fixes the size, else it is up to `most` and fills whole 32-byte blocks; the shape has one or two
    dimensions. `strided=True` gives views with gaps, which a launch refuses.
    """
    st = _hypothesis()

    @st.composite
    def draw_tensor(draw: Any) -> np.ndarray[Any, Any]:
        dtype = draw(st.sampled_from(dtypes))
        step = BLOCK // np.dtype(dtype.np).itemsize
        size = elements if elements is not None else step * draw(st.integers(1, max(1, most // step)))
        rows = draw(st.sampled_from([n for n in (1, 2, 4, 8) if size % n == 0]))
        fill, seed = draw(st.sampled_from(FILLS)), draw(st.integers(0, 2**16))
        shape = (size,) if rows == 1 else (rows, size // rows)
        if not strided:
            return filled(dtype, shape, fill, seed)
        return filled(dtype, (*shape, 2), fill, seed)[..., 0]

    return draw_tensor()


def geometries(most_blocks: int = 48, platforms: Iterable[Platform] = (Platform.Ascend910B1,)) -> Any:
    """Launches: block counts up to `most_blocks`, platforms."""
    st = _hypothesis()
    return st.builds(Geometry, st.integers(1, most_blocks), st.sampled_from(list(platforms)))


def tilings(dtype: dt.DataType, most_blocks: int = 4, most_tiles: int = 5, most_bytes: int = 1024) -> Any:
    """Tilings whose tiles fill whole 32-byte blocks, `most_bytes` at most."""
    st = _hypothesis()
    step = BLOCK // dtype.sizeof()
    tile = st.integers(1, most_bytes // BLOCK).map(lambda n: n * step)
    return st.builds(Tiling, st.integers(1, most_blocks), st.integers(1, most_tiles), tile)


def flag_placements(flags: Iterable[str]) -> Any:
    """Which of a kernel's flag pairs stand: a dict from name to True or False, for `ConstExpr[bool]` parameters."""
    st = _hypothesis()
    stands = st.booleans().map(lambda gone: not gone)  # shrinks towards True
    return st.fixed_dictionaries(dict.fromkeys(flags, stands))


def legal_orders() -> Any:
    """Names of orders that `Recording.replay` takes."""
    st = _hypothesis()
    return st.sampled_from(ALWAYS) | st.integers(0, 2**16).map(lambda seed: f"random {seed}")
