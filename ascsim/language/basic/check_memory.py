"""Exceptions on accesses to a range of UB, a means of debugging. Page: CheckLocalMemoryIA."""

from __future__ import annotations

import sys
from typing import Any

from ...hw.errors import ArgumentValueError
from ...hw.watch import Watch, watch
from ..core.limits import parameters
from ..core.place import BLOCK, report, running
from ..core.types import CheckLocalMemoryIAParam
from ..plans import present

_NAME = "check_local_memory_ia"
REGISTERS = 4
LIMIT = 65535  # blocks
PIPES = {"scalar": ("S",), "vector": ("V",), "mte": ("MTE1", "MTE2", "MTE3")}


def check_local_memory_ia(check_params: Any) -> None:
    """Stop the kernel (TRAP) at the next access of the chosen kinds to a range of UB; `is_enable` False ends that.

    CheckLocalMemoryIAParam: register `enable_bit`, 0 to 3; the range in 32-byte blocks, 0 to 65535, behind `start_addr`
    up to and with `end_addr` (so without block `start_addr` itself); reads and writes of the scalar unit, the vector
    unit and the copies (mte). It holds to the end of the kernel. Page: CheckLocalMemoryIA.
    """
    frame = sys._getframe(1)
    site = (frame.f_code, frame.f_lasti)
    core = running(_NAME)
    parameters(_NAME, check_params, CheckLocalMemoryIAParam, operand="check_params")
    for name, most in (("enable_bit", REGISTERS - 1), ("start_addr", LIMIT), ("end_addr", LIMIT)):
        number = getattr(check_params, name)
        if number > most:
            raise ArgumentValueError(_NAME, operand=name, value=number, rule=f"0 to {most}", nearest=most)
    if not present(core, core.memories.get("UB"), _NAME, site):
        return
    if not check_params.is_enable:
        watch(core, check_params.enable_bit, None)
        return
    reads, writes = (
        frozenset(pipe for kind, pipes in PIPES.items() if getattr(check_params, f"is_{kind}_{way}") for pipe in pipes)
        for way in ("read", "write")
    )
    first, last = check_params.start_addr + 1, check_params.end_addr
    if first > last or not (reads or writes):
        text = f"blocks ({first - 1}, {last}], {len(reads) + len(writes)} kinds of access: it watches nothing"
        report(core, "ZERO_LENGTH", text, site, _NAME)
    watch(core, check_params.enable_bit, Watch(first * BLOCK, (last + 1) * BLOCK, reads, writes, site))


__all__ = ["check_local_memory_ia"]
