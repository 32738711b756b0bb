"""quant: floats scaled, shifted and rounded to int8, one scale and one offset for all. Page: AscendQuant.

The arithmetic is in float16, step by step. Not here: scales and offsets by channel, token or group, which the API
has no names for.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.errors import ArgumentTypeError
from ...hw.findings import author
from ..conversions import integer_of
from ..core.dtype import float16, float32, int8
from ..core.params import U32, Params
from ..core.place import Place, report, running
from ..forms import element, number_of
from ..rows import finish
from .elementwise import Math, Scratch, Work, run


class QuantConfig(Params):
    """Compile-time numbers of `quant`: elements, and bytes of scratch; 0: those of the call. They rule together."""

    calc_count: int = U32(0)
    offset_count: int = U32(0)
    scale_count: int = U32(0)
    work_local_size: int = U32(0)


def quantised(x: Any, scale: Any, offset: Any) -> Any:
    """int8 of half(half(half(x) * scale) + offset): rounded to nearest, ties to even; saturated, of NaN 0."""
    return integer_of(x.astype(np.float16) * scale + offset, np.rint, int8)


_QUANT = Math(
    "quant",
    quantised,
    (float16, float32),
    "dst = int8 of src * scale + offset, in float16 throughout",
    "AscendQuant",
    sources=1,
    result=int8,
    scratch={float16: Scratch(1, 512), float32: Scratch(0.5, 1024)},  # a half an element
    in_place=True,
)


def quant(
    dst: Any,
    src: Any,
    scale: Any,
    offset: Any,
    count: Any = None,
    temp_buffer: Any = None,
    reuse_source: Any = False,
    config: Any = None,
) -> None:
    site, operation = author(1), _QUANT.operation
    core = running(operation)
    if config is not None and not isinstance(config, QuantConfig):
        raise ArgumentTypeError(operation, "is no QuantConfig", operand="config", value=config)
    if config is not None and config.calc_count and config.work_local_size:
        count = config.calc_count
        size = getattr(getattr(temp_buffer, "place", None), "nbytes", config.work_local_size)
        if size < config.work_local_size:
            text = (
                f"config.work_local_size = {config.work_local_size}, temp_buffer has {size} bytes; rule: at most that"
            )
            report(core, "OOB_BUF", text, site, operation)

    def make(source: Place) -> Work:
        halves = [np.float16(element(number, source.dtype)) for number in (scale, offset)]
        steps = 4 if source.dtype is float32 else 3  # the page: cast, muls, adds, cast
        return Work(partial(quantised, scale=halves[0], offset=halves[1]), _QUANT.cost, steps)

    asked = number_of(scale), number_of(offset)
    run(_QUANT, (("dst", dst), ("src", src)), count, temp_buffer, reuse_source, site, asked, make)


finish(
    quant,
    _QUANT,
    ("dst, src, scale, offset, count=None, temp_buffer=None, reuse_source=False, config=None",),
    """`scale`, `offset`: numbers in the range of float16. `count`: elements from the start (all of src if left out).
`temp_buffer`: uint8 scratch, undefined afterwards; without one the free memory of the TPipe serves. dst may start where
src does. reuse_source has no effect. `config`: a QuantConfig. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR,
OVERLAP_PARTIAL, OOB_PHYS, MEM_OVERFLOW; warnings: OOB_BUF, UNINIT_READ, ZERO_LENGTH.""",
)

__all__ = ["QuantConfig", "quant"]
