"""Where a local tensor lies: an interned, immutable (position, address, size, type) on one core.

A Place is what instructions work on. Interned, because everything that can be worked out about a call depends on
the places of its operands alone: the plans of calls are kept on the place of their first operand.
"""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from ...hw.core import Core
from ...hw.current import core as current
from ...hw.errors import ArgumentTypeError, ArgumentValueError, ArrayIndexError, LaunchError
from ...hw.findings import Site, many
from ...hw.memory import Memory, Piece, Region, last_byte
from ...hw.scheduler import Scheduler
from . import ir_value
from .constexpr import ConstExpr
from .dtype import DataType
from .enums import TPosition
from .made import maker

BLOCK = 32  # bytes: the unit of addresses, strides and copies
# Logical position -> physical memory. GM positions have none here.
MEMORY_OF = {
    TPosition.VECIN: "UB",
    TPosition.VECOUT: "UB",
    TPosition.VECCALC: "UB",
    TPosition.A1: "L1",
    TPosition.B1: "L1",
    TPosition.C1: "L1",
    TPosition.A2: "L0A",
    TPosition.B2: "L0B",
    TPosition.C2: "BT",
    TPosition.CO1: "L0C",
}
VECTOR_POSITIONS = frozenset((TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC))
L1_POSITIONS = frozenset((TPosition.A1, TPosition.B1, TPosition.C1))
L0_POSITIONS = frozenset((TPosition.A2, TPosition.B2))  # L0A and L0B
PACKAGE = str(Path(__file__).parents[2]) + os.sep  # frames of these files are not the author's
RUN = Scheduler._run.__code__  # the frame under every kernel
E = TypeVar("E", bound=IntEnum)
PLAN_LIMIT = 1024  # plans kept on one place; all are forgotten when there are more


class Place:
    """Slots: core, memory (None where this kind of core has not got it), start and nbytes (bytes), dtype, position.

    `fault` is None, or (code, message) that a use of the place must report: then `live` is the place to go on with.
    """

    __slots__ = (
        "core",
        "dtype",
        "fault",
        "live",
        "loads",
        "memory",
        "nbytes",
        "plans",
        "position",
        "start",
        "stores",
        "views",
    )

    def __init__(
        self, core: Core, memory: Memory | None, position: TPosition, dtype: DataType, start: int, nbytes: int
    ) -> None:
        self.core, self.memory, self.position = core, memory, position
        self.dtype, self.start, self.nbytes = dtype, start, nbytes
        self.views: dict[int, Place] = {}  # by offset in elements
        self.plans: dict[Any, Any] = {}
        self.loads: dict[Any, Any] = {}  # plans of copies from global memory, by count or parameters
        self.stores: dict[Any, Any] = {}  # and to it; the atomic ones by (Core.atomic, count or parameters)
        self.fault: tuple[str, str] | None = None
        self.live = self

    def offset(self, elements: int) -> Place:
        """The place that starts `elements` later and ends where this one ends."""
        view = self.views.get(elements)
        if view is None:
            if elements < 0:
                rule = "0 or more; the offset is unsigned on the device"
                raise ArrayIndexError("LocalTensor[]", operand="start", value=elements, rule=rule, nearest=0) from None
            shift = elements * self.dtype.size
            view = place(self.core, self.position, self.dtype, self.start + shift, max(0, self.nbytes - shift))
            if self.fault is not None:
                view = view.dead(*self.fault)
            self.views[elements] = view
        return view

    def dead(self, code: str, message: str) -> Place:
        """The same bytes as something that must not be used: a use reports `code` and goes on with this place."""
        out = Place(self.core, self.memory, self.position, self.dtype, self.start, self.nbytes)
        out.fault, out.live = (code, message), self.live
        return out

    def keep(self, key: Any, plan: Any) -> Any:
        """Remember the plan of a call; not of one that has just been warned about, for it is to be so each time."""
        if self.core.told:
            self.core.told = False
            return plan
        if len(self.plans) >= PLAN_LIMIT:
            self.plans.clear()
        self.plans[key] = plan
        return plan

    def array(self, count: int) -> Any:
        """The first `count` elements as a numpy array that shares the memory's bytes."""
        assert self.memory is not None
        end = self.start + count * self.dtype.size
        return self.memory.bytes[self.start : end].view(self.dtype.np)

    def region(self, pieces: tuple[Piece, ...], name: str, operation: str, site: Site) -> Region:
        """The footprint of operand `name`: OOB_BUF where it leaves the tensor, OOB_PHYS where it leaves the memory."""
        core, memory = self.core, self.memory
        assert memory is not None
        end = max(map(last_byte, pieces))
        past = end - self.start - self.nbytes
        if past > 0 and end <= memory.size:
            touched = f"bytes [{min(first for first, _ in pieces)}:{end})"
            text = f"{name} touches {touched}, {many(past, 'byte')} past its tensor ({self.origin()}){core.loop()}"
            report(core, "OOB_BUF", text, site, operation)
        return core.region(memory.name, pieces, f"{operation}: {name}", site, self.origin)

    def origin(self) -> str:
        """`64 elements of float32, bytes [0:256) of UB, made at k.py:12`: the tensor, for reports of what leaves it."""
        memory, size = MEMORY_OF[self.position], self.dtype.size
        text = f"{self.nbytes // size} elements of {self.dtype}, bytes [{self.start}:{self.start + self.nbytes})"
        made = maker(self)
        return f"{text} of {memory}, {made}" if made else f"{text} of {memory}"

    def text(self) -> str:
        """`VECIN float32 at byte 512, 256 bytes`."""
        return f"{self.position.name} {self.dtype} at byte {self.start}, {self.nbytes} bytes"


