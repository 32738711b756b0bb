"""copy: lanes of repeats from one place in UB to another, bytes as they are. Page: Copy (UB to UB).

In counter mode, other than for every other vector instruction, the registers hold the elements of one repeat (more
than 256 bytes if need be) and the number of repeats counts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import bfloat16, float16, float32, int16, int32, uint16, uint32
from ..core.place import report, running
from ..core.tensor import LocalTensor
from ..core.types import CopyRepeatParams
from ..masks import COUNT, Mask, Work, plain, registers, repeats, work
from ..operand import REPEAT, Part, Strided, parts
from ..overlap import separate
from ..plans import again, build, lanes_of, operands, zero
from ..rows import FORMS_DOC, Row, finish, register

REPEAT_STRIDE_LIMIT = 4095  # blocks


ROW = register(
    Row(
        "copy",
        np.copy,  # all lanes of a repeat are read before one is written
        (int16, uint16, float16, bfloat16, int32, uint32, float32),
        "dst = src",
        "Copy",
        sources=1,
    )
)


def copy(dst: Any, src: Any, mask: Any, repeat_time: Any, repeat_params: Any, is_set_mask: Any = True) -> None:
    site = author(1)
    source = src.place if isinstance(src, LocalTensor) else None
    asked, bits = None, plain(mask)
    if bits is not None and repeat_time.__class__ is int and is_set_mask is True:
        asked = (ROW, bits, repeat_time, repeat_params.__class__, getattr(repeat_params, "key", None), source)
        plan = again(dst, asked)
        if plan is not None:
            dst.place.core.issue(plan, site)
            return
    core = running("copy")
    lanes = lanes_of(src.place.dtype) if isinstance(src, LocalTensor) else REPEAT
    core.mask = given = registers(core, mask, is_set_mask, lanes, "copy", site)
    times = repeats(core, repeat_time, "copy", site)
    if not isinstance(repeat_params, CopyRepeatParams):
        rule = "a CopyRepeatParams"
        raise ArgumentTypeError("copy", operand="repeat_params", value=repeat_params, rule=rule)
    key = repeat_params.key
    plan = dst.place.plans.get((ROW, source, given, times, key)) if isinstance(dst, LocalTensor) else None
    if plan is None:
        plan = _plan(core, dst, src, given, times, key, site)
        if plan is None:
            return
        dst.place.live.keep((ROW, src.place.live, given, times, key), plan)
    elif asked is not None and not given[2]:  # found where both are alive: it need not be checked again
        dst.place.keep(asked, (given, plan))
    core.issue(plan, site)


def _plan(core: Core, dst: Any, src: Any, registers: Mask, times: int, key: tuple[int, ...], site: Site) -> Plan | None:
    """The plan of a call; None where there is nothing to do."""
    ops = operands(core, ROW, (("dst", dst), ("src", src)), site)
    if ops is None:
        return None
    if not key[0]:
        text = "dst_stride = 0; rule: 1 or more; nearest legal value: 1"
        report(core, "BAD_STRIDE", text, site, "copy")
    for operand, name, block, repeat in zip(ops, ("dst", "src"), key[:2], key[2:], strict=True):
        if repeat > REPEAT_STRIDE_LIMIT:
            text = f"{name}_repeat_size = {repeat}; rule: 0 to {REPEAT_STRIDE_LIMIT} blocks"
            report(core, "BAD_STRIDE", f"{text}; nearest legal value: {REPEAT_STRIDE_LIMIT}", site, "copy")
        operand.block, operand.repeat = block, repeat
    works = _works(registers, times, lanes_of(ops[0].place.dtype))
    if not works:
        zero(core, "mask" if times else "repeat_time", "copy", site)
        return None
    whole = parts(ops, works)
    for i, operand in enumerate(ops):  # in counter mode a repeat may be longer than UB
        pieces = tuple(part.piece(i, operand.size) for step in whole for part in step)
        core.region("UB", pieces, f"copy: {operand.name}", site)
    plan = build(core, ROW, ops, works, site)
    steps = whole if separate(ops, works, whole) else parts(ops, works, one_by_one=True)
    plan.carry = partial(_carry, _known(ops, steps))
    return plan


def _works(registers: Mask, times: int, lanes: int) -> list[Work]:
    _, low, counter = registers
    if not counter:
        return work(registers, times, lanes)
    count = low & COUNT
    return [(((0, count),), times)] if count and times else []


def _known(ops: list[Strided], steps: list[list[Part]]) -> list[list[list[np.ndarray]]]:
    """Definedness of dst and src, a rectangle of bytes a part."""
    out = []
    for step in steps:
        pairs = []
        for part in step:
            pair = []
            for i, operand in enumerate(ops):
                shape = (*(n for n, _ in part.dims), operand.size)
                strides = (*(each[i] for _, each in part.dims), 1)
                assert operand.place.memory is not None
                pair.append(as_strided(operand.place.memory.defined[part.starts[i] :], shape, strides))
            pairs.append(pair)
        out.append(pairs)
    return out


def _carry(steps: list[list[list[np.ndarray]]]) -> None:
    for pairs in steps:
        values = [source.copy() for _, source in pairs]
        for (target, _), value in zip(pairs, values, strict=True):
            target[...] = value


finish(
    copy,
    ROW,
    ("dst, src, mask, repeat_time, repeat_params, is_set_mask=True",),
    FORMS_DOC
    + "\nStrides of a CopyRepeatParams: blocks 1 to 65535 (src from 0), repeats 0 to 4095. In counter mode the"
    "\nregisters hold the elements of one repeat.",
)

__all__ = ["copy"]
