"""Conversions of element types: cast, cast_deq, and the scale register that some of them read.

Not modelled: int4 (the API has no name for it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from .. import mixed
from ..conversions import CONVERSIONS, dequantised
from ..core.dtype import DataType, bfloat16, float16, float32, int8, int16, int32, int64, uint8, uint64
from ..core.enums import RoundMode
from ..core.ir_value import Int32, value
from ..core.place import Place, index, report, running
from ..core.scalar_access import store_element
from ..core.tensor import LocalTensor
from ..core.types import VdeqInfo
from ..lanes import hidden
from ..masks import ALL_LANES, Work, lanes_or_bits
from ..operand import Strided, aligned, local, typed
from ..plans import build, present
from ..rows import FORMS_DOC, Row, finish
from ..signatures import signatures

OFFSETS = (-256, 255)  # of the register, nine bits
WORDS = 128  # bytes of 16 channels in UB
CAST = Row(
    "cast",
    lambda x: x,
    (int8, uint8, int16, float16, bfloat16, int32, float32, int64),
    "dst = src in the type of dst, element by element",
    "Cast",
    sources=1,
)
DEQUANTISED = (float16, int32)  # the pair that takes its scale from a register
CAST_DEQ = Row(
    "cast_deq",
    lambda x: x,
    (int8, uint8, float16),
    "dst = src * scale + offset in the type of dst, element by element",
    "CastDequant",
    sources=1,
)
ROWS = {"cast": CAST, "cast_deq": CAST_DEQ}
BYTES = ((int8, int16), (uint8, int16), DEQUANTISED)
PAIRS = (*((dst, src) for src, dst in CONVERSIONS), DEQUANTISED)


@lru_cache(maxsize=256)
def _conversion(dst: DataType, src: DataType, mode: RoundMode) -> Row:
    return replace(CAST, value=CONVERSIONS[src, dst].make(mode, dst))


def _row_of(core: Core, operation: str, mode: int, scale: Any, site: Site) -> Callable[[mixed.Types], Row]:
    """The row for the types of a call; a mode that the pair does not take is reported."""

    def row_of(types: mixed.Types) -> Row:
        if types == DEQUANTISED:
            return replace(CAST, name=operation, value=partial(dequantised, scale=scale))
        dst, src = types
        legal = CONVERSIONS[src, dst].modes
        if mode not in legal:
            name = RoundMode(mode).name if mode in list(RoundMode) else mode
            rule = ", ".join(m.name for m in legal)
            text = f"round_mode = {name}; rule: {src} to {dst} takes {rule}; nearest legal value: {legal[0].name}"
            report(core, "BAD_DTYPE", text, site, operation)
        return _conversion(dst, src, RoundMode(mode))

    return row_of


def _half_scale(core: Core, operation: str) -> Any:
    """The scale register as a half."""
    scale = core.state.get("deq_scale")
    if scale is None:
        raise NotSimulatedError(operation, "no scale was set; what the register holds at first is not published")
    return scale


def cast(
    dst: Any,
    src: Any,
    round_mode: Any,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    *,
    mask: Any = None,
) -> None:
    if repeat_times is None and repeat_params is None and mask is None:
        if count.__class__ is not int:
            count = count.v if count.__class__ is Int32 else index(count, "cast", "count")
        try:
            where = dst.place
            plan = where.plans["cast", src.place, round_mode.__class__, round_mode, count]  # 1.0 is no mode 1
            core = where.core
        except (AttributeError, KeyError, TypeError):
            _by_count("cast", dst, src, round_mode, count, author(1))
            return
        core.mask = ALL_LANES
        core.issue(plan)
        return
    lanes = lanes_or_bits(count, mask, "cast")
    _by_mask("cast", dst, src, round_mode, lanes, repeat_times, repeat_params, is_set_mask, author(1))


def _by_count(operation: str, dst: Any, src: Any, round_mode: Any, count: Any, site: Site) -> None:
    """Issue a cast of `count` elements."""
    core = running(operation)
    mode = index(round_mode, operation, "round_mode", "a RoundMode")
    tensors = (("dst", dst), ("src", src))
    scale = _scale_for(core, operation, tensors)
    make = mixed.maker(core, _row_of(core, operation, mode, scale, site), site)
    plan = mixed.plan_by_count(core, operation, tensors, PAIRS, make, count, site)
    if plan is None:
        return
    if scale is None:
        dst.place.live.keep(("cast", src.place.live, round_mode.__class__, mode, count), plan)
    core.mask = ALL_LANES
    core.issue(plan, site)


def _by_mask(
    operation: str,
    dst: Any,
    src: Any,
    round_mode: Any,
    mask: Any,
    times: Any,
    params: Any,
    set_mask: Any,
    site: Site,
) -> None:
    """Issue a cast in mask and repeat form."""
    core = running(operation)
    mode = index(round_mode, operation, "round_mode", "a RoundMode")
    tensors = (("dst", dst), ("src", src))
    scale = _scale_for(core, operation, tensors)
    make = mixed.maker(core, _row_of(core, operation, mode, scale, site), site)
    key = (mode, repr(scale))
    plan = mixed.plan_by_mask(core, ROWS[operation], tensors, PAIRS, make, key, mask, times, params, set_mask, site)
    if plan is not None:
        core.issue(plan, site)


def _scale_for(core: Core, operation: str, tensors: mixed.Tensors) -> Any:
    """The scale that a call takes from the register; None for pairs that take none."""
    places = mixed.places_of(tensors)
    types = None if places is None else tuple(place.dtype for place in places)
    return _half_scale(core, operation) if types == DEQUANTISED else None


# ------------------------------------------------------------------ the scale register and cast_deq


class Scaling(NamedTuple):
    """What cast_deq multiplies int16 with and adds: for a whole tensor, or a value a channel as arrays of 16."""

    scale: Any
    offset: Any
    signed: Any

    @property
    def key(self) -> tuple[bytes, ...]:
        """The bits of all three: numpy prints arrays rounded."""
        return tuple(part.tobytes() for part in self)


class Channels(NamedTuple):
    """Where in UB the words of the 16 channels lie, and which of them are signed."""

    place: Place
    signed: tuple[bool, ...]


def set_deq_scale(
    scale: Any = None, offset: Any = None, sign_mode: Any = None, *, vdeq: Any = None, vdeq_info: Any = None
) -> None:
    """Set the register that add_deq_relu, cast of int32 to float16, and cast_deq take their scale from.

        set_deq_scale(scale)                      a half: add_deq_relu, and int32 to float16
        set_deq_scale(scale, offset, sign_mode)   cast_deq of int16, is_vec_deq=False; offset: -256 to 255
        set_deq_scale(vdeq, vdeq_info)            cast_deq of int16, is_vec_deq=True

    The last form writes 16 words of `vdeq_info` (VdeqInfo) into `vdeq`, a uint64 tensor of 128 bytes, by the scalar
    unit; cast_deq reads them from there. Page: SetDeqScale.
    """
    site = author(1)
    core = running("set_deq_scale")
    if isinstance(scale, LocalTensor):
        vdeq, vdeq_info = scale, offset if vdeq_info is None else vdeq_info
    if vdeq is not None:
        _set_channels(core, vdeq, vdeq_info, site)
        return
    number = np.float32(value(scale, float32, "set_deq_scale").v)
    if offset is None and sign_mode is None:
        with np.errstate(over="ignore"):
            core.state["deq_scale"], core.state["deq"] = np.float16(number), None
        return
    add, signed = index(offset, "set_deq_scale", "offset"), bool(index(sign_mode, "set_deq_scale", "sign_mode"))
    if not OFFSETS[0] <= add <= OFFSETS[1]:
        nearest = min(max(add, OFFSETS[0]), OFFSETS[1])
        rule = f"{OFFSETS[0]} to {OFFSETS[1]}, nine bits"
        raise ArgumentValueError("set_deq_scale", operand="offset", value=add, rule=rule, nearest=nearest)
    word = _word(number, add, signed)
    core.state["deq_scale"] = _low_half(word)
    core.state["deq"] = _scaling(np.array([word], np.uint64))


def _set_channels(core: Core, vdeq: Any, info: Any, site: Site) -> None:
    if not isinstance(info, VdeqInfo):
        raise ArgumentTypeError("set_deq_scale", operand="vdeq_info", value=info, rule="a VdeqInfo")
    where = local(core, vdeq, "vdeq", "set_deq_scale", site)
    typed(core, where, (uint64,), "vdeq", "set_deq_scale", site)
    if not present(core, where.memory, "set_deq_scale", site):
        return
    aligned(core, where, "vdeq", "set_deq_scale", site)
    for i, (scale, offset, signed) in enumerate(zip(info.scale, info.offset, info.sign_mode, strict=True)):
        store_element(where, i, _word(np.float32(scale), offset, signed), site)
    core.state["deq_scale"] = _low_half(where.start >> 5)  # the register holds an address in 32-byte blocks
    core.state["deq"] = Channels(where, tuple(map(bool, info.sign_mode)))


def _word(scale: Any, offset: int, signed: bool) -> int:
    """A word of the register: scale in bits 0 to 31, offset in 37 to 45, sign mode in 46."""
    return int(np.float32(scale).view(np.uint32)) | (offset & 0x1FF) << 37 | int(signed) << 46


def _low_half(word: int) -> Any:
    return np.array([word & 0xFFFF], np.uint16).view(np.float16)[0]


def _scaling(words: Any) -> Scaling:
    """What words of the register mean; of a scale's mantissa the hardware takes ten bits."""
    scale = (words & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32).astype(np.float64)
    offset = ((words >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    return Scaling(scale, np.where(offset > OFFSETS[1], offset - 512, offset), (words >> np.uint64(46)) & np.uint64(1))


def _bytes_of(x: Any, how: Scaling, target: DataType) -> Any:
    """x * scale + offset, rounded to the nearest integer, saturated as signed or unsigned bytes; of NaN 0."""
    y = np.rint(x.astype(np.float64) * how.scale + how.offset)
    y[y != y] = 0
    low, high = np.where(how.signed, -128, 0), np.where(how.signed, 127, 255)
    return np.clip(y, low, high).astype(np.int16).astype(np.uint8).view(target.np)


def _by_channel(x: Any, channel: Any, words: Any, target: DataType) -> Any:
    how = _scaling(words)
    return _bytes_of(x, Scaling(*(part[channel] for part in how)), target)


def cast_deq(
    dst: Any,
    src: Any,
    count: Any = None,
    repeat_times: Any = None,
    repeat_params: Any = None,
    is_set_mask: Any = True,
    is_vec_deq: Any = True,
    half_block: Any = True,
    *,
    mask: Any = None,
) -> None:
    site = author(1)
    core = running("cast_deq")
    if repeat_times.__class__ is bool:  # is_vec_deq and half_block by position, in the count form
        repeat_times, is_vec_deq = None, repeat_times
        if repeat_params is not None:
            repeat_params, half_block = None, repeat_params
    tensors = (("dst", dst), ("src", src))
    places = mixed.places_of(tensors)
    by_count = repeat_times is None and repeat_params is None
    lanes = lanes_or_bits(count, mask, "cast_deq")
    if places is not None and tuple(place.dtype for place in places) == DEQUANTISED:
        if by_count:
            _by_count("cast_deq", dst, src, RoundMode.CAST_RINT, count, site)
        else:
            form = (lanes, repeat_times, repeat_params, is_set_mask)
            _by_mask("cast_deq", dst, src, RoundMode.CAST_RINT, *form, site)
        return
    by_channel = bool(index(is_vec_deq, "cast_deq", "is_vec_deq"))
    upper = bool(index(half_block, "cast_deq", "half_block"))
    how = _register(core, by_channel)

    def make(ops: list[Strided], works: list[Work]) -> Plan:
        if by_count:
            ops[0].repeat = 8
        return _deq_plan(core, ops, works, how, upper, site)

    if by_count:
        plan = mixed.plan_by_count(core, "cast_deq", tensors, BYTES, make, count, site)
        core.mask = ALL_LANES
    else:
        key = (upper, *(how.key if isinstance(how, Scaling) else how))
        form = (lanes, repeat_times, repeat_params, is_set_mask)
        plan = mixed.plan_by_mask(core, CAST_DEQ, tensors, BYTES, make, key, *form, site)
    if plan is not None:
        core.issue(plan, site)


def _register(core: Core, by_channel: bool) -> Scaling | Channels:
    """What the register holds for cast_deq of int16."""
    how = core.state.get("deq")
    if how is None:
        rule = "set_deq_scale with scale, offset and sign_mode, or with vdeq and vdeq_info, comes first"
        raise ArgumentValueError("cast_deq", "finds no scale for int16 in the register", rule=rule)
    if isinstance(how, Channels) is not by_channel:
        rule = "True after set_deq_scale(vdeq, vdeq_info), False after set_deq_scale(scale, offset, sign_mode)"
        raise ArgumentValueError("cast_deq", operand="is_vec_deq", value=by_channel, rule=rule, nearest=not by_channel)
    return how


def _deq_plan(
    core: Core, ops: list[Strided], works: list[Work], how: Scaling | Channels, upper: bool, site: Site
) -> Plan:
    """One half of each destination block takes the 16 lanes of a source block."""
    dst = ops[0]
    target = dst.place.dtype
    signs = how.signed if isinstance(how, Channels) else [bool(how.signed[0])]
    if set(signs) != {target is int8}:
        text = f"dst has type {target}, sign_mode is {signs[0]}; rule: int8 with True, uint8 with False"
        report(core, "BAD_DTYPE", text, site, "cast_deq")
    dst.width = ops[1].size
    if upper:
        dst.place = dst.place.offset(16)
    if isinstance(how, Scaling):
        row = replace(CAST_DEQ, value=partial(_bytes_of, how=how, target=target))
        return build(core, row, ops, works, site)
    start = how.place.start
    memory = how.place.memory
    assert memory is not None
    words = memory.bytes[start : start + WORDS].view(np.uint64)
    row = replace(CAST_DEQ, value=partial(_by_channel, words=words, target=target))
    numbers = hidden("channel", np.arange(16, dtype=np.int16), int16, 0, 0)
    plan = build(core, row, ops, works, site, [numbers])
    used = core.region("UB", ((start, ((WORDS, 1),)),), "cast_deq: vdeq", site)
    return Plan(plan.name, plan.pipe, (*plan.reads, used), plan.writes, plan.run, plan.cycles)


_PAIRS_DOC = "\n".join(
    f"    {src} to {dst}: {', '.join(mode.name.removeprefix('CAST_') for mode in conversion.modes)}"
    for (src, dst), conversion in CONVERSIONS.items()
)
finish(
    cast,
    CAST,
    ("dst, src, round_mode, count", "dst, src, round_mode, mask, repeat_times, repeat_params, is_set_mask=True"),
    f"Pairs of types, each with the members CAST_.. of RoundMode that it takes:\n{_PAIRS_DOC}\n"
    "    int32 to float16: any, ignored; times the scale of set_deq_scale\n"
    "A repeat has the lanes of the wider type; the narrower one's dense repeat stride is 4. Integers saturate, NaN\n"
    "becomes the integer 0.\n" + FORMS_DOC,
    "a float beyond the largest value becomes an infinity here in every mode, as in the table of edge values; for the "
    "directed modes no page shows it.",
)
finish(
    cast_deq,
    CAST_DEQ,
    (
        "dst, src, count, is_vec_deq=True, half_block=True",
        "dst, src, mask, repeat_times, repeat_params, is_set_mask=True, is_vec_deq=True, half_block=True",
    ),
    "int32 to float16: as cast, with the scale of set_deq_scale(scale). int16 to int8 (sign_mode true) or uint8: each\n"
    "block of 16 goes to one half of a block of dst, the upper one with half_block; the other half stays. A scale for\n"
    "all (is_vec_deq=False), or one for each lane of a block, from UB. Ten bits of a scale's mantissa count; results\n"
    "are rounded to the nearest integer, ties to even, and saturated.\n" + FORMS_DOC,
    "the vendor names no rounding mode; another one would differ by 1 in ties or, if directed, between integers.",
)
set_deq_scale.__overloads__ = signatures(  # type: ignore[attr-defined]
    "scale", "scale, offset, sign_mode", "vdeq, vdeq_info"
)

__all__ = ["cast", "cast_deq", "set_deq_scale"]
