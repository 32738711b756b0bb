"""Vector instructions with two source tensors."""

from __future__ import annotations

import numpy as np

from .. import values
from ..core.dtype import float16, float32, int16, int32, uint16
from ..forms import binary

ARITHMETIC = (int16, float16, int32, float32)
FLOATING = (float16, float32)
HALF_WORDS = (int16, uint16)
RELU = (int16, float16, float32)

add = binary("add", np.add, ARITHMETIC, "dst = src0 + src1, element by element", "Add", accumulates=True)
sub = binary("sub", np.subtract, ARITHMETIC, "dst = src0 - src1, element by element", "Sub", accumulates=True)
mul = binary("mul", np.multiply, ARITHMETIC, "dst = src0 * src1, element by element", "Mul", accumulates=True)
div = binary("div", np.divide, FLOATING, "dst = src0 / src1, element by element", "Div", "exp")
max = binary("max", values.maximum, ARITHMETIC, "dst = the greater of src0 and src1; NaN wins", "Max", accumulates=True)
min = binary("min", values.minimum, ARITHMETIC, "dst = the lesser of src0 and src1; NaN wins", "Min", accumulates=True)
bitwise_and = binary("bitwise_and", np.bitwise_and, HALF_WORDS, "dst = src0 & src1, bit by bit", "And")
bitwise_or = binary("bitwise_or", np.bitwise_or, HALF_WORDS, "dst = src0 | src1, bit by bit", "Or")
add_relu = binary("add_relu", values.add_relu, RELU, "dst = max(0, src0 + src1)", "AddRelu", accumulates=True)
sub_relu = binary("sub_relu", values.sub_relu, RELU, "dst = max(0, src0 - src1)", "SubRelu", accumulates=True)
fused_mul_add = binary(
    "fused_mul_add", values.fused_mul_add, FLOATING, "dst = src0 * dst + src1", "FusedMulAdd", reads_dst=True
)
fused_mul_add_relu = binary(
    "fused_mul_add_relu",
    values.fused_mul_add_relu,
    FLOATING,
    "dst = max(0, src0 * dst + src1)",
    "MulAddRelu",
    reads_dst=True,
)
mul_add_dst = binary(
    "mul_add_dst", values.mul_add_dst, FLOATING, "dst = src0 * src1 + dst", "MulAddDst", "mul_add_dst", reads_dst=True
)

__all__ = [
    "add",
    "add_relu",
    "bitwise_and",
    "bitwise_or",
    "div",
    "fused_mul_add",
    "fused_mul_add_relu",
    "max",
    "min",
    "mul",
    "mul_add_dst",
    "sub",
    "sub_relu",
]
