"""Element-wise mathematics: one row each. Pages: the vendor's chapter of mathematical operations, one a name.

The scratch of each is what the vendor's tiling functions ask for. Not here: the forms of power with a number for a
tensor, which the API has no names for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...hw.errors import ArgumentValueError
from ...hw.findings import author
from ..core.dtype import float16, float32, int16, int32, uint16
from ..core.place import Place, index
from ..forms import element, number_of
from ..rows import finish
from . import values as v
from .elementwise import Math, Scratch, Work, run

_DOC = """`count`: elements from the start (all of src if left out). `temp_buffer`: uint8 scratch, undefined afterwards;
without one the free memory of the TPipe serves. {}
Faults: BAD_DTYPE, BAD_POSITION, MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS, MEM_OVERFLOW; warnings: OOB_BUF,
UNINIT_READ, ZERO_LENGTH."""
_REUSE = "is_reuse_source lets float32 sources be used up: undefined afterwards."
_NO_REUSE = "is_reuse_source has no effect."
_ROUNDED = "evaluated in float64 and rounded once here; the last bits may differ, no page gives a bound."
_EXACT = ""

MATH: dict[str, Math] = {}


def _enter(row: Math, function: Any, form: str, device: str, more: str = "") -> Any:
    """Enter a row and finish its function."""
    assert row.name not in MATH
    MATH[row.name] = row
    reuse = _REUSE if row.reusable else _NO_REUSE
    return finish(function, row, (form,), _DOC.format("\n".join(filter(None, (reuse, more)))), device)


def _unary(
    name: str,
    value: v.Value,
    does: str,
    half: int,
    single: int,
    domain: str = "",
    cost: str = "exp",
    *,
    reusable: bool = False,
    in_place: bool = False,
) -> Any:
    """An operation with one source. `half`, `single`: scratch for float16 and float32, bytes a byte of source."""
    row = Math(
        name,
        value,
        (float16, float32),
        does,
        name.capitalize(),
        cost,
        sources=1,
        scratch={float16: Scratch(half), float32: Scratch(single)},
        reusable=reusable,
        in_place=in_place,
    )

    def call(dst: Any, src: Any, count: Any = None, temp_buffer: Any = None, is_reuse_source: Any = False) -> None:
        run(row, (("dst", dst), ("src", src)), count, temp_buffer, is_reuse_source, author(1))

    device = _EXACT if cost == "simple" else _ROUNDED
    if domain:
        device = f"{device[:-1]}; undefined where src is not in {domain}."
    return _enter(row, call, "dst, src, count=None, temp_buffer=None, is_reuse_source=False", device)


def _binary(row: Math, device: str) -> Any:
    """An operation with two sources."""

    def call(
        dst: Any, src0: Any, src1: Any, count: Any = None, temp_buffer: Any = None, is_reuse_source: Any = False
    ) -> None:
        tensors = (("dst", dst), ("src0", src0), ("src1", src1))
        run(row, tensors, count, temp_buffer, is_reuse_source, author(1))

    return _enter(row, call, "dst, src0, src1, count=None, temp_buffer=None, is_reuse_source=False", device)


_exact = partial(_unary, cost="simple")
_WIDE = "[-65504, 65504]"

acos = _unary("acos", v.once(np.arccos), "dst = arc cosine of src", 6, 2, "[-1, 1]")
acosh = _unary("acosh", v.once(np.arccosh), "dst = inverse hyperbolic cosine of src", 2, 1, "[1, 65504]")
asin = _unary("asin", v.once(np.arcsin), "dst = arc sine of src", 6, 2, "[-1, 1]")
asinh = _unary("asinh", v.once(np.arcsinh), "dst = inverse hyperbolic sine of src", 3, 3, _WIDE)
atan = _unary("atan", v.once(np.arctan), "dst = arc tangent of src", 12, 5)
atanh = _unary(
    "atanh", v.once(np.arctanh), "dst = inverse hyperbolic tangent of src", 4, 1, "(0.001, 0.99) or its negative"
)
ceil = _exact("ceil", v.to_integer(np.ceil), "dst = src rounded towards +infinity", 2, 1)
cos = _unary("cos", v.once(np.cos), "dst = cosine of src", 8, 3, _WIDE, reusable=True)
cosh = _unary("cosh", v.once(np.cosh), "dst = hyperbolic cosine of src", 6, 2)
digamma = _unary("digamma", v.once(v.digamma), "dst = derivative of ln gamma(src)", 16, 7, reusable=True)
erf = _unary("erf", v.once(v.erf), "dst = error function of src", 8, 3)
erfc = _unary("erfc", v.once(v.erfc), "dst = 1 - error function of src", 16, 7)
floor = _exact("floor", v.to_integer(np.floor), "dst = src rounded towards -infinity", 2, 0)
frac = _exact("frac", v.frac, "dst = src - trunc(src)", 4, 0)
lgamma = _unary("lgamma", v.once(v.lgamma), "dst = ln |gamma(src)|", 26, 8, reusable=True)
log = _unary("log", v.once(np.log), "dst = natural logarithm of src", 0, 0)
round = _exact(
    "round", v.to_integer(np.rint), "dst = src rounded to the nearest integer, ties to even", 1, 0, in_place=True
)
sign = _exact("sign", v.sign, "dst = 1, -1 or 0: the sign of src; 0 for zeros and NaN", 3, 3)
sin = _unary("sin", v.once(np.sin), "dst = sine of src", 8, 3, _WIDE, reusable=True)
sinh = _unary("sinh", v.once(np.sinh), "dst = hyperbolic sine of src", 4, 1)
tan = _unary("tan", v.once(np.tan), "dst = tangent of src", 10, 4, _WIDE)
tanh = _unary("tanh", v.once(np.tanh), "dst = hyperbolic tangent of src", 4, 1)
trunc = _exact("trunc", v.to_integer(np.trunc), "dst = src rounded towards 0", 2, 1, in_place=True)

power = _binary(
    Math(
        "power",
        v.power,
        (float16, float32, int32),
        "dst = src0 to the power src1; of integers with a negative power 0, 1 or -1",
        "Power",
        "exp",
        scratch={float16: Scratch(14, 128, 256), float32: Scratch(4, 256, 256), int32: Scratch(6)},
        steps=3,  # the page: exp(y * ln(x))
    ),
    "floats are evaluated in float64 and rounded once here; the device takes exp(src1 * ln(src0)) in float32, with an "
    "error that grows with the exponent. Integers wrap on both.",
)
xor = _binary(
    Math(
        "xor",
        np.bitwise_xor,
        (int16, uint16),
        "dst = src0 ^ src1",
        "Xor",
        scratch={int16: Scratch(1), uint16: Scratch(1)},
        steps=4,  # and, or, not, and: the vector unit has no exclusive or
    ),
    _EXACT,
)

_EXP = Math(
    "exp",
    v.exp_taylor(0),
    (float16, float32),
    "dst = e to the src; with a level, exp(floor(src)) times a Taylor series of src - floor(src)",
    "Exp",
    "exp",
    sources=1,
    scratch={float16: Scratch(8, 128), float32: Scratch(3)},
    reusable=True,
)
_DIRECT = replace(_EXP, scratch={}, reusable=False)
_LEVELS = 255


def exp(
    dst: Any, src: Any, count: Any, taylor_expand_level: Any, temp_buffer: Any = None, is_reuse_source: Any = False
) -> None:
    level = index(taylor_expand_level, _EXP.operation, "taylor_expand_level")
    if not 0 <= level <= _LEVELS:
        raise ArgumentValueError(
            _EXP.operation,
            operand="taylor_expand_level",
            value=level,
            rule=f"0 to {_LEVELS}",
            nearest=min(max(level, 0), _LEVELS),
        )

    # A term is a product, a product with 1 / n, and a sum; floor, difference, exp and the last product make four more.
    def make(source: Place) -> Work:
        return Work(v.exp_taylor(level), "simple", 3 * level + 4)

    tensors, site = (("dst", dst), ("src", src)), author(1)
    if level:
        run(_EXP, tensors, count, temp_buffer, is_reuse_source, site, level, make)
    else:
        run(_DIRECT, tensors, count, temp_buffer, is_reuse_source, site)


_enter(_EXP, exp, "dst, src, count, taylor_expand_level, temp_buffer=None, is_reuse_source=False", _ROUNDED)

_AXPY = Math(
    "axpy",
    v.axpy,
    (float16, float32),
    "dst = scalar * src + dst; src of float16 may be added to dst of float32",
    "Axpy",
    reads_dst=True,
    sources=1,
    scratch={float16: Scratch(4)},
    steps=2,  # the page: muls and add
)


def axpy(
    dst: Any, src: Any, scalar: Any, count: Any = None, temp_buffer: Any = None, is_reuse_source: Any = False
) -> None:
    def make(source: Place) -> Work:
        return Work(partial(v.axpy, scalar=element(scalar, source.dtype)), _AXPY.cost, _AXPY.steps)

    tensors = (("dst", dst), ("src", src))
    run(_AXPY, tensors, count, temp_buffer, is_reuse_source, author(1), number_of(scalar), make)


_enter(
    _AXPY,
    axpy,
    "dst, src, scalar, count=None, temp_buffer=None, is_reuse_source=False",
    _EXACT,
    "The scalar is rounded to the type of src. Float32 throughout, rounded after product and sum, then to dst's type.",
)

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "axpy",
    "ceil",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erfc",
    "exp",
    "floor",
    "frac",
    "lgamma",
    "log",
    "power",
    "round",
    "sign",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "trunc",
    "xor",
]
