"""Plans of copies out of L0C: which accumulators go where, converted on the way (`quantization`).

L0C holds columns of fractals, 16 accumulators wide; a row of such a column is 64 bytes. A destination is row-major
(NZ2ND), or has columns of fractals of its own: 16 elements wide, 32 for 8 bits (channel merge; a last 16 stay as they
are), 8 under a channel split.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..hw.core import Core
from ..hw.errors import ArgumentValueError
from ..hw.findings import Site
from ..hw.global_memory import GlobalArray
from ..hw.instruction import Plan, gm_shape
from ..hw.memory import Piece, Region
from . import atomics, products
from .core.dtype import DataType, float32, uint64
from .core.enums import QuantModes, TPosition
from .core.global_tensor import GlobalTensor
from .core.limits import buffered
from .core.place import L1_POSITIONS, Place, report
from .fractals import BLOCK, SIDE, align_up, dims_of
from .operand import aligned, local, typed
from .plans import present, zero
from .quantization import MODES, Scales, scales_of, usable

ROW = SIDE * 4  # bytes of a fractal's row
MATRIX = SIDE * ROW  # bytes of a fractal
N_LIMIT, M_LIMIT, ROWS_LIMIT, ND_STRIDE_LIMIT = 4095, 65535, 8192, 512  # rows: in row-major layout


class Move(NamedTuple):
    """What a call asks for, whichever its parameters."""

    name: str
    n: int
    m: int
    src_stride: int  # 64 bytes, between columns of fractals
    dst_stride: int  # elements of a row (row-major), or 32-byte blocks between columns of fractals
    mode: QuantModes
    scale: int  # the scalar's word
    relu: bool
    split: bool
    row_major: bool
    many: int = 1  # matrices, row-major only
    nd_from: int = 0  # fractals between them
    nd_to: int = 0  # elements between them


class Steps(NamedTuple):
    """The instructions of a call: each plan and its distance from the destination's start, in bytes; all they span."""

    plans: tuple[tuple[Plan, int], ...]
    span: int


def steps_of(core: Core, move: Move, dst: Any, src: Any, scales: Any, site: Site) -> Steps | None:
    """The instructions of a call; None where there is nothing to do."""
    name = move.name
    here = local(core, src, "src", name, site, (TPosition.CO1,))
    to: Place | None = None
    if not isinstance(dst, GlobalTensor):
        to = local(core, dst, "dst", name, site, L1_POSITIONS)
    else:
        buffered(name, dst, "dst")
    vector = None if scales is None else local(core, scales, "cbuf_workspace", name, site, L1_POSITIONS)
    if not present(core, here.memory, name, site):
        return None
    target = dst.dtype if to is None else to.dtype
    _types(core, move, here, target, to is not None, site)
    if vector is not None:
        typed(core, vector, (uint64,), "cbuf_workspace", name, site)
        aligned(core, vector, "cbuf_workspace", name, site)
    aligned(core, here, "src", name, site)
    if to is not None:
        aligned(core, to, "dst", name, site)
    for what, size in (("n_size", move.n), ("m_size", move.m), ("nd_num", move.many)):
        if not size:
            zero(core, what, name, site)
            return None
    _limits(move, target, to is not None)
    return _Out(core, move, here, target, to, vector, site).steps()


def _width(move: Move, target: DataType) -> int:
    """Elements of a row of the destination's columns of fractals."""
    return 8 if move.split else 32 if target.size == 1 else SIDE


def _types(core: Core, move: Move, here: Place, target: DataType, to_l1: bool, site: Site) -> None:
    """Element types that the mode joins."""
    mode = MODES[move.mode]
    typed(core, here, mode.sources, "src", f"{move.name}, {move.mode.name}", site)
    legal = mode.targets if move.mode is not QuantModes.NoQuant else (here.dtype,)
    if target not in legal:
        rule = ", ".join(map(str, legal))
        text = f"dst has type {target}; rule: {rule} from {here.dtype} with quant_pre {move.mode.name}"
        report(core, "BAD_DTYPE", text, site, move.name)
    if to_l1 and move.mode is QuantModes.NoQuant:
        text = f"quant_pre = NoQuant to L1; rule: 8 or 16 bits, so that {here.dtype} has to be converted"
        report(core, "BAD_DTYPE", text, site, move.name)
    if move.split and not target is here.dtype is float32:
        text = f"channel split of {here.dtype} to {target}; rule: float32 on both sides"
        report(core, "BAD_DTYPE", text, site, move.name)


