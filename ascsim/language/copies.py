"""Plans of copies: blocks of bytes between two sides, each with its own pitch. Stores may update (`atomics`).

Global memory and a local one (UB, L1, L0A or L0B), or UB and UB.
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
from ..hw.memory import Piece
from . import atomics
from .core import ir_value
from .core.dtype import DataType
from .core.limits import within
from .core.place import BLOCK, Place, report
from .core.types import DataCopyPadExtParams, DataCopyPadParams
from .overlap import disjoint

BLOCK_LIMIT = 4095  # blocks of one copy
PAD_LIMIT = 2097151  # bytes of one block of data_copy_pad


class Pads(NamedTuple):
    """Padding of each block in local memory: elements left and right, and their value as bytes (None: undefined)."""

    left: int = 0
    right: int = 0
    value: bytes | None = None
    size: int = 1  # bytes of an element

    @property
    def repeats_first(self) -> bool:
        """With no padding asked for, the rest of the last 32-byte block repeats the block's first element."""
        return not self.left and not self.right


class Moves(NamedTuple):
    """`blocks` blocks of `length` bytes; pitches in bytes from start to start. `backwards`: the last source first."""

    length: int
    dst_pitch: int
    src_pitch: int
    blocks: int
    pads: Pads = Pads()
    backwards: bool = False


def block_count(core: Core, operation: str, count: int, site: Site) -> None:
    """block_count, 0 to 4095."""
    within(core, "BAD_STRIDE", "block_count", count, 0, BLOCK_LIMIT, operation, site)


def pads_of(core: Core, params: Any, dtype: DataType, site: Site) -> Pads:
    """The padding that a call asks for; is_pad also writes the pad register."""
    if params is None:
        return Pads(size=dtype.size)
    if isinstance(params, DataCopyPadExtParams) and params.dtype is not dtype:
        text = f"pad_params has type {params.dtype}, the tensors have {dtype}; rule: one type for all"
        report(core, "BAD_DTYPE", text, site, "data_copy_pad")
    if dtype.size == 8 and params.padding_value:
        rule = f"0 where elements have 64 bits ({dtype})"
        raise ArgumentValueError(
            "data_copy_pad", operand="padding_value", value=params.padding_value, rule=rule, nearest=0
        )
    most = BLOCK // dtype.size
    for name in ("left_padding", "right_padding"):
        given = getattr(params, name)
        if given > most:
            text = f"{name} = {given}; rule: at most {most} elements (32 bytes); nearest legal value: {most}"
            report(core, "BAD_STRIDE", text, site, "data_copy_pad")
    value: bytes | None
    if params.is_pad:
        given = ir_value.unwrap(params.padding_value)
        if isinstance(params, DataCopyPadParams):
            value = (int(given) & ((1 << 64) - 1)).to_bytes(8, "little")[: dtype.size]
            core.pad_value = np.frombuffer(value, dtype.np)[0].item()
        else:
            value = _bytes(given, dtype)
            core.pad_value = given
    else:
        value = None if core.pad_value is None else _bytes(core.pad_value, dtype)
    return Pads(params.left_padding, params.right_padding, value, dtype.size)


def _bytes(value: Any, dtype: DataType) -> bytes:
    return np.array(ir_value.value(value, dtype, "pad value").v, dtype.np).tobytes()


def _piece(start: int, length: int, pitch: int, count: int) -> Piece:
    if count == 1 or pitch == length:
        return start, ((length * count, 1),)
    return start, ((count, pitch), (length, 1))


def _rows(flat: Any, start: int, length: int, pitch: int, count: int) -> np.ndarray:
    """Blocks as rows of a byte view."""
    return np.ndarray((count, length), np.uint8, flat, start, (pitch, 1))


