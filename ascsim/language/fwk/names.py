"""The author's names for queues and buffers, read off the bytecode when a report wants them."""

from __future__ import annotations

import dis
from types import CodeType

from ...hw.findings import Site, place

_TURNS = {"ROT_TWO": 1, "ROT_THREE": 2}  # how far down the top of the stack goes


def assigned_name(site: Site) -> str:
    """The variable or attribute to which the value of the call at `site` is assigned, alone or as one of several
    (`a, b = A(), B()`); "" if it is not.

    Follows the value down the stack: `above` counts the values that lie on it.
    """
    code, offset = site
    if not isinstance(code, CodeType):
        return ""
    above, loaded, built = 0, "", 0
    for step in dis.get_instructions(code):
        name, count = step.opname, step.arg or 0
        if step.offset <= offset:
            continue
        if built and name != "UNPACK_SEQUENCE":
            return ""
        if name == "STORE_ATTR":
            if above == 1:
                return f"{loaded}.{step.argval}"
            above -= 2
        elif name.startswith("STORE_"):
            for target in step.argval if isinstance(step.argval, tuple) else (step.argval,):
                if above == 0:
                    return str(target)
                above -= 1
        elif name == "SWAP" or name in _TURNS:
            last = _TURNS.get(name, count - 1)
            if above == 0:
                above = last
            elif name != "SWAP":
                above -= above <= last
            elif above == last:
                above = 0
        elif name == "BUILD_TUPLE" and above < count:
            built = count
        elif name == "UNPACK_SEQUENCE" and count == built:
            above, built = count - 1 - above, 0
        elif step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            return ""
        elif name not in ("NOP", "EXTENDED_ARG"):
            effect = dis.stack_effect(step.opcode, step.arg)
            if above < 1 - effect:  # what it takes for the one value that it leaves
                return ""
            above += effect
            loaded = str(step.argval)
    return ""


def name_of(site: Site, kind: str) -> str:
    """`in_queue`, or `TQue of kernel.py:12` where the object has no name of its own."""
    return assigned_name(site) or f"{kind} of {place(site)}"
