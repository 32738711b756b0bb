"""`number` and `inline`."""

from __future__ import annotations

from typing import Any

from ...hw.errors import ArgumentTypeError, NotSimulatedError, ScalarRangeError
from .dtype import DataType
from .ir_value import CLASSES, PlainValue, convert


def number(value: Any, dtype: DataType) -> PlainValue:
    """A run-time scalar of `dtype`. A constant must fit the type; a run-time scalar is cast."""
    if not isinstance(dtype, DataType) or dtype not in CLASSES:
        raise ArgumentTypeError("number", "no scalar has it", operand="dtype", value=dtype, rule="asc.float32 ...")
    plain = convert(value, dtype, "number")
    low, high = dtype.low, dtype.high
    if low is not None and high is not None and not low <= plain <= high and not isinstance(value, PlainValue):
        nearest = min(max(plain, low), high)
        raise ScalarRangeError(
            "number", f"does not fit {dtype}", operand="value", value=plain, rule=f"{low}..{high}", nearest=nearest
        )
    return CLASSES[dtype].pack(plain)


def inline(code: str, args: tuple[Any, ...] | None = None, before_function: bool = False) -> None:
    """Raw device source: cannot be simulated."""
    raise NotSimulatedError(
        "inline", "raw C++ text runs on the device only", operand="code", value=code, rule="write it with API calls"
    )
