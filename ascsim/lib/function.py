"""A function handed to `jit`, with all that is worked out about it once: its runnable body, signature and facts."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .arguments import constants, scope
from .rewrite import codes, rewrite


class Function:
    """`fn` is the function as written; the rest is worked out when first asked for, and kept."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn

    @cached_property
    def body(self) -> FunctionType:
        """The function as it is run."""
        return rewrite(self.fn)

    @cached_property
    def facts(self) -> Facts:
        return scan(self.fn)

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @cached_property
    def constants(self) -> dict[str, tuple[Any, ...]]:
        """Names of the compile-time parameters, each with the types it allows."""
        return constants(self.fn)


@dataclass(frozen=True)
class Facts:
    """What a launch must know beforehand: whether a matmul object is registered, and tensors are allocated for it."""

    matmul: bool = False
    auto_tensors: bool = False


def scan(fn: FunctionType) -> Facts:
    """Facts of `fn` and of every jit function it reaches by a name, and of plain functions of its own module.

    Names are read from compiled code, so a comment or an annotation does not count and no source is needed.
    A function reached through a list, a dictionary or an argument is not seen.
    """
    names: set[str] = set()
    seen: set[CodeType] = set()
    pending = [fn]
    while pending:
        reader = pending.pop()
        if reader.__code__ in seen:
            continue
        seen.add(reader.__code__)
        for name, value in _names(reader):
            names.update((name, getattr(value, "__name__", name)))
            if isinstance(value, Function):
                pending.append(value.fn)
            elif isinstance(value, FunctionType) and value.__globals__ is fn.__globals__:
                pending.append(value)
    return Facts("register_matmul" in names, "LocalTensorAuto" in names)


def _names(fn: FunctionType) -> Iterator[tuple[str, Any]]:
    """Every name the function reads, with the value it has now where it is a global, a cell, or in a module."""
    known = scope(fn)
    for code in codes(fn.__code__):
        value: Any = None
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
                value = known.get(instruction.argval)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                value = getattr(value, instruction.argval, None) if isinstance(value, (ModuleType, type)) else None
            else:
                value = None
                continue
            yield instruction.argval, value
