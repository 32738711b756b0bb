"""Reductions of the lanes of repeats: what is computed, and the plan of an instruction that folds each repeat.

Sums are binary trees over neighbouring lanes, every node rounded to the declared type; lanes that the mask leaves out
take no part. Extremes: NaN wins, +0 is greater than -0, the first of equals is taken (which of several NaNs the
device names is not published). Pages: ReduceRepeat, ReduceDataBlock, ReducePairElem, and the table of edge values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.instruction import Plan
from ..hw.memory import Piece, show_meeting
from .core.place import Place, report
from .masks import Runs, Work, runs_of
from .operand import BLOCK, REPEAT, Strided, parts, region
from .overlap import bytes_of, footprint, touched
from .plans import repeated
from .values import SIGNED


def tree(x: np.ndarray) -> np.ndarray:
    """Sums along the last axis, whose length is a power of two: neighbours first."""
    *shape, width = x.shape
    if width <= 2:  # by themselves: numpy is slow with a last axis of one element
        return x[..., 0] if width == 1 else x[..., 0] + x[..., 1]
    sums = (x[..., ::2] + x[..., 1::2]).reshape(-1)  # row behind row: the rest in one dimension
    while width > 2:
        sums = sums[::2] + sums[1::2]
        width //= 2
    return sums.reshape(shape)


@lru_cache(maxsize=256)
def _firsts(rows: int, width: int) -> np.ndarray:
    """The numbers of the first elements of rows."""
    return np.arange(0, rows * width, width)


def extreme(x: np.ndarray, active: np.ndarray | None, greatest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The bits of the greatest (or least) active element along the last axis, and where it stands; None: all are."""
    signed = SIGNED[x.itemsize]
    if active is None:
        at = x.argmax(-1) if greatest else x.argmin(-1)  # of numpy's, too: the first NaN wins
        firsts = _firsts(at.size, x.shape[-1]).reshape(at.shape)
        value = x.reshape(-1)[at + firsts]
        if np.count_nonzero(value) == value.size:  # of zeros the sign counts
            return value.view(signed), at
    bits = x.view(signed)
    limits = np.iinfo(bits.dtype)
    keys = bits ^ ((bits >> (8 * x.itemsize - 1)) & limits.max)  # integers in the order of the numbers
    first, last = (limits.max, limits.min) if greatest else (limits.min, limits.max)
    keys[np.isnan(x)] = first
    if active is not None:
        keys[..., ~active] = last
    at = keys.argmax(-1) if greatest else keys.argmin(-1)
    return np.take_along_axis(bits, at[..., None], -1)[..., 0], at


