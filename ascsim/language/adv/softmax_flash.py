"""softmax_flash_v2: a step of the online softmax of FlashAttention-2. Page: SoftmaxFlashV2.

One instruction of the vector pipe here, a program of six steps on the device, of ten with update; the price is their
sum. Values, layouts and what is not modelled: `softmax_rows`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import author
from ...hw.instruction import Plan
from .. import values
from ..core.dtype import DataType, float16, float32
from ..core.place import Place, index, running
from ..masks import ALL_LANES
from ..operand import BLOCK
from . import softmax_rows as sm
from .calls import packed, planned
from .scratch import key
from .tiling import SoftmaxConfig, SoftMaxShapeInfo, SoftmaxTiling

NAME = "adv.softmax_flash_v2"
BUFFER = "shared_tmp_buffer"
_OPERANDS = {  # whether a matrix, whether written; the last three only with update
    "dst_tensor": (True, True),
    "exp_sum_tensor": (False, True),
    "max_tensor": (False, True),
    "src_tensor": (True, False),
    "exp_max_tensor": (False, True),
    "in_exp_sum_tensor": (False, False),
    "in_max_tensor": (False, False),
}
_ALWAYS = 4
_TYPES = (
    (float16,) * 7,
    (float32,) * 7,
    (float16, float32, float32, float16, float16, float32, float32),
)
_SHARED = (
    ("dst_tensor", "src_tensor"),
    ("exp_sum_tensor", "in_exp_sum_tensor"),
    ("max_tensor", "in_max_tensor"),
)
_FIRST = "reduce broadcast sub exp reduce broadcast"
_UPDATE = "reduce broadcast block block block_exp sub exp reduce broadcast block block"
_SPECIAL = 1024  # columns whose basic block takes twice the lanes of scratch
_DEFAULT, _NO_SHAPE = SoftmaxConfig(), SoftMaxShapeInfo()


def softmax_flash_v2(
    dst_tensor: Any,
    exp_sum_tensor: Any,
    max_tensor: Any,
    src_tensor: Any,
    exp_max_tensor: Any,
    in_exp_sum_tensor: Any,
    in_max_tensor: Any,
    tiling: Any,
    softmax_shape_info: Any = None,
    shared_tmp_buffer: Any = None,
    out_reduce_max: Any = None,
    is_update: Any = False,
    is_reuse_source: Any = False,
    is_basic_block: Any = False,
    is_data_format_nz: Any = False,
    config: Any = None,
) -> None:
    """dst = exp(src - max) of each row, with the sum of a row; `is_update` takes the rows before it into account.

    Without update max is that of the row and exp_sum the sum of dst; exp_max, in_exp_sum and in_max are not touched.
    With update max = greater of in_max and the row's, exp_max = exp(in_max - max), exp_sum = exp_max * in_exp_sum +
    sum of dst. Each of these has 32 bytes a row, the row's value throughout, of which the first is read.
    Types: all float16, all float32, or float32 for sums and maxima only. dst may start where src does, exp_sum where
    in_exp_sum, max where in_max. The shape is `softmax_shape_info`, or what was set on src; rows and NZ as of softmax.
    `tiling`, `is_basic_block`: as of softmax. `shared_tmp_buffer`: uint8 scratch, undefined afterwards; without one
    the free memory of the TPipe serves. `config`: a SoftmaxConfig; constants in it must be the shape before padding,
    and then decide by themselves whether this is a basic block. is_reuse_source has no effect. Not simulated:
    out_reduce_max, whose mode the API has no name for. Faults: BAD_*, MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS,
    MEM_OVERFLOW; warnings: OOB_BUF, UNINIT_READ. Page: SoftmaxFlashV2.
    Device: the exponential is correctly rounded here, its last bit may differ.
    """
    site = author(1)
    core = running(NAME)
    update, _, basic, nz = (
        bool(index(flag, NAME, name))
        for name, flag in (
            ("is_update", is_update),
            ("is_reuse_source", is_reuse_source),
            ("is_basic_block", is_basic_block),
            ("is_data_format_nz", is_data_format_nz),
        )
    )
    if out_reduce_max is not None:
        rule = "None; the device does nothing at all unless the configuration's mode is SOFTMAX_OUTPUT_WITHOUT_BRC"
        raise NotSimulatedError(
            NAME, "there is no name for the mode that it asks for", operand="out_reduce_max", rule=rule
        )
    tensors = (dst_tensor, exp_sum_tensor, max_tensor, src_tensor, exp_max_tensor, in_exp_sum_tensor, in_max_tensor)
    config = _DEFAULT if config is None else config
    shape_info = _NO_SHAPE if softmax_shape_info is None else softmax_shape_info
    for name, value, kind in (
        ("softmax_shape_info", shape_info, SoftMaxShapeInfo),
        ("config", config, SoftmaxConfig),
    ):
        if not isinstance(value, kind):
            raise ArgumentTypeError(NAME, f"is no {kind.__name__}", operand=name, value=value)
    cut, shape_set = packed(NAME, tiling, SoftmaxTiling), sm.attached(src_tensor)
    scratch_key = key(core, shared_tmp_buffer, NAME, BUFFER)
    given = (cut, shape_set, shape_info, config, update, basic, nz, scratch_key)

    def make(places: list[Place]) -> Plan:
        shape = sm.shape_of(NAME, src_tensor, "src_tensor", shape_info)
        rows, is_basic = _rows(shape, places[3].dtype, config, nz, basic)
        sm.agrees(NAME, tiling, rows, made_anew=nz or config.is_check_tiling)
        named = [sm.Operand(name, where, *_OPERANDS[name]) for name, where in zip(_OPERANDS, places, strict=True)]
        named = named if update else named[:_ALWAYS]
        compute = _update if update else _first
        run = partial(compute, [sm.view_of(operand, rows) for operand in named], rows, is_basic)
        room, temp = _room(rows, places[3].dtype, places[1].dtype, is_basic), (BUFFER, shared_tmp_buffer)
        return sm.plan(core, NAME, named, _SHARED, rows, room, temp, run, _UPDATE if update else _FIRST, site)

    plan = planned(core, NAME, tuple(zip(_OPERANDS, tensors, strict=True)), _TYPES, given, make, site)
    if plan is not None:
        core.mask = ALL_LANES
        core.issue(plan, site)


def _rows(
    shape: tuple[int, int, int, int], dtype: DataType, config: SoftmaxConfig, nz: bool, promised: bool
) -> tuple[sm.Rows, bool]:
    """The rows of a call, and whether they are a basic block: as promised, or as constants of the shape say."""
    constants = [config.ori_src_m, config.ori_src_k]
    basic = promised and not nz
    if any(constants):
        if constants != [*shape[2:]]:
            rule = f"the shape before padding, {[*shape[2:]]}, or [0, 0]"
            raise ArgumentValueError(NAME, operand="[ori_src_m, ori_src_k] of config", value=constants, rule=rule)
        many, columns, limit = sm.BASIC
        basic = not nz and constants[0] % many == 0 and constants[1] % columns == 0 and constants[1] < limit
    rows = sm.rows_of(NAME, shape, dtype, "src_tensor", nz, promised=basic and not any(constants))
    if basic:
        sm.all_count(NAME, rows)
    return rows, basic


def _room(rows: sm.Rows, dtype: DataType, total: DataType, basic: bool) -> tuple[int, int]:
    """Least and most bytes of scratch."""
    block, many = BLOCK // total.size, rows.m
    if rows.nz:
        return 4 * (3 * sm.C0 + rows.k), 4 * (3 * sm.C0 + rows.k) * rows.lines
    half = dtype is float16
    one = block + sm.LANES + rows.k * half
    if not basic:
        one += block * half
        return 4 * one, 4 * one * many
    one += sm.LANES * (rows.k == _SPECIAL)
    while many * rows.k >= 256 * sm.LANES:
        many //= 2
    least = 4 * one * sm.BASIC[0]
    return least, max(least, 4 * one * many)


def _first(views: list[np.ndarray], rows: sm.Rows, basic: bool) -> None:
    dst, total, peak, src = views
    power, _ = sm.exponentials(total, peak, src, rows, repeats=False, special=basic)
    sm.put(dst, rows, power)


def _update(views: list[np.ndarray], rows: sm.Rows, basic: bool) -> None:
    dst, total, peak, src, ratio, total_before, peak_before = views
    x, before = sm.taken(src, rows), peak_before[:, :1].astype(np.float32)
    most = values.maximum(before, sm.greatest(x))
    power, scale = values.exp(x - most), values.exp(before - most)
    row = scale * total_before[:, :1].astype(np.float32) + sm.sums(power, rows, repeats=False, special=basic)
    peak[...], total[...] = sm.rounded(most, peak.dtype), sm.rounded(row, total.dtype)
    ratio[...] = sm.rounded(scale, ratio.dtype)
    sm.put(dst, rows, power)


__all__ = ["softmax_flash_v2"]
