"""Whether a destination overlaps a source, and whether the vendor allows it.

Within a repeat source and destination are the same or apart. Across repeats the destination of one must not be read
by the next, except where repeats are added up in one place. Pages: general rules and restrictions; repeat strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.memory import Piece, last_byte, runs_of, show_runs
from .core.place import report
from .masks import Work
from .operand import Strided, parts

if TYPE_CHECKING:
    from .rows import Row


def separate(ops: Sequence[Strided], works: Sequence[Work]) -> bool:
    """Whether all repeats may be computed at once: no source is touched by a write meant for another element."""
    dst = ops[0]
    many = sum(times for _, times in works) > 1
    if many and dst.repeat < 8 * dst.block and _self_overlapping(dst, works):
        return False
    low, high = _extent(dst, works)
    for src in ops[1:]:
        if src.place.start == dst.place.start and src.size == dst.size and _same(src, dst, many):
            continue
        a, b = _extent(src, works)
        if a < high and low < b:
            return False
    return True


def _same(a: Strided, b: Strided, many: bool) -> bool:
    return a.block == b.block and (a.repeat == b.repeat or not many)


def _self_overlapping(dst: Strided, works: Sequence[Work]) -> bool:
    """Whether two repeats write a common byte."""
    steps = parts([dst], works, one_by_one=True)
    seen: set[tuple[int, int]] = set()
    pieces = [[part.piece(0, dst.size) for part in step] for step in steps]
    for step in pieces:
        blocks = {(byte // 32, byte % 32) for piece in step for byte in _starts(piece)}
        if blocks & seen:
            return True
        seen |= blocks
    return False


def _starts(piece: Piece) -> Any:
    first, dims = piece
    offsets = np.array([first])
    for count, step in dims:
        offsets = (offsets[:, None] + np.arange(count) * step).ravel()
    return offsets.tolist()


def _extent(operand: Strided, works: Sequence[Work]) -> tuple[int, int]:
    """First byte and one past the last of an operand."""
    pieces = [part.piece(0, operand.size) for step in parts([operand], works) for part in step]
    return min(first for first, _ in pieces), max(last_byte(piece) for piece in pieces)


def judged(core: Core, row: Row, ops: Sequence[Strided], works: Sequence[Work], site: Site) -> None:
    """Report an overlap that the vendor does not allow. Only bytes inside the tensors count."""
    steps = parts(ops, works, one_by_one=True)
    dst = ops[0]
    for i, src in enumerate(ops[1:], 1):
        allowed = (
            row.accumulates
            and i == len(ops) - 1
            and dst.place.dtype.name in ("float16", "float32", "int32")
            and 0 in (src.repeat, dst.repeat)
        )
        for number, step in enumerate(steps):
            write = _bytes(dst, 0, step)
            read = _bytes(src, i, step)
            if write & read and not _coincide(dst, src, i, step):
                _report(core, "OVERLAP_PARTIAL", row, dst, src, number, write & read, "lie apart or coincide", site)
                break
            if allowed or number + 1 == len(steps):
                continue
            following = _bytes(src, i, steps[number + 1])
            if write & following:
                rule = "the destination of a repeat is not a source of the next"
                _report(core, "OVERLAP_REPEAT", row, dst, src, number, write & following, rule, site)
                break


def _coincide(dst: Strided, src: Strided, i: int, step: Any) -> bool:
    return dst.size == src.size and all(
        part.starts[0] == part.starts[i] and all(s[0] == s[i] for _, s in part.dims) for part in step
    )


def _bytes(operand: Strided, i: int, step: Any) -> set[int]:
    place = operand.place
    inside = range(place.start, place.start + place.nbytes)
    return {byte for part in step for byte in _starts(part.piece(i, operand.size)) if byte in inside}


def _report(
    core: Core, code: str, row: Row, dst: Strided, src: Strided, repeat: int, common: set[int], rule: str, site: Site
) -> None:
    mask = np.zeros(max(common) + 1, np.bool_)
    mask[sorted(common)] = True
    place, other = dst.place, src.place
    text = (
        f"dst at byte {place.start} and {src.name} at byte {other.start} of UB meet in bytes "
        f"{show_runs(runs_of(mask))} at repeat {repeat}; rule: {rule}"
    )
    report(core, code, text, site, row.name)
