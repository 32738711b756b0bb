"""`asc.range`, a loop of the device, and `asc.static_range`, a loop unrolled at compile time.

Not modelled: the front end makes a negative step run no iteration at all; here `range` refuses it by name.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from ...hw import current
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from .ir_value import PlainValue, int32, to_index


class _Loop:
    """Bounds of a loop: `(stop)`, `(start, stop)` or `(start, stop, step)`, kept as they were given."""

    name = ""

    def __init__(self, *args: Any) -> None:
        if not 1 <= len(args) <= 3:
            raise ArgumentTypeError(
                self.name,
                "wrong number of arguments",
                operand="args",
                value=args,
                rule="stop; start, stop; start, stop, step",
            )
        self.start: Any
        self.stop: Any
        self.start, self.stop = args[:2] if len(args) > 1 else (0, args[0])
        self.step: Any = args[2] if len(args) == 3 else 1
        start, stop = to_index(self.start, self.name, "start"), to_index(self.stop, self.name, "stop")
        self._indices = builtins.range(*self._checked(start, stop, to_index(self.step, self.name, "step")))

    def _checked(self, start: int, stop: int, step: int) -> tuple[int, int, int]:
        if step == 0:
            raise ArgumentValueError(self.name, "never ends", operand="step", value=step, rule="not zero", nearest=1)
        return start, stop, step

    def __repr__(self) -> str:
        return f"{self.name}({self.start}, {self.stop}, {self.step})"


class range(_Loop):
    """A loop on the device: yields int32 run-time scalars. The step must be positive."""

    name = "range"

    def _checked(self, start: int, stop: int, step: int) -> tuple[int, int, int]:
        if step <= 0:
            raise ArgumentValueError(
                self.name,
                "the device loop counts upward only",
                operand="step",
                value=step,
                rule="a positive step; count down with an expression of the loop variable",
                nearest=1,
            )
        return start, stop, step

    def __iter__(self) -> Iterator[PlainValue]:
        core = current.core.get()
        if core is None:
            yield from map(int32, self._indices)
            return
        outer = core.turn
        try:
            for index in self._indices:
                core.turn = index
                yield int32(index)
        finally:
            core.turn = outer


class static_range(_Loop):
    """A loop unrolled at compile time: yields plain ints."""

    name = "static_range"

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)
