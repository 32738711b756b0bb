"""Operands of vector instructions: their checks, exact footprints, and the numpy views that share their bytes.

The address rule, for element size s and block stride bs, repeat stride rs (both in 32-byte blocks): lane l of
repeat r lies at base + 32 * (r * rs + l // (32 / s) * bs) + l % (32 / s) * s. The same strides give the view that is
computed on and the footprint that is checked, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..hw.core import Core
from ..hw.ended import refuse
from ..hw.errors import shown
from ..hw.findings import Site, many, one
from ..hw.instruction import Region
from ..hw.memory import Piece
from .core.dtype import DataType
from .core.place import BLOCK, VECTOR_POSITIONS, Place, report
from .core.tensor import LocalTensor
from .masks import Work

REPEAT = 256  # bytes
Dims = list[tuple[int, list[int]]]  # (count, stride in bytes for each operand), outermost first


def local(core: Core, tensor: Any, name: str, operation: str, site: Site, positions: Any = VECTOR_POSITIONS) -> Place:
    """The place of a tensor operand; what is no tensor, dead, or in the wrong memory is reported."""
    if not isinstance(tensor, LocalTensor):
        text = f"{name} = {shown(tensor)} is {one(type(tensor).__name__)}; rule: a LocalTensor"
        report(core, "BAD_POSITION", text, site, operation)
    where: Place = tensor.place
    if where.core is not core:
        refuse(operation, name)
    if where.fault is not None:
        code, message = where.fault
        report(core, code, f"{name}: {message}", site, operation)
        where = where.live
    if where.position not in positions:
        legal = ", ".join(p.name for p in sorted(positions))
        report(core, "BAD_POSITION", f"{name} lies in {where.position.name}; rule: {legal}", site, operation)
    return where


def typed(core: Core, where: Place, legal: Sequence[DataType], name: str, operation: str, site: Site) -> None:
    """The element type of an operand must be one of `legal`."""
    if where.dtype not in legal:
        rule = ", ".join(map(str, legal))
        report(core, "BAD_DTYPE", f"{name} has type {where.dtype}; rule: {rule}", site, operation)


def aligned(
    core: Core, where: Place, name: str, operation: str, site: Site, align: int = 0, severity: str = ""
) -> None:
    """An operand starts at a multiple of `align` bytes; 0 stands for its memory's alignment."""
    align = align or (where.memory.align if where.memory is not None else BLOCK)
    past = where.start % align
    if past:
        size = where.dtype.size
        fix = (align - past) // size if (align - past) % size == 0 else None
        hint = ""
        if fix is not None and past % size == 0:
            hint = f"; {many(past // size, 'element')} less or {fix} more would do"
        text = f"{name} starts at byte {where.start} of {_memory(where)}; rule: a multiple of {align}{hint}"
        report(core, "MISALIGNED_ADDR", text, site, operation, severity=severity)


def _memory(where: Place) -> str:
    return where.memory.name if where.memory is not None else where.position.name


class Strided:
    """One operand of an instruction in mask and repeat form. Strides in 32-byte blocks.

    `width`: bytes of a block that belong to a lane; more than `size` where an instruction fills blocks in part.
    """

    __slots__ = ("block", "name", "place", "repeat", "size", "width")

    def __init__(self, name: str, place: Place, block: int = 1, repeat: int = 8) -> None:
        self.name, self.place, self.block, self.repeat = name, place, block, repeat
        self.size = self.width = place.dtype.size


class Part:
    """A rectangle of the work, over all operands: dims with a byte stride an operand, and each one's start."""

    __slots__ = ("dims", "starts")

    def __init__(self, dims: Dims, starts: list[int]) -> None:
        self.dims, self.starts = dims, starts

    def view(self, operand: int, place: Place) -> np.ndarray:
        """The operand's elements, sharing the memory's bytes."""
        shape = tuple(n for n, _ in self.dims) or (1,)
        strides = tuple(step[operand] for _, step in self.dims) or (0,)
        assert place.memory is not None
        return np.ndarray(shape, place.dtype.np, place.memory.bytes.data, self.starts[operand], strides)

    def piece(self, operand: int, size: int) -> Piece:
        """The operand's footprint."""
        dims = [(n, step[operand]) for n, step in self.dims if step[operand] or n == 1]
        run = size
        while dims and dims[-1][1] == run:
            run *= dims.pop()[0]
        dims = [(n, step) for n, step in dims if n > 1]
        return self.starts[operand], (*dims, (run, 1))


