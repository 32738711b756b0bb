"""The author's names for queues and buffers, read off the bytecode when a report wants them."""

from __future__ import annotations

import dis
from types import CodeType

from ...hw.findings import Site, place


def assigned_name(site: Site) -> str:
    """The variable or attribute to which the value of the call at `site` is assigned; "" if it is not."""
    code, offset = site
    if not isinstance(code, CodeType):
        return ""
    after = [step for step in dis.get_instructions(code) if step.offset > offset][:2]
    names = [str(step.argval[0] if isinstance(step.argval, tuple) else step.argval) for step in after]
    if after and after[0].opname.startswith("STORE_"):
        return names[0]
    if len(after) == 2 and after[1].opname == "STORE_ATTR":
        return f"{names[0]}.{names[1]}"
    return ""


def name_of(site: Site, kind: str) -> str:
    """`in_queue`, or `TQue of kernel.py:12` where the object has no name of its own."""
    return assigned_name(site) or f"{kind} of {place(site)}"
