"""Checks that many calls make: a number between two limits, a parameter object of its class, a tensor with memory.

A breach is a finding (`within`) or an error (`required`): `ascsim.hw.errors` tells which.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site
from .global_tensor import GlobalTensor
from .place import index, report


def within(
    core: Core, code: str, operand: str, given: Any, low: int, high: int, operation: str, site: Site, unit: str = ""
) -> int:
    """The integer that was given; one below `low` or above `high` is reported under `code`. `unit`: of both limits."""
    number = index(given, operation, operand)
    if not low <= number <= high:
        rule = f"{low} to {high} {unit}".rstrip()
        text = f"{operand} = {number}; rule: {rule}; nearest legal value: {min(max(number, low), high)}"
        report(core, code, text, site, operation)
    return number


def required(operation: str, operand: str, given: int, low: int, high: int) -> None:
    """Raise ArgumentValueError for a number below `low` or above `high`."""
    if not low <= given <= high:
        rule, nearest = f"{low} to {high}" if low != high else str(low), min(max(given, low), high)
        raise ArgumentValueError(
            operation, "is out of range", operand=operand, value=given, rule=rule, nearest=nearest
        ) from None


def buffered(operation: str, tensor: GlobalTensor, operand: str) -> None:
    """Raise ArgumentTypeError for a GlobalTensor that no set_global_buffer has given memory."""
    if tensor.window.array is None:
        rule = "call set_global_buffer first"
        raise ArgumentTypeError(operation, "has no buffer yet", operand=operand, value=tensor, rule=rule)


def parameters(operation: str, given: Any, *kinds: type, operand: str = "params") -> None:
    """Raise ArgumentTypeError for what is no object of one of these classes."""
    if not isinstance(given, kinds):
        rule = " or ".join(kind.__name__ for kind in kinds)
        raise ArgumentTypeError(operation, "is no parameter object", operand=operand, value=given, rule=rule) from None
