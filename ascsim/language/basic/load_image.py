"""AIPP: images out of global memory into L1, preprocessed. Pages: SetAippFunctions, LoadImageToLocal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ...hw.global_memory import GlobalArray
from ...hw.instruction import Plan, gm_shape
from ..core.aipp_types import AippParams
from ..core.enums import AippInputFormat
from ..core.global_tensor import GlobalTensor
from ..core.ir_value import unwrap
from ..core.limits import buffered, parameters, required
from ..core.place import L1_POSITIONS, Place, index, report, running
from ..core.types import LoadImageToLocalParams
from ..operand import aligned, local, typed
from ..paths import issue_global
from ..pixels import BLOCK, CONSTANT, FORMATS, MIRROR, Work
from ..plans import present
from ..signatures import signatures
from ..spans import span

_SET, NAME = "set_aipp_functions", "load_image_to_local"
MOST, PAD_MOST = 4095, 32  # pixels


def set_aipp_functions(*args: Any, **kwargs: Any) -> None:
    """Say which image load_image_to_local reads, and what becomes of its pixels.

        set_aipp_functions(src0, input_format, config)
        set_aipp_functions(src0, src1, input_format, config)       YUV420SP_U8: Y plane, UV plane

    AippParams: dtype of the output (int8, float16); swaps of channels; single line; type conversion x - mean, for
    float16 (x - mean - min) * var; border (padding_mode 0: a constant a channel, left and right only; 1: the nearest
    pixel; 2: the block of pixels beside it; 3: that block mirrored); channels (c_padding_mode 0: to 32 bytes a pixel,
    1: to four channels); a colour space matrix in 1/256, with csc_bias_in taken off YUV before it or csc_bias_out added
    to YUV after it. On S; no effect until an image is loaded. Page: SetAippFunctions.
    Device: the page names the biases the other way round; this is as in the vendor's own program of it.
    """
    core = running(_SET)
    names = ("src0", "src1", "input_format", "config") if len(args) + len(kwargs) > 3 else _THREE
    given = dict(zip(names, args, strict=False))
    for name, item in kwargs.items():
        if name not in names or name in given:
            rule = ", ".join(names)
            raise ArgumentTypeError(_SET, "is no argument", operand=name, rule=rule)
        given[name] = item
    if len(given) != len(names) or len(args) > len(names):
        raise ArgumentTypeError(_SET, f"{len(args) + len(kwargs)} arguments", rule=", ".join(names))
    planes = [given[name] for name in ("src0", "src1") if name in given]
    for name, plane in zip(("src0", "src1"), planes, strict=False):
        if not isinstance(plane, GlobalTensor):
            raise ArgumentTypeError(_SET, "is no tensor", operand=name, value=plane, rule="a GlobalTensor")
    if not isinstance(given["config"], AippParams):
        raise ArgumentTypeError(_SET, "is no AippParams", operand="config", value=given["config"])
    number = index(unwrap(given["input_format"]), _SET, "input_format")
    if number not in list(AippInputFormat):
        rule = ", ".join(f"{item.name} ({int(item)})" for item in AippInputFormat)
        raise ArgumentValueError(_SET, "is no AippInputFormat", operand="input_format", value=number, rule=rule)
    core.state["aipp"] = planes, Work(AippInputFormat(number), given["config"])


_THREE = ("src0", "input_format", "config")
set_aipp_functions.__overloads__ = signatures(  # type: ignore[attr-defined]
    "src0, input_format, config", "src0, src1, input_format, config"
)


def load_image_to_local(dst: Any, load_data_params: Any) -> None:
    """Load a part of the image that set_aipp_functions names into L1, as it says. On MTE2.

        load_image_to_local(dst, load_data_params)

    LoadImageToLocalParams, in pixels: horiz_size by vert_size (2 to 4095) from horiz_start_pos (even), vert_start_pos
    (0 to 4095; even for YUV420SP); rows of the image are src_horiz_size apart (2 to 4095; even for YUV420SP); pads 0 to
    32. The result is (vert_size + pads, horiz_size + pads, channels) in the type of AippParams; with a single line, one
    row. dst in A1 or B1 at a multiple of 32 bytes; the image uint8. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR,
    OOB_GM, OOB_PHYS; warnings: OOB_BUF. Page: LoadImageToLocal.
    """
    site = author(1)
    core = running(NAME)
    params = load_data_params
    parameters(NAME, params, LoadImageToLocalParams, operand="load_data_params")
    here = local(core, dst, "dst", NAME, site, L1_POSITIONS)
    if "aipp" not in core.state:
        raise ArgumentValueError(NAME, "no image has been set", operand="dst", value=dst, rule="set_aipp_functions")
    planes, work = core.state["aipp"]
    typed(core, here, (work.dtype,), "dst", NAME, site)
    if not present(core, here.memory, NAME, site):
        return
    aligned(core, here, "dst", NAME, site)
    _legal(core, planes, work, params, site)
    _issue(core, here, planes, work, params, site)


def _legal(core: Core, planes: list[GlobalTensor], work: Work, params: LoadImageToLocalParams, site: Site) -> None:
    form = FORMATS[work.format]
    even = ["horiz_start_pos", *(("vert_start_pos", "src_horiz_size") if form.even_rows else ())]
    pads = ("top_pad_size", "bot_pad_size", "left_pad_size", "right_pad_size")
    limits = dict.fromkeys(("horiz_size", "vert_size", "src_horiz_size"), (2, MOST))
    limits |= dict.fromkeys(("horiz_start_pos", "vert_start_pos"), (0, MOST))
    limits |= dict.fromkeys(pads, (0, PAD_MOST))
    if work.mode == CONSTANT:
        limits |= dict.fromkeys(pads[:2], (0, 0))
    elif work.mode in (BLOCK, MIRROR):  # a block is not larger than the part
        rows = 1 if work.single_line else params.vert_size
        limits |= dict.fromkeys(pads[:2], (0, min(PAD_MOST, rows)))
        limits |= dict.fromkeys(pads[2:], (0, min(PAD_MOST, params.horiz_size)))
    for name, (low, high) in limits.items():
        given = getattr(params, name)
        required(NAME, name, given, low, high)
        if name in even and given % 2:
            rule = f"even for {work.format.name}"
            raise ArgumentValueError(NAME, "is odd", operand=name, value=given, rule=rule, nearest=given - 1)
    wanted = 2 if form.even_rows else 1
    if len(planes) < wanted:
        raise ArgumentValueError(NAME, "the UV plane is lacking", operand="src1", rule="YUV420SP_U8 takes two planes")
    for plane in planes[:wanted]:
        buffered(NAME, plane, "src")
        if plane.dtype.size != 1:
            report(core, "BAD_DTYPE", f"the image has type {plane.dtype}; rule: uint8", site, NAME)
        if plane.start % form.align:
            text = f"the image starts at byte {plane.start}; rule: a multiple of {form.align} for {work.format.name}"
            report(core, "MISALIGNED_ADDR", text, site, NAME)


def _issue(
    core: Core, here: Place, planes: list[GlobalTensor], work: Work, params: LoadImageToLocalParams, site: Site
) -> None:
    """One instruction; with a second plane, one more before it that fetches that plane and takes no time."""
    rows = 1 if work.single_line else params.vert_size
    x, y, wide = params.horiz_start_pos, params.vert_start_pos, params.src_horiz_size
    pads = params.top_pad_size, params.bot_pad_size, params.left_pad_size, params.right_pad_size
    pixel = FORMATS[work.format].pixel
    shape = (rows + pads[0] + pads[1], params.horiz_size + pads[2] + pads[3], work.channels)
    nbytes = shape[0] * shape[1] * shape[2] * work.dtype.size
    write = span(here, nbytes, "dst", NAME, site)
    target: np.ndarray = np.ndarray(shape, work.dtype.np, write.memory.bytes.data, here.start)
    pipe = core.pipes["MTE2"]
    fetched: list[np.ndarray] = []
    if FORMATS[work.format].even_rows:
        part = (-(-rows // 2), -(-params.horiz_size // 2), 2)
        shape_uv = gm_shape(part[1] * 2, wide, part[0])
        fetch = Plan(NAME, pipe, (), (), partial(_fetch, part, wide, fetched), 0, shape_uv)
        issue_global(core, NAME, here, planes[1][y // 2 * wide + x :], fetch, site, (NAME, "UV", params.key), True)
    part = (rows, params.horiz_size, pixel)
    run = partial(_load, part, wide * pixel, fetched, work, pads, target)
    cycles = core.device.cost.load(rows * params.horiz_size * pixel, rows)
    plan = Plan(NAME, pipe, (), (write,), run, cycles, gm_shape(params.horiz_size * pixel, wide * pixel, rows))
    issue_global(core, NAME, here, planes[0][(y * wide + x) * pixel :], plan, site, (NAME, params.key), True)


def _plane(shape: tuple[int, int, int], pitch: int, array: GlobalArray, at: int) -> np.ndarray:
    return np.ndarray(shape, np.uint8, array.data, at, (pitch, shape[2], 1))


def _fetch(shape: tuple[int, int, int], pitch: int, out: list[np.ndarray], array: GlobalArray, at: int) -> None:
    out[:] = [_plane(shape, pitch, array, at).copy()]


def _load(
    shape: tuple[int, int, int],
    pitch: int,
    fetched: list[np.ndarray],
    work: Work,
    pads: tuple[int, int, int, int],
    target: np.ndarray,
    array: GlobalArray,
    at: int,
) -> None:
    target[...] = work.apply([_plane(shape, pitch, array, at), *fetched], pads)


__all__ = ["load_image_to_local", "set_aipp_functions"]
