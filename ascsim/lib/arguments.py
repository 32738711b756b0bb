"""What the arguments of a launch become: arrays of global memory, run-time scalars, structs, compile-time values.

Nothing here knows the machine: arguments are checked and described first, and placed in a device's memory by the
launch. torch is never imported; its tensors are known by their class and seen through numpy views of their memory.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, get_args, get_origin

import ml_dtypes
import numpy as np

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, ConstExprError, OptionError, ScalarRangeError
from ascsim.language.core import dtype as dt
from ascsim.language.core import ir_value
from ascsim.language.core.constexpr import ConstExpr, require_constexpr
from ascsim.language.core.struct import Struct

MOCK_BYTES = 1 << 20
Call = tuple[tuple[Any, ...], dict[str, Any]]  # positional and keyword arguments


class MockTensor:
    """Stands for an array of `dtype` where there are no data: 1 MiB of zeros, thrown away after the launch."""

    def __init__(self, dtype: dt.DataType) -> None:
        self.dtype = dtype


class MockValue:
    """Stands for a number of `dtype` where there is none: the number 1."""

    def __init__(self, dtype: dt.DataType) -> None:
        self.dtype = dtype


@dataclass(frozen=True, slots=True)
class Array:
    """An array argument: its bytes (seen, not copied), and the type of its elements."""

    name: str
    data: memoryview
    dtype: dt.DataType


@dataclass(frozen=True, slots=True)
class PerCore:
    """A struct argument: every core gets a copy of its own."""

    struct: Struct


# --- parameters ----------------------------------------------------------------------------------------------------


def scope(fn: FunctionType) -> dict[str, Any]:
    """What the free names of a function mean: its globals, under the variables of the functions around it."""
    names = dict(fn.__globals__)
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names


def constants(fn: FunctionType) -> dict[str, tuple[Any, ...]]:
    """The parameters annotated `ConstExpr[...]`, each with the types it allows (none given: any)."""
    found = {}
    for name, annotation in fn.__annotations__.items():
        kind = _resolved(fn, name, annotation) if isinstance(annotation, str) else annotation
        if name != "return" and (kind is ConstExpr or get_origin(kind) is ConstExpr):
            found[name] = get_args(kind)
    return found


def _resolved(fn: FunctionType, name: str, text: str) -> Any:
    """The object a string annotation names. One that cannot be found matters only if it might be a ConstExpr."""
    try:
        return eval(text, scope(fn))
    except Exception as error:
        if "ConstExpr" not in text:
            return None
        rule = f"names of the module ({type(error).__name__}: {error})"
        raise OptionError(fn.__name__, "annotation cannot be resolved", operand=name, value=text, rule=rule) from None


def arranged(fn: FunctionType, signature: inspect.Signature, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """The arguments of a call by parameter, defaults filled in; a wrong call is refused by the function's name."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
        raise ArgumentTypeError(fn.__name__, str(error), rule=f"{fn.__name__}{inspect.Signature(plain)}") from None
    bound.apply_defaults()
    return bound


def mapped(bound: inspect.BoundArguments, convert: Callable[[str, str, Any], Any]) -> Call:
    """Positional and keyword arguments for the body, each made of `convert(parameter, label, value)`."""

    def spread(name: str, value: Any) -> Any:
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            return tuple(convert(name, f"{name}[{index}]", item) for index, item in enumerate(value))
        if kind is inspect.Parameter.VAR_KEYWORD:
            return {key: convert(name, key, item) for key, item in value.items()}
        return convert(name, name, value)

    bound.arguments = {name: spread(name, value) for name, value in bound.arguments.items()}
    return bound.args, bound.kwargs


def constant(name: str, value: Any, types: tuple[Any, ...]) -> Any:
    """The plain value of a compile-time parameter."""
    if isinstance(value, ir_value.PlainValue):
        raise ConstExprError("ConstExpr", "is known at run time only", operand=name, value=value.v)
    if types:
        require_constexpr(value, *types, arg_name=name)
    return ConstExpr.unwrap(value)


# --- values --------------------------------------------------------------------------------------------------------


def argument(name: str, value: Any) -> Any:
    """What one argument of a launch becomes: an `Array`, a `PerCore` struct, or a run-time scalar."""
    value = ConstExpr.unwrap(value)
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(name, value)
    if any(base.__name__ == "Tensor" and base.__module__.startswith("torch") for base in type(value).__mro__):
        return _tensor(name, value)
    problem = f"Argument type in JIT function is not supported: {type(value).__name__}"
    rule = "a numpy array, a torch tensor, a bool, int or float, a number of numpy, a struct"
    if isinstance(value, (str, tuple, dict, type)):
        rule += "; or a constant, where the parameter is annotated asc.ConstExpr"
    raise ArgumentTypeError("launch", problem, operand=name, rule=rule)


