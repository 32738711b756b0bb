"""Transposition: 16 x 16 blocks, [N,C,H,W] to [N,H,W,C] and back. Page: Transpose.

The 16 x 16 form is one instruction. The conversions are programs of transpositions and copies on the device; here
each is one instruction that takes as long as its program (without the last, shorter rounds) and uses up the scratch.
trans_data_to_5hd stands in `vec_transpose_5hd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentValueError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..core.dtype import float16, float32, int8, int16, int32, uint8, uint16, uint32
from ..core.enums import TransposeType
from ..core.limits import parameters, required
from ..core.place import Place, report, running
from ..core.types import TransposeParamsExt
from ..operand import BLOCK, REPEAT
from ..overlap import apart
from ..plans import zero
from ..signatures import signatures
from ..spans import Named, checked, span, words

NAME = "transpose"
SIDE = 16  # elements of a block's side
MOST = 4095  # of c_size, and of h_size * w_size
_HALF_WORDS = (int16, uint16, float16)
_ANY = (int8, uint8, int16, uint16, float16, int32, uint32, float32)
_CONVERSIONS = (TransposeType.TRANSPOSE_NCHW2NHWC, TransposeType.TRANSPOSE_NHWC2NCHW)


def transpose(dst: Any, src: Any, shared_tmp_buffer: Any = None, params: Any = None) -> None:
    """dst = src transposed.

        transpose(dst, src)                                16 x 16 elements of int16, uint16 or float16
        transpose(dst, src, shared_tmp_buffer, params)     as params.transpose_type says

    TRANSPOSE_ND2ND_B16: 16 x 16 of uint16. TRANSPOSE_NCHW2NHWC, TRANSPOSE_NHWC2NCHW: any type of 8, 16 or 32 bits but
    bfloat16; c_size and h_size * w_size 0 to 4095, a plane h_size * w_size in whole 32-byte blocks; the uint8
    `shared_tmp_buffer` has c_size + 2 (to NHWC) or 2 * c_size + 1 (to NCHW) times 512 bytes, 1024 for 8-bit types, and
    is undefined afterwards; with c_size 1 it is not used. A size of 0: nothing is done. dst may be src in the 16 x 16
    forms only. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_PARTIAL; warnings: OOB_BUF,
    ZERO_LENGTH, UNINIT_READ. Types: int16, uint16, float16; with NCHW2NHWC and NHWC2NCHW any of 8, 16 or 32 bits but
    bfloat16. Page: Transpose.
    """
    site = author(1)
    core = running(NAME)
    if shared_tmp_buffer is None and params is None:
        _square(core, dst, src, _HALF_WORDS, site)
        return
    parameters(NAME, params, TransposeParamsExt)
    if params.transpose_type is TransposeType.TRANSPOSE_TYPE_NONE:
        zero(core, "transpose_type", NAME, site)
    elif params.transpose_type is TransposeType.TRANSPOSE_ND2ND_B16:
        for name in ("h_size", "w_size"):
            required(NAME, name, getattr(params, name), SIDE, SIDE)
        _square(core, dst, src, (uint16,), site)
    elif params.transpose_type in _CONVERSIONS:
        _convert(core, dst, src, shared_tmp_buffer, params, site)
    else:
        raise ArgumentValueError(
            NAME, "has no effect defined", operand="transpose_type", value=params.transpose_type, rule=_TYPES
        )


transpose.__overloads__ = signatures("dst, src", "dst, src, shared_tmp_buffer, params")  # type: ignore[attr-defined]
_TYPES = "TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC or TRANSPOSE_NHWC2NCHW"


def _square(core: Core, dst: Any, src: Any, legal: tuple[Any, ...], site: Site) -> None:
    places = _places(core, [("dst", dst, legal), ("src", src, legal)], site)
    if places is not None:
        plan = places[0].plans.get((NAME, places[1]))
        if plan is None:
            cycles = core.device.cost.vector(SIDE * SIDE * 2 // REPEAT)
            plan = _plan(core, places, (1, SIDE, SIDE), cycles, 0, site)
            places[0].keep((NAME, places[1]), plan)
        core.issue(plan, site)


def _places(core: Core, tensors: Sequence[Named], site: Site) -> list[Place] | None:
    places = checked(core, NAME, tensors, site)
    if places is not None and places[0].dtype is not places[1].dtype:
        text = f"src has type {places[1].dtype}, dst has {places[0].dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, NAME)
    return places


def _convert(core: Core, dst: Any, src: Any, scratch: Any, params: TransposeParamsExt, site: Site) -> None:
    """Between [N,C,H,W] and [N,H,W,C]."""
    tensors = [("dst", dst, _ANY), ("src", src, _ANY), ("shared_tmp_buffer", scratch, (uint8,))]
    places = _places(core, tensors, site)
    if places is None:
        return
    images, channels, plane = params.n_size, params.c_size, params.h_size * params.w_size
    size = places[0].dtype.size
    required(NAME, "c_size", channels, 0, MOST)
    required(NAME, "h_size * w_size", plane, 0, MOST)
    if plane * size % BLOCK:
        step = BLOCK // size
        raise ArgumentValueError(
            NAME,
            "is no whole number of 32-byte blocks",
            operand="h_size * w_size",
            value=plane,
            rule=f"a multiple of {step} elements of {places[0].dtype}",
            nearest=plane // step * step,
        )
    if not images * channels * plane:
        zero(core, "n_size * c_size * h_size * w_size", NAME, site)
        return
    to_hwc = params.transpose_type is TransposeType.TRANSPOSE_NCHW2NHWC
    form = (NAME, *places[1:], params.key)
    plan = places[0].plans.get(form)
    if plan is None:
        shape = (images, channels, plane) if to_hwc else (images, plane, channels)
        squares = 0 if channels == 1 else channels + 2 if to_hwc else 2 * channels + 1  # of scratch
        cycles = _cycles(core, images * channels * plane, size, channels, to_hwc)
        plan = _plan(core, places, shape, cycles, squares * _square_bytes(size), site)
        places[0].keep(form, plan)
    core.issue(plan, site)


def _cycles(core: Core, elements: int, size: int, channels: int, to_hwc: bool) -> int:
    """The vendor's program, with a barrier after each step.

    Every block of the source is spread over a square of 16 blocks (to NHWC the channels as repeats of one call); every
    element's row is copied as one block; every 16 rows are transposed and copied out.
    """
    cost = core.device.cost
    if channels == 1:
        return cost.vector(-(-elements * size // REPEAT))
    square, together = _square_bytes(size) // REPEAT, channels if to_hwc else 1
    spread = cost.vector(square * together) + cost.barrier()
    spreads = elements * size // BLOCK // together
    gather = 2 * (cost.vector(square) + cost.barrier())
    return spreads * spread + elements * (cost.vector(1) + cost.barrier()) + -(-elements // SIDE) * gather


def _square_bytes(size: int) -> int:
    """Bytes of one square of the program."""
    return BLOCK * (2 * SIDE if size == 1 else SIDE)


def _plan(core: Core, places: list[Place], shape: tuple[int, int, int], cycles: int, scratch: int, site: Site) -> Plan:
    """dst[n, column, row] = src[n, row, column]; `scratch` bytes of the third operand lose their value."""
    dst, src = places[:2]
    many, rows, columns = shape
    size = dst.dtype.size
    nbytes = many * rows * columns * size
    write, read = span(dst, nbytes, "dst", NAME, site), span(src, nbytes, "src", NAME, site)
    in_place = write is read and len(places) == 2
    apart(core, write, () if in_place else (read,), NAME, site)
    views = words(dst, (many, columns, rows), size), words(src, shape, size)
    writes, used, lost = [write], None, None
    if scratch:
        used = span(places[2], scratch, "shared_tmp_buffer", NAME, site)
        apart(core, used, (write, read), NAME, site)
        writes.append(used)
        lost = used.views(used.memory.defined)[0]
    known = [place.memory.defined[place.start : place.start + nbytes] for place in (dst, src)]  # type: ignore[union-attr]
    carry = partial(_carry, known[0].reshape(many, columns, rows, size), known[1].reshape(*shape, size), lost)
    return Plan(NAME, core.pipes["V"], (read,), writes, partial(_swap, *views), cycles, carry=carry, voids=used)


def _swap(dst: np.ndarray, src: np.ndarray) -> None:
    dst[...] = src.swapaxes(1, 2)  # numpy copies first where they overlap


def _carry(dst: np.ndarray, src: np.ndarray, scratch: np.ndarray | None) -> None:
    dst[...] = src.swapaxes(1, 2)
    if scratch is not None:
        scratch[:] = False


__all__ = ["transpose"]
