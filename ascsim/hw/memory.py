"""One local memory of a core: bytes, definedness, and who touched which byte last.

A Region is an interned byte footprint. The bytes of a memory are partitioned into cells (`partition`): a cell
remembers its last accesses once, however many bytes it has and wherever they lie, and a region is a list of cells.

Undefined bytes hold 0xFF: a NaN in every float type, and -1.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .findings import many
from .partition import Cell, Partition

UNDEFINED = 0xFF
# A piece of a footprint: first byte and ((count, stride in bytes), ...); the innermost dimension has stride 1.
Piece = tuple[int, tuple[tuple[int, int], ...]]
Runs = list[tuple[int, int]]  # of bytes, [start, end)


class Region:
    """An interned footprint in one memory."""

    __slots__ = ("cells", "contiguous", "end", "groups", "holders", "known", "memory", "pieces", "start")

    def __init__(self, memory: Memory, pieces: tuple[Piece, ...]) -> None:
        self.memory, self.pieces = memory, pieces
        self.start = min(first for first, _ in pieces)
        self.end = max(last_byte(piece) for piece in pieces)
        self.contiguous = len(pieces) == 1 and len(pieces[0][1]) == 1  # one run of bytes
        self.known = self.views(memory.defined)
        self.cells: list[Cell] = []
        self.groups: dict[tuple[Region, ...], list[Cell]] = {}  # by the regions, of which this one is the first
        self.holders: list[list[Cell]] = [self.cells]  # lists that hold all of the region's cells

    def views(self, array: np.ndarray) -> list[np.ndarray]:
        """The region's bytes in an array that has one element a byte, piece by piece, writable in place."""
        if self.contiguous:
            return [array[self.start : self.end]]
        size = array.itemsize
        return [
            as_strided(array[first:], tuple(n for n, _ in dims), tuple(step * size for _, step in dims))
            for first, dims in self.pieces
        ]

    def mask(self) -> np.ndarray:
        """True at the region's bytes, over the whole memory."""
        out = np.zeros(self.memory.size, np.bool_)
        for view in self.views(out):
            view[...] = True
        return out

    def runs(self) -> Runs:
        """The region's bytes as runs [start, end)."""
        return runs_of(self.mask())

    def meets(self, other: Region) -> bool:
        """Whether the bounding boxes of two regions of one memory overlap."""
        return self.memory is other.memory and self.start < other.end and other.start < self.end


def last_byte(piece: Piece) -> int:
    """One past the last byte of a piece."""
    first, dims = piece
    return first + sum((n - 1) * step for n, step in dims) + 1


def cells_of(regions: tuple[Region, ...]) -> list[Cell]:
    """The cells of several regions, in one list that is kept up to date when cells are split."""
    regions = tuple(dict.fromkeys(regions))
    if len(regions) < 2:
        return regions[0].cells if regions else []
    found = regions[0].groups.get(regions)
    if found is None:
        found = regions[0].groups[regions] = []
        for region in regions:
            found += region.cells
            region.holders.append(found)
    return found


class Memory:
    """A flat byte array with bounds, definedness and last accesses."""

    __slots__ = ("align", "bytes", "defined", "high", "name", "partition", "regions", "size", "view")

    def __init__(self, name: str, size: int, align: int) -> None:
        self.name, self.size, self.align = name, size, align
        self.bytes = np.full(size, UNDEFINED, np.uint8)
        self.view = memoryview(self.bytes)  # type: ignore[arg-type]
        self.defined = np.zeros(size, np.bool_)
        self.partition = Partition(size)
        self.regions: dict[tuple[Piece, ...], Region] = {}
        self.high = 0  # bytes above were never in a region

    def reset(self) -> None:
        """As at power-on; the partition stays, it holds no state of its own."""
        self.bytes[: self.high] = UNDEFINED
        self.defined[: self.high] = False
        for cell in self.partition.cells:
            cell.reset()

    def run(self, start: int, length: int) -> Region:
        """The region of one contiguous run."""
        return self.region(((start, ((length, 1),)),))

    def region(self, pieces: tuple[Piece, ...]) -> Region:
        """The interned region of a footprint that lies inside the memory."""
        found = self.regions.get(pieces)
        if found is None:
            found = self.regions[pieces] = Region(self, pieces)
            self.high = max(self.high, found.end)
            self.partition.resolve(found)
        return found


def overlap(a: Region, b: Region) -> Runs:
    """The common bytes of two regions of one memory, as runs [start, end)."""
    return runs_of(a.mask() & b.mask())


def runs_of(mask: np.ndarray) -> Runs:
    """Runs [start, end) of the True bytes of a mask."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def show_meeting(one: tuple[str, Runs], other: tuple[str, Runs], common: Runs) -> str:
    """Two operands in UB, each a name and its bytes, and the bytes that they share."""
    both = " and ".join(f"{name} bytes {show_runs(runs)}" for name, runs in (one, other))
    return f"{both} of UB meet in bytes {show_runs(common)}"


def show_runs(runs: Runs, base: int = 0) -> str:
    """`[0:256)`, or the first runs and how many more."""
    if not runs:
        return "[]"
    text = ", ".join(f"[{a - base}:{b - base})" for a, b in runs[:2])
    return text if len(runs) <= 2 else f"{text} and {many(len(runs) - 2, 'more run')}"
