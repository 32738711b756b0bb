"""Vector instructions with one source tensor."""

from __future__ import annotations

import numpy as np

from .. import values
from ..core.dtype import float16, float32, int16, int32, uint16
from ..forms import unary

FLOATING = (float16, float32)

abs = unary("abs", np.absolute, FLOATING, "dst = |src|", "Abs")
exp = unary("exp", values.exp, FLOATING, "dst = e to the src", "Exp", "exp")
ln = unary("ln", values.ln, FLOATING, "dst = natural logarithm of src", "Ln", "exp")
bitwise_not = unary("bitwise_not", np.invert, (int16, uint16), "dst = ~src, bit by bit", "Not")
reciprocal = unary("reciprocal", values.reciprocal, FLOATING, "dst = 1 / src", "Reciprocal")
relu = unary("relu", values.relu, (float16, int32, float32), "dst = max(0, src)", "Relu")
rsqrt = unary("rsqrt", values.rsqrt, FLOATING, "dst = 1 / square root of src", "Rsqrt")
sqrt = unary("sqrt", np.sqrt, FLOATING, "dst = square root of src", "Sqrt", "exp")

__all__ = ["abs", "bitwise_not", "exp", "ln", "reciprocal", "relu", "rsqrt", "sqrt"]
