"""swiglu: one source times the Swish of the other. Page: SwiGLU."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.findings import author
from .. import values
from ..core.dtype import float16, float32
from ..core.place import Place, running
from ..forms import element, number_of
from ..rows import finish
from .elementwise import Math, Scratch, Work, run
from .scratch import drained


def swish_times(up: Any, gate: Any, beta: Any) -> Any:
    """up * (gate / (1 + exp(-beta * gate))), every step rounded to float32, then to the type of the sources."""
    x = gate.astype(np.float32)
    power = values.exp(x * -np.float32(beta))
    return (up.astype(np.float32) * (x / (power + np.float32(1)))).astype(up.dtype)


_SWIGLU = Math(
    "swiglu",
    swish_times,
    (float16, float32),
    "dst_tensor = src_tensor0 * src_tensor1 / (1 + exp(-scalar_value * src_tensor1))",
    "SwiGLU",
    scratch={float16: Scratch(6)},
    buffer="shared_tmp_buffer",
)
_STEPS = {float32: 3, float16: 6}  # muls, adds, mul; casts of both sources and of the result
_SLOW = 2  # exp, div


def swiglu(
    dst_tensor: Any,
    src_tensor0: Any,
    src_tensor1: Any,
    scalar_value: Any = 1.0,
    shared_tmp_buffer: Any = None,
    cal_count: Any = None,
) -> None:
    site, operation = author(1), _SWIGLU.operation
    core = running(operation)

    def make(source: Place) -> Work:
        beta = element(scalar_value, source.dtype)
        return Work(partial(swish_times, beta=beta), _SWIGLU.cost, _STEPS.get(source.dtype, 1), _SLOW)

    tensors = (("dst_tensor", dst_tensor), ("src_tensor0", src_tensor0), ("src_tensor1", src_tensor1))
    run(_SWIGLU, tensors, cal_count, shared_tmp_buffer, False, site, number_of(scalar_value), make)
    drained(core, site)


finish(
    swiglu,
    _SWIGLU,
    ("dst_tensor, src_tensor0, src_tensor1, scalar_value=1.0, shared_tmp_buffer=None, cal_count=None",),
    """`scalar_value`: the beta of Swish, rounded to the type of dst. `cal_count`: elements from the start (all of
src_tensor0 if left out). Float32 inside, halves too, each of the steps rounded. `shared_tmp_buffer`: uint8 scratch,
undefined afterwards, which only halves use; without one the free memory of the TPipe serves. All operands lie apart. It
ends with a barrier of the vector pipe. Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS,
MEM_OVERFLOW; warnings: OOB_BUF, UNINIT_READ, ZERO_LENGTH.""",
    "the exponential is correctly rounded here, its last bit may differ.",
)

__all__ = ["swiglu"]
