"""Registers of atomic stores: from a set_atomic_* to the next, copies to global memory update what stands there.

Pages: SetAtomicAdd, SetAtomicMax, SetAtomicMin, SetAtomicType, DisableDmaAtomic, SetStoreAtomicConfig,
GetStoreAtomicConfig. A store takes the register when it is issued, so none of this needs synchronisation; the stores
do: nothing orders an atomic store behind the plain one before it.
"""

from __future__ import annotations

import sys
from typing import Any

from ...hw.core import PLAIN_STORE, Core
from ...hw.errors import ArgumentValueError, NotSimulatedError
from ...hw.findings import Site
from ..atomics import TYPES, switch
from ..core.dtype import DataType
from ..core.enums import AtomicDtype, AtomicOp
from ..core.ir_value import Int16, PlainValue
from ..core.place import element_type, index, report, running

_SUM = "add"
_LEGAL = ", ".join(map(str, TYPES))


def _typed(operation: str, dtype: Any) -> tuple[Core, DataType]:
    """The running core, and a type that atomic stores know."""
    core = running(operation)
    kind = element_type(dtype, operation)
    if kind not in TYPES:
        report(core, "BAD_DTYPE", f"dtype = {kind}; rule: {_LEGAL}", _site(), operation)
    return core, kind


def _site() -> Site:
    frame = sys._getframe(3)
    return frame.f_code, frame.f_lasti


def set_atomic_add(dtype: Any) -> None:
    """Stores to global memory add to what stands there, in `dtype`: float32, float16, bfloat16, int32, int16, int8.

    Adding cores need no order among themselves; the last bits of a float sum then depend on it (note ATOMIC_ORDER).
    Faults: BAD_DTYPE, here or at a store of another type. Page: SetAtomicAdd.
    Device: sums are rounded to nearest even here and integers wrap, as in the vector unit; the page says nothing of it.
    """
    switch(*_typed("set_atomic_add", dtype), name=_SUM)


def set_atomic_max(dtype: Any) -> None:
    """Stores to global memory leave the greater of old and new; types and faults as set_atomic_add. Page: SetAtomicMax.

    Device: NaN wins here, and of two zeros the positive one, as in the vector unit; the page says nothing of either.
    """
    switch(*_typed("set_atomic_max", dtype), name="max")


def set_atomic_min(dtype: Any) -> None:
    """Stores to global memory leave the lesser of old and new; types and faults as set_atomic_add. Page: SetAtomicMin.

    Device: NaN wins here, and of two zeros the negative one, as in the vector unit; the page says nothing of either.
    """
    switch(*_typed("set_atomic_min", dtype), name="min")


def set_atomic_type(dtype: Any) -> None:
    """Change the type alone. With atomic stores off this turns sums on: the type is the switch. Page: SetAtomicType."""
    core, kind = _typed("set_atomic_type", dtype)
    switch(core, kind, name=core.atomic[0] or _SUM)


def set_atomic_none() -> None:
    """Stores to global memory overwrite again. Page: DisableDmaAtomic (SetAtomicNone)."""
    running("set_atomic_none").atomic = PLAIN_STORE


def set_store_atomic_config(atomic_type: Any, atomic_op: Any) -> None:
    """Type and operation by number: AtomicDtype (ATOMIC_NONE: off) and AtomicOp, of which there is the sum alone.

    Page: SetStoreAtomicConfig.
    """
    core = running("set_store_atomic_config")
    kind = _member(AtomicDtype, atomic_type, "atomic_type")
    _member(AtomicOp, atomic_op, "atomic_op")
    if kind == AtomicDtype.ATOMIC_NONE:
        core.atomic = PLAIN_STORE
    else:
        switch(core, TYPES[kind - 1], name=_SUM)


def _member(kind: Any, given: Any, operand: str) -> int:
    number = index(given, "set_store_atomic_config", operand)
    if number not in list(kind):
        rule = "one of " + ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise ArgumentValueError("set_store_atomic_config", operand=operand, value=number, rule=rule)
    return number


def get_store_atomic_config() -> tuple[PlainValue, PlainValue]:
    """The type and the operation in force as the numbers of set_store_atomic_config (int16 each).

    Page: GetStoreAtomicConfig.
    """
    name, wanted = running("get_store_atomic_config").atomic
    if name not in ("", _SUM):
        why = f"the number that the chip has for {name} is not published; it answers for sums only"
        raise NotSimulatedError("get_store_atomic_config", why)
    number = [dtype.name for dtype in TYPES].index(wanted) + 1 if wanted else int(AtomicDtype.ATOMIC_NONE)
    return Int16.pack(number), Int16.pack(int(AtomicOp.ATOMIC_SUM))


__all__ = [
    "get_store_atomic_config",
    "set_atomic_add",
    "set_atomic_max",
    "set_atomic_min",
    "set_atomic_none",
    "set_atomic_type",
    "set_store_atomic_config",
]
