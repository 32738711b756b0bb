"""Reductions of each repeat, block or pair of lanes. For those of a whole tensor see vec_reduce_tensor.

The destination's repeat stride counts results of a repeat, not blocks; its alignment is that of the results, 32 bytes
at most. Results whose lanes are all masked off are not written. Pages: ReduceRepeat (whole_reduce_*,
repeat_reduce_sum), ReduceDataBlock (block_reduce_*), ReducePairElem (pair_reduce_sum). Not simulated: saturation.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentValueError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import float16, float32
from ..core.enums import ReduceOrder
from ..core.limits import within
from ..core.place import index, report, running
from ..core.tensor import LocalTensor
from ..masks import Mask, plain, registers, repeats, work
from ..operand import BLOCK, REPEAT, Strided, aligned, local, typed
from ..plans import again, lanes_of, present, zero
from ..reduction import Fold, extreme, fold_plan, tree
from ..rows import Row, finish, register

FLOATING = (float16, float32)
STRIDE_LIMIT = 0xFFFF
_PLAIN = (int,) * 4  # classes of repeats and strides that need no look


def _sums(x: np.ndarray, active: np.ndarray | None) -> np.ndarray:
    return tree(x)[..., None]


def _extremes(greatest: bool, order: int, x: np.ndarray, active: np.ndarray | None) -> np.ndarray:
    """What the order asks for, as bits; an index in the bits of an element, alone in 32 bits."""
    value, at = extreme(x, active, greatest)
    if order == ReduceOrder.ORDER_ONLY_INDEX:
        return at.astype(np.uint32)[..., None]
    if order == ReduceOrder.ORDER_ONLY_VALUE:
        return value[..., None]
    first = order == ReduceOrder.ORDER_INDEX_VALUE
    out = np.empty((*at.shape, 2), value.dtype)
    out[..., int(first)], out[..., int(not first)] = value, at
    return out


def _one(lanes: int) -> int:
    return 1


def _eight(lanes: int) -> int:
    return 8


def _halves(lanes: int) -> int:
    return lanes // 2


WORDS_AND_SIZE = {  # of a result in dst; size 0: as the source's elements
    ReduceOrder.ORDER_VALUE_INDEX: (2, 0),
    ReduceOrder.ORDER_INDEX_VALUE: (2, 0),
    ReduceOrder.ORDER_ONLY_VALUE: (1, 0),
    ReduceOrder.ORDER_ONLY_INDEX: (1, 4),
}
SUM = Fold(_sums, _one)
BY_ORDER = {
    greatest: {
        order: Fold(partial(_extremes, greatest, order), _one, *WORDS_AND_SIZE[order]) for order in WORDS_AND_SIZE
    }
    for greatest in (True, False)
}


def _row(name: str, fold: Fold, does: str, page: str) -> tuple[Row, Fold]:
    return register(Row(name, fold.value, FLOATING, does, page, sources=1)), fold


def _only_value(greatest: bool) -> Any:
    return partial(_extremes, greatest, ReduceOrder.ORDER_ONLY_VALUE)


BLOCK_SUM = _row(
    "block_reduce_sum",
    Fold(_sums, _eight),
    "dst = the sum of each block of 32 bytes, eight a repeat",
    "ReduceDataBlock",
)
BLOCK_MAX = _row(
    "block_reduce_max",
    Fold(_only_value(True), _eight),
    "dst = the greatest of each block of 32 bytes, eight a repeat; NaN wins",
    "ReduceDataBlock",
)
BLOCK_MIN = _row(
    "block_reduce_min",
    Fold(_only_value(False), _eight),
    "dst = the least of each block of 32 bytes, eight a repeat; NaN wins",
    "ReduceDataBlock",
)
PAIR_SUM = _row(
    "pair_reduce_sum", Fold(_sums, _halves), "dst = the sum of lanes 0 and 1, of 2 and 3, ...", "ReducePairElem"
)
REPEAT_SUM = _row("repeat_reduce_sum", SUM, "dst = the sum of each repeat", "ReduceRepeat")
WHOLE_SUM = _row("whole_reduce_sum", SUM, "dst = the sum of each repeat", "ReduceRepeat")
WHOLE_MAX = _row(
    "whole_reduce_max",
    BY_ORDER[True][ReduceOrder.ORDER_VALUE_INDEX],
    "dst = the greatest of each repeat and its lane, the first of equals; NaN wins",
    "ReduceRepeat",
)
WHOLE_MIN = _row(
    "whole_reduce_min",
    BY_ORDER[False][ReduceOrder.ORDER_VALUE_INDEX],
    "dst = the least of each repeat and its lane, the first of equals; NaN wins",
    "ReduceRepeat",
)


def stride(core: Core, name: str, operand: str, number: Any, site: Site) -> int:
    """A stride, 0 to 65535."""
    return within(core, "BAD_STRIDE", operand, number, 0, STRIDE_LIMIT, name, site)


def _issue(
    row: Row,
    fold: Fold,
    dst: Any,
    src: Any,
    mask: Any,
    times: Any,
    strides: tuple[Any, Any, Any],  # of dst between repeats, of src between blocks and between repeats
    set_mask: Any,
    site: Site,
) -> None:
    """Issue a call: registers from the call or as they are, the plan from the cache or new."""
    name = row.name
    source, bits = src.place if isinstance(src, LocalTensor) else None, plain(mask)
    asked = (row, fold, bits, times, strides, source)
    a, b, c = strides
    kinds = times.__class__, a.__class__, b.__class__, c.__class__
    known = set_mask is True and kinds == _PLAIN and bits is not None
    if known:
        plan = again(dst, asked)
        if plan is not None:
            dst.place.core.issue(plan, site)
            return
    core = running(name)
    lanes = lanes_of(src.place.dtype) if isinstance(src, LocalTensor) else REPEAT
    core.mask = rule = registers(core, mask, set_mask, lanes, name, site)
    count = repeats(core, times, name, site)
    named = zip(("dst_rep_stride", "src_blk_stride", "src_rep_stride"), strides, strict=True)
    key = tuple(stride(core, name, operand, number, site) for operand, number in named)
    form = (row, fold, rule, count, key, source)
    plan = dst.place.plans.get(form) if isinstance(dst, LocalTensor) else None
    if plan is None:
        plan = _plan(core, row, fold, dst, src, rule, count, key, site)
        if plan is None:
            return
        dst.place.live.keep((*form[:-1], src.place.live), plan)
    elif known and not rule[2]:
        dst.place.live.keep(asked, (rule, plan))
    core.issue(plan, site)


def _plan(
    core: Core,
    row: Row,
    fold: Fold,
    dst: Any,
    src: Any,
    registers: Mask,
    times: int,
    key: tuple[int, ...],
    site: Site,
) -> Plan | None:
    """The plan of a call; None where there is nothing to do."""
    name = row.name
    to, source = (local(core, tensor, what, name, site) for what, tensor in (("dst", dst), ("src", src)))
    typed(core, to, row.dtypes, "dst", name, site)
    typed(core, source, row.dtypes, "src", name, site)
    if to.dtype is not source.dtype:
        text = f"src has type {source.dtype}, dst has {to.dtype}; rule: one type for all"
        report(core, "BAD_DTYPE", text, site, name)
    if not present(core, to.memory, name, site):
        return None
    ops = Strided("src", source, key[1], key[2])
    unit = fold.unit(ops)
    aligned(core, source, "src", name, site)
    aligned(core, to, "dst", name, site, min(unit, BLOCK))
    works = work(registers, times, REPEAT // ops.size)
    if not works:
        zero(core, "repeat_times" if not times else "mask", name, site)
        return None
    return fold_plan(core, name, fold, to, ops, works, key[0] * unit, site)


def block_reduce_sum(
    dst: Any, src: Any, repeat: Any, mask: Any, dst_rep_stride: Any, src_blk_stride: Any, src_rep_stride: Any
) -> None:
    _issue(*BLOCK_SUM, dst, src, mask, repeat, (dst_rep_stride, src_blk_stride, src_rep_stride), True, author(1))


def block_reduce_max(
    dst: Any, src: Any, repeat: Any, mask: Any, dst_rep_stride: Any, src_blk_stride: Any, src_rep_stride: Any
) -> None:
    _issue(*BLOCK_MAX, dst, src, mask, repeat, (dst_rep_stride, src_blk_stride, src_rep_stride), True, author(1))


def block_reduce_min(
    dst: Any, src: Any, repeat: Any, mask: Any, dst_rep_stride: Any, src_blk_stride: Any, src_rep_stride: Any
) -> None:
    _issue(*BLOCK_MIN, dst, src, mask, repeat, (dst_rep_stride, src_blk_stride, src_rep_stride), True, author(1))


def pair_reduce_sum(
    dst: Any,
    src: Any,
    repeat_time: Any,
    mask: Any,
    dst_rep_stride: Any,
    src_blk_stride: Any,
    src_rep_stride: Any,
    is_set_mask: Any = True,
) -> None:
    strides = (dst_rep_stride, src_blk_stride, src_rep_stride)
    _issue(*PAIR_SUM, dst, src, mask, repeat_time, strides, is_set_mask, author(1))


def repeat_reduce_sum(
    dst: Any,
    src: Any,
    repeat_time: Any,
    mask: Any,
    dst_blk_stride: Any,
    src_blk_stride: Any,
    dst_rep_stride: Any,
    src_rep_stride: Any,
    is_set_mask: Any = True,
) -> None:
    index(dst_blk_stride, "repeat_reduce_sum", "dst_blk_stride")  # the device drops it: a repeat has one result
    strides = (dst_rep_stride, src_blk_stride, src_rep_stride)
    _issue(*REPEAT_SUM, dst, src, mask, repeat_time, strides, is_set_mask, author(1))


def whole_reduce_sum(
    dst: Any,
    src: Any,
    mask: Any,
    repeat_time: Any,
    dst_rep_stride: Any,
    src_blk_stride: Any,
    src_rep_stride: Any,
    is_set_mask: Any = True,
) -> None:
    strides = (dst_rep_stride, src_blk_stride, src_rep_stride)
    _issue(*WHOLE_SUM, dst, src, mask, repeat_time, strides, is_set_mask, author(1))


def whole_reduce_max(
    dst: Any,
    src: Any,
    mask: Any,
    repeat_time: Any,
    dst_rep_stride: Any,
    src_blk_stride: Any,
    src_rep_stride: Any,
    order: Any = ReduceOrder.ORDER_VALUE_INDEX,
    is_set_mask: Any = True,
) -> None:
    strides = (dst_rep_stride, src_blk_stride, src_rep_stride)
    fold = BY_ORDER[True][order if order.__class__ is ReduceOrder else _order(order, "whole_reduce_max")]
    _issue(WHOLE_MAX[0], fold, dst, src, mask, repeat_time, strides, is_set_mask, author(1))


def whole_reduce_min(
    dst: Any,
    src: Any,
    mask: Any,
    repeat_time: Any,
    dst_rep_stride: Any,
    src_blk_stride: Any,
    src_rep_stride: Any,
    order: Any = ReduceOrder.ORDER_VALUE_INDEX,
    is_set_mask: Any = True,
) -> None:
    strides = (dst_rep_stride, src_blk_stride, src_rep_stride)
    fold = BY_ORDER[False][order if order.__class__ is ReduceOrder else _order(order, "whole_reduce_min")]
    _issue(WHOLE_MIN[0], fold, dst, src, mask, repeat_time, strides, is_set_mask, author(1))


def _order(order: Any, name: str) -> ReduceOrder:
    number = index(order, name, "order", "a ReduceOrder")
    if number not in WORDS_AND_SIZE:
        legal = ", ".join(member.name for member in WORDS_AND_SIZE)
        raise ArgumentValueError(name, "is no ReduceOrder", operand="order", value=number, rule=f"one of {legal}")
    return ReduceOrder(number)


_DOC = """`mask`: lanes of a repeat of 256 bytes, as a number or as two words of bits [low, high]; repeats: 0 to 255;
`src_blk_stride` and `src_rep_stride` in blocks of 32 bytes; `dst_rep_stride` in units of the results of a repeat.
Sums are binary trees over neighbouring lanes, rounded at every node. Faults: BAD_DTYPE, BAD_POSITION, BAD_MASK,
BAD_REPEAT, BAD_STRIDE, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_REPEAT; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ."""
_ORDER = """
`order`: [value, index] (default), [index, value], the value alone, or the index alone (as uint32). An index has the
bits of an unsigned number of the element's width, and is the lane in its repeat."""
_NANS = "which of several NaNs an index names is not published; the first here."
_STRIDES = "dst_rep_stride, src_blk_stride, src_rep_stride"
_ALL_STRIDES = "dst_blk_stride, src_blk_stride, dst_rep_stride, src_rep_stride"
_SET = "is_set_mask=True"
finish(block_reduce_sum, BLOCK_SUM[0], (f"dst, src, repeat, mask, {_STRIDES}",), _DOC)
finish(block_reduce_max, BLOCK_MAX[0], (f"dst, src, repeat, mask, {_STRIDES}",), _DOC)
finish(block_reduce_min, BLOCK_MIN[0], (f"dst, src, repeat, mask, {_STRIDES}",), _DOC)
finish(pair_reduce_sum, PAIR_SUM[0], (f"dst, src, repeat_time, mask, {_STRIDES}, {_SET}",), _DOC)
finish(repeat_reduce_sum, REPEAT_SUM[0], (f"dst, src, repeat_time, mask, {_ALL_STRIDES}, {_SET}",), _DOC)
finish(whole_reduce_sum, WHOLE_SUM[0], (f"dst, src, mask, repeat_time, {_STRIDES}, {_SET}",), _DOC)
for _function, _extreme in ((whole_reduce_max, WHOLE_MAX), (whole_reduce_min, WHOLE_MIN)):
    _form = f"dst, src, mask, repeat_time, {_STRIDES}, order=0, {_SET}"
    finish(_function, _extreme[0], (_form,), _DOC + _ORDER, _NANS)

__all__ = [
    "block_reduce_max",
    "block_reduce_min",
    "block_reduce_sum",
    "pair_reduce_sum",
    "repeat_reduce_sum",
    "whole_reduce_max",
    "whole_reduce_min",
    "whole_reduce_sum",
]