def load_plan(core: Core, operation: str, here: Place, moves: Moves, at: int, site: Site) -> Plan:
    """Global memory to a local one."""
    length, pitch, src_pitch, count, pads, backwards = moves
    memory = here.memory
    assert memory is not None
    filled = -(-(length + (pads.left + pads.right) * pads.size) // BLOCK) * BLOCK
    piece = _piece(here.start, filled, pitch, count)
    region = here.region((piece,), "dst", operation, site)
    contiguous = count == 1 or (pitch == length == src_pitch and not backwards)
    cycles = core.device.cost.load(length * count, count, gm_address=at, gm_pitch=src_pitch if count > 1 else 0)
    shape = gm_shape(length, src_pitch, count if src_pitch else 1)
    voids = view = None
    if filled == length and contiguous:
        start, end = here.start, here.start + length * count
        view = memory.view[start:end]
        run = partial(_load, view)
        defined = partial(_carry, memory.defined[start:end])
    else:
        rows = _rows(memory.bytes.data, here.start, filled, pitch, count)
        known = np.lib.stride_tricks.as_strided(memory.defined[here.start :], (count, filled), (pitch, 1))
        if backwards:
            rows, known = rows[::-1], known[::-1]
        left = pads.left * pads.size
        run = partial(_load_rows, rows[:, left : left + length], src_pitch, _fills(rows, length, pads))
        defined = partial(_carry_rows, known, length, src_pitch, count, pads)
        if pads.value is None and not pads.repeats_first:
            edges = [(0, left), (left + length, filled - left - length)]
            pieces = tuple(_piece(here.start + off, n, pitch, count) for off, n in edges if n)
            voids = core.region(memory.name, pieces, operation, site) if pieces else None
    return Plan(operation, core.pipes["MTE2"], (), (region,), run, cycles, shape, carry=defined, voids=voids, view=view)


def _load(view: memoryview, array: GlobalArray, at: int) -> None:
    view[:] = array.data[at : at + len(view)]


def _carry(defined: np.ndarray, array: GlobalArray, at: int) -> None:
    defined[:] = True if array.defined is None else array.defined[at : at + defined.size]


def _fills(rows: np.ndarray, length: int, pads: Pads) -> list[tuple[np.ndarray, Any]]:
    """What lies around the data of each block, and what fills it: both in elements of bytes."""
    count, left = len(rows), pads.left * pads.size
    edges = (rows[:, :left], rows[:, left + length :])
    value = rows[:, None, : pads.size]  # each block's first element
    if not pads.repeats_first:
        value = np.frombuffer(pads.value or b"\xff" * pads.size, np.uint8)
    return [(edge.reshape(count, -1, pads.size), value) for edge in edges if edge.size]


def _load_rows(data: np.ndarray, pitch: int, fills: list[tuple[np.ndarray, Any]], array: GlobalArray, at: int) -> None:
    count, length = data.shape
    data[...] = _rows(array.data, at, length, pitch, count)
    for edge, value in fills:
        edge[...] = value


def _carry_rows(
    known: np.ndarray, length: int, pitch: int, count: int, pads: Pads, array: GlobalArray, at: int
) -> None:
    left = pads.left * pads.size
    known[...] = pads.value is not None or pads.repeats_first
    if array.defined is None:
        known[:, left : left + length] = True
    else:
        known[:, left : left + length] = _rows(array.defined.view(np.uint8).data, at, length, pitch, count)


def store_plan(core: Core, operation: str, here: Place, moves: Moves, at: int, site: Site) -> Plan:
    """A local memory to global memory."""
    length, dst_pitch, pitch, count, *_ = moves
    memory = here.memory
    assert memory is not None
    piece = _piece(here.start, length, pitch, count)
    region = here.region((piece,), "src", operation, site)
    cycles = core.device.cost.store(length * count, count, gm_address=at, gm_pitch=dst_pitch if count > 1 else 0)
    shape = gm_shape(length, dst_pitch, count, True, atomics.kind(core))
    view = None
    run: Any
    if shape.atomic:
        dtype = atomics.element(core, here.dtype, operation, site)
        shaped = (count, length // dtype.size), dtype.np
        new = np.ndarray(*shaped, memory.bytes.data, here.start, (pitch, dtype.size))
        run = partial(_update, atomics.UPDATES[core.atomic[0]], new, (dst_pitch, dtype.size))
    elif count == 1 or (pitch == length == dst_pitch):
        view = memory.view[here.start : here.start + length * count]
        run = partial(_store, view)
    else:
        run = partial(_store_rows, _rows(memory.bytes.data, here.start, length, pitch, count), dst_pitch)
    return Plan(operation, core.pipes["MTE3"], (region,), (), run, cycles, shape, view=view)


def _store(view: memoryview, array: GlobalArray, at: int) -> None:
    array.data[at : at + len(view)] = view


def _store_rows(rows: np.ndarray, pitch: int, array: GlobalArray, at: int) -> None:
    count, length = rows.shape
    _rows(array.data, at, length, pitch, count)[...] = rows


def _update(update: Any, new: np.ndarray, strides: tuple[int, int], array: GlobalArray, at: int) -> None:
    old: np.ndarray = np.ndarray(new.shape, new.dtype, array.data, at, strides)
    old[...] = update(old, new)


def local_plan(core: Core, operation: str, to: Place, source: Place, moves: Moves, site: Site) -> Plan:
    """UB to UB, on the vector pipe."""
    length, dst_pitch, src_pitch, count, *_ = moves
    pieces = _piece(to.start, length, dst_pitch, count), _piece(source.start, length, src_pitch, count)
    write = to.region((pieces[0],), "dst", operation, site)
    read = source.region((pieces[1],), "src", operation, site)
    if pieces[0] != pieces[1]:
        disjoint(core, ("dst", write), ("src", read), operation, site, "lie apart or coincide")
    memory = to.memory
    assert memory is not None
    data = [
        _rows(memory.bytes.data, p.start, length, pitch or length, count)
        for p, pitch in ((to, dst_pitch), (source, src_pitch))
    ]
    known = [
        _rows(memory.defined.view(np.uint8).data, p.start, length, pitch or length, count)
        for p, pitch in ((to, dst_pitch), (source, src_pitch))
    ]
    cycles = core.device.cost.vector(-(-length * count // 256))
    run, carry = partial(_move, *data), partial(_move, *known)
    return Plan(operation, core.pipes["V"], (read,), (write,), run, cycles, carry=carry)


def _move(to: np.ndarray, source: np.ndarray) -> None:
    to[...] = source.copy() if np.may_share_memory(to, source) else source
