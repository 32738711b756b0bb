"""trans_data_to_5hd: transposition of sixteen 32-byte blocks that may lie anywhere. Page: TransDataTo5HD.

Per repeat, element j of source block i goes to place i of what is made of column j: one block of 2-byte elements, two
of 4-byte elements, half a block of 1-byte elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ...hw.memory import Piece, Region, Runs, runs_of, show_meeting
from ..core.dtype import DataType, float16, float32, int8, int16, int32, uint8, uint16, uint32, uint64
from ..core.enums import TPosition
from ..core.limits import parameters
from ..core.place import Place, index, report, running
from ..core.scalar_access import load_element, store_element
from ..core.tensor import LocalTensor
from ..core.types import TransDataTo5HDParams
from ..operand import BLOCK, REPEAT
from ..plans import zero
from ..signatures import signatures
from ..spans import checked

NAME = "trans_data_to_5hd"
ROWS = 16  # blocks on each side
HALF = BLOCK // 2  # bytes
TYPES = (int8, uint8, int16, uint16, float16, int32, uint32, float32)


def trans_data_to_5hd(
    dst_list: Any = None, src_list: Any = None, params: Any = None, *, dst: Any = None, src: Any = None
) -> None:
    """Transpose sixteen blocks of `src_list` into sixteen blocks of `dst_list`, params.repeat_times times.

        trans_data_to_5hd(dst_list, src_list, params)    lists of 16 tensors, or of 16 addresses (get_phy_addr)
        trans_data_to_5hd(dst, src, params)              uint64 tensors that hold 16 addresses each

    Strides in 32-byte blocks: repeat r starts r strides after the addresses given, but a single repeat starts one
    stride after them. For 8-bit types the high or low halves of blocks are read and written (src_high_half,
    dst_high_half). The type of addresses is that of the tensor from which the first of dst_list (else of src_list)
    was taken last. Address tensors are read by the scalar unit, which leaves packed addresses in their first 32 bytes;
    the order of this with the instruction is made by the call. Every address is a multiple of 32. Within a repeat the
    destination blocks are the source blocks or others; those of one repeat are no sources of the next. Faults:
    BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_*; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ.
    Types: int8, uint8, int16, uint16, float16, int32, uint32, float32. Page: TransDataTo5HD.
    """
    site = author(1)
    core = running(NAME)
    parameters(NAME, params, TransDataTo5HDParams)
    lists = (dst if dst_list is None else dst_list), (src if src_list is None else src_list)
    plan = _known(lists, params)
    if plan is not None:
        core.issue(plan, site)
        return
    if any(isinstance(given, LocalTensor) for given in lists):
        found = checked(core, NAME, [(n, t, (uint64,)) for n, t in zip(("dst", "src"), lists, strict=True)], site)
        if found is None:
            return
        lists = tuple(_stored(where, site) for where in found)  # type: ignore[assignment]
    places = _places(core, lists, site)
    if places is None:
        return
    if not params.repeat_times:
        zero(core, "repeat_times", NAME, site)
        return
    form = (NAME, tuple(places[1:ROWS]), tuple(places[ROWS:]), params.key)
    plan = places[0].plans.get(form) or places[0].keep(form, _plan(core, places, params, site))
    core.issue(plan, site)


trans_data_to_5hd.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst_list, src_list, /, params", "dst, src, /, params"
)


def _known(lists: Sequence[Any], params: TransDataTo5HDParams) -> Plan | None:
    """The plan of a call with these tensors that was checked before."""
    if any(given.__class__ is not list or not given for given in lists):
        return None
    try:
        first, *others = [tensor.place for tensor in lists[0]]
        form = (NAME, tuple(others), tuple([tensor.place for tensor in lists[1]]), params.key)
    except AttributeError:  # addresses, or what is nothing of the kind
        return None
    plan: Plan | None = first.plans.get(form)
    return plan


def _stored(where: Place, site: Site) -> list[int]:
    """The addresses in a tensor of uint64. The vendor's code packs them in place: four block numbers a word."""
    addresses = [int(load_element(where, i, site).v) for i in range(ROWS)]
    for word in range(ROWS // 4):
        packed = sum((addresses[4 * word + i] // BLOCK & 0x1FFF) << 16 * i for i in range(4))
        store_element(where, word, packed, site)
    return addresses


def _places(core: Core, lists: Sequence[Any], site: Site) -> list[Place] | None:
    """The sixteen destinations, then the sixteen sources; None where this kind of core does nothing."""
    for name, given in zip(("dst_list", "src_list"), lists, strict=True):
        if not isinstance(given, (list, tuple)):
            rule = "a list of 16 tensors or addresses, or a uint64 tensor of addresses"
            raise ArgumentTypeError(NAME, "is no list", operand=name, value=given, rule=rule)
        if len(given) != ROWS:
            raise ArgumentValueError(
                NAME, "has the wrong length", operand=f"len({name})", value=len(given), rule="16", nearest=ROWS
            )
    everything = [
        (f"{name}[{i}]", t)
        for name, given in zip(("dst_list", "src_list"), lists, strict=True)
        for i, t in enumerate(given)
    ]
    if not any(isinstance(item, LocalTensor) for _, item in everything):
        everything = _tensors(core, everything)
        if not everything:
            return None
    out = checked(core, NAME, [(name, tensor, TYPES) for name, tensor in everything], site)
    if out is not None:
        for (name, _), where in zip(everything, out, strict=True):
            if where.dtype is not out[0].dtype:
                text = f"{name} has type {where.dtype}, dst_list[0] has {out[0].dtype}; rule: one type for all"
                report(core, "BAD_DTYPE", text, site, NAME)
    return out


def _tensors(core: Core, addresses: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Addresses as tensors that reach to the end of UB; none where this kind of core has no UB."""
    plain = [(name, index(item, NAME, name)) for name, item in addresses]
    if "UB" not in core.memories:
        return []
    known: dict[int, DataType] = core.state.get("addresses", {})
    dtype = known.get(plain[0][1], known.get(plain[ROWS][1]))
    if dtype is None:
        rule = "x.get_phy_addr() of a tensor tells the element type"
        raise ArgumentValueError(NAME, "is no address of a tensor", operand="dst_list[0]", value=plain[0][1], rule=rule)
    size = core.memories["UB"].size
    return [
        (name, LocalTensor._at(core, TPosition.VECCALC, dtype, start, max(0, size - start))) for name, start in plain
    ]


def _plan(core: Core, places: list[Place], params: TransDataTo5HDParams, site: Site) -> Plan:
    size, repeats = places[0].dtype.size, params.repeat_times
    width = ROWS if size == 1 else BLOCK // size  # elements of a block that take part
    for name in ("dst_high_half", "src_high_half"):
        if size > 1 and getattr(params, name):
            raise ArgumentValueError(
                NAME, "is for 8-bit types", operand=name, value=True, rule=f"False for {places[0].dtype}", nearest=False
            )
    first = 1 if repeats == 1 else 0
    starts = []
    for side, stride, high in (
        (places[:ROWS], params.dst_rep_stride, params.dst_high_half),
        (places[ROWS:], params.src_rep_stride, params.src_high_half),
    ):
        base = np.array([where.start for where in side]) + (HALF if high else 0)
        starts.append(base + (np.arange(first, first + repeats) * stride * BLOCK)[:, None])  # (repeat, block)
    to, source = starts
    write = _region(core, places[:ROWS], to, width * size, "dst_list", site)
    read = _region(core, places[ROWS:], source, width * size, "src_list", site)
    places_to = _elements(to, width, size)
    taken = _elements(source, width, size).swapaxes(1, 2).reshape(places_to.shape)
    if np.intersect1d(places_to, taken).size:
        _judge(core, to, source, width * size, site)
        steps = [_step(*pair) for pair in zip(places_to, taken, strict=True)]
    else:
        steps = [_step(places_to, taken)]
    memory = write.memory
    run = partial(_move, memory.bytes.view(f"u{size}"), steps)
    carry = partial(_move, memory.defined.view(f"u{size}"), steps)
    cycles = core.device.cost.vector(repeats * ROWS * width * size // REPEAT)
    return Plan(NAME, core.pipes["V"], (read,), (write,), run, cycles, carry=carry)


def _elements(starts: np.ndarray, width: int, size: int) -> np.ndarray:
    """Numbers of the elements of each block, counted from the start of the memory."""
    return (starts // size)[:, :, None] + np.arange(width)


def _step(to: np.ndarray, source: np.ndarray) -> tuple[np.ndarray | slice, np.ndarray]:
    """Elements that are moved at once, where they can in the order of their targets, which then are one slice."""
    to, source = to.reshape(-1), source.reshape(-1)
    order = np.argsort(to)
    first = int(to[order[0]])
    if np.array_equal(to[order], np.arange(first, first + to.size)):
        return slice(first, first + to.size), source[order]
    return to, source


def _move(flat: np.ndarray, steps: list[tuple[np.ndarray | slice, np.ndarray]]) -> None:
    for to, source in steps:
        flat[to] = flat.take(source)


def _region(core: Core, places: list[Place], starts: np.ndarray, nbytes: int, name: str, site: Site) -> Region:
    """The footprint of one side; past a tensor is reported, past the memory is a fault."""
    memory = places[0].memory
    assert memory is not None
    for i, where in enumerate(places):
        last = int(starts[-1, i])
        if last + nbytes > min(where.start + where.nbytes, memory.size):
            where.region(((last, ((nbytes, 1),)),), f"{name}[{i}]", NAME, site)
    touched = np.zeros(memory.size // HALF, np.bool_)
    touched[_units(starts, nbytes)] = True
    pieces: tuple[Piece, ...] = tuple((a * HALF, (((b - a) * HALF, 1),)) for a, b in runs_of(touched))
    if len(pieces) > ROWS:  # a few strided pieces rather than many runs
        stride = int(starts[1, 0] - starts[0, 0])
        pieces = tuple((start, ((len(starts), stride), (nbytes, 1))) for start in starts[0].tolist())
    return core.region("UB", pieces, f"{NAME}: {name}", site)


def _units(starts: np.ndarray, nbytes: int) -> np.ndarray:
    """Numbers of the half blocks that are touched."""
    return starts[..., None] // HALF + np.arange(nbytes // HALF)


def _judge(core: Core, to: np.ndarray, source: np.ndarray, nbytes: int, site: Site) -> None:
    """Report an overlap that the vendor does not allow, at the first repeat that has one."""
    writes = [set(_units(row, nbytes).ravel().tolist()) for row in to]
    reads = [set(_units(row, nbytes).ravel().tolist()) for row in source]
    for repeat, (write, read, following) in enumerate(zip(writes, reads, [*reads[1:], set()], strict=True)):
        if write & read and write != read:
            code, common, rule = "OVERLAP_PARTIAL", write & read, "all blocks of a repeat coincide or none"
        elif write & following:
            code, common = "OVERLAP_REPEAT", write & following
            rule = "the destination of a repeat is not a source of the next"
        else:
            continue
        both = ("dst_list", _runs(set().union(*writes))), ("src_list", _runs(set().union(*reads)))
        text = f"{show_meeting(*both, _runs(common))} at repeat {repeat}; rule: {rule}"
        report(core, code, text, site, NAME)
        return


def _runs(units: set[int]) -> Runs:
    """Numbers of half blocks as runs of bytes."""
    touched = np.zeros(max(units) + 1, np.bool_)
    touched[list(units)] = True
    return [(a * HALF, b * HALF) for a, b in runs_of(touched)]


__all__ = ["trans_data_to_5hd"]
