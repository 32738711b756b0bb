"""Vector instructions with one source tensor."""

from __future__ import annotations

import numpy as np

from .. import values
from ..core.dtype import float16, float32, int16, int32, uint16
from ..forms import unary

FLOATING = (float16, float32)
_LAST = "correctly rounded here; the device may be off by 1 ulp, which the vendor states for its later chips alone."
_ROUGH = (
    "correctly rounded here; the device approximates: beyond 1/1000 for halves and 1/10000 for float32 in more than "
    "that share of the elements, by the page."
)

abs = unary("abs", np.absolute, FLOATING, "dst = |src|", "Abs")
exp = unary("exp", values.exp, FLOATING, "dst = e to the src", "Exp", "exp", _LAST)
ln = unary("ln", values.ln, FLOATING, "dst = natural logarithm of src", "Ln", "exp", _LAST)
bitwise_not = unary("bitwise_not", np.invert, (int16, uint16), "dst = ~src, bit by bit", "Not")
reciprocal = unary("reciprocal", values.reciprocal, FLOATING, "dst = 1 / src", "Reciprocal", device=_ROUGH)
relu = unary("relu", values.relu, (float16, int32, float32), "dst = max(0, src)", "Relu")
rsqrt = unary("rsqrt", values.rsqrt, FLOATING, "dst = 1 / square root of src", "Rsqrt", device=_ROUGH)
sqrt = unary("sqrt", np.sqrt, FLOATING, "dst = square root of src", "Sqrt", "exp", _LAST)

__all__ = ["abs", "bitwise_not", "exp", "ln", "reciprocal", "relu", "rsqrt", "sqrt"]
