"""`ceildiv` and `static_assert`, for host and kernel alike."""

from __future__ import annotations

from typing import Any

from ...hw.errors import ArgumentTypeError, ArgumentValueError, StaticAssertError
from ...hw.findings import one
from .constexpr import ConstExpr
from .ir_value import PlainValue, to_index, value


def ceildiv(x: Any, y: Any) -> Any:
    """x / y rounded up, exactly: an int for plain integers, a run-time scalar if one of the two is."""
    if isinstance(x, PlainValue):
        return x.ceildiv(y)
    if isinstance(y, PlainValue):
        return value(x, y.dtype, "ceildiv").ceildiv(y)
    dividend, divisor = to_index(x, "ceildiv", "x"), to_index(y, "ceildiv", "y")
    if divisor == 0:
        raise ArgumentValueError("ceildiv", "division by zero", operand="y", value=divisor, rule="not zero")
    return -(-dividend // divisor)


def static_assert(test: bool, message: str | None = None) -> None:
    """Raise AssertionError unless `test` holds; it must be a compile-time bool, nothing that is merely true."""
    condition = ConstExpr.unwrap(test)
    if not isinstance(condition, bool):
        raise ArgumentTypeError(
            "static_assert",
            f"{one(type(condition).__name__)} is not known at compile time",
            operand="test",
            value=condition,
            rule="a bool made of compile-time values",
        )
    if not condition:
        raise StaticAssertError("static_assert", "the condition is False" if message is None else str(message))
