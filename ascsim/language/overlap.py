"""Whether a destination overlaps a source, and whether the vendor allows it.

Within a repeat source and destination are the same or apart. Across repeats the destination of one must not be read
by the next, except where repeats are added up in one place. Pages: general rules and restrictions; repeat strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from ..hw.core import Core
from ..hw.findings import Site
from ..hw.memory import Region, Runs, last_byte, overlap, show_meeting
from .core.place import Place, report
from .masks import Work, runs_of
from .operand import BLOCK, Part, Strided, parts

if TYPE_CHECKING:
    from .rows import Row


def separate(ops: Sequence[Strided], works: Sequence[Work], whole: Sequence[Sequence[Part]]) -> bool:
    """Whether all repeats may be computed at once: no source is touched by a write meant for another element.

    `whole`: the `parts` of the operands, destination first.
    """
    dst = ops[0]
    many = sum(times for _, times in works) > 1
    blocks = -(-max(runs[-1][1] for runs, _ in works) * dst.size // BLOCK)  # of a repeat, most
    if many and dst.repeat < blocks * dst.block and _self_overlapping(dst, works):
        return False
    low, high = _extent(dst, 0, whole)
    for i, src in enumerate(ops[1:], 1):
        if src.place.start == dst.place.start and src.size == dst.size and _same(src, dst, many):
            continue
        a, b = _extent(src, i, whole)
        if a < high and low < b:
            return False
    return True


def _same(a: Strided, b: Strided, many: bool) -> bool:
    return a.block == b.block and (a.repeat == b.repeat or not many)


def _self_overlapping(dst: Strided, works: Sequence[Work]) -> bool:
    """Whether two repeats write a common byte."""
    seen = 0
    for step in parts([dst], works, one_by_one=True):
        written = footprint(dst, 0, step, dst.place.start)
        if written & seen:
            return True
        seen |= written
    return False


def disjoint(
    core: Core,
    one: tuple[str, Region],
    other: tuple[str, Region],
    operation: str,
    site: Site,
    rule: str = "they lie apart",
) -> None:
    """Report two operands, each with its name, that share bytes."""
    common = overlap(one[1], other[1]) if one[1].meets(other[1]) else []
    if common:
        text = show_meeting((one[0], one[1].runs()), (other[0], other[1].runs()), common)
        report(core, "OVERLAP_PARTIAL", f"{text}; rule: {rule}", site, operation)


def apart(core: Core, write: Region, reads: Sequence[Region], operation: str, site: Site) -> None:
    """Report a source that meets the destination of an instruction which must not read what it writes."""
    for read in reads:
        disjoint(core, ("dst", write), ("source", read), operation, site)


def bytes_of(place: Place, base: int) -> int:
    """The bytes of a tensor as the bits of a number, as `footprint`; it may be declared larger than its memory."""
    assert place.memory is not None
    return (1 << min(place.nbytes, place.memory.size)) - 1 << place.start - base


def footprint(operand: Strided, i: int, step: Sequence[Part], base: int) -> int:
    """The bytes of one repeat as the bits of a number: bit 0 stands for byte `base`."""
    out = 0
    for part in step:
        first, dims = part.piece(i, operand.size)
        bits = (1 << dims[-1][0]) - 1
        for count, stride in reversed(dims[:-1]):
            bits = sum(bits << k * stride for k in range(count))  # no two meet: strides are whole blocks
        out |= bits << first - base
    return out


def touched(steps: Sequence[int], base: int) -> Runs:
    """The bytes of some repeats, each as `footprint` has them."""
    return [(base + a, base + b) for a, b in runs_of(reduce(or_, steps))]


def _extent(operand: Strided, i: int, whole: Sequence[Sequence[Part]]) -> tuple[int, int]:
    """First byte and one past the last of an operand."""
    pieces = [part.piece(i, operand.size) for step in whole for part in step]
    return min(first for first, _ in pieces), max(last_byte(piece) for piece in pieces)


def judged(core: Core, row: Row, ops: Sequence[Strided], works: Sequence[Work], site: Site) -> None:
    """Report an overlap that the vendor does not allow. Only bytes inside the tensors count."""
    steps = parts(ops, works, one_by_one=True)
    dst = ops[0]
    base = min(operand.place.start for operand in ops)
    inside = [bytes_of(operand.place, base) for operand in ops]
    writes = [footprint(dst, 0, step, base) & inside[0] for step in steps]
    for i, src in enumerate(ops[1:], 1):
        allowed = (
            row.accumulates
            and i == len(ops) - 1
            and dst.place.dtype.name in ("float16", "float32", "int32")
            and 0 in (src.repeat, dst.repeat)
        )
        reads = [footprint(src, i, step, base) & inside[i] for step in steps]
        for number, (write, read, following) in enumerate(zip(writes, reads, [*reads[1:], 0], strict=True)):
            if write & read and not _coincide(dst, src, i, steps[number]) and not _narrows(dst, src):
                code, common, rule = "OVERLAP_PARTIAL", write & read, "lie apart or coincide"
            elif write & following and not allowed:
                code, common = "OVERLAP_REPEAT", write & following
                rule = "the destination of a repeat is not a source of the next"
            else:
                continue
            both = ("dst", touched(writes, base)), (src.name, touched(reads, base))
            text = f"{show_meeting(*both, touched([common], base))} at repeat {number}; rule: {rule}"
            report(core, code, text, site, row.name)
            break


def _narrows(dst: Strided, src: Strided) -> bool:
    """A conversion to narrower elements in place: each repeat lands on what it, or one before it, has read."""
    return dst.size < src.size and dst.place.start == src.place.start


def _coincide(dst: Strided, src: Strided, i: int, step: Any) -> bool:
    return dst.size == src.size and all(
        part.starts[0] == part.starts[i] and all(s[0] == s[i] for _, s in part.dims) for part in step
    )
