"""Scratch of the operations of adv.

Scratch is the caller's `temp_buffer` or, without one, what lies above the buffers of the TPipe. The least that it must
have comes from the vendor's tiling functions (Get...TmpSize). Not modelled: that an operation with less than the most
takes more, smaller steps.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site
from ...hw.memory import Region
from ..core.dtype import uint8
from ..core.place import report
from ..core.tensor import LocalTensor
from ..operand import aligned, local, typed

STACK_RESERVE = 64  # bytes at the end of UB that are not handed out as scratch
BUFFER = "temp_buffer"  # the operand, as most operations call it


def key(core: Core, temp: Any, operation: str, name: str = BUFFER) -> Any:
    """Where the scratch of a call lies, as a part of the key of its plan."""
    if temp is None:
        return _stack(core)
    if not isinstance(temp, LocalTensor):
        raise ArgumentTypeError(operation, "is no LocalTensor", operand=name, value=temp)
    return temp.place


def _stack(core: Core) -> int:
    """First byte of UB above the buffers of the TPipe, or above the tensors of the compiler; -1 without either."""
    pipe = core.state.get("tpipe")
    if pipe is None:
        return int(core.state.get("auto_top", -1))
    taken = pipe.spans.get("UB")
    return taken.top if taken is not None else 0


def scratch(core: Core, temp: Any, least: int, most: int, operation: str, site: Site, name: str = BUFFER) -> Region:
    """The bytes of scratch that a call uses: as many as there are, up to `most`; fewer than `least` are reported."""
    if temp is not None:
        where = local(core, temp, name, operation, site)
        typed(core, where, (uint8,), name, operation, site)
        aligned(core, where, name, operation, site)
        start, size = where.start, where.nbytes
        if size < least:
            text = f"{name} has {size} bytes; rule: at least {least} here; nearest legal value: {least}"
            report(core, "OOB_BUF", f"{text}; it is {where.origin()}", site, operation)
    else:
        start = _stack(core)
        if start < 0:
            rule = f"a uint8 tensor of at least {least} bytes, or a TPipe whose free memory serves"
            raise ArgumentValueError(operation, "no TPipe", operand=name, value=None, rule=rule)
        size = core.memories["UB"].size - STACK_RESERVE - start
        if size < least:
            text = f"scratch needs {least} bytes, {max(0, size)} of UB are left above the buffers"
            pipe = core.state.get("tpipe")
            more = f"; {pipe.listed('UB')}" if pipe is not None else ""
            report(core, "MEM_OVERFLOW", text + more, site, operation)
    return core.region("UB", ((start, ((min(most, max(size, least)), 1),)),), f"{operation}: {name}", site)


def drained(core: Core, site: Site) -> None:
    """The barrier of V with which a program ends; nothing on a core that has no V."""
    if "V" in core.pipes:
        core.barrier(core.pipes["V"], site)