def _int(name: str, value: int) -> Any:
    if not dt.int32.low <= value <= dt.int32.high:  # type: ignore[operator]
        nearest = max(-(1 << 31), min(value, (1 << 31) - 1))
        rule = "a Python int is passed as int32; numpy.int64(...) passes a wider one"
        raise ScalarRangeError("launch", operand=name, value=value, rule=rule, nearest=nearest)
    return ir_value.value(value, dt.int32)


def _generic(name: str, value: np.generic) -> Any:
    return ir_value.value(value.item(), _dtype(name, value.dtype))


def _mock_tensor(name: str, value: MockTensor) -> Array:
    return Array(name, memoryview(bytearray(MOCK_BYTES)), value.dtype)


def _dtype(name: str, given: np.dtype[Any]) -> dt.DataType:
    if not given.isnative:
        rule = "native byte order"
        nearest = f"{name}.astype({given.newbyteorder('=').name!r})"
        raise ArgumentValueError("launch", "foreign byte order", operand=name, value=given, rule=rule, nearest=nearest)
    try:
        return dt.from_numpy(given)
    except ArgumentTypeError as error:
        raise ArgumentTypeError("launch", error.problem, operand=name, value=str(given), rule=error.rule) from None


def _array(name: str, value: np.ndarray[Any, Any]) -> Array:
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError("launch", "a masked array has no one value an element", operand=name)
    dtype = _dtype(name, value.dtype)
    if not value.flags.c_contiguous:
        problem = f"array of shape {value.shape} and strides {value.strides} is not C-contiguous"
        rule = "the device takes the bytes as they lie"
        nearest = f"numpy.ascontiguousarray({name})"
        raise ArgumentValueError("launch", problem, operand=name, rule=rule, nearest=nearest)
    return Array(name, np.asarray(value).reshape(-1).view(np.uint8).data, dtype)


def _tensor(name: str, value: Any) -> Array:
    """A torch tensor, through a numpy array that shares its memory."""
    if value.device.type != "cpu":
        rule = "CPU tensors on the Model backend"
        raise ArgumentValueError("launch", "tensor is elsewhere", operand=name, value=str(value.device), rule=rule)
    if str(value.layout) != "torch.strided" or not value.is_contiguous():
        problem = f"tensor of shape {tuple(value.shape)} is not contiguous"
        raise ArgumentValueError("launch", problem, operand=name, nearest=f"{name}.contiguous()")
    value = value.detach()
    bfloat16 = str(value.dtype) == "torch.bfloat16"  # numpy has no such type of its own: carried over as int16
    try:
        seen = (value.view(sys.modules["torch"].int16) if bfloat16 else value).numpy()
    except (TypeError, RuntimeError) as error:
        raise ArgumentTypeError("launch", str(error), operand=name, value=str(value.dtype)) from None
    return _array(name, seen.view(ml_dtypes.bfloat16) if bfloat16 else seen)


# first match decides: a bool is an int, and numpy.float64 is a float (pyasc passes it as one)
_CONVERSIONS: tuple[tuple[Any, Callable[[str, Any], Any]], ...] = (
    (bool, lambda name, value: ir_value.value(int(value), dt.int8)),
    (int, _int),
    (float, lambda name, value: ir_value.value(float(value), dt.float32)),
    (np.ndarray, _array),
    (np.generic, _generic),
    (Struct, lambda name, value: PerCore(value)),
    (MockTensor, _mock_tensor),
    (MockValue, lambda name, value: ir_value.value(1, value.dtype)),
)


# --- numbers passed to and returned from device functions ------------------------------------------------------------

_INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
_FLOATS = (np.float16, np.float32, np.float64, ml_dtypes.bfloat16)
_PACK: Mapping[type, Callable[[Any], Any]] = {
    bool: ir_value.CLASSES[dt.bit].pack,
    int: ir_value.CLASSES[dt.int32].pack,
    float: ir_value.CLASSES[dt.float32].pack,
}
NUMBERS = frozenset({*_PACK, np.bool_, *_INTEGERS, *_FLOATS, ConstExpr})  # what `typed` changes


def typed(value: Any) -> Any:
    """A plain number as the run-time scalar it becomes inside a kernel; anything else unchanged."""
    pack = _PACK.get(value.__class__)
    if pack is not None:
        return pack(value)
    if isinstance(value, np.generic) and value.__class__ in NUMBERS:
        return ir_value.value(value.item(), dt.from_numpy(value.dtype))
    return typed(value.value) if isinstance(value, ConstExpr) else value
