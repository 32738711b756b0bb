"""Single elements of local memory, read and written by the scalar unit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...hw.findings import Site
from ...hw.instruction import Plan
from . import ir_value
from .dtype import DataType
from .place import VECTOR_POSITIONS, Place, index, report


def from_bytes(raw: Any, dtype: DataType) -> ir_value.PlainValue:
    """The run-time scalar that these bytes are."""
    return ir_value.value(np.frombuffer(raw, dtype.np)[0].item(), dtype)


def to_bytes(value: Any, dtype: DataType, operation: str) -> bytes:
    """A number as the bytes of its element."""
    return np.array(ir_value.value(value, dtype, operation).v, dtype.np).tobytes()


def load_element(where: Place, at: Any, site: Site) -> ir_value.PlainValue:
    """get_value: issued to S, so that flags and `auto_sync` order it."""
    plan = _plan(where, index(at, "get_value", "index"), True, site)
    if plan is None:
        return ir_value.value(0, where.dtype)
    return from_bytes(where.core.issue(plan, site), where.dtype)


def store_element(where: Place, at: Any, value: Any, site: Site) -> None:
    """set_value."""
    raw = to_bytes(value, where.dtype, "set_value")
    plan = _plan(where, index(at, "set_value", "index"), False, site)
    if plan is not None:
        plan.run = partial(_write, where.memory.view, plan.writes[0].start, raw)  # type: ignore[union-attr]
        where.core.issue(plan, site)


def _write(view: memoryview, start: int, raw: bytes) -> None:
    view[start : start + len(raw)] = raw


def _read(view: memoryview, start: int, end: int) -> bytes:
    return bytes(view[start:end])


def _plan(where: Place, at: int, read: bool, site: Site) -> Plan | None:
    """The instruction; None where this kind of core has no such memory."""
    name = "get_value" if read else "set_value"
    plan = where.plans.get((name, at)) if read else None
    if plan is not None:
        return plan
    core, size = where.core, where.dtype.size
    if where.fault is not None:
        report(core, where.fault[0], where.fault[1], site, name)
        where = where.live
    if where.position not in VECTOR_POSITIONS:
        rule = "only VECIN, VECOUT and VECCALC have scalar access"
        report(core, "BAD_POSITION", f"operand = {where.position.name}; rule: {rule}", site, name)
    if where.memory is None:
        if not core.device.mix:
            report(core, "WRONG_CORE", f"{core.kind} cores have no UB", site, name)
        return None
    start = where.start + at * size
    if at < 0 or start + size > where.start + where.nbytes:
        code = "OOB_PHYS" if at < 0 or start + size > where.memory.size else "OOB_BUF"
        most = max(0, where.nbytes // size - 1)
        rule = f"0 to {most}, the elements of the tensor; nearest legal value: {max(0, min(at, most))}"
        report(core, code, f"index = {at}; rule: {rule}; tensor: {where.origin()}{core.loop()}", site, name)
    region = core.region("UB", ((start, ((size, 1),)),), name, site)
    cycles = core.device.cost.scalar_access()
    if not read:
        return Plan(name, core.scalar, (), (region,), _write, cycles)
    run = partial(_read, where.memory.view, start, start + size)
    return where.keep((name, at), Plan(name, core.scalar, (region,), (), run, cycles))
