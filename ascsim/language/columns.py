"""The column matrix of an image: what the image-to-column loads see of a feature map in L1. Page: LoadData (3D).

The feature map is (C1, H, W, channels of a block) in L1. Row m of the matrix is the window at output position m (along
the width first), its columns run over the blocks of channels, the points of the filter, and the channels of a block.
A pixel outside the map has the padding value. Not here: where the loads put it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..hw.memory import Piece, runs_of
from .fractals import BLOCK, dims_of

OUTSIDE = -1  # number of a pixel that lies in the padding


class Map(NamedTuple):
    """A feature map and the windows over it; pads: left, right, top, bottom. Sizes in pixels."""

    height: int
    width: int
    pads: tuple[int, ...]
    channels: int
    strides: tuple[int, int]  # w, h
    filter: tuple[int, int]
    dilation: tuple[int, int]

    @property
    def windows(self) -> tuple[int, int]:
        """Output positions along the width and the height."""
        sizes = self.width + sum(self.pads[:2]), self.height + sum(self.pads[2:])
        axes = zip(sizes, self.filter, self.dilation, self.strides, strict=True)
        return tuple([(size - (side - 1) * wide - 1) // step + 1 for size, side, wide, step in axes])  # type: ignore[return-value]

    @property
    def plain(self) -> bool:
        """Whether row m of the matrix is pixel m: then the map is itself a matrix in fractal columns (NZ)."""
        return self.filter == self.strides == (1, 1) and not any(self.pads)


class Columns:
    """Rows `rows` and columns `columns` (element numbers) of a map's column matrix, for a tile that starts at a byte.

    `size`: bytes of an element. `wrap`: the byte of L1 after which reading goes on at byte 0, or 0.
    """

    __slots__ = ("_columns", "_rows", "map", "pixels", "size", "start", "unit", "wrap")

    def __init__(self, map_: Map, start: int, size: int, rows: np.ndarray, columns: np.ndarray, wrap: int) -> None:
        self.map, self.start, self.size, self.wrap = map_, start, size, wrap
        self._rows, self._columns = rows, columns
        self.unit = min(BLOCK, map_.channels * size)  # bytes of a pixel's block of channels
        self.pixels = self._pixels()

    def _pixels(self) -> np.ndarray:
        """(row, block of columns): number of the pixel, in units from byte 0 of L1, or OUTSIDE."""
        map_ = self.map
        points = map_.filter[0] * map_.filter[1]
        block = self._columns[:: self.unit // self.size] // (self.unit // self.size)
        c1, point = np.divmod(block, points)
        down, across = np.divmod(point, map_.filter[0])
        row, column = np.divmod(self._rows, map_.windows[0])
        w = column[:, None] * map_.strides[0] + across * map_.dilation[0] - map_.pads[0]
        h = row[:, None] * map_.strides[1] + down * map_.dilation[1] - map_.pads[2]
        inside = (w >= 0) & (w < map_.width) & (h >= 0) & (h < map_.height)
        number = self.start // self.unit + (c1 * map_.height + h) * map_.width + w
        if self.wrap:
            number %= self.wrap // self.unit
        return np.where(inside, number, OUTSIDE)

    def pieces(self) -> tuple[Piece, ...]:
        """The bytes of L1 that are read."""
        inside = self.pixels[self.pixels >= 0]
        if not inside.size:
            return ()
        rows, blocks = self.pixels.shape
        step = self._step()
        if step is not None:
            dims = dims_of([(rows, self.unit), (blocks, step)], self.unit)
            return ((int(self.pixels[0, 0]) * self.unit, dims),)
        touched = np.zeros(int(inside.max()) + 1, np.bool_)
        touched[inside] = True
        return tuple((a * self.unit, (((b - a) * self.unit, 1),)) for a, b in runs_of(touched))

    def _step(self) -> int | None:
        """Bytes between blocks, where rows follow each other and blocks have one distance; else None."""
        first = self.pixels[:1]
        if (self.pixels < 0).any() or not (self.pixels - first == np.arange(len(self.pixels))[:, None]).all():
            return None
        steps = set(np.diff(first[0]).tolist())
        return (steps.pop() if steps else 1) * self.unit if len(steps) <= 1 and min(steps, default=1) > 0 else None

    def reader(self, flat: np.ndarray, fill: bytes) -> Any:
        """What gives the matrix out of L1's bytes, or definedness, as (row, block) units: a view where it can be one.

        `fill`: the bytes of an element of the padding.
        """
        kind, step = f"V{self.unit}", self._step()
        if step is not None:
            start = int(self.pixels[0, 0]) * self.unit
            view: np.ndarray = np.ndarray(self.pixels.shape, kind, flat.data, start, (self.unit, step))
            return lambda: view
        units: np.ndarray = np.ndarray(flat.size // self.unit, kind, flat.data)
        pixels, outside = self.pixels, self.pixels < 0
        padding = np.frombuffer(fill * (self.unit // len(fill)), kind)[0]

        def gather() -> np.ndarray:
            out = units[pixels]
            out[outside] = padding
            return out

        return gather
