"""What pyasc holds an expression for while it reads a kernel: a value of its own Python, or one of the device.

Values of Python are worked out as far as nothing of the author's runs: numbers, texts, and what stands in modules,
classes and tuples. Of a value of the device at most the type is known.
"""

from __future__ import annotations

import ast
import inspect
import operator
from dataclasses import dataclass, replace
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

from ascsim import language
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.dtype import DataType
from ascsim.language.core.ir_value import PlainValue
from ascsim.language.core.struct import Struct

from .arguments import MockTensor, MockValue
from .function import Function
from .reach import UNKNOWN

BUILT_IN = (bool, int, float, str, bytes, tuple, list, dict, type(None))
FOLDED = (len, int, float, str, repr, isinstance, issubclass, type)
OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: lambda value, amount: value << amount if amount < 1000 else UNKNOWN,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_PUBLIC = frozenset(map(id, vars(language).values()))  # what stands for pyasc's of the same name


class Kind(Enum):
    """Who holds a value: pyasc's Python, or the device; or it is not known who does."""

    CONSTANT = 0
    RUNTIME = 1
    UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of an expression: its value if it is a constant, its class, and the data type of a number."""

    kind: Kind
    value: Any = UNKNOWN
    type: Any = None
    dtype: str = ""

    @property
    def constant(self) -> bool:
        return self.kind is Kind.CONSTANT

    @property
    def runtime(self) -> bool:
        return self.kind is Kind.RUNTIME

    @property
    def known(self) -> bool:
        """Whether the very value is known."""
        return self.value is not UNKNOWN

    @property
    def no_number(self) -> bool:
        """Whether it is a constant that cannot become a number of the device."""
        return self.constant and self.type is not None and not issubclass(self.type, (int, float))

    @property
    def number_type(self) -> str:
        """The data type that it has, or takes, as a number of the device; empty if that is not known."""
        if self.runtime:
            return self.dtype if self.type is PlainValue else ""
        for kind, name in ((bool, "int1"), (int, "int32"), (float, "float32")):
            if self.constant and self.type is not None and issubclass(self.type, kind):
                return name
        return ""


CONSTANT = Seen(Kind.CONSTANT)
NOT_SEEN = Seen(Kind.UNKNOWN)
ON_DEVICE = Seen(Kind.RUNTIME)
NOTHING = Seen(Kind.RUNTIME, type=tuple)  # what variadic parameters get where nothing is passed


def constant(value: Any) -> Seen:
    """A value of Python."""
    value = ConstExpr.unwrap(value)
    return NOT_SEEN if value is UNKNOWN else Seen(Kind.CONSTANT, value, type(value))


def a_constant(kind: type) -> Seen:
    """Some value of Python, of a known class."""
    return Seen(Kind.CONSTANT, type=kind)


def number(dtype: str = "") -> Seen:
    """A number of the device."""
    return Seen(Kind.RUNTIME, type=PlainValue, dtype=dtype)


def instance(kind: type) -> Seen:
    """An object of the API, or of the device."""
    return Seen(Kind.RUNTIME, type=kind)


def anew(seen: Seen) -> Seen:
    """Another value of which the same is known. Two names of one value hold one object, and pyasc mixes them up."""
    return replace(seen)


def argument(value: Any) -> Seen:
    """What an argument of a launch is in the kernel."""
    if isinstance(value, (tuple, dict)) and not value:
        return NOTHING
    for kind, dtype in ((bool, "bool"), (int, "int32"), (float, "float32")):
        if isinstance(value, kind):
            return number(dtype)
    if isinstance(value, MockValue):
        return number(value.dtype.name)
    if isinstance(value, np.generic):
        return number(value.dtype.name)
    is_array = isinstance(value, (np.ndarray, MockTensor)) or hasattr(value, "data_ptr")
    if is_array:  # of numpy or torch
        return Seen(Kind.RUNTIME, type=np.ndarray, dtype=str(value.dtype).rpartition(".")[2])
    return instance(type(value))


def is_member(seen: Seen) -> bool:
    """Whether it is, or was before a call, a member of an enumeration."""
    return isinstance(seen.type, type) and issubclass(seen.type, Enum)


def passed(seen: Seen) -> Seen:
    """What an argument is for a parameter of a device function that is not annotated as a constant."""
    if seen.runtime:
        return anew(seen)
    if seen.constant and is_member(seen):
        return Seen(Kind.RUNTIME, type=seen.type, dtype="int32")  # a number; which it was is gone
    return number(seen.number_type) if seen.number_type else ON_DEVICE


def folded(operation: type[ast.AST], *operands: Seen) -> Seen:
    """The result of an operator on constants."""
    values = [operand.value for operand in operands]
    comparing = issubclass(operation, ast.cmpop)
    plain = all(isinstance(value, (int, float)) or (comparing and value is not UNKNOWN) for value in values)
    return _worked_out(OPERATORS[operation], values) if plain and operation in OPERATORS else CONSTANT


def called(function: Any, arguments: list[Seen]) -> Seen:
    """The result of one of Python's own functions on constants."""
    if function in FOLDED and all(given.known for given in arguments):
        return _worked_out(function, [given.value for given in arguments])
    return a_constant(function) if isinstance(function, type) and function is not type else CONSTANT


def item(base: Seen, index: Seen) -> Seen:
    """An element of a sequence or a dictionary of Python."""
    known = base.known and index.known and isinstance(base.value, (tuple, list, dict, str))
    return _worked_out(operator.getitem, [base.value, index.value]) if known else NOT_SEEN


def _worked_out(function: Any, values: list[Any]) -> Seen:
    try:
        return constant(function(*values))
    except Exception:  # of any class: the author's mistake, which is not one of portability
        return CONSTANT


def attribute(base: Seen, name: str) -> Seen:
    """An attribute, looked up where nothing of the author's runs."""
    if not base.constant:
        return a_constant(DataType) if name == "dtype" else NOT_SEEN
    if not base.known:
        return CONSTANT
    found = looked_up(base.value, name)
    return CONSTANT if found is UNKNOWN else constant(found)


def looked_up(value: Any, name: str) -> Any:
    """An attribute of a value of Python; UNKNOWN for what only the author's code could tell."""
    if isinstance(value, (ModuleType, type, Enum, *BUILT_IN)):
        return getattr(value, name, UNKNOWN)
    found = inspect.getattr_static(value, name, UNKNOWN)
    return UNKNOWN if isinstance(value, Struct) or hasattr(type(found), "__set__") else found


def is_of_the_api(value: Any) -> bool:
    """Whether it is a function or a class of ascsim's own, which stands for pyasc's."""
    return (
        callable(value)
        and not isinstance(value, Function)
        and str(getattr(value, "__module__", "")).split(".")[0] == "ascsim"
    )


def made_outside(value: Any) -> bool:
    """Whether it is, or holds, an object that kernels alone can make: a tensor, parameters of a copy ..."""
    if isinstance(value, (list, tuple, dict)):
        return any(made_outside(part) for part in (value.values() if isinstance(value, dict) else value))
    ours = type(value).__module__.split(".")[:2] == ["ascsim", "language"]
    return ours and id(value) not in _PUBLIC and not isinstance(value, (Enum, DataType, Struct, ConstExpr, type))


def merged(one: Seen, other: Seen) -> Seen:
    """What is known where it may be either of two."""
    if one == other:
        return one
    if one.kind is not other.kind:
        return NOT_SEEN
    return Seen(one.kind, type=one.type if one.type is other.type else None)
