"""Functions of single numbers: bits counted and found, floats converted.

Pages: GetBitCount, GetSFFValue, CountLeadingZero, CountBitsCntSameAsSignBit, Cast of scalars. Not modelled: their time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ..conversions import CONVERSIONS
from ..core.dtype import DataType, float16, float32, int32, int64, uint64
from ..core.enums import RoundMode
from ..core.ir_value import Int64, PlainValue, unwrap, value
from ..core.place import index, running

WORD = 64  # bits


def _word(operation: str, value_in: Any, dtype: DataType = uint64) -> int:
    """The argument as 64 bits, in the device's type."""
    running(operation)
    return int(value(index(value_in, operation, "value_in"), dtype, operation).v)


def _bit(operation: str, count_value: Any) -> int:
    bit = index(count_value, operation, "count_value")
    if bit not in (0, 1):
        raise ArgumentValueError(
            operation, "is no bit", operand="count_value", value=bit, rule="0 or 1", nearest=min(max(bit, 0), 1)
        )
    return bit


def scalar_get_count_of_value(value_in: Any, count_value: Any) -> PlainValue:
    """How many of the 64 bits of `value_in` (uint64) are `count_value`, 0 or 1 (int64). Page: GetBitCount."""
    word = _word("scalar_get_count_of_value", value_in)
    ones = bin(word).count("1")
    return Int64.pack(ones if _bit("scalar_get_count_of_value", count_value) else WORD - ones)


def scalar_get_sff_value(value_in: Any, count_value: Any) -> PlainValue:
    """Number of the lowest bit of `value_in` (uint64) that is `count_value`, 0 or 1; -1 if none is (int64).

    Page: GetSFFValue.
    """
    word = _word("scalar_get_sff_value", value_in)
    wanted = word if _bit("scalar_get_sff_value", count_value) else ~word & (1 << WORD) - 1
    return Int64.pack((wanted & -wanted).bit_length() - 1)


def scalar_count_leading_zero(value_in: Any) -> PlainValue:
    """Zeros above the highest one of `value_in` (uint64); 64 for 0 (int64). Page: CountLeadingZero."""
    return Int64.pack(WORD - _word("scalar_count_leading_zero", value_in).bit_length())


def count_bits_cnt_same_as_sign_bit(value_in: Any) -> PlainValue:
    """Bits just below the sign bit of `value_in` (int64) that equal it; -1 for 0 and -1 (int64).

    Page: CountBitsCntSameAsSignBit.
    """
    number = _word("count_bits_cnt_same_as_sign_bit", value_in, int64)
    length = (~number if number < 0 else number).bit_length()
    return Int64.pack(WORD - 1 - length if length else -1)


_MODES = {
    float16: (RoundMode.CAST_ODD,),
    int32: (RoundMode.CAST_ROUND, RoundMode.CAST_CEIL, RoundMode.CAST_FLOOR, RoundMode.CAST_RINT),
}


def scalar_cast(value_in: Any, dtype: Any, round_mode: Any) -> PlainValue:
    """A float32 as int32 (CAST_ROUND: halves away from zero, CAST_CEIL, CAST_FLOOR, CAST_RINT) or float16 (CAST_ODD).

    Edges as of the vector instruction: an int32 that does not fit becomes the limit, NaN 0; what lies beyond the halves
    becomes an infinity. Page: Cast (float to half/int32_t).
    """
    running("scalar_cast")
    plain = unwrap(value_in)
    if not isinstance(plain, (int, float)):
        raise ArgumentTypeError("scalar_cast", "is no number", operand="value_in", value=value_in, rule="a float")
    target, mode = unwrap(dtype), index(round_mode, "scalar_cast", "round_mode", "a RoundMode")
    modes = _MODES.get(target) if isinstance(target, DataType) else None
    if modes is None:
        raise ArgumentTypeError("scalar_cast", "is no target", operand="dtype", value=dtype, rule="int32 or float16")
    if mode not in modes:
        rule = f"for {target}: " + ", ".join(legal.name for legal in modes)
        raise ArgumentValueError("scalar_cast", "is not for this type", operand="round_mode", value=mode, rule=rule)
    number = np.array([value(plain, float32, "scalar_cast").v], np.float32)
    with np.errstate(over="ignore"):
        converted = CONVERSIONS[float32, target].make(RoundMode(mode), target)(number)
    return value(converted[0].item(), target, "scalar_cast")


__all__ = [
    "count_bits_cnt_same_as_sign_bit",
    "scalar_cast",
    "scalar_count_leading_zero",
    "scalar_get_count_of_value",
    "scalar_get_sff_value",
]
