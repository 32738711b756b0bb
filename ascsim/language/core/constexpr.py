"""`ConstExpr`: a value known when the kernel is compiled, as annotation and as wrapper; and the check of one.

The front end unwraps a wrapped global at every look-up. Here nobody sees the look-up, so the wrapper passes every
operation on to its value; results are plain values.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from ...hw.errors import ConstExprError
from ...hw.findings import one

T_co = TypeVar("T_co", covariant=True)


class ConstExpr(Generic[T_co]):
    """A compile-time value. `ConstExpr[int]` annotates a parameter, `ConstExpr(4)` wraps a value."""

    value: T_co

    def __init__(self, value: Any) -> None:
        self.value = self.unwrap(value)

    @staticmethod
    def unwrap(obj: Any) -> Any:
        """The wrapped value; anything else unchanged."""
        return obj.value if isinstance(obj, ConstExpr) else obj

    def __getattr__(self, name: str) -> Any:
        if name == "value" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(
                name
            )  # not constructed yet (copy, pickle), or a protocol that is looked up on the class
        return getattr(self.value, name)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"ConstExpr[{self.value.__class__.__name__}]({self.value!r})"

    def __format__(self, format_spec: str) -> str:
        return format(self.value, format_spec)

    def __hash__(self) -> int:
        return hash(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)  # type: ignore[call-overload]

    # what follows the class fills these in
    __eq__: Callable[[Any, Any], bool]
    __bool__: Callable[[Any], bool]
    __index__: Callable[[Any], int]


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor", "matmul")
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "abs": abs,
    "bool": bool,
    "int": int,
    "float": float,
    "index": operator.index,
    "len": len,
    "round": round,
}


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: ConstExpr[Any], *others: Any) -> Any:
        return function(self.value, *map(ConstExpr.unwrap, others))

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: ConstExpr[Any], other: Any) -> Any:
        return function(other, self.value)

    return method


for _name in _BINARY:
    _function = getattr(operator, f"__{_name}__")
    setattr(ConstExpr, f"__{_name}__", _forward(_function))
    setattr(ConstExpr, f"__r{_name}__", _reflected(_function))
for _name in (*_COMPARE, "getitem", "contains"):
    setattr(ConstExpr, f"__{_name}__", _forward(getattr(operator, _name)))
for _name, _function in _UNARY.items():
    setattr(ConstExpr, f"__{_name}__", _forward(_function))


def matches(value: Any, constraint: Any) -> bool:
    """isinstance that also takes `Any`, unions and generic aliases (of which it looks at the origin only)."""
    if constraint is Any or isinstance(constraint, TypeVar):
        return True
    origin = get_origin(constraint)
    if origin in (Union, types.UnionType):
        return any(matches(value, arm) for arm in get_args(constraint))
    return isinstance(value, type(None) if constraint is None else origin or constraint)


def require_constexpr(obj: Any, *constraints: Any, arg_name: str | None = None) -> None:
    """Raise unless `obj`, or the value it wraps, is of one of the types `constraints`."""
    if not constraints:
        raise ConstExprError("require_constexpr", "no type was given to check against", operand="constraints")
    value = ConstExpr.unwrap(obj)
    if not any(matches(value, constraint) for constraint in constraints):
        names = " | ".join(getattr(constraint, "__name__", str(constraint)) for constraint in constraints)
        given = value.__class__.__name__
        raise ConstExprError(
            "require_constexpr",
            f"is {one(given)}",
            operand=arg_name or "argument",
            value=value,
            rule=f"ConstExpr[{names}]",
        )