def place(core: Core, position: TPosition, dtype: DataType, start: int, nbytes: int) -> Place:
    """The interned place."""
    key = (position, dtype, start, nbytes)
    found = core.operands.get(key)
    if found is None:
        memory = core.memories.get(MEMORY_OF[position])
        found = core.operands[key] = Place(core, memory, position, dtype, start, nbytes)
    return found


def running(operation: str) -> Core:
    """The core that runs now; a call outside a kernel is a LaunchError."""
    core = current.get()
    if core is None:
        raise LaunchError(operation, "is a device call: it works inside a kernel, launched as kernel[blocks](...)")
    return core


def call_stack() -> tuple[tuple[int, int], ...]:
    """The author's frames that lead to here, innermost first, as keys."""
    frame: FrameType | None = sys._getframe(2)
    stack = []
    while frame is not None and frame.f_code is not RUN:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            stack.append((id(frame.f_code), frame.f_lasti))
        frame = frame.f_back
    return tuple(stack)


def claim(core: Core, memory: str, start: int, nbytes: int, who: str, site: Site) -> None:
    """Check that a buffer fits its memory; MEM_OVERFLOW lists the buffers given out so far and their sum."""
    buffers: list[tuple[str, str, int]] = core.state.setdefault("buffers", [])
    store = core.memories.get(memory)
    if store is not None and start + nbytes > store.size:
        mine = [(name, size) for name, where, size in buffers if where == memory]
        so_far = ", ".join(f"{name} {size}" for name, size in mine) or "none"
        report(
            core,
            "MEM_OVERFLOW",
            f"{who} asks for {nbytes} bytes of {memory}, {max(0, store.size - start)} of {store.size} are available; "
            f"buffers so far: {so_far}, together {sum(size for _, size in mine)}",
            site,
            who,
        )
    buffers.append((who, memory, nbytes))


def element_type(x: Any, operation: str, operand: str = "dtype") -> DataType:
    """A data type that elements in memory can have."""
    dtype = ir_value.unwrap(x)
    if not isinstance(dtype, DataType):
        raise ArgumentTypeError(operation, "is no data type", operand=operand, value=dtype, rule="asc.float32 ...")
    if not dtype.size:
        raise ArgumentTypeError(operation, "has no elements", operand=operand, value=dtype, rule="asc.float32 ...")
    return dtype


def index(x: Any, operation: str, operand: str, rule: str = "an integer") -> int:
    """A plain integer, for addresses, counts, indices and members of enumerations (`rule` tells which)."""
    return x if x.__class__ is int else ir_value.to_index(x, operation, operand, rule)


def member(kind: type[E], x: Any, operation: str, operand: str) -> E:
    """A member of an enumeration, given as one or as its number."""
    rule = "one of " + ", ".join(f"{kind.__name__}.{one.name}" for one in kind)
    number = index(x, operation, operand, rule)
    if number not in list(kind):
        raise ArgumentValueError(operation, operand=operand, value=number, rule=rule)
    return kind(number)


def flag(x: Any, operation: str, operand: str) -> bool:
    """A truth value that is known at compile time."""
    known = ConstExpr.unwrap(x)
    if not isinstance(known, bool):
        raise ArgumentTypeError(operation, operand=operand, value=known, rule="True or False")
    return known


def truth(x: Any, operation: str, operand: str) -> bool:
    """A truth value: True, False, or a run-time scalar."""
    return bool(x.v) if isinstance(x, ir_value.PlainValue) else flag(x, operation, operand)


def report(core: Core, code: str, message: str, site: Site, operation: str, **more: Any) -> None:
    """A finding about a call, at the author's line."""
    core.told = True
    core.report(code, f"{operation}: {message}", site, operation=operation, **more)
