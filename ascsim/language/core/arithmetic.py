"""C's arithmetic on plain numbers, and the table of operators from which `ir_value` makes run-time scalars."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...hw.errors import ScalarError


def quotient(a: int, b: int) -> int:
    if a >= 0 < b:
        return a // b
    if b == 0:
        raise ScalarError("/", "division by zero", operand="dividend", value=a)
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def remainder(a: int, b: int) -> int:
    if a >= 0 < b:
        return a % b
    if b == 0:
        raise ScalarError("%", "division by zero", operand="dividend", value=a)
    r = abs(a) % abs(b)
    return r if a >= 0 else -r


def ratio(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def shift(function: Callable[[int, int], int], symbol: str, width: int) -> Callable[[int, int], int]:
    def shifted(a: int, b: int) -> int:
        if not 0 <= b < width:
            nearest = min(max(b, 0), width - 1)
            raise ScalarError(
                symbol, "shift out of range", operand="amount", value=b, rule=f"0..{width - 1}", nearest=nearest
            )
        return function(a, b)

    return shifted


class Operator(NamedTuple):
    """A row: the method, the symbol, what numpy makes of it where a number of its own is on the left."""

    name: str
    symbol: str
    ufunc: np.ufunc
    on_ints: Callable[..., Any]
    on_floats: Callable[..., Any] | None  # None: integers only


COMPARISONS = (
    Operator("eq", "==", np.equal, operator.eq, operator.eq),
    Operator("ne", "!=", np.not_equal, operator.ne, operator.ne),
    Operator("lt", "<", np.less, operator.lt, operator.lt),
    Operator("le", "<=", np.less_equal, operator.le, operator.le),
    Operator("gt", ">", np.greater, operator.gt, operator.gt),
    Operator("ge", ">=", np.greater_equal, operator.ge, operator.ge),
)
OPERATORS = (
    Operator("add", "+", np.add, operator.add, operator.add),
    Operator("sub", "-", np.subtract, operator.sub, operator.sub),
    Operator("mul", "*", np.multiply, operator.mul, operator.mul),
    Operator("truediv", "/", np.true_divide, quotient, ratio),
    Operator("floordiv", "//", np.floor_divide, quotient, ratio),
    Operator("mod", "%", np.remainder, remainder, None),
    Operator("lshift", "<<", np.left_shift, operator.lshift, None),
    Operator("rshift", ">>", np.right_shift, operator.rshift, None),
    Operator("and", "&", np.bitwise_and, operator.and_, None),
    Operator("or", "|", np.bitwise_or, operator.or_, None),
    Operator("xor", "^", np.bitwise_xor, operator.xor, None),
)
UFUNCS = {row.ufunc: getattr(operator, f"__{row.name}__") for row in (*OPERATORS, *COMPARISONS)}