def _limits(move: Move, target: DataType, to_l1: bool) -> None:
    """Sizes and strides that the instruction takes."""
    width = 1 if move.row_major else 8 if move.split else SIDE

    def legal(operand: str, value: int, good: bool, rule: str, nearest: Any, code: str = "") -> None:
        if not good:
            raise ArgumentValueError(move.name, operand=operand, value=value, rule=rule, nearest=nearest, code=code)

    most = N_LIMIT // width * width
    rule = f"0 to {N_LIMIT}" + (f" and a multiple of {width} in NZ layout" if width > 1 else "")
    legal("n_size", move.n, move.n <= most and move.n % width == 0, rule, min(-(-move.n // width) * width, most))
    most = ROWS_LIMIT if move.row_major else M_LIMIT
    legal("m_size", move.m, move.m <= most, f"0 to {most}", most)
    legal("src_stride", move.src_stride, move.src_stride <= M_LIMIT, f"0 to {M_LIMIT}", M_LIMIT, "BAD_STRIDE")
    least = align_up(move.m, SIDE)
    if move.n > SIDE:  # columns of fractals, which mmad leaves whole
        rule = f"a multiple of {SIDE} rows, {least} (m_size rounded up) or more"
        good = move.src_stride >= least and move.src_stride % SIDE == 0
        nearest = max(align_up(move.src_stride, SIDE), least)
        legal("src_stride", move.src_stride, good, rule, nearest, "BAD_STRIDE")
    if move.row_major:
        legal("layout", 1, not to_l1, "NZ to L1", None)
        legal("is_channel_split", True, not move.split, "False in row-major layout", False)
        least, unit = move.n if move.m > 1 else 1, "elements of a row"
    else:
        wide = _width(move, target)
        least, unit = move.m * wide * target.size // BLOCK if move.n > wide else 1, "32-byte blocks"
    legal("dst_stride", move.dst_stride, move.dst_stride >= least, f"{least} {unit} or more", least, "BAD_STRIDE")
    if move.many > 1:
        good = 1 <= move.nd_from <= ND_STRIDE_LIMIT
        legal("src_nd_stride", move.nd_from, good, f"1 to {ND_STRIDE_LIMIT} fractals", 1, "BAD_STRIDE")
        legal("dst_nd_stride", move.nd_to, move.nd_to >= 1, "1 element or more", 1, "BAD_STRIDE")


class _Out:
    """One call, while its plans are made."""

    def __init__(
        self,
        core: Core,
        move: Move,
        here: Place,
        target: DataType,
        to: Place | None,
        vector: Place | None,
        site: Site,
    ) -> None:
        self.core, self.move, self.here, self.target, self.to, self.site = core, move, here, target, to, site
        self.vector = vector
        self.pitch = move.src_stride * ROW
        self.atomic = "" if to is not None else atomics.kind(core)
        if self.atomic:
            atomics.element(core, target, move.name, site)

    def steps(self) -> Steps:
        move, size = self.move, self.target.size
        if move.row_major:
            width = move.n
            strides = (move.nd_to * size, move.dst_stride * size, size)
            return self.together([(self.plan(0, move.n, 0, (move.many, move.m, move.n), strides), 0)])
        width = _width(move, self.target)
        jump = move.dst_stride * BLOCK
        whole, rest = move.n // width, move.n % width
        out = []
        if whole:
            shape = (whole, move.m, width)
            out.append((self.plan(0, whole * width, 0, shape, (jump, width * size, size)), 0))
        if rest:  # the last 16 columns of 8 bits
            plan = self.plan(whole * width, rest, whole * jump, (1, move.m, rest), (jump, rest * size, size))
            out.append((plan, whole * jump if self.to is None else 0))
        return self.together(out)

    def together(self, plans: list[tuple[Plan, int]]) -> Steps:
        return Steps(tuple(plans), max(offset + plan.span for plan, offset in plans))

    def plan(
        self, first: int, columns: int, offset: int, shape: tuple[int, int, int], strides: tuple[int, int, int]
    ) -> Plan:
        """Columns from `first` on; the destination's shape and byte strides, from byte `offset` on."""
        core, move, here, size = self.core, self.move, self.here, self.target.size
        start = here.start + first // SIDE * self.pitch
        starts = [start + i * move.nd_from * MATRIX for i in range(move.many)]
        pieces = tuple(piece for at in starts for piece in self.pieces(at, columns))
        reads = [here.region(pieces, "src", move.name, self.site)]
        scales = None
        if self.vector is not None:
            words: tuple[Piece, ...] = ((self.vector.start + first * 8, ((columns * 8, 1),)),)
            reads.append(self.vector.region(words, "cbuf_workspace", move.name, self.site))
        elif MODES[move.mode].scales:
            scales = scales_of(np.uint64(move.scale))
            factor = float(scales.factor[0])
            if not usable(factor):
                rule = "a finite number, not denormal, in bits 0 to 31"
                raise ArgumentValueError(move.name, operand="scale", value=factor, rule=rule)
        take = partial(self.values, self.rows(starts, columns), scales, first, columns, shape)
        fetched = columns * 8 if self.vector is not None else 0
        cycles = core.device.cost.fixpipe(columns * move.m * move.many, size, fetched, self.to is not None)
        if self.to is not None:
            return self.local_plan(reads, take, starts[0], columns, offset, shape, strides, cycles)
        run: Any
        if self.atomic:
            run = partial(_update, atomics.UPDATES[core.atomic[0]], take, shape, strides, self.target)
        else:
            run = partial(_store, take, shape, strides, self.target)
        if move.row_major:
            gm = gm_shape(shape[2] * size, strides[1], move.m, True, self.atomic, move.many, strides[0])
        else:
            gm = gm_shape(move.m * shape[2] * size, strides[0], shape[0], True, self.atomic)
        apart = (
            sum(b - a for a, b in gm.runs(0)) == gm.nbytes if gm.many > 1 else gm.count == 1 or gm.stride >= gm.block
        )
        if not apart:
            text = f"dst_nd_stride = {move.nd_to}: the matrices overlap; rule: they lie apart"
            report(core, "BAD_STRIDE", text, self.site, move.name)
        return Plan(move.name, core.pipes["FIX"], reads, (), run, cycles, gm)

    def pieces(self, start: int, columns: int) -> list[Piece]:
        """The footprint of the accumulators of one matrix."""
        full, rest = divmod(columns, SIDE)
        m, pitch = self.move.m, self.pitch
        out = []
        if full:
            steps = ((full, pitch), (m, ROW)) if pitch else ((m, ROW),)
            out.append((start, dims_of(steps, ROW)))
        if rest:
            out.append((start + full * pitch, dims_of(((m, ROW),), rest * 4)))
        return out

    def rows(self, starts: list[int], columns: int) -> tuple[np.ndarray, list[products.Part]]:
        """Room for the accumulators as (matrices, m, n), and its parts against those of L0C."""
        assert self.here.memory is not None
        move, buffer = self.move, self.here.memory.bytes.data
        room = np.empty((move.many, move.m, columns), self.here.dtype.np)
        found = []
        for matrix, at in zip(room, starts, strict=True):
            views = products.columns_of(buffer, self.here.dtype, at, move.m, columns, self.pitch)
            found += products.parts(matrix, views)
        return room, found

    def values(
        self,
        rows: tuple[np.ndarray, list[products.Part]],
        scales: Scales | None,
        first: int,
        columns: int,
        shape: tuple[int, int, int],
    ) -> np.ndarray:
        """The converted elements in the destination's shape: what is done when the instruction runs."""
        room, found = rows
        for source, part in found:
            part[...] = source
        if self.vector is not None:
            scales = scales_of(self.vector.array(first + columns)[first:])
        result = MODES[self.move.mode].value(room, scales, self.move.relu, self.target)
        return result if self.move.row_major else _in_columns(result[0], shape)

    def local_plan(
        self,
        reads: list[Region],
        take: Any,
        start: int,
        columns: int,
        offset: int,
        shape: tuple[int, int, int],
        strides: tuple[int, int, int],
        cycles: int,
    ) -> Plan:
        """To L1. Undefined accumulators are undefined there too."""
        to, here, core, move = self.to, self.here, self.core, self.move
        assert to is not None
        assert to.memory is not None
        assert here.memory is not None
        size = self.target.size
        piece = (to.start + offset, dims_of(((shape[0], strides[0]), (move.m, strides[1])), shape[2] * size))
        write = to.region((piece,), "dst", move.name, self.site)
        dst: np.ndarray = np.ndarray(shape, self.target.np, to.memory.bytes.data, to.start + offset, strides)
        known: np.ndarray = np.ndarray(shape, f"V{size}", to.memory.defined.data, to.start + offset, strides)
        seen = np.empty((move.m, columns), np.uint32)
        views = products.columns_of(here.memory.defined.data, here.dtype, start, move.m, columns, self.pitch)
        carry = partial(_carry, known, seen, products.parts(seen, [view.view(np.uint32) for view in views]), shape)
        pipe = core.pipes["FIX"]
        return Plan(move.name, pipe, reads, (write,), partial(_assign, dst, take), cycles, carry=carry)


def _in_columns(rows: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """(m, n) as columns of fractals."""
    many, m, wide = shape
    return rows.reshape(m, many, wide).transpose(1, 0, 2)


def _assign(dst: np.ndarray, take: Any) -> None:
    dst[...] = take()


def _carry(known: np.ndarray, seen: np.ndarray, found: list[products.Part], shape: tuple[int, int, int]) -> None:
    for source, part in found:
        part[...] = source
    full = seen == 0x01010101  # all four bytes
    size = known.dtype.itemsize
    known[...] = np.repeat(_in_columns(full, shape)[..., None], size, -1).view(known.dtype)[..., 0]


def _store(
    take: Any, shape: tuple[int, ...], strides: tuple[int, ...], target: DataType, array: GlobalArray, at: int
) -> None:
    np.ndarray(shape, target.np, array.data, at, strides)[...] = take()


def _update(
    update: Any,
    take: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    target: DataType,
    array: GlobalArray,
    at: int,
) -> None:
    old: np.ndarray = np.ndarray(shape, target.np, array.data, at, strides)
    old[...] = update(old, take())