def parts(operands: Sequence[Strided], works: Sequence[Work], one_by_one: bool = False) -> list[list[Part]]:
    """The rectangles of an instruction: one list for all repeats, or one a repeat where they run `one_by_one`.

    A group of lanes is one block of the widest operand. An operand of a narrower type has several groups in a block;
    where its blocks do not follow each other, no rectangle reaches over the end of one.
    """
    group = min(BLOCK // operand.width for operand in operands)  # lanes
    most = max((BLOCK // operand.width // group for operand in operands if operand.block != 1), default=1)  # groups
    out: list[list[Part]] = []
    first = 0
    for runs, repeats in works:
        rectangles = [r for run in runs for r in _rectangles(*run, group)]
        if most > 1:
            rectangles = [piece for rectangle in rectangles for piece in _cut(*rectangle, most)]
        steps = range(first, first + repeats) if one_by_one else (first,)
        many = 1 if one_by_one else repeats
        for repeat in steps:
            out.append([_part(operands, repeat, many, group, *rectangle) for rectangle in rectangles])
        first += repeats
    return out if one_by_one else [[part for step in out for part in step]]


def _rectangles(a: int, b: int, group: int) -> list[tuple[int, int, int, int]]:
    """Lanes [a, b) as (first group, groups, first lane in it, lanes)."""
    out = []
    if a % group and a // group == (b - 1) // group:
        return [(a // group, 1, a % group, b - a)]
    if a % group:
        end = (a // group + 1) * group
        out.append((a // group, 1, a % group, end - a))
        a = end
    if b - a >= group:
        out.append((a // group, (b - a) // group, 0, group))
        a += (b - a) // group * group
    if a < b:
        out.append((a // group, 1, 0, b - a))
    return out


def _cut(first: int, groups: int, lane: int, lanes: int, most: int) -> list[tuple[int, int, int, int]]:
    """A rectangle in pieces that end where every `most` groups end."""
    starts = [first, *range(first // most * most + most, first + groups, most)]
    ends = [*starts[1:], first + groups]
    return [(start, end - start, lane, lanes) for start, end in zip(starts, ends, strict=True)]


def _part(
    operands: Sequence[Strided], repeat: int, many: int, group: int, first: int, groups: int, lane: int, lanes: int
) -> Part:
    starts, step_repeat, step_group, sizes = [], [], [], []
    for operand in operands:
        per_block = BLOCK // operand.width // group  # groups in a block
        block, inside = divmod(first, per_block)
        stride = operand.block * BLOCK if per_block == 1 else BLOCK // per_block
        offset = (repeat * operand.repeat + block * operand.block) * BLOCK + inside * stride
        starts.append(operand.place.start + offset + lane * operand.size)
        step_repeat.append(operand.repeat * BLOCK)
        step_group.append(stride)
        sizes.append(operand.size)
    return Part(_merged([(many, step_repeat), (groups, step_group), (lanes, sizes)]), starts)


def _merged(dims: Dims) -> Dims:
    """Join neighbouring dimensions that every operand walks through without a gap; drop those of one."""
    out: Dims = []
    for count, steps in dims:
        if count == 1:
            continue
        if out and all(outer == inner * count for outer, inner in zip(out[-1][1], steps, strict=True)):
            out[-1] = (out[-1][0] * count, steps)
        else:
            out.append((count, steps))
    return out


def region(operand: Strided, index: int, steps: list[list[Part]], operation: str, site: Site) -> Region:
    """The footprint of an operand; past its tensor is reported, past its memory is a fault."""
    pieces = tuple(part.piece(index, operand.size) for part in (p for step in steps for p in step))
    return operand.place.region(pieces, operand.name, operation, site)