class Fold(NamedTuple):
    """What becomes of a repeat: `value(x, active)` takes (repeats, results, lanes of one) to (repeats, results, words).

    `active` (results, lanes of one) is None where all are. A result of lanes that are all masked off is not written.
    """

    value: Callable[[np.ndarray, np.ndarray | None], np.ndarray]
    results: Callable[[int], int]  # of a repeat, by its lanes
    words: int = 1  # elements of a result
    size: int = 0  # bytes of such an element; 0: as the source's

    def unit(self, src: Strided) -> int:
        """Bytes that the results of one repeat fill."""
        return self.results(REPEAT // src.size) * self.words * (self.size or src.size)


class Lanes:
    """The lanes of some repeats of a source that share a mask; those that the mask leaves out hold -0."""

    __slots__ = ("active", "all", "first", "runs", "shape", "times", "view")

    def __init__(self, src: Strided, runs: Runs, first: int, times: int) -> None:
        lanes, per_block = REPEAT // src.size, BLOCK // src.size
        self.first, self.times, self.shape, self.runs = first, times, (times, lanes), runs
        self.active = np.zeros(lanes, np.bool_)
        for a, b in runs:
            self.active[a:b] = True
        self.all = runs == ((0, lanes),)
        blocks = -(-runs[-1][1] // per_block)
        shape: tuple[int, ...] = (times, blocks, per_block)
        strides: tuple[int, ...] = (src.repeat * BLOCK, src.block * BLOCK, src.size)
        if src.block == 1:  # then there is nothing to copy in `read`
            shape, strides = (times, blocks * per_block), (src.repeat * BLOCK, src.size)
        assert src.place.memory is not None
        start = src.place.start + first * src.repeat * BLOCK
        self.view = np.ndarray(shape, src.place.dtype.np, src.place.memory.bytes.data, start, strides)

    def ready(self, results: int) -> np.ndarray | None:
        """(repeats, results, lanes of one) without a copy, where that is possible."""
        return self.view.reshape(self.times, results, -1) if self.all and self.view.ndim == 2 else None

    def mask(self, results: int) -> np.ndarray | None:
        """(results, lanes of one): those that take part; None: all."""
        return None if self.all else self.active.reshape(results, -1)

    def read(self) -> np.ndarray:
        """(repeats, lanes); not to be written to."""
        if self.all:
            return self.view.reshape(self.shape)
        out = np.full(self.shape, -0.0, self.view.dtype)
        given = self.view.reshape(self.times, -1)
        for a, b in self.runs:
            out[:, a:b] = given[:, a:b]
        return out


def lanes_of_works(src: Strided, works: Sequence[Work], one_by_one: bool = False) -> list[Lanes]:
    """The lanes of a call, mask by mask, or repeat by repeat."""
    out, first = [], 0
    for runs, times in works:
        step = 1 if one_by_one else times
        out += [Lanes(src, runs, first + at, step) for at in range(0, times, step)]
        first += times
    return out


def fold_plan(
    core: Core, name: str, fold: Fold, dst: Place, src: Strided, works: list[Work], pitch: int, site: Site
) -> Plan:
    """The plan of an instruction that folds each repeat; `pitch`: bytes from one repeat's results to the next."""
    read = region(src, 0, parts([src], works), name, site)
    pieces = [piece for lanes in lanes_of_works(src, works) for piece in _pieces(fold, dst, src, lanes, pitch)]
    write = dst.region(tuple(pieces), "dst", name, site)
    times = repeated(core, works, write.memory, name, site)
    in_order = times > 1 and pitch < fold.unit(src)
    if write.meets(read):
        in_order |= _overtaken(core, name, fold, dst, src, works, pitch, site)
    results = fold.results(REPEAT // src.size)
    steps = [
        Step(lanes, lanes.ready(results), lanes.mask(results), _targets(fold, dst, src, lanes, pitch))
        for lanes in lanes_of_works(src, works, one_by_one=in_order)
    ]
    run = partial(_run, fold, results, steps)
    return Plan(name, core.pipes["V"], (read,), (write,), run, core.device.cost.vector(times))


def _columns(fold: Fold, lanes: Lanes) -> Runs:
    """Runs of results that are written."""
    written = lanes.active.reshape(fold.results(lanes.active.size), -1).any(-1)
    return runs_of(int.from_bytes(np.packbits(written, bitorder="little").tobytes(), "little"))


def _pieces(fold: Fold, dst: Place, src: Strided, lanes: Lanes, pitch: int) -> list[Piece]:
    """The bytes of dst that the results of these repeats fill."""
    width = fold.words * (fold.size or src.size)
    start = dst.start + lanes.first * pitch
    times = lanes.times if pitch else 1
    out: list[Piece] = []
    for a, b in _columns(fold, lanes):
        length = (b - a) * width
        if times == 1 or pitch == length:
            out.append((start + a * width, ((length * times, 1),)))
        else:
            out.append((start + a * width, ((times, pitch), (length, 1))))
    return out


def _targets(fold: Fold, dst: Place, src: Strided, lanes: Lanes, pitch: int) -> list[tuple[slice, np.ndarray]]:
    """Which results go where: columns, and the elements of dst as unsigned numbers."""
    size = fold.size or src.size
    assert dst.memory is not None
    return [
        (
            slice(a, b),
            np.ndarray(
                (lanes.times, b - a, fold.words),
                f"u{size}",
                dst.memory.bytes.data,
                dst.start + lanes.first * pitch + a * fold.words * size,
                (pitch, fold.words * size, size),
            ),
        )
        for a, b in _columns(fold, lanes)
    ]


def _overtaken(
    core: Core, name: str, fold: Fold, dst: Place, src: Strided, works: list[Work], pitch: int, site: Site
) -> bool:
    """Whether the results of a repeat fall on lanes that a later repeat reads: reported. In place is no such case."""
    base = min(dst.start, src.place.start)
    inside = bytes_of(src.place, base)
    steps = parts([src], works, one_by_one=True)
    reads = [footprint(src, 0, step, base) & inside for step in steps]
    each = lanes_of_works(src, works, one_by_one=True)
    writes = [
        sum((1 << dims[-1][0]) - 1 << start - base for start, dims in _pieces(fold, dst, src, lanes, pitch))
        for lanes in each
    ]
    later = 0
    found = False
    for lanes, written, read in zip(reversed(each), reversed(writes), reversed(reads), strict=True):
        common = written & later
        if common and not found:
            both = ("dst", touched(writes, base)), ("src", touched(reads, base))
            text = f"{show_meeting(*both, touched([common], base))} at repeat {lanes.first}"
            rule = "the destination of a repeat is no source of a later one"
            report(core, "OVERLAP_REPEAT", f"{text}; rule: {rule}", site, name)
            found = True
        later |= read
    return found


class Step(NamedTuple):
    """Repeats that are folded at once. `view`: their lanes, where these need not be put together."""

    lanes: Lanes
    view: np.ndarray | None
    active: np.ndarray | None
    targets: list[tuple[slice, np.ndarray]]


def _run(fold: Fold, results: int, steps: list[Step]) -> None:
    for lanes, view, active, targets in steps:
        x = lanes.read().reshape(lanes.times, results, -1) if view is None else view
        value = fold.value(x, active)
        bits = value.view(targets[0][1].dtype)
        for columns, target in targets:
            target[...] = bits if target.shape == bits.shape else bits[:, columns]
